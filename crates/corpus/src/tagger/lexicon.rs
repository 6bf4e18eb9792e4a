//! What the tagger knows of single words: which ones it met often, their clusters, and the words
//! that have one tag only.

use super::clusters::Bigrams;
use crate::{PartOfSpeech, Vocabulary, Word};

/// Known words with their classes, and words of one tag.
#[derive(Default)]
pub struct Lexicon {
    /// Lower-cased words of the training books, the most frequent first.
    pub(super) known: Vocabulary,
    /// For each known word its class among the many small clusters.
    pub(super) fine: Vec<u16>,
    /// For each known word its class among the few large clusters.
    pub(super) coarse: Vec<u16>,
    /// Words, case kept, that nearly always have the same tag.
    pub(super) certain: Vocabulary,
    /// For each of them that tag.
    pub(super) certain_tags: Vec<PartOfSpeech>,
    pub(super) never: Vocabulary,
}

/// How a [`Lexicon`] is made.
#[derive(Clone, Debug)]
pub struct LexiconRecipe {
    /// A word is known when it stands this often, lower-cased, in the training books.
    pub min_count: u32,
    /// Number of small clusters.
    pub n_fine: usize,
    /// Number of large clusters.
    pub n_coarse: usize,
    /// Rounds of the exchange algorithm.
    pub rounds: usize,
    /// A word's tag is certain when the word stands this often …
    pub certain_count: u32,
    /// … and has the tag at least so often in all occurrences.
    pub certain_share: f64,
    /// same for never
    pub never_count: u32,
    /// same
    pub never_share: f64,
}

impl Default for LexiconRecipe {
    fn default() -> Self {
        Self {
            min_count: 5,
            n_fine: 320,
            n_coarse: 48,
            rounds: 8,
            certain_count: 50,
            certain_share: 0.999,
            never_count: 30,
            never_share: 0.9995,
        }
    }
}

impl Lexicon {
    /// Learns the words of tagged sentences.
    pub fn learn(sentences: &[&[Word]], recipe: &LexiconRecipe) -> Self {
        let (known, numbers) = known_words(sentences, recipe.min_count);
        let bigrams = Bigrams::count(&numbers, known.len() + N_SPECIAL);
        let (mut fine, mut coarse) = rayon::join(
            || bigrams.classes(recipe.n_fine, recipe.rounds),
            || bigrams.classes(recipe.n_coarse, recipe.rounds),
        );
        fine.drain(..N_SPECIAL);
        coarse.drain(..N_SPECIAL);
        let (certain, certain_tags) = certain_words(sentences, recipe);
        Self { known, fine, coarse, certain, certain_tags, never: never_words(sentences, recipe) }
    }

    /// Whether the word, lower-cased, is known.
    pub fn knows(&self, lower: &str) -> bool {
        self.known.get(lower).is_some()
    }

    /// Small and large cluster of a lower-cased word as hashable numbers; 0 where it is unknown.
    pub fn classes(&self, lower: &str) -> (u64, u64) {
        // 1 is the class of the place outside a sentence.
        self.known.get(lower).map_or((0, 0), |id| {
            (u64::from(self.fine[id.index()]) + 2, u64::from(self.coarse[id.index()]) + 2)
        })
    }

    pub fn never_entity(&self, word: &str) -> bool {
        self.never.get(word).is_some()
    }

    /// The tag of a word that has the same one nearly everywhere.
    pub fn certain(&self, word: &str) -> Option<PartOfSpeech> {
        self.certain.get(word).map(|id| self.certain_tags[id.index()])
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

/// Words that have one tag in nearly all of many occurrences, in order of first appearance.
fn certain_words(sentences: &[&[Word]], recipe: &LexiconRecipe) -> (Vocabulary, Vec<PartOfSpeech>) {
    let mut all = Vocabulary::default();
    let mut counts: Vec<[u32; PartOfSpeech::COUNT]> = Vec::new();
    for word in sentences.iter().copied().flatten() {
        let id = all.intern(&word.text);
        counts.resize(all.len(), [0; PartOfSpeech::COUNT]);
        counts[id.index()][word.pos.index()] += 1;
    }
    let mut certain = Vocabulary::default();
    let mut tags = Vec::new();
    for (word, counts) in all.iter().zip(&counts) {
        let total: u32 = counts.iter().sum();
        let (most, tag) =
            (0..).zip(counts).map(|(tag, &count)| (count, tag)).max().expect("there are tags");
        if total >= recipe.certain_count
            && f64::from(most) >= recipe.certain_share * f64::from(total)
        {
            certain.intern(word);
            tags.push(PartOfSpeech::from_index(tag).expect("one count for each tag"));
        }
    }
    (certain, tags)
}

fn never_words(sentences: &[&[Word]], recipe: &LexiconRecipe) -> Vocabulary {
    let mut all = Vocabulary::default();
    let mut counts: Vec<[u32; 2]> = Vec::new();
    for word in sentences.iter().copied().flatten() {
        let id = all.intern(&word.text);
        counts.resize(all.len(), [0; 2]);
        counts[id.index()][usize::from(word.entity != crate::Entity::NONE)] += 1;
    }
    let mut certain = Vocabulary::default();
    for (word, counts) in all.iter().zip(&counts) {
        let total: u32 = counts.iter().sum();
        if total >= recipe.never_count
            && f64::from(counts[0]) >= recipe.never_share * f64::from(total)
        {
            certain.intern(word);
        }
    }
    certain
}
