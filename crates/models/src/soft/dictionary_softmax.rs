//! The output layer of §3.2: states q^{K+1} of a mini-batch → cross-entropy of their answers against the
//! whole dictionary, its gradient, and a step of U.
//!
//! The dictionary is taken in blocks of a fixed number of words, each on one thread, and what the blocks
//! contribute is added up in their order: any number of threads gives the same bytes.
//!
//! **Sampled.** Every word w enters a mini-batch by itself with probability π(w), and e^{score} of one that
//! entered counts 1/π(w) times, so the sum under the softmax is right on average (Bengio & Senécal 2003;
//! Jean et al. 2015, with one sample for all questions of a mini-batch). Frequent answers have π = 1: all
//! of the chance is in words that hardly matter. A question's own answer always counts once.

use numerics::{MatRef, Real, axpy, dot, multiply};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::learning::sampling::{InclusionSampler, NEVER};

/// Words per block.
const BLOCK: usize = 512;
/// The way from states to the loss.
pub(crate) enum Output {
    /// Against all words of the dictionary.
    Exact,
    /// Against a sample of them.
    Sampled(InclusionSampler),
}

/// States before the output layer, with the rows of their answers in U.
pub(crate) struct Decoding<'a, R> {
    /// The states of n questions, n × p.
    pub states: &'a [R],
    /// The rows of their answers in U, n.
    pub answers: &'a [u32],
}

/// U during a step of descent.
pub(crate) struct Decode<'a, R> {
    /// The rows of U, d × p.
    pub rows: &'a mut [R],
    /// Adagrad's sum for each row; empty: plain steps.
    pub squares: &'a mut [R],
}

/// What the output layer returns.
pub(crate) struct OutputGradients<R> {
    /// The sum of −ln â(a) over the mini-batch.
    pub loss: f64,
    /// dL/dq^{K+1} of each question: n × p.
    pub states: Vec<R>,
}

impl Output {
    /// Loss and gradient of a mini-batch, and a step of U against its own gradient.
    pub fn descend<R: Real>(
        &self,
        decode: Decode<'_, R>,
        batch: &Decoding<'_, R>,
        rate: R,
        rng: &mut ChaCha8Rng,
    ) -> OutputGradients<R> {
        let dim = batch.states.len() / batch.answers.len();
        match self {
            Self::Exact => {
                let targets: Vec<usize> = batch.answers.iter().map(|&row| row as usize).collect();
                let rows = Rows { targets: &targets, offsets: &[] };
                rows.descend(decode, batch.states, rate)
            }
            Self::Sampled(sampler) => {
                let drawn = sampler.draw(batch.answers, rng);
                let place = |row| drawn.rows.binary_search(row).expect("answers are always drawn");
                let targets: Vec<usize> = batch.answers.iter().map(place).collect();
                let offsets: Vec<R> = drawn.offsets.iter().map(|&x| R::from_f64(x)).collect();
                let mut own = vec![R::ZERO; drawn.rows.len() * dim];
                own.par_chunks_mut(dim).zip(&drawn.rows).for_each(|(to, &row)| {
                    to.copy_from_slice(&decode.rows[row as usize * dim..][..dim]);
                });
                let squares = drawn.rows.iter().filter_map(|&row| decode.squares.get(row as usize));
                let mut squares: Vec<R> = squares.copied().collect();
                let rows = Rows { targets: &targets, offsets: &offsets };
                let part = Decode { rows: &mut own, squares: &mut squares };
                let decoded = rows.descend(part, batch.states, rate);
                for (&row, square) in drawn.rows.iter().zip(squares) {
                    decode.squares[row as usize] = square;
                }
                decode.rows.par_chunks_mut(BLOCK * dim).enumerate().for_each(|(block, to)| {
                    let first = block * BLOCK;
                    let start = drawn.rows.partition_point(|&row| (row as usize) < first);
                    let rows = drawn.rows[start..].iter().map(|&row| row as usize - first);
                    for (row, from) in rows.zip(own[start * dim..].chunks_exact(dim)) {
                        let Some(to) = to.get_mut(row * dim..(row + 1) * dim) else { break };
                        to.copy_from_slice(from);
                    }
                });
                decoded
            }
        }
    }
}

