//! [`Network`]: a memory network with soft attention (§3.2), without hops an embedding model (§4.3): its
//! tables, the way from phrases to the state that is decoded, and a step of SGD or Adagrad.
//!
//! A mini-batch is learnt from on frozen weights. Questions go forward side by side, then all of them
//! through the output layer, then back; updates are applied in the order of the questions.

use numerics::{Gradient, Real, Table, Update, apply, apply_adagrad, dot};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::memories::composition::Composition;
use crate::memories::format::Phrases;
use crate::soft::attention::{AttentionPass, Memories};
use crate::soft::candidate_softmax;
use crate::soft::dictionary_softmax::{Decode, Decoding, Output};
use crate::soft::tables::PerTable;

/// How many questions one thread takes at a time; fixed, since it decides the order of sums.
const QUESTIONS_PER_PART: usize = 8;

/// The shape of a network.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Rows of A and of B.
    pub rows: usize,
    /// d, the words that can be decoded: rows of U.
    pub words: usize,
    /// p, the dimension of embeddings.
    pub dim: usize,
    /// K, the number of hops.
    pub hops: usize,
    /// How words make up a phrase.
    pub composition: Composition,
    /// What the latest memory has before the first, in the exponent of the attention.
    pub time_scale: f64,
    /// The length at which a question's dL/dq^k is cut off.
    pub clip: f64,
    /// The attention below which a memory is not learnt from.
    pub negligible: f64,
    /// If U is tied to A: the row of A that is the first of U.
    pub tied: Option<usize>,
}

/// The weights of a network.
#[derive(Clone)]
pub(crate) struct Network<R: Real> {
    pub shape: Shape,
    /// Those that the network does not have are empty.
    pub tables: PerTable<Table<R>>,
    /// Adagrad's sum of squares for each row of the tables; empty: plain steps.
    pub squares: PerTable<Table<R>>,
}

/// A question after its forward pass.
struct ForwardPass<R> {
    memories: Memories<R>,
    read: AttentionPass<R>,
}

/// The gradients of some questions of a mini-batch.
struct PartialGradients<R> {
    embed_in: Gradient<R>,
    embed_out: Gradient<R>,
    between_hops: Gradient<R>,
}

type GradientOf<R> = fn(&PartialGradients<R>) -> &Gradient<R>;

/// A mini-batch: questions as phrases with the rows of their answers in U.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    pub questions: &'a [Phrases],
    pub answers: &'a [u32],
    /// The rows of their candidates, to be distinguished from these alone; empty: from the whole dictionary.
    pub candidates: &'a [Vec<u32>],
}

/// [`Network::squares`] of plain steps.
pub(crate) fn no_squares<R: Real>() -> PerTable<Table<R>> {
    [(); 4].map(|()| Table::zeros(0, 1)).into()
}

impl Shape {
    /// The number of rows in each table; a row has `dim` numbers.
    pub fn rows(&self) -> PerTable<usize> {
        let if_hops = |rows: usize| if self.hops > 0 { rows } else { 0 };
        PerTable {
            embed_in: self.rows,
            embed_out: if_hops(self.rows),
            between_hops: if_hops(self.dim),
            decode: if self.tied.is_some() { 0 } else { self.words },
        }
    }
}

impl<R: Real> Network<R> {
    /// A new network. Chosen: H starts as the identity, everything else is drawn.
    pub fn new(shape: Shape, init: f64, rng: &mut ChaCha8Rng) -> Self {
        let mut tables = shape.rows().map(|rows| Table::normal(rows, shape.dim, init, rng));
        let identity = &mut tables.between_hops;
        identity.values_mut().fill(R::ZERO);
        (0..identity.rows()).for_each(|row| identity.row_mut(row)[row] = R::ONE);
        Self { shape, tables, squares: no_squares() }
    }

    /// The same network, to be trained by Adagrad.
    pub fn with_adagrad(mut self) -> Self {
        self.squares = self.shape.rows().map(|rows| Table::zeros(rows, 1));
        self
    }

    /// The scores of some words, rows of U.
    pub fn score(&self, state: &[R], words: impl Iterator<Item = u32>) -> Vec<R> {
        let (table, first) = match self.shape.tied {
            Some(first) => (&self.tables.embed_in, first),
            None => (&self.tables.decode, 0),
        };
        words.map(|word| dot(table.row(first + word as usize), state)).collect()
    }

    /// From phrases to q^{K+1}, and the attention of each hop.
    pub fn read(&self, phrases: &Phrases) -> AttentionPass<R> {
        self.forward(phrases).read
    }

