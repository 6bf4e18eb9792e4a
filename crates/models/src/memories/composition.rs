//! [`Composition`]: from the embeddings of a phrase's words to that of the phrase, A φ(s) of §3.1.
//!
//! Rows of a table → their sum, their mean or their sum under position encoding; and the way back, a
//! gradient of the phrase's embedding → updates of the rows.

use numerics::{Gradient, Real, Table, Update};

/// How the words of a phrase make it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Composition {
    /// Σ_j a_j. A window with one dictionary for each position is such a sum too.
    Sum,
    /// Σ_j a_j / J.
    Mean,
    /// Σ_j a_j / √J: long passages are about as large as short ones.
    Root,
    /// Σ_j l_j ∘ a_j, where l weighs each component of a word by the word's place.
    PositionEncoding,
}

/// The part of a word's weight that is the same in all components, and the part that grows with k/p.
struct Weight {
    level: f64,
    slope: f64,
}

impl Composition {
    // Sukhbaatar et al. 2015, §4.1 (position encoding): l_kj = (1 − j/J) − (k/p)(1 − 2j/J), j and k from 1.
    fn weight(self, place: usize, length: usize) -> Weight {
        match self {
            Self::Sum => Weight { level: 1.0, slope: 0.0 },
            Self::Mean => Weight { level: 1.0 / length as f64, slope: 0.0 },
            Self::Root => Weight { level: (length as f64).sqrt().recip(), slope: 0.0 },
            Self::PositionEncoding => {
                let share = (place + 1) as f64 / length as f64;
                Weight { level: 1.0 - share, slope: 2.0 * share - 1.0 }
            }
        }
    }

    /// Adds the embedding of a phrase to `sum`.
    pub fn embed<R: Real>(self, table: &Table<R>, rows: &[u32], sum: &mut [R]) {
        if self != Self::PositionEncoding {
            let Weight { level, .. } = self.weight(0, rows.len());
            table.add_rows(rows, &vec![R::from_f64(level); rows.len()], sum);
            return;
        }
        let mut sloped = vec![R::ZERO; sum.len()];
        let weights = (0..rows.len()).map(|place| self.weight(place, rows.len()));
        let (levels, slopes): (Vec<R>, Vec<R>) =
            weights.map(|w| (R::from_f64(w.level), R::from_f64(w.slope))).unzip();
        table.add_rows(rows, &levels, sum);
        table.add_rows(rows, &slopes, &mut sloped);
        ramp(&mut sloped);
        sum.iter_mut().zip(sloped).for_each(|(sum, sloped)| *sum += sloped);
    }

    /// Adds a vector that gradients of embeddings are multiples of, for [`Self::push`] to refer to.
    pub fn push_vector<R: Real>(self, gradient: &mut Gradient<R>, vector: &[R]) -> u32 {
        let number = gradient.push_vector(vector);
        if self == Self::PositionEncoding {
            let mut sloped = vector.to_vec();
            ramp(&mut sloped);
            gradient.push_vector(&sloped);
        }
        number
    }

    /// Adds updates of the rows of a phrase whose embedding has the gradient `scale` · vector.
    pub fn push<R: Real>(self, gradient: &mut Gradient<R>, rows: &[u32], scale: R, vector: u32) {
        for (place, &row) in rows.iter().enumerate() {
            let Weight { level, slope } = self.weight(place, rows.len());
            gradient.push(Update { row, scale: scale * R::from_f64(level), vector });
            if self == Self::PositionEncoding {
                let vector = vector + 1;
                gradient.push(Update { row, scale: scale * R::from_f64(slope), vector });
            }
        }
    }
}

/// Multiplies the k-th of p components by k/p.
fn ramp<R: Real>(vector: &mut [R]) {
    let step = 1.0 / vector.len() as f64;
    for (k, component) in vector.iter_mut().enumerate() {
        *component = *component * R::from_f64((k + 1) as f64 * step);
    }
}

#[cfg(test)]
mod tests {
    use numerics::dot;
    use numerics::testing::{dense, worst_error};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const ALL: [Composition; 4] =
        [Composition::Sum, Composition::Mean, Composition::Root, Composition::PositionEncoding];

    #[test]
    fn two_words_by_hand() {
        let table = Table::from_values(2, 2, &[1.0f64, 10.0, 3.0, 50.0]).unwrap();
        let embedded = ALL.map(|composition| {
            let mut sum = vec![0.0; 2];
            composition.embed(&table, &[0, 1], &mut sum);
            sum
        });
        // J = 2 and p = 2: l_k1 = 1/2 in both components; l_12 = 0 + 1/2, l_22 = 0 + 1.
        let root = 2.0f64.sqrt().recip();
        let expected = [
            [4.0, 60.0],
            [2.0, 30.0],
            [root + 3.0 * root, 10.0 * root + 50.0 * root],
            [0.5 + 1.5, 5.0 + 50.0],
        ];
        assert_eq!(embedded, expected);
    }

    #[test]
    fn nothing_is_embedded_as_zero() {
        for composition in ALL {
            let mut sum = vec![0.0f32; 2];
            composition.embed(&Table::zeros(1, 2), &[], &mut sum);
            assert_eq!(sum, [0.0; 2]);
        }
    }

    #[test]
    fn gradients_are_central_differences() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let rows = [2, 0, 3, 2, 1];
        let target = [0.5, -1.0, 0.25];
        for composition in ALL {
            let mut table = Table::<f64>::normal(5, 3, 1.0, &mut rng);
            let mut gradient = Gradient::new(5, 3);
            let vector = composition.push_vector(&mut gradient, &target);
            composition.push(&mut gradient, &rows, 2.0, vector);
            let gradient = dense(5, 3, &gradient);
            let worst = worst_error(&mut table, &gradient, 1e-3, |table| {
                let mut sum = vec![0.0; 3];
                composition.embed(table, &rows, &mut sum);
                2.0 * dot(&sum, &target)
            });
            assert!(worst < 1e-6, "{composition:?}: {worst}");
        }
    }
}