/// The rows that take part in a mini-batch.
struct Rows<'a, R> {
    /// The place of each question's answer among them.
    targets: &'a [usize],
    /// What is added to the score of each row, but for a question's own answer; empty: nothing.
    offsets: &'a [R],
}

/// A block of rows after the first pass, questions side by side.
struct Block<R> {
    /// e^{score − highest}: rows × n.
    shares: Vec<R>,
    /// The highest score of each question in this block.
    highest: Vec<R>,
    /// The sum of the shares of each question.
    sums: Vec<R>,
    /// The scores of the answers that are in this block.
    targets: Vec<(usize, R)>,
}

impl<R: Real> Rows<'_, R> {
    fn descend(&self, decode: Decode<'_, R>, states: &[R], rate: R) -> OutputGradients<R> {
        let n = self.targets.len();
        let dim = states.len() / n;
        let Decode { rows, squares } = decode;
        let blocks = rows.par_chunks(BLOCK * dim).enumerate();
        let mut blocks: Vec<Block<R>> =
            blocks.map(|(number, rows)| self.score(number * BLOCK, rows, states)).collect();
        let log_sums: Vec<R> = (0..n).map(|question| log_sum(&blocks, question)).collect();
        let scores = blocks.iter().flat_map(|block| &block.targets);
        // §3.2, cross-entropy: −ln â(a), â = softmax(U q^{K+1}).
        let loss = scores.map(|&(question, score)| (log_sums[question] - score).to_f64()).sum();
        let mut squares: Vec<&mut [R]> = squares.chunks_mut(BLOCK).collect();
        squares.resize_with(blocks.len(), || &mut []);
        let parts = rows.par_chunks_mut(BLOCK * dim).zip(&mut blocks).zip(squares).enumerate();
        let parts: Vec<Vec<R>> = parts
            .map(|(number, ((rows, block), squares))| {
                self.slopes(number * BLOCK, block, &log_sums);
                // With g = â − 1_a: dL/dq = Uᵀg and dL/dU = g qᵀ.
                let slopes = MatRef::new(&block.shares, n);
                let mut part = vec![R::ZERO; states.len()];
                multiply(&mut part, R::ZERO, R::ONE, slopes.transposed(), MatRef::new(rows, dim));
                if squares.is_empty() {
                    multiply(rows, R::ONE, -rate, slopes, MatRef::new(states, dim));
                } else {
                    let mut gradient = vec![R::ZERO; rows.len()];
                    multiply(&mut gradient, R::ZERO, R::ONE, slopes, MatRef::new(states, dim));
                    adagrad(rows, squares, rate, &gradient);
                }
                part
            })
            .collect();
        let mut states = vec![R::ZERO; states.len()];
        states.par_chunks_mut(dim).enumerate().for_each(|(question, sum)| {
            for part in &parts {
                sum.iter_mut().zip(&part[question * dim..]).for_each(|(sum, &x)| *sum += x);
            }
        });
        OutputGradients { loss, states }
    }

    /// The answers in a block of rows from `first` on: (question, row of the block).
    fn targets_in(&self, first: usize, n_rows: usize) -> impl Iterator<Item = (usize, usize)> {
        let targets = self.targets.iter().enumerate();
        targets
            .filter(move |&(_, &target)| (first..first + n_rows).contains(&target))
            .map(move |(question, &target)| (question, target - first))
    }

    fn score(&self, first: usize, rows: &[R], states: &[R]) -> Block<R> {
        let n = self.targets.len();
        let dim = states.len() / n;
        let n_rows = rows.len() / dim;
        let mut scores = vec![R::ZERO; n_rows * n];
        let transposed = MatRef::new(states, dim).transposed();
        multiply(&mut scores, R::ZERO, R::ONE, MatRef::new(rows, dim), transposed);
        let targets = self.targets_in(first, n_rows);
        let targets: Vec<(usize, usize, R)> =
            targets.map(|(question, row)| (question, row, scores[row * n + question])).collect();
        if !self.offsets.is_empty() {
            for (line, &offset) in scores.chunks_exact_mut(n).zip(&self.offsets[first..]) {
                line.iter_mut().for_each(|score| *score += offset);
            }
            for &(question, row, score) in &targets {
                scores[row * n + question] = score;
            }
        }
        let mut highest = scores[..n].to_vec();
        for line in scores.chunks_exact(n) {
            highest.iter_mut().zip(line).for_each(|(high, &score)| *high = high.max(score));
        }
        let mut sums = vec![R::ZERO; n];
        for line in scores.chunks_exact_mut(n) {
            line.iter_mut().zip(&highest).for_each(|(score, &high)| *score -= high);
            R::exp_slice(line);
            sums.iter_mut().zip(&*line).for_each(|(sum, &share)| *sum += share);
        }
        let targets = targets.into_iter().map(|(question, _, score)| (question, score)).collect();
        Block { shares: scores, highest, sums, targets }
    }

    /// Turns the shares of a block into g = â − 1_a.
    fn slopes(&self, first: usize, block: &mut Block<R>, log_sums: &[R]) {
        let n = log_sums.len();
        let factors = block.highest.iter().zip(log_sums);
        let factors: Vec<R> = factors.map(|(&highest, &sum)| (highest - sum).exp()).collect();
        for line in block.shares.chunks_exact_mut(n) {
            line.iter_mut().zip(&factors).for_each(|(share, &factor)| *share = *share * factor);
        }
        for (question, row) in self.targets_in(first, block.shares.len() / n) {
            block.shares[row * n + question] -= R::ONE;
        }
    }
}