    fn forward(&self, phrases: &Phrases) -> ForwardPass<R> {
        let Shape { dim, hops, composition, time_scale, .. } = self.shape;
        // §3.2, embedding of the query: q = A φ(q).
        let mut query = vec![R::ZERO; dim];
        composition.embed(&self.tables.embed_in, &phrases.query, &mut query);
        let n = if hops > 0 { phrases.n_memories() } else { 0 };
        let mut memories = Memories {
            keys: vec![R::ZERO; n * dim],
            values: vec![R::ZERO; n * dim],
            times: (1..=n).map(|i| R::from_f64(time_scale * i as f64 / n as f64)).collect(),
        };
        let slots = memories.keys.chunks_exact_mut(dim).zip(memories.values.chunks_exact_mut(dim));
        // §3.2, embeddings of the memories: c_i = A φ(s_i), m_i = B φ(s_i).
        for (rows, (key, value)) in phrases.memories().zip(slots) {
            composition.embed(&self.tables.embed_in, rows, key);
            composition.embed(&self.tables.embed_out, rows, value);
        }
        let read = memories.read(&self.tables.between_hops, query, hops);
        ForwardPass { memories, read }
    }

    fn backward(
        &self,
        phrases: &Phrases,
        passage: &ForwardPass<R>,
        last: Vec<R>,
        part: &mut PartialGradients<R>,
    ) {
        let composition = self.shape.composition;
        let ForwardPass { memories, read } = passage;
        let clip = R::from_f64(self.shape.clip);
        let (hops, query) = memories.backward(&self.tables.between_hops, read, last, clip);
        for (hop, passed) in (0..self.shape.hops).rev().zip(&hops) {
            let state = &read.states[hop];
            let key = composition.push_vector(&mut part.embed_in, state);
            let value = composition.push_vector(&mut part.embed_out, &passed.next);
            let slopes = passed.matches.iter().zip(&read.attention[hop]);
            for (rows, (&slope, &share)) in phrases.memories().zip(slopes) {
                // Chosen: memories that hardly any attention goes to are not worth the time.
                if share < R::from_f64(self.shape.negligible) {
                    continue;
                }
                composition.push(&mut part.embed_in, rows, slope, key);
                composition.push(&mut part.embed_out, rows, share, value);
            }
            let vector = part.between_hops.push_vector(state);
            for (row, &scale) in (0..).zip(&passed.next) {
                part.between_hops.push(Update { row, scale, vector });
            }
        }
        let vector = composition.push_vector(&mut part.embed_in, &query);
        composition.push(&mut part.embed_in, &phrases.query, R::ONE, vector);
    }

    /// Learns from a mini-batch; returns the sum of the losses before the step.
    pub fn step(
        &mut self,
        batch: &Batch<'_>,
        output: &Output,
        rate: R,
        rng: &mut ChaCha8Rng,
    ) -> f64 {
        let Shape { dim, words, .. } = self.shape;
        let questions = batch.questions;
        let passages: Vec<ForwardPass<R>> =
            questions.par_iter().map(|phrases| self.forward(phrases)).collect();
        let states: Vec<R> =
            passages.iter().flat_map(|passage| passage.read.last()).copied().collect();
        let decoding = Decoding { states: &states, answers: batch.answers };
        let (tables, squares) = (self.tables.each_mut(), self.squares.each_mut());
        let (table, squares, first) = match self.shape.tied {
            Some(first) => (tables.embed_in, squares.embed_in, first),
            None => (tables.decode, squares.decode, 0),
        };
        let decoded = if batch.candidates.is_empty() {
            let squares = squares.values_mut();
            let is_plain = squares.is_empty();
            let decode = Decode {
                rows: &mut table.values_mut()[first * dim..][..words * dim],
                squares: if is_plain { squares } else { &mut squares[first..first + words] },
            };
            output.descend(decode, &decoding, rate, rng)
        } else {
            let decode = candidate_softmax::Decode { table, first, squares };
            candidate_softmax::descend(decode, &decoding, batch.candidates, rate)
        };
        let all: Vec<usize> = (0..questions.len()).collect();
        let parts: Vec<PartialGradients<R>> = all
            .par_chunks(QUESTIONS_PER_PART)
            .map(|some| {
                let gradient = |table: &Table<R>| Gradient::new(table.rows(), dim);
                let mut part = PartialGradients {
                    embed_in: gradient(&self.tables.embed_in),
                    embed_out: gradient(&self.tables.embed_out),
                    between_hops: gradient(&self.tables.between_hops),
                };
                for &question in some {
                    let last = decoded.states[question * dim..][..dim].to_vec();
                    self.backward(&questions[question], &passages[question], last, &mut part);
                }
                part
            })
            .collect();
        let follow = |table: &mut Table<R>, squares: &mut Table<R>, gradient: GradientOf<R>| {
            let gradients: Vec<&Gradient<R>> = parts.iter().map(gradient).collect();
            match squares.rows() {
                0 => apply(table, -rate, &gradients),
                _ => apply_adagrad(table, squares, -rate, &gradients),
            }
        };
        let (tables, squares) = (self.tables.each_mut(), self.squares.each_mut());
        follow(tables.embed_in, squares.embed_in, |part| &part.embed_in);
        follow(tables.embed_out, squares.embed_out, |part| &part.embed_out);
        follow(tables.between_hops, squares.between_hops, |part| &part.between_hops);
        decoded.loss
    }
}

