//! Soft attention over memories, §3.2: K hops from the query's embedding to the state that is decoded.
//!
//! Keys c_i, values m_i, times, q¹ → q^{K+1} and the attention of each hop; backwards, dL/dq^{K+1} →
//! dL/dq¹ and what each hop passes on to keys, values and H. All hops share keys and values.

use numerics::{Real, Table, axpy, dot};

use crate::learning::softmax::softmax;

/// The memories of a question in the embedding space, all of length p.
pub(crate) struct Memories<R> {
    /// c_i = A φ(s_i), one after the other: n × p.
    pub keys: Vec<R>,
    /// m_i = B φ(s_i), one after the other: n × p.
    pub values: Vec<R>,
    /// What the time feature adds to the match of each memory: n.
    pub times: Vec<R>,
}

/// What was computed on the way from q¹ to q^{K+1}.
pub(crate) struct AttentionPass<R> {
    /// q¹ … q^{K+1}.
    pub states: Vec<Vec<R>>,
    /// c_iᵀq^k of each hop, with the time feature.
    pub matches: Vec<Vec<R>>,
    /// α of each hop.
    pub attention: Vec<Vec<R>>,
}

impl<R> AttentionPass<R> {
    /// q^{K+1}.
    pub fn last(&self) -> &[R] {
        self.states.last().expect("q¹ is always there")
    }
}

/// What a hop passes on, for k from K down to 1.
pub(crate) struct HopGradient<R> {
    /// dL/dq^{k+1}: the gradient of m_ok, of H q^k, and, times α_i, of m_i.
    pub next: Vec<R>,
    /// dL/d(c_iᵀq^k): times q^k the gradient of c_i.
    pub matches: Vec<R>,
}

impl<R: Real> Memories<R> {
    /// Hops through the memories.
    ///
    /// # Shapes
    /// `between_hops` H: p × p; `query` q¹: p.
    pub fn read(&self, between_hops: &Table<R>, query: Vec<R>, hops: usize) -> AttentionPass<R> {
        let dim = query.len();
        let (attention, matches) = (Vec::with_capacity(hops), Vec::with_capacity(hops));
        let mut read = AttentionPass { states: vec![query], matches, attention };
        for _ in 0..hops {
            let state = read.last();
            // Eq. (1), with the time feature of §3.1 in the match.
            let keys = self.keys.chunks_exact(dim).zip(&self.times);
            let matches: Vec<R> = keys.map(|(key, &time)| dot(key, state) + time).collect();
            let mut attention = matches.clone();
            softmax(&mut attention);
            // §3.2, hop update: q^{k+1} = H q^k + m_ok.
            let mut next: Vec<R> = (0..dim).map(|row| dot(between_hops.row(row), state)).collect();
            for (&share, value) in attention.iter().zip(self.values.chunks_exact(dim)) {
                axpy(share, value, &mut next);
            }
            read.matches.push(matches);
            read.attention.push(attention);
            read.states.push(next);
        }
        read
    }

    /// The way back from dL/dq^{K+1}: the gradients of the hops, the last hop first, and dL/dq¹. None of
    /// dL/dq^k is let through longer than `clip`: with several hops their lengths multiply.
    ///
    /// With g = dL/dq^{k+1} and s_i = c_iᵀq^k + time_i: dL/dα_i = m_iᵀg; through the softmax
    /// dL/ds_i = α_i (m_iᵀg − Σ_j α_j m_jᵀg); so dL/dq^k = Hᵀg + Σ_i dL/ds_i c_i.
    pub fn backward(
        &self,
        between_hops: &Table<R>,
        read: &AttentionPass<R>,
        last: Vec<R>,
        clip: R,
    ) -> (Vec<HopGradient<R>>, Vec<R>) {
        let dim = last.len();
        let mut next = last;
        shorten(&mut next, clip);
        let mut hops = Vec::with_capacity(read.attention.len());
        for attention in read.attention.iter().rev() {
            let values = self.values.chunks_exact(dim);
            let mut matches: Vec<R> = values.map(|value| dot(value, &next)).collect();
            let mean = dot(attention, &matches);
            for (slope, &share) in matches.iter_mut().zip(attention) {
                *slope = share * (*slope - mean);
            }
            let mut state = vec![R::ZERO; dim];
            for (row, &slope) in next.iter().enumerate() {
                axpy(slope, between_hops.row(row), &mut state);
            }
            for (&slope, key) in matches.iter().zip(self.keys.chunks_exact(dim)) {
                axpy(slope, key, &mut state);
            }
            shorten(&mut state, clip);
            hops.push(HopGradient { next: std::mem::replace(&mut next, state), matches });
        }
        (hops, next)
    }
}

