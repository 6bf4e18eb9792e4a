//! Which memory of the answer is the supporting one, m̃ (§3.3): the one that the model itself scores
//! highest, the nearest by TF-IDF («worked almost as well»), or any («did not»).

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use crate::memories::windows::Memories;
use crate::words::dictionary::Dictionary;
use crate::{Setting, SplitView};

pub(crate) const SUPPORT: Setting =
    Setting::choice("support", "highest", &["highest", "tf-idf", "random"])
        .symbol("m̃")
        .doc("How the supporting memory is chosen among those of the answer.");

/// The values of [`SUPPORT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Support {
    Highest,
    TfIdf,
    Random,
}

/// How rare each word is: ln(queries / queries with the word), by row of one dictionary.
///
/// Chosen: a document is a query of the training part; the paper does not say what it counted.
pub(crate) struct InverseFrequencies(Vec<f32>);

impl InverseFrequencies {
    pub fn of_queries(part: &SplitView<'_>, dictionary: &Dictionary) -> Self {
        let rows = dictionary.rows_of(part.vocabulary());
        let mut counts = vec![0u32; dictionary.n_rows()];
        let mut words = Vec::new();
        for example in part.examples() {
            words.clear();
            words.extend(example.question.query.iter().map(|word| rows[word.index()]));
            words.sort_unstable();
            words.dedup();
            words.iter().for_each(|&row| counts[row as usize] += 1);
        }
        let n = part.len().max(1) as f32;
        let inverse = |&count: &u32| numerics::Real::ln(n / count.max(1) as f32);
        Self(counts.iter().map(inverse).collect())
    }

    /// The cosine of a memory and the query as bags of words weighted by TF-IDF, times the query's
    /// length, which all memories share.
    fn similarity(&self, memories: &Memories, memory: usize) -> f32 {
        let d = self.0.len();
        let square_weight = |row: u32| self.0[row as usize % d] * self.0[row as usize % d];
        let rows = memories.rows(memory);
        let is_same = |a: u32, b: u32| a as usize % d == b as usize % d;
        let times = |list: &[u32], row| list.iter().filter(|&&other| is_same(row, other)).count();
        // Σ over the words of the memory, each as often as it occurs there.
        let product: f32 =
            rows.iter().map(|&row| times(&memories.query, row) as f32 * square_weight(row)).sum();
        let square: f32 =
            rows.iter().map(|&row| times(rows, row) as f32 * square_weight(row)).sum();
        if square == 0.0 { 0.0 } else { product / square.sqrt() }
    }

    /// The memory nearest to the query among some; the first of several.
    pub fn nearest(&self, memories: &Memories, among: impl Fn(usize) -> bool) -> Option<usize> {
        let similarities: Vec<f32> = (0..memories.len())
            .map(|memory| if among(memory) { self.similarity(memories, memory) } else { -1.0 })
            .collect();
        crate::selfsup::loss::highest(&similarities, among)
    }
}

/// Any memory among some.
pub(crate) fn any_of(
    n_memories: usize,
    among: impl Fn(usize) -> bool,
    mut rng: ChaCha8Rng,
) -> Option<usize> {
    let all: Vec<usize> = (0..n_memories).filter(|&memory| among(memory)).collect();
    (!all.is_empty()).then(|| all[rng.random_range(0..all.len())])
}

#[cfg(test)]
mod tests {
    use base::seeds::{Streams, Use};
    use questions::Split;

    use super::*;
    use crate::Training;
    use crate::fixture::{TestQuestion, set_of};
    use crate::memories::windows::{Encoding, KnownWords, Layout, MemoryUnit, WindowsAround};
    use crate::words::lowercase::Lowercase;

    #[test]
    fn a_rare_word_in_common_counts_more_than_a_frequent_one() {
        let asked = |context, query| TestQuestion {
            context,
            query,
            candidates: &["fox", "hen"],
            answer: Some(0),
            split: Split::Train,
        };
        // `the` is in all three queries, `sly` in one: weights 0 and ln 3.
        let set = set_of(&[
            asked(vec!["the fox ran", "sly fox . the sly hen"], "the sly XXXXX"),
            asked(vec![], "the XXXXX"),
            asked(vec![], "the XXXXX the"),
        ]);
        let part = Training::new(&set, 1, &|_| ()).train;
        let dictionary = Dictionary::of_questions(&part);
        let frequencies = InverseFrequencies::of_queries(&part, &dictionary);
        let lowercase = Lowercase::new(set.vocabulary());
        let rows = dictionary.rows_of(set.vocabulary());
        let words = KnownWords { lowercase: &lowercase, rows: &rows };
        let layout = Layout {
            window: 3,
            encoding: Encoding::Positions,
            unit: MemoryUnit::Windows,
            max_memories: None,
            dictionary_rows: dictionary.n_rows(),
        };
        let mut memories = Memories::default();
        memories.read(&part.example(0).question, &words, &layout, WindowsAround::Candidates);
        let is_fox = |memory: usize| memories.candidates[memory] == 0;
        assert_eq!(frequencies.nearest(&memories, is_fox), Some(1));
        // sly fox . : (ln 3)² / √(3 (ln 3)²), all of whose words weigh ln 3.
        let expected = 3.0f32.ln() / 3.0f32.sqrt();
        assert!((frequencies.similarity(&memories, 1) - expected).abs() < 1e-6);
        assert_eq!(frequencies.similarity(&memories, 0), 0.0);
        assert_eq!(frequencies.nearest(&memories, |_| false), None);
    }

    #[test]
    fn any_memory_is_drawn_from_its_own_stream() {
        let streams = Streams::new(7, Use::Support);
        let drawn = |number| any_of(99, |memory| memory % 3 == 1, streams.get(number)).unwrap();
        assert_eq!(drawn(5), drawn(5));
        assert!((0..9).any(|n| drawn(100 + n) != drawn(n)));
        assert!((0..9).all(|n| drawn(n) % 3 == 1));
        assert_eq!(any_of(4, |_| false, streams.get(1)), None);
    }
}
