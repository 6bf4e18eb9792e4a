//! What all readers share: the fields of a question, one question after the other → [`QuestionSet`].
//!
//! The contexts of neighbouring questions overlap (§2: every sentence from the 21st on is a query), so a
//! context is aligned with the one before it, and only sentences that are new are split into words. That is
//! what makes reading fast, and the text of a book is stored once per file.

use std::collections::HashMap;
use std::ops::Range;

use base::WordId;

use crate::error::LineError;
use crate::formats::sentence;
use crate::{BookText, NewQuestion, OpenOptions, QuestionSet, Split, Warnings, WordClass};

/// A question as a file has it, but for its context.
pub(crate) struct Fields<'a, Candidates> {
    pub query: &'a str,
    /// Empty ones are recorded and left out.
    pub candidates: Candidates,
    pub answer: Option<&'a str>,
    /// What the file itself says; what it does not say, the options may.
    pub class: Option<WordClass>,
    pub split: Option<Split>,
    pub book: Option<&'a str>,
}

/// A sentence that is not UTF-8, as an index into the context.
pub(crate) struct NotUtf8(pub usize);

/// Gathers questions into a set.
pub(crate) struct Assembler<'o> {
    set: QuestionSet,
    warnings: Warnings,
    options: &'o OpenOptions,
    recent: RecentSentences,
    /// How many sentences the last context had.
    last_context: usize,
    books: HashMap<(String, Option<Split>), usize>,
    /// Bytes of text that words were numbered in: the bound of everything that a set counts in 32 bits.
    text_bytes: u64,
    query: Vec<WordId>,
    candidates: Vec<WordId>,
}

impl<'o> Assembler<'o> {
    pub(crate) fn new(options: &'o OpenOptions) -> Self {
        Self {
            set: QuestionSet::default(),
            warnings: Warnings::default(),
            options,
            recent: RecentSentences::default(),
            last_context: 0,
            books: HashMap::new(),
            text_bytes: 0,
            query: Vec::new(),
            candidates: Vec::new(),
        }
    }

    pub(crate) fn finish(self) -> (QuestionSet, Warnings) {
        (self.set, self.warnings)
    }

    /// Whether questions of this split and class are asked for; if not, none of their text need be stored.
    pub(crate) fn wants(&self, split: Option<Split>, class: Option<WordClass>) -> bool {
        self.options.wants(split.or(self.options.split), class.or(self.options.class))
    }

    /// Stores the sentences of a context as far as they are new.
    pub(crate) fn context(&mut self, sentences: &[&[u8]]) -> Result<Range<usize>, NotUtf8> {
        let stored = self.recent.len();
        let start = (stored - self.last_context.min(stored)..stored)
            .find(|&start| self.recent.overlaps(start, sentences))
            .unwrap_or(stored);
        let known = sentences.len().min(stored - start);
        let first = self.set.n_sentences() - stored + start;
        for (index, bytes) in sentences.iter().enumerate().skip(known) {
            let text = std::str::from_utf8(bytes).map_err(|_| NotUtf8(index))?;
            self.text_bytes += text.len() as u64 + 1;
            // Separate from the call below, because both borrow the set.
            self.query.clear();
            self.query.extend(sentence::words(text).map(|word| self.set.intern(word)));
            self.set.push_sentence(self.query.iter().copied());
            self.recent.push(bytes);
        }
        self.last_context = sentences.len();
        self.recent.forget_all_but(sentences.len());
        Ok(first..first + sentences.len())
    }

