//! Words to learn an answer against, in place of the whole dictionary.
//!
//! | sampler | draws | for |
//! | --- | --- | --- |
//! | [`FrequencySampler`] | n words per question, by frequency, with replacement | self-supervision (Appendix E) |
//! | [`InclusionSampler`] | each word by itself with its own probability, per mini-batch | the softmax of §3.2 |

use numerics::Real;
use questions::BLANK;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use crate::SplitView;
use crate::words::dictionary::Dictionary;

/// A score whose exponential is 0, small enough to stay the smallest after sums.
pub(crate) const NEVER: f64 = -1e30;

/// Draws words by their frequency.
pub(crate) struct FrequencySampler {
    /// For each row of the dictionary, the number of words of the text up to it, plus one per row.
    up_to: Vec<u64>,
}

impl FrequencySampler {
    /// The words of the training queries with their answers. Every row is counted one extra time, so that each can
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
    pub fn draw(&self, answer: u32, n: usize, mut rng: ChaCha8Rng, drawn: &mut Vec<(u32, f64)>) {
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

/// Who enters a sample, and how often.
pub(crate) struct InclusionSampler {
    /// π of each row of U.
    inclusion: Vec<f64>,
}

pub(crate) struct SampledRows {
    /// Rows of U in their order.
    pub rows: Vec<u32>,
    /// What is added to the score of each: −ln π, or [`NEVER`] where it is there as an answer only.
    pub offsets: Vec<f64>,
}

impl InclusionSampler {
    /// A sampler that draws `samples` rows on average. The probability of a row grows with the weight it
    /// is given, and is 1 for those that are heavy enough.
    pub fn new(weights: &[f64], samples: usize) -> Self {
        let expected = |factor: f64| weights.iter().map(|w| (factor * w).min(1.0)).sum::<f64>();
        let (mut low, mut high) = (0.0, 1.0);
        while expected(high) < samples.min(weights.len()) as f64 - 0.5 {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if expected(middle) < samples as f64 { low = middle } else { high = middle }
        }
        Self { inclusion: weights.iter().map(|w| (high * w).min(1.0)).collect() }
    }

    pub fn draw(&self, answers: &[u32], rng: &mut ChaCha8Rng) -> SampledRows {
        let mut answers = answers.to_vec();
        answers.sort_unstable();
        answers.dedup();
        let mut answers = answers.into_iter().peekable();
        let mut drawn = SampledRows { rows: Vec::new(), offsets: Vec::new() };
        for (row, &inclusion) in (0u32..).zip(&self.inclusion) {
            let is_answer = answers.next_if_eq(&row).is_some();
            let enters = inclusion >= 1.0 || f64::from(rng.next_u32()) < inclusion * 2f64.powi(32);
            if enters || is_answer {
                drawn.rows.push(row);
                drawn.offsets.push(if enters { -inclusion.ln() } else { NEVER });
            }
        }
        drawn
    }
}

#[cfg(test)]
mod tests {
    use base::seeds::{Use, generator};
    use questions::Split;

    use super::*;
    use crate::Training;
    use crate::fixture::{TestQuestion, set_of};

    #[test]
    fn words_are_drawn_by_their_frequency_and_the_answer_comes_first_and_once() {
        let query = ["the"; 1028].join(" ") + " XXXXX";
        let set = set_of(&[TestQuestion {
            context: vec![],
            query: &query,
            candidates: &["fox", "hen"],
            answer: Some(0),
            split: Split::Train,
        }]);
        let part = Training::new(&set, 1, &|_| ()).train;
        let dictionary = Dictionary::of_questions(&part);
        let frequencies = FrequencySampler::of_queries(&part, &dictionary);
        let rows = dictionary.rows_of(set.vocabulary());
        let row = |word: &str| rows[set.vocabulary().get(word).unwrap().index()];
        let mut drawn = Vec::new();
        let rng = generator(1, Use::Negatives, &[]);
        frequencies.draw(row("fox"), 400, rng, &mut drawn);
        assert_eq!((drawn.len(), drawn[0].0), (401, row("fox")));
        assert!(drawn[1..].iter().all(|&(drawn, _)| drawn != row("fox")));
        // 1,026 rows without words and 3 with one count once; `the` 1,028 times more, `fox` once: 2,058.
        let n_the = drawn.iter().filter(|&&(drawn, _)| drawn == row("the")).count();
        assert!((150..250).contains(&n_the), "{n_the}");
        let share = 2.0 / 2058.0 * 400.0;
        assert!((drawn[0].1 - f64::ln(share)).abs() < 1e-12);
    }

    #[test]
    fn samples_have_the_size_asked_for_and_their_weights_make_up_for_it() {
        let weights: Vec<f64> = (0..1000).map(|row| if row < 10 { 1000.0 } else { 1.0 }).collect();
        let sampler = InclusionSampler::new(&weights, 100);
        // The ten heavy rows always enter; 90 more are expected of 990.
        assert!(sampler.inclusion[..10].iter().all(|&inclusion| inclusion == 1.0));
        assert!((sampler.inclusion[10] - 90.0 / 990.0).abs() < 1e-9);
        let mut rng = generator(9, Use::SampledSoftmax, &[]);
        let (mut size, mut total, draws) = (0.0, 0.0, 200);
        for _ in 0..draws {
            let drawn = sampler.draw(&[], &mut rng);
            size += drawn.rows.len() as f64 / f64::from(draws);
            total +=
                drawn.offsets.iter().map(|offset| offset.exp()).sum::<f64>() / f64::from(draws);
        }
        // Standard errors: √(90 · 10/11 / 200) = 0.64 and 11 times that.
        assert!((size - 100.0).abs() < 3.0 && (total - 1000.0).abs() < 30.0, "{size} {total}");
    }
}
