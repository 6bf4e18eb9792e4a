//! Memories and queries as lists of table rows (§3.1): question → windows around mentions of candidates.
//!
//! φ(s) of the paper is a list of rows here, one per word: with [`Encoding::Bag`] the row of the word in one
//! dictionary, with [`Encoding::Positions`] its row in the dictionary of its place in the window. What a
//! list is embedded as (A φ(s)) is the sum of those rows.

use std::ops::Range;

use base::WordId;
use questions::Question;
use serde::Deserialize;

use crate::words::dictionary::PADDING;
use crate::words::lowercase::Lowercase;
use crate::{Error, Result, Setting};

pub(crate) const WINDOW: Setting =
    Setting::whole("window", "5", 1..=99).symbol("b").doc("Words per window; an odd number.");

pub(crate) const ENCODING: Setting =
    Setting::choice("encoding", "positions", &["positions", "bag"])
        .symbol("φ")
        .doc("One dictionary per position in the window, or one for all positions.");

pub(crate) const MAX_MEMORIES: Setting = Setting::whole("max_memories", "all", 1..=100_000)
    .symbol("n")
    .or("all")
    .doc("The greatest number of memories per question: those nearest to the query.");

/// b, if a window of this many words has one in the middle.
///
/// # Errors
/// If it has none.
pub(crate) fn with_middle(window: usize) -> Result<usize> {
    if window.is_multiple_of(2) {
        return Err(Error::SettingValue {
            key: WINDOW.name,
            expected: "an odd number".to_owned(),
            found: window.to_string(),
        });
    }
    Ok(window)
}

/// How the words of a window become rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Encoding {
    /// One dictionary for each place in the window.
    Positions,
    /// One dictionary for all: a bag of words.
    Bag,
}

/// What is remembered of a mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MemoryUnit {
    /// The window of words around it; the query is the window around the blank.
    Windows,
    /// The sentence that it is in, as a bag of words; the query is the whole query.
    Sentences,
}

/// Which words have windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowsAround {
    /// Windows around the mentions of candidates.
    Candidates,
    /// All words of the context (Appendix E).
    AllWords,
}

/// How a question is laid out in memory.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// b: words per window; odd.
    pub window: usize,
    /// How they become rows.
    pub encoding: Encoding,
    /// What is remembered of a mention.
    pub unit: MemoryUnit,
    /// n: how many memories there are at most: those nearest to the query; none: all.
    pub max_memories: Option<usize>,
    /// d: the rows of one dictionary.
    pub dictionary_rows: usize,
}

impl Layout {
    /// How many rows the table of embeddings has.
    pub fn n_rows(&self) -> usize {
        let is_bag = self.encoding == Encoding::Bag || self.unit == MemoryUnit::Sentences;
        if is_bag { self.dictionary_rows } else { self.window * self.dictionary_rows }
    }

    /// The rows of the dictionary for the middle of a window, where there is one.
    pub fn middle_rows(&self) -> Range<usize> {
        match (self.encoding, self.unit) {
            (Encoding::Positions, MemoryUnit::Windows) => {
                self.half() * self.dictionary_rows..(self.half() + 1) * self.dictionary_rows
            }
            _ => 0..0,
        }
    }

    /// The stretch of the context's running text that is remembered of a mention.
    pub fn words_of(&self, question: &Question<'_>, instance: usize) -> Range<usize> {
        match self.unit {
            MemoryUnit::Windows => {
                let n_words = question.context.words().len();
                instance.saturating_sub(self.half())..n_words.min(instance + self.half() + 1)
            }
            MemoryUnit::Sentences => {
                let mut start = 0;
                for sentence in question.context {
                    if instance < start + sentence.len() {
                        return start..start + sentence.len();
                    }
                    start += sentence.len();
                }
                start..start
            }
        }
    }

    /// The stretch of the query that memories are compared with.
    pub fn words_of_query(&self, question: &Question<'_>) -> Range<usize> {
        let end = question.query.len();
        match self.unit {
            MemoryUnit::Windows => {
                question.blank.saturating_sub(self.half())
                    ..end.min(question.blank + self.half() + 1)
            }
            MemoryUnit::Sentences => 0..end,
        }
    }

    fn half(&self) -> usize {
        self.window / 2
    }

    /// Appends the rows of the window around a place of a text.
    fn window_around(
        &self,
        text: &[WordId],
        place: usize,
        words: &KnownWords<'_>,
        rows: &mut Vec<u32>,
    ) {
        let step = match self.encoding {
            Encoding::Bag => 0,
            Encoding::Positions => self.dictionary_rows as u32,
        };
        let mut first_row = 0;
        for j in 0..self.window {
            // A place before the start becomes one far beyond the end.
            let word = text.get((place + j).wrapping_sub(self.half()));
            rows.push(first_row + word.map_or(PADDING, |word| words.rows[word.index()]));
            first_row += step;
        }
    }
}