    /// Adds the question that follows its [`Self::context`].
    pub(crate) fn push<'a>(
        &mut self,
        context: Range<usize>,
        fields: Fields<'a, impl Iterator<Item = &'a str> + Clone>,
    ) -> Result<(), LineError> {
        self.text_bytes += fields.query.len() as u64 + 1;
        self.text_bytes += fields.candidates.clone().map(|c| c.len() as u64 + 1).sum::<u64>();
        if self.text_bytes >= u64::from(u32::MAX) {
            return Err(LineError::TooLarge);
        }
        self.query.clear();
        self.query.extend(sentence::words(fields.query).map(|word| self.set.intern(word)));
        let filled = fields.candidates.clone().filter(|candidate| !candidate.is_empty());
        self.candidates.clear();
        self.candidates.extend(filled.map(|candidate| self.set.intern(candidate)));
        self.set.check(&self.query, &self.candidates)?;
        let answer = self.answer(fields.answer)?;
        let split = fields.split.or(self.options.split);
        let book = fields.book.map(|name| self.book(name, split));
        let question = self.set.push_checked(NewQuestion {
            context,
            query: &self.query,
            candidates: &self.candidates,
            answer,
            class: fields.class.or(self.options.class),
            split,
            book,
        })?;
        self.warnings.empty_fields.record(question, fields.candidates);
        Ok(())
    }

    fn answer(&self, answer: Option<&str>) -> Result<Option<usize>, LineError> {
        let Some(answer) = answer else { return Ok(None) };
        let word = self.set.vocabulary().get(answer);
        let index = self.candidates.iter().position(|&candidate| Some(candidate) == word);
        index.map(Some).ok_or_else(|| {
            let candidates = self.candidates.iter().map(|&word| self.set.vocabulary().word(word));
            LineError::AnswerNotAmongCandidates {
                answer: answer.to_owned(),
                candidates: candidates.collect::<Vec<_>>().join("|"),
            }
        })
    }

    fn book(&mut self, name: &str, split: Option<Split>) -> usize {
        *self.books.entry((name.to_owned(), split)).or_insert_with(|| {
            self.set.push_book(BookText { name: name.to_owned(), split, sentences: 0..0 })
        })
    }
}

/// The text of the last sentences stored, to align the next context with.
#[derive(Default)]
struct RecentSentences {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl RecentSentences {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    fn push(&mut self, sentence: &[u8]) {
        self.text.extend_from_slice(sentence);
        self.ends.push(self.text.len());
    }

    /// Whether the sentences from `start` on are those, as far as both go.
    fn overlaps(&self, start: usize, sentences: &[&[u8]]) -> bool {
        (start..self.len()).zip(sentences).all(|(index, &sentence)| self.get(index) == sentence)
    }

    /// Bounds the memory; rarely does anything.
    fn forget_all_but(&mut self, n: usize) {
        const MOST: usize = 1 << 20;
        if self.text.len() > MOST && self.len() > n {
            let dropped = self.len() - n;
            let bytes = self.ends[dropped - 1];
            self.text.drain(..bytes);
            self.ends.drain(..dropped);
            self.ends.iter_mut().for_each(|end| *end -= bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contexts(of: &[&[&str]]) -> (Vec<Range<usize>>, QuestionSet) {
        let options = OpenOptions::default();
        let mut assembler = Assembler::new(&options);
        let range = |sentences: &&[&str]| {
            let bytes: Vec<&[u8]> = sentences.iter().map(|sentence| sentence.as_bytes()).collect();
            assembler.context(&bytes).ok().unwrap()
        };
        (of.iter().map(range).collect(), assembler.finish().0)
    }

    #[test]
    fn overlapping_contexts_share_their_sentences() {
        let (ranges, set) = contexts(&[
            &["a", "b", "c"],
            &["a", "b", "c"],
            &["b", "c", "d"],
            &["x", "y", "z"],
            &["y", "z"],
            &[],
        ]);
        assert_eq!(ranges, [0..3, 0..3, 1..4, 4..7, 5..7, 5..5]);
        assert_eq!(set.n_sentences(), 7);
    }

    #[test]
    fn a_repeated_sentence_does_not_mislead() {
        let (ranges, set) = contexts(&[&["a", "a", "b"], &["a", "b", "c"], &["a", "c", "c"]]);
        assert_eq!(ranges, [0..3, 1..4, 4..7]);
        assert_eq!(set.sentence(4), set.sentence(0));
    }

    #[test]
    fn much_text_is_forgotten_without_losing_the_place() {
        let long = "word ".repeat(100_000);
        let numbered: Vec<String> = (0..12).map(|number| format!("{long}{number}")).collect();
        let sentences: Vec<&str> = numbered.iter().map(String::as_str).collect();
        let windows: Vec<&[&str]> = sentences.windows(3).collect();
        let (ranges, set) = contexts(&windows);
        assert_eq!(ranges, (0..10).map(|start| start..start + 3).collect::<Vec<_>>());
        assert_eq!(set.n_sentences(), 12);
    }
}
