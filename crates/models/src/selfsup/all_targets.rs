//! The answer against all words of the dictionary (Appendix E, «all targets»): what the query and its
//! supporting memory stand for → loss, and back to the gradient.
//!
//! §3.2: â = softmax(U q²) with q² = q + `m_o1`, where hard attention (§3.3) puts the supporting memory in the
//! place of `m_o1`. Chosen: its embedding is that of A, and H is left out, so that all that is learnt but U is
//! what answers a question: the attention on windows.
//!
//! Chosen: instead of all 54,000 words the answer is compared with some drawn from the frequencies of
//! words in training, and each score is lowered by the logarithm of how often its word is expected among them
//! (sampled softmax: Jean et al. 2015, §3.1), which makes the loss that of all words on average.

use numerics::{Gradient, Real, Table, Update};
use questions::BLANK;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::SplitView;
use crate::learning::softmax::softmax;
use crate::words::dictionary::Dictionary;

/// Draws words by their frequency.
pub(crate) struct Frequencies {
    /// For each row of the dictionary, the number of words of the text up to it, plus one a row.
    up_to: Vec<u64>,
}

impl Frequencies {
    /// The words of the training queries with their answers. Every row counts once more, so that each can
    /// be drawn.
    pub fn of_queries(part: &SplitView<'_>, dictionary: &Dictionary) -> Self {
        let rows = dictionary.rows_of(part.vocabulary());
        let mut counts = vec![1u64; dictionary.n_rows()];
        for example in part.examples() {
            let question = &example.question;
            let answer = example.answer.map(|answer| question.candidates[answer]);
            let others = question.query.iter().copied().filter(|&word| word != BLANK);
            others.chain(answer).for_each(|word| counts[rows[word.index()] as usize] += 1);
        }
        let mut sum = 0;
        let up_to = counts.iter().map(|count| {
            sum += count;
            sum
        });
        Self { up_to: up_to.collect() }
    }

    /// ln of how often a row is expected among n draws.
    fn ln_expected(&self, row: u32, n: usize) -> f64 {
        let row = row as usize;
        let before = if row == 0 { 0 } else { self.up_to[row - 1] };
        let share = (self.up_to[row] - before) as f64 / self.up_to[self.up_to.len() - 1] as f64;
        Real::ln(share * n as f64)
    }

    /// The answer, then n other words, each with the logarithm of its expected number.
    pub fn draw(
        &self,
        answer: u32,
        n: usize,
        (seed, epoch, question): (u64, usize, u32),
        drawn: &mut Vec<(u32, f64)>,
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream((epoch as u64) << 32 | u64::from(question));
        drawn.clear();
        drawn.push((answer, self.ln_expected(answer, n)));
        while drawn.len() <= n {
            let number = rng.random_range(0..self.up_to[self.up_to.len() - 1]);
            let row = self.up_to.partition_point(|&up_to| up_to <= number) as u32;
            // The answer is never its own rival; a dictionary has other rows, so this ends.
            if row != answer {
                drawn.push((row, self.ln_expected(row, n)));
            }
        }
    }
}

/// Buffers for one question at a time.
#[derive(Default)]
pub(crate) struct AllTargets<R> {
    rows: Vec<u32>,
    errors: Vec<R>,
    /// ∂L/∂q².
    pub by_hidden: Vec<R>,
}

impl<R: Real> AllTargets<R> {
    /// Adds the gradient of U, fills in that of q²; gives the loss. The first of the drawn words is the
    /// answer.
    pub fn learn(
        &mut self,
        decode: &Table<R>,
        hidden: &[R],
        drawn: &[(u32, f64)],
        gradient: &mut Gradient<R>,
    ) -> R {
        self.rows.clear();
        self.rows.extend(drawn.iter().map(|(row, _)| row));
        self.errors.clear();
        decode.dots(&self.rows, hidden, &mut self.errors);
        for (score, (_, ln_expected)) in self.errors.iter_mut().zip(drawn) {
            *score -= R::from_f64(*ln_expected);
        }
        let of_answer = self.errors[0];
        let log_sum = softmax(&mut self.errors);
        self.errors[0] -= R::ONE;
        self.by_hidden.clear();
        self.by_hidden.resize(decode.dim(), R::ZERO);
        decode.add_rows(&self.rows, &self.errors, &mut self.by_hidden);
        let vector = gradient.push_vector(hidden);
        for (&row, &scale) in self.rows.iter().zip(&self.errors) {
            gradient.push(Update { row, scale, vector });
        }
        log_sum - of_answer
    }
}

#[cfg(test)]
mod tests {
    use questions::Split;

    use super::*;
    use crate::Training;
    use crate::fixture::{Asked, set_of};

    #[test]
    fn words_are_drawn_by_their_frequency_and_the_answer_comes_first_and_once() {
        let query = ["the"; 1028].join(" ") + " XXXXX";
        let set = set_of(&[Asked {
            context: vec![],
            query: &query,
            candidates: &["fox", "hen"],
            answer: Some(0),
            split: Split::Train,
        }]);
        let part = Training::new(&set, 1, &|_| ()).train;
        let dictionary = Dictionary::of_questions(&part);
        let frequencies = Frequencies::of_queries(&part, &dictionary);
        let rows = dictionary.rows_of(set.vocabulary());
        let row = |word: &str| rows[set.vocabulary().get(word).unwrap().index()];
        let mut drawn = Vec::new();
        frequencies.draw(row("fox"), 400, (1, 1, 1), &mut drawn);
        assert_eq!((drawn.len(), drawn[0].0), (401, row("fox")));
        assert!(drawn[1..].iter().all(|&(drawn, _)| drawn != row("fox")));
        // 1,026 rows without words and 3 with one count once; `the` 1,028 times more, `fox` once: 2,058.
        let n_the = drawn.iter().filter(|&&(drawn, _)| drawn == row("the")).count();
        assert!((150..250).contains(&n_the), "{n_the}");
        let share = 2.0 / 2058.0 * 400.0;
        assert!((drawn[0].1 - f64::ln(share)).abs() < 1e-12);
    }
}