/// The words of a vocabulary as a model knows them.
pub(crate) struct KnownWords<'a> {
    /// Tells which words are the same.
    pub lowercase: &'a Lowercase,
    /// The row of each word in one dictionary.
    pub rows: &'a [u32],
}

/// A memory without a candidate in the middle.
pub(crate) const NO_CANDIDATE: u16 = u16::MAX;

/// The memories and the query of a question; used again and again, so that nothing is allocated.
#[derive(Default)]
pub(crate) struct Memories {
    /// Rows of the query.
    pub query: Vec<u32>,
    /// For each memory, the first candidate equal in lower case to the word in the middle, as a place
    /// in [`Question::candidates`], or [`NO_CANDIDATE`].
    pub candidates: Vec<u16>,
    /// For each memory, the place of the word in the middle in the running text of the context.
    pub instances: Vec<u32>,
    rows: Vec<u32>,
    ends: Vec<u32>,
    /// The context as one running text.
    text: Vec<WordId>,
    /// For each word, the first candidate that it is a mention of; none between two questions.
    candidate_of: Vec<u16>,
}

impl Memories {
    /// How many memories there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The rows of a memory.
    pub fn rows(&self, memory: usize) -> &[u32] {
        let start = if memory == 0 { 0 } else { self.ends[memory - 1] as usize };
        &self.rows[start..self.ends[memory] as usize]
    }

    /// The rows of all memories, one after the other.
    pub fn all_rows(&self) -> &[u32] {
        &self.rows
    }

    /// Fills it with a question.
    pub fn read(
        &mut self,
        question: &Question<'_>,
        words: &KnownWords<'_>,
        layout: &Layout,
        around: WindowsAround,
    ) {
        self.find_mentions(question, words, layout.max_memories, around);
        self.rows.clear();
        self.ends.clear();
        self.query.clear();
        match layout.unit {
            MemoryUnit::Windows => self.cut_windows(question, words, layout),
            MemoryUnit::Sentences => self.take_sentences(question, words),
        }
    }

    /// Lays out the text and finds what memories are about.
    fn find_mentions(
        &mut self,
        question: &Question<'_>,
        words: &KnownWords<'_>,
        max_memories: Option<usize>,
        around: WindowsAround,
    ) {
        self.text.clear();
        self.text.extend_from_slice(question.context.words());
        self.candidate_of.resize(words.rows.len(), NO_CANDIDATE);
        for (place, &candidate) in question.candidates.iter().enumerate().rev() {
            for variant in words.lowercase.variants(candidate) {
                self.candidate_of[variant.index()] = place as u16;
            }
        }
        self.candidates.clear();
        self.instances.clear();
        for (place, word) in self.text.iter().enumerate() {
            let candidate = self.candidate_of[word.index()];
            if candidate != NO_CANDIDATE || around == WindowsAround::AllWords {
                self.candidates.push(candidate);
                self.instances.push(place as u32);
            }
        }
        for &candidate in question.candidates {
            for variant in words.lowercase.variants(candidate) {
                self.candidate_of[variant.index()] = NO_CANDIDATE;
            }
        }
        if let Some(n) = max_memories {
            let far = self.instances.len().saturating_sub(n);
            self.candidates.drain(..far);
            self.instances.drain(..far);
        }
    }

    // §3.1, window memory: {w_{i−(b−1)/2} … w_i … w_{i+(b−1)/2}}.
    fn cut_windows(&mut self, question: &Question<'_>, words: &KnownWords<'_>, layout: &Layout) {
        for &instance in &self.instances {
            layout.window_around(&self.text, instance as usize, words, &mut self.rows);
            self.ends.push(self.rows.len() as u32);
        }
        layout.window_around(question.query, question.blank, words, &mut self.query);
    }

