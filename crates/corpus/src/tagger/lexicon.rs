//! What the tagger knows of single words: which ones it met often, their clusters, and the words
//! that have one tag only. Input: tagged sentences. Output: [`Lexicon`].

use super::{certain::CertainWords, clusters::Bigrams};
use crate::Word;
use base::Vocabulary;

/// Known words with their classes, and words of one tag.
#[derive(Default)]
pub struct Lexicon {
    /// Lower-cased words of the training books, the most frequent first.
    pub(super) known: Vocabulary,
    /// For each known word its class among the many small clusters.
    pub(super) fine: Vec<u16>,
    /// For each known word its class among the few large clusters.
    pub(super) coarse: Vec<u16>,
    /// Words of one part of speech.
    pub(super) pos: CertainWords,
    /// Words of one entity class, most of them outside mentions.
    pub(super) entity: CertainWords,
}

/// How the words of the training books become what the tagger knows of single words.
#[derive(Clone, Debug)]
pub struct LexiconConfig {
    /// A word is known when it occurs this often, lower-cased, in the training books.
    pub min_count: u32,
    /// Number of small clusters, 1 to 65,535.
    pub n_fine: usize,
    /// Number of large clusters, 1 to 65,535.
    pub n_coarse: usize,
    /// Rounds of the exchange algorithm.
    pub rounds: usize,
    /// A word that occurs this often …
    pub certain_count: u32,
    /// … and has one part of speech in at least this share of its occurrences always gets it.
    pub certain_pos: f64,
    /// The same for its entity class.
    pub certain_entity: f64,
}

impl Default for LexiconConfig {
    fn default() -> Self {
        Self {
            min_count: 5,
            n_fine: 600,
            n_coarse: 120,
            rounds: 8,
            certain_count: 50,
            certain_pos: 0.999,
            certain_entity: 0.9995,
        }
    }
}

impl Lexicon {
    /// Learns the words of tagged sentences.
    pub fn learn(sentences: &[&[Word]], config: &LexiconConfig) -> Self {
        let (known, numbers) = known_words(sentences, config.min_count);
        let bigrams = Bigrams::count(&numbers, known.len() + N_SPECIAL);
        let (mut fine, mut coarse) = rayon::join(
            || bigrams.classes(config.n_fine, config.rounds),
            || bigrams.classes(config.n_coarse, config.rounds),
        );
        fine.drain(..N_SPECIAL);
        coarse.drain(..N_SPECIAL);
        let share = config.certain_pos;
        let pos =
            CertainWords::learn(sentences, |word| word.pos.index(), config.certain_count, share);
        let share = config.certain_entity;
        let entity =
            CertainWords::learn(sentences, |word| word.entity.index(), config.certain_count, share);
        Self { known, fine, coarse, pos, entity }
    }

    /// Returns whether the word, lower-cased, is known.
    pub fn knows(&self, lower: &str) -> bool {
        self.known.get(lower).is_some()
    }

    /// Small and large cluster of a lower-cased word as hashable numbers; 0 where it is unknown.
    pub fn classes(&self, lower: &str) -> (u64, u64) {
        // 1 is the class of the position outside a sentence.
        self.known.get(lower).map_or((0, 0), |id| {
            (u64::from(self.fine[id.index()]) + 2, u64::from(self.coarse[id.index()]) + 2)
        })
    }
}

/// Word numbers in the clustered text: the edge of a sentence, any rare word, then known words.
const N_SPECIAL: usize = 2;
const EDGE: u32 = 0;
const RARE: u32 = 1;

/// The frequent words in descending frequency, and the sentences as numbers for clustering.
fn known_words(sentences: &[&[Word]], min_count: u32) -> (Vocabulary, Vec<Vec<u32>>) {
    let mut all = Vocabulary::default();
    let mut counts = Vec::new();
    let mut numbers: Vec<Vec<u32>> = Vec::with_capacity(sentences.len());
    for sentence in sentences {
        let lower = sentence.iter().map(|word| {
            let id = all.intern(&word.text.to_lowercase());
            counts.resize(all.len(), 0u32);
            counts[id.index()] += 1;
            id.0
        });
        numbers.push(lower.collect());
    }
    let words: Vec<&str> = all.iter().collect();
    let mut frequent: Vec<usize> = (0..words.len()).filter(|&w| counts[w] >= min_count).collect();
    frequent.sort_by_key(|&word| (std::cmp::Reverse(counts[word]), words[word]));
    let mut known = Vocabulary::default();
    let mut renumbered = vec![RARE; words.len()];
    for word in frequent {
        renumbered[word] = known.intern(words[word]).0 + N_SPECIAL as u32;
    }
    for sentence in &mut numbers {
        let inside = sentence.iter().map(|&word| renumbered[word as usize]);
        *sentence = std::iter::once(EDGE).chain(inside).chain([EDGE]).collect();
    }
    (known, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entity, PartOfSpeech};

    #[test]
    fn words_are_known_by_their_lower_cased_count_and_carry_clusters() {
        let pos = PartOfSpeech::from_name("NN").unwrap();
        let sentence = |text: &str| -> Vec<Word> {
            let word = |text: &str| Word { text: text.into(), pos, entity: Entity::NONE };
            text.split(' ').map(word).collect()
        };
        let sentences = ["The bear sat", "the Bear ran", "a wolf ran"].map(sentence);
        let sentences: Vec<&[Word]> = sentences.iter().map(Vec::as_slice).collect();
        let config = LexiconConfig { min_count: 2, n_fine: 3, n_coarse: 1, ..Default::default() };
        let lexicon = Lexicon::learn(&sentences, &config);

        // All occur twice; the order is that of the letters.
        assert_eq!(lexicon.known.iter().collect::<Vec<_>>(), ["bear", "ran", "the"]);
        assert!(lexicon.knows("bear") && !lexicon.knows("wolf"));
        assert_eq!(lexicon.classes("wolf"), (0, 0));
        assert!(lexicon.classes("bear").0 >= 2);
        assert_eq!(lexicon.classes("bear").1, lexicon.classes("the").1);
    }

    #[test]
    fn no_books_make_an_empty_lexicon() {
        assert!(Lexicon::learn(&[], &LexiconConfig::default()).known.is_empty());
    }
}