// Duchi et al. 2011, Adagrad: as `numerics::apply_adagrad`, with a row's gradient by the whole mini-batch.
/// A step of each row against its gradient, over the root of the mean squares of its gradients so far.
fn adagrad<R: Real>(rows: &mut [R], squares: &mut [R], rate: R, gradient: &[R]) {
    let dim = rows.len() / squares.len();
    let gradients = gradient.chunks_exact(dim);
    for ((row, square), gradient) in rows.chunks_exact_mut(dim).zip(squares).zip(gradients) {
        *square += dot(gradient, gradient) / R::from_f64(dim as f64);
        if *square > R::ZERO {
            axpy(-rate / square.sqrt(), gradient, row);
        }
    }
}

/// ln Σ e^{score} of a question over all blocks.
fn log_sum<R: Real>(blocks: &[Block<R>], question: usize) -> R {
    let highest = blocks.iter().map(|block| block.highest[question]);
    let highest = highest.fold(R::from_f64(NEVER), R::max);
    let mut sum = R::ZERO;
    for block in blocks {
        sum += block.sums[question] * (block.highest[question] - highest).exp();
    }
    highest + sum.ln()
}

#[cfg(test)]
mod tests {
    use numerics::Table;
    use numerics::testing::worst_error;
    use rand::SeedableRng;

    use super::*;

    const DIM: usize = 3;