/// Makes a vector that is longer than `clip` as long as that.
fn shorten<R: Real>(vector: &mut [R], clip: R) {
    let length = dot(vector, vector).sqrt();
    if length > clip {
        vector.iter_mut().for_each(|component| *component = *component * clip / length);
    }
}

#[cfg(test)]
mod tests {
    use numerics::testing::worst_error;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn one_hop_by_hand() {
        let memories = Memories {
            keys: vec![1.0, 0.0, 0.0, 1.0],
            values: vec![10.0, 0.0, 0.0, 10.0],
            times: vec![0.0, 3.0f64.ln()],
        };
        let identity = Table::from_values(2, 2, &[1.0, 0.0, 0.0, 1.0]).unwrap();
        // Matches ln 2 and 0 + ln 3: shares 2/5 and 3/5.
        let read = memories.read(&identity, vec![2.0f64.ln(), 0.0], 1);
        let expected = [2.0f64.ln() + 4.0, 6.0];
        for (found, expected) in read.last().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12);
        }
        assert!((read.attention[0][0] - 0.4).abs() < 1e-12);
    }

    #[test]
    fn without_memories_a_hop_is_the_linear_map() {
        let none = Memories { keys: vec![], values: vec![], times: vec![] };
        let map = Table::from_values(2, 2, &[0.0, 2.0, 3.0, 0.0]).unwrap();
        let read = none.read(&map, vec![1.0f64, 5.0], 2);
        assert_eq!(read.states, [[1.0, 5.0], [10.0, 3.0], [6.0, 30.0]]);
    }

    #[test]
    fn what_goes_back_is_never_longer_than_the_clip() {
        let memories = Memories { keys: vec![], values: vec![], times: vec![] };
        let map = Table::from_values(2, 2, &[10.0, 0.0, 0.0, 10.0]).unwrap();
        let read = memories.read(&map, vec![1.0f64, 0.0], 2);
        let (hops, first) = memories.backward(&map, &read, vec![3.0, 4.0], 2.5);
        assert_eq!(hops[0].next, [1.5, 2.0]);
        assert_eq!((hops[1].next.as_slice(), first.as_slice()), (&[1.5, 2.0][..], &[1.5, 2.0][..]));
    }

    /// Everything that can be learnt, as the rows of one table: H, then q¹, keys and values.
    fn split(all: &Table<f64>, n: usize) -> (Table<f64>, Vec<f64>, Memories<f64>) {
        let dim = all.dim();
        let rows = |from: usize, to: usize| all.values()[from * dim..to * dim].to_vec();
        let map = Table::from_values(dim, dim, &rows(0, dim)).unwrap();
        let (keys, values) = (rows(dim + 1, dim + 1 + n), rows(dim + 1 + n, dim + 1 + 2 * n));
        let times = (0..n).map(|i| 0.3 * i as f64).collect();
        (map, rows(dim, dim + 1), Memories { keys, values, times })
    }

    #[test]
    fn gradients_are_central_differences_for_one_to_three_hops() {
        const DIM: usize = 4;
        const N: usize = 3;
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for hops in 1..=3 {
            let mut all = Table::normal(DIM + 1 + 2 * N, DIM, 0.7, &mut rng);
            let target = [0.3, -1.0, 0.8, 0.1];
            let loss = |all: &Table<f64>| {
                let (map, query, memories) = split(all, N);
                dot(memories.read(&map, query, hops).last(), &target)
            };
            let (map, query, memories) = split(&all, N);
            let read = memories.read(&map, query, hops);
            let (gradients, first) = memories.backward(&map, &read, target.to_vec(), 1e9);
            let mut gradient = Table::zeros(all.rows(), DIM);
            axpy(1.0, &first, gradient.row_mut(DIM));
            for (hop, passed) in (0..hops).rev().zip(&gradients) {
                for (row, &slope) in passed.next.iter().enumerate() {
                    axpy(slope, &read.states[hop], gradient.row_mut(row));
                }
                for i in 0..N {
                    let (key, value) = (DIM + 1 + i, DIM + 1 + N + i);
                    axpy(passed.matches[i], &read.states[hop], gradient.row_mut(key));
                    axpy(read.attention[hop][i], &passed.next, gradient.row_mut(value));
                }
            }
            let worst = worst_error(&mut all, &gradient, 1e-3, loss);
            assert!(worst < 1e-6, "{hops} hops: {worst}");
        }
    }
}