    fn take_sentences(&mut self, question: &Question<'_>, words: &KnownWords<'_>) {
        let mut end = 0;
        let mut instances = self.instances.iter().peekable();
        for sentence in question.context {
            end += sentence.len() as u32;
            while instances.next_if(|&&instance| instance < end).is_some() {
                self.rows.extend(sentence.iter().map(|word| words.rows[word.index()]));
                self.ends.push(self.rows.len() as u32);
            }
        }
        self.query.extend(question.query.iter().map(|word| words.rows[word.index()]));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use questions::QuestionSet;

    use super::*;
    use crate::fixture::{one_question, texts};

    /// The memories with the number of each word in the set as its row; the blank's is 0 like padding.
    fn read(set: &QuestionSet, layout: &Layout, around: WindowsAround) -> Memories {
        let lowercase = Lowercase::new(set.vocabulary());
        let rows: Vec<u32> = (0..set.vocabulary().len() as u32).collect();
        let words = KnownWords { lowercase: &lowercase, rows: &rows };
        let mut memories = Memories::default();
        // What another question left in the buffers must not matter.
        let other = one_question(&["hen fox hen"], "XXXXX", &["hen", "fox"]);
        let same = Lowercase::new(other.vocabulary());
        let known = KnownWords { lowercase: &same, rows: &[0, 1, 2] };
        memories.read(&other.example(0).question, &known, layout, around);
        memories.read(&set.example(0).question, &words, layout, around);
        memories
    }

    fn words(set: &QuestionSet, rows: &[u32], d: usize) -> String {
        let word = |&row: &u32| match row as usize % d {
            0 => "_",
            word => set.vocabulary().word(WordId(word as u32)),
        };
        rows.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    fn layout(set: &QuestionSet, window: usize, encoding: Encoding, unit: MemoryUnit) -> Layout {
        let dictionary_rows = set.vocabulary().len();
        Layout { window, encoding, unit, max_memories: None, dictionary_rows }
    }

    #[test]
    fn windows_reach_over_sentences_and_end_in_padding() {
        let set = one_question(&["Fox saw", "the hen"], "saw XXXXX .", &["hen", "fox", "owl"]);
        let mut layout = layout(&set, 3, Encoding::Positions, MemoryUnit::Windows);
        let d = layout.dictionary_rows;
        let memories = read(&set, &layout, WindowsAround::Candidates);
        assert_eq!((&memories.candidates[..], &memories.instances[..]), (&[1, 0][..], &[0, 3][..]));
        assert_eq!(words(&set, memories.rows(0), d), "_ Fox saw");
        assert_eq!(words(&set, memories.rows(1), d), "the hen _");
        assert_eq!(words(&set, &memories.query, d), "saw _ .");
        let places = |rows: &[u32]| rows.iter().map(|&row| row as usize / d).collect::<Vec<_>>();
        assert_eq!(
            (places(memories.rows(1)), places(&memories.query)),
            (vec![0, 1, 2], vec![0, 1, 2])
        );

        layout.max_memories = Some(1);
        assert_eq!(read(&set, &layout, WindowsAround::Candidates).instances, [3]);
        layout.max_memories = None;
        let all = read(&set, &layout, WindowsAround::AllWords);
        assert_eq!(all.candidates, [1, NO_CANDIDATE, NO_CANDIDATE, 0]);
        assert_eq!(words(&set, all.rows(2), d), "saw the hen");
    }

    #[test]
    fn a_sentence_is_remembered_for_each_mention_in_it() {
        let set =
            one_question(&["hen and Fox .", "", "the", "a fox"], "XXXXX ran", &["fox", "hen"]);
        let layout = layout(&set, 3, Encoding::Positions, MemoryUnit::Sentences);
        let memories = read(&set, &layout, WindowsAround::Candidates);
        let texts: Vec<String> = (0..memories.len())
            .map(|memory| words(&set, memories.rows(memory), layout.dictionary_rows))
            .collect();
        assert_eq!(texts, ["hen and Fox .", "hen and Fox .", "a fox"]);
        assert_eq!(memories.candidates, [1, 0, 0]);
        assert_eq!(words(&set, &memories.query, layout.dictionary_rows), "_ ran");
        assert_eq!(layout.n_rows(), layout.dictionary_rows);
    }

    proptest! {
        #[test]
        fn windows_are_those_of_the_definition(
            (context, query, candidates) in texts(),
            half in 0usize..4,
            is_bag in any::<bool>(),
        ) {
            let lines: Vec<&str> = context.iter().map(String::as_str).collect();
            let names: Vec<&str> = candidates.iter().map(String::as_str).collect();
            let set = one_question(&lines, &query, &names);
            let encoding = if is_bag { Encoding::Bag } else { Encoding::Positions };
            let layout = layout(&set, 2 * half + 1, encoding, MemoryUnit::Windows);
            let memories = read(&set, &layout, WindowsAround::Candidates);
            let lower = |text: &str| text.to_lowercase();
            let text: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
            let mut expected = Vec::new();
            for (place, word) in text.iter().enumerate() {
                if let Some(candidate) = names.iter().position(|name| lower(name) == lower(word)) {
                    let window: Vec<u32> = (0..layout.window)
                        .map(|j| {
                            let place = (place + j).checked_sub(half);
                            let word = place.and_then(|place| text.get(place));
                            let row = word.map_or(0, |word| set.vocabulary().get(word).unwrap().0);
                            let first = if is_bag { 0 } else { j * layout.dictionary_rows };
                            first as u32 + row
                        })
                        .collect();
                    expected.push((candidate as u16, place as u32, window));
                }
            }
            let found: Vec<_> = (0..memories.len())
                .map(|i| (memories.candidates[i], memories.instances[i], memories.rows(i).to_vec()))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