#[cfg(test)]
mod tests {
    use numerics::testing::worst_error;
    use rand::SeedableRng;

    use super::*;
    use crate::learning::sampling::InclusionSampler;

    const WORDS: usize = 6;
    const DIM: usize = 3;

    fn shape(hops: usize, composition: Composition, tied: Option<usize>) -> Shape {
        let (rows, words, dim, time_scale, clip) = (2 * WORDS, WORDS, DIM, 0.7, 1e9);
        Shape { rows, words, dim, hops, composition, time_scale, clip, negligible: 0.0, tied }
    }

    /// Three questions: with three memories, with one, and with none.
    fn questions() -> Vec<Phrases> {
        vec![
            Phrases::new(&[1, 7, 2], &[&[0, 8], &[3, 3, 9], &[11]]),
            Phrases::new(&[4, 10], &[&[5, 6, 1]]),
            Phrases::new(&[2], &[]),
        ]
    }

    /// What the answers are distinguished from.
    #[derive(Clone, Copy)]
    enum Loss<'a> {
        Dictionary(&'a Output),
        Candidates,
    }

    fn step(network: &mut Network<f64>, loss: Loss<'_>) -> f64 {
        let questions = questions();
        // The second question has case twins, which share a row.
        let candidates = [vec![2, 0, 4], vec![5, 1, 5], vec![3, 2]];
        let (output, candidates) = match loss {
            Loss::Dictionary(output) => (output, &[][..]),
            Loss::Candidates => (&Output::Exact, &candidates[..]),
        };
        let batch = Batch { questions: &questions, answers: &[2, 5, 2], candidates };
        network.step(&batch, output, 1.0, &mut ChaCha8Rng::seed_from_u64(3))
    }

    fn tables(network: &mut Network<f64>) -> [&mut Table<f64>; 4] {
        network.tables.each_mut().into()
    }

    /// A step of size 1 moves every table by its gradient.
    fn check(shape: Shape, loss: Loss<'_>) {
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let mut network = Network::<f64>::new(shape.clone(), 0.8, &mut rng);
        let mut moved = network.clone();
        step(&mut moved, loss);
        for place in 0..4 {
            let mut table = tables(&mut network)[place].clone();
            let after = tables(&mut moved)[place].values();
            let gradient =
                table.values().iter().zip(after).map(|(old, new)| old - new).collect::<Vec<_>>();
            let gradient = Table::from_values(table.rows(), DIM, &gradient).unwrap();
            let worst = worst_error(&mut table, &gradient, 1e-3, |table| {
                let mut changed = network.clone();
                *tables(&mut changed)[place] = table.clone();
                step(&mut changed, loss)
            });
            assert!(worst < 1e-6, "{shape:?}, table {place}: {worst}");
        }
    }

    #[test]
    fn gradients_of_whole_networks_are_central_differences() {
        let sampled = Output::Sampled(InclusionSampler::new(&[1.0; WORDS], 4));
        for hops in 0..=3 {
            for composition in [Composition::Sum, Composition::Mean, Composition::PositionEncoding]
            {
                check(shape(hops, composition, None), Loss::Dictionary(&Output::Exact));
            }
            // U is the second dictionary of A.
            for loss in [Loss::Dictionary(&Output::Exact), Loss::Candidates] {
                check(shape(hops, Composition::Sum, Some(WORDS)), loss);
            }
            for loss in [Loss::Dictionary(&sampled), Loss::Candidates] {
                check(shape(hops, Composition::Sum, None), loss);
            }
        }
    }

    #[test]
    fn a_fresh_network_without_hops_scores_by_the_bilinear_form() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network = Network::<f64>::new(shape(0, Composition::Sum, None), 1.0, &mut rng);
        let read = network.read(&questions()[1]);
        let (a, u) = (&network.tables.embed_in, &network.tables.decode);
        let expected: f64 = (0..DIM).map(|k| (a.row(4)[k] + a.row(10)[k]) * u.row(3)[k]).sum();
        assert!((network.score(read.last(), [3].into_iter())[0] - expected).abs() < 1e-12);
    }
}