    fn rng() -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(9)
    }

    /// A step of size 1 gives the gradient of U; of size 0, the loss alone.
    fn descend(
        output: &Output,
        decode: &Table<f64>,
        states: &Table<f64>,
        answers: &[u32],
    ) -> (OutputGradients<f64>, Table<f64>) {
        let mut moved = decode.clone();
        let batch = Decoding { states: states.values(), answers };
        let plain = Decode { rows: moved.values_mut(), squares: &mut [] };
        let decoded = output.descend(plain, &batch, 1.0, &mut rng());
        let gradient = decode.values().iter().zip(moved.values()).map(|(old, new)| old - new);
        let gradient =
            Table::from_values(decode.rows(), DIM, &gradient.collect::<Vec<_>>()).unwrap();
        (decoded, gradient)
    }

    #[test]
    fn the_exact_loss_is_the_cross_entropy_by_definition() {
        // More rows than a block, so that blocks are joined.
        let decode = Table::<f64>::normal(BLOCK + 7, DIM, 1.0, &mut rng());
        let states = Table::<f64>::normal(2, DIM, 1.0, &mut rng());
        let answers = [BLOCK as u32 + 3, 5];
        let (decoded, _) = descend(&Output::Exact, &decode, &states, &answers);
        let mut expected = 0.0;
        for (question, &answer) in answers.iter().enumerate() {
            let score = |row| numerics::dot(decode.row(row), states.row(question));
            let sum: f64 = (0..decode.rows()).map(|row| score(row).exp()).sum();
            expected += sum.ln() - score(answer as usize);
        }
        assert!((decoded.loss - expected).abs() < 1e-10, "{} {expected}", decoded.loss);
    }

    #[test]
    fn gradients_are_central_differences_exact_and_sampled() {
        let weights: Vec<f64> = (0..BLOCK + 20).map(|row| 1.0 + (row % 7) as f64).collect();
        let answers = [3, 70, 3, BLOCK as u32 + 11];
        for output in [Output::Exact, Output::Sampled(InclusionSampler::new(&weights, 100))] {
            let mut decode = Table::<f64>::normal(weights.len(), DIM, 0.8, &mut rng());
            let mut states = Table::<f64>::normal(answers.len(), DIM, 0.8, &mut rng());
            let (decoded, gradient) = descend(&output, &decode, &states, &answers);
            let of_states = Table::from_values(answers.len(), DIM, &decoded.states).unwrap();
            let loss = |states: &Table<f64>| descend(&output, &decode, states, &answers).0.loss;
            let worst = worst_error(&mut states, &of_states, 1e-3, loss);
            assert!(worst < 1e-6, "states: {worst}");
            let loss = |decode: &Table<f64>| descend(&output, decode, &states, &answers).0.loss;
            let worst = worst_error(&mut decode, &gradient, 1e-3, loss);
            assert!(worst < 1e-6, "decode: {worst}");
        }
    }

    #[test]
    fn adagrad_divides_the_step_of_every_row_by_the_root_of_its_squares() {
        let weights: Vec<f64> = (0..BLOCK + 20).map(|row| 1.0 + (row % 7) as f64).collect();
        for output in [Output::Exact, Output::Sampled(InclusionSampler::new(&weights, 100))] {
            let decode = Table::<f64>::normal(weights.len(), DIM, 0.8, &mut rng());
            let states = Table::<f64>::normal(2, DIM, 0.8, &mut rng());
            let answers = [3, BLOCK as u32 + 11];
            let (_, gradient) = descend(&output, &decode, &states, &answers);
            let (mut moved, mut squares) = (decode.clone(), vec![7.0; weights.len()]);
            let batch = Decoding { states: states.values(), answers: &answers };
            let rows = Decode { rows: moved.values_mut(), squares: &mut squares };
            output.descend(rows, &batch, 0.5, &mut rng());
            for (row, &square) in squares.iter().enumerate() {
                let slope = gradient.row(row);
                let expected = 7.0 + slope.iter().map(|x| x * x).sum::<f64>() / DIM as f64;
                assert!((square - expected).abs() < 1e-9, "{square} {expected}");
                for ((old, new), x) in decode.row(row).iter().zip(moved.row(row)).zip(slope) {
                    assert!((old - 0.5 * x / expected.sqrt() - new).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn a_sample_of_everything_is_exact() {
        let decode = Table::<f64>::normal(40, DIM, 1.0, &mut rng());
        let states = Table::<f64>::normal(2, DIM, 1.0, &mut rng());
        let all = Output::Sampled(InclusionSampler::new(&[1.0; 40], 40));
        let (exact, exact_gradient) = descend(&Output::Exact, &decode, &states, &[7, 30]);
        let (sampled, gradient) = descend(&all, &decode, &states, &[7, 30]);
        assert!((exact.loss - sampled.loss).abs() < 1e-12);
        for (a, b) in exact_gradient.values().iter().zip(gradient.values()) {
            assert!((a - b).abs() < 1e-12);
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bytes() {
        let weights: Vec<f64> = (0..3 * BLOCK).map(|row| 1.0 + (row % 5) as f64).collect();
        for output in [Output::Exact, Output::Sampled(InclusionSampler::new(&weights, 700))] {
            let step = |n_threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                let mut decode = Table::<f32>::normal(weights.len(), DIM, 1.0, &mut rng());
                let states = Table::<f32>::normal(5, DIM, 1.0, &mut rng());
                let batch = Decoding { states: states.values(), answers: &[1, 2, 3, 1400, 3] };
                let mut squares = vec![0.0; weights.len()];
                let rows = Decode { rows: decode.values_mut(), squares: &mut squares };
                let decoded = pool.install(|| output.descend(rows, &batch, 0.1, &mut rng()));
                (decode, squares, decoded.states, decoded.loss)
            };
            assert_eq!(step(1), step(2));
            assert_eq!(step(1), step(4));
        }
    }
}
