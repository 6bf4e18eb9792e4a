//! [`QuestionSet`]: many questions over shared text, small enough to hold all of the CBT.
//!
//! A context is a run of consecutive sentences, so neighbouring questions share their text; 656,957
//! training questions need about 200 MB where their CBT files take 1.6 GB.

use std::ops::Range;
use std::sync::Arc;

use base::{Vocabulary, WordId};

use crate::error::LineError;
use crate::id::{Hash, Ids};
use crate::{Example, Question, Sentences, Split, WordClass};

/// How every file format spells the missing word.
pub const BLANK_WORD: &str = "XXXXX";
/// [`BLANK_WORD`] in the vocabulary of every set.
pub const BLANK: WordId = WordId(0);

/// Questions, the text they are about, and the running text of their books.
#[derive(Clone, Debug)]
pub struct QuestionSet {
    vocabulary: Arc<Vocabulary>,
    words: Vec<WordId>,
    sentence_ends: Vec<u32>,
    books: Vec<BookText>,
    records: Vec<Record>,
    queries: Vec<WordId>,
    candidates: Vec<WordId>,
    ids: Ids,
    /// Words of sentences, of queries and of candidates, each: what 32 bits can count.
    max_words: usize,
    is_too_large: bool,
}

/// A book that questions come from, with its running text: a range of the set's sentences, empty where
/// a file names the book but does not hold its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookText {
    /// Its name, as the file had it.
    pub name: String,
    /// The split that it is in.
    pub split: Option<Split>,
    /// Its sentences, as numbers for [`QuestionSet::sentence`].
    pub sentences: Range<usize>,
}

/// A question about to join a set.
#[derive(Clone, Debug)]
pub struct NewQuestion<'a> {
    /// The context: consecutive sentences of the set.
    pub context: Range<usize>,
    /// The query with [`BLANK`] in it exactly once.
    pub query: &'a [WordId],
    /// The candidates in their order.
    pub candidates: &'a [WordId],
    /// The right one, as an index into the candidates.
    pub answer: Option<usize>,
    /// The class of the missing word.
    pub class: Option<WordClass>,
    /// The split of its book, if it is known.
    pub split: Option<Split>,
    /// The book, as an index into [`QuestionSet::books`].
    pub book: Option<usize>,
}

#[derive(Clone, Debug)]
struct Record {
    context: Range<u32>,
    query: Range<u32>,
    candidates: Range<u32>,
    blank: u32,
    answer: Option<u32>,
    class: Option<WordClass>,
    split: Option<Split>,
    book: Option<u32>,
}

impl Default for QuestionSet {
    fn default() -> Self {
        let mut vocabulary = Vocabulary::default();
        vocabulary.intern(BLANK_WORD);
        Self {
            vocabulary: Arc::new(vocabulary),
            words: Vec::new(),
            sentence_ends: Vec::new(),
            books: Vec::new(),
            records: Vec::new(),
            queries: Vec::new(),
            candidates: Vec::new(),
            ids: Ids::default(),
            max_words: u32::MAX as usize,
            is_too_large: false,
        }
    }
}

impl QuestionSet {
    /// How many questions there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no question.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The words of all sentences, queries and candidates.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The number of a word in this set; a word that is new gets the next one.
    pub fn intern(&mut self, word: &str) -> WordId {
        // Most words are known: no need to make sure that the vocabulary is not shared.
        match self.vocabulary.get(word) {
            Some(id) => id,
            None => Arc::make_mut(&mut self.vocabulary).intern(word),
        }
    }

    /// The books that questions come from, and those whose running text the set has.
    pub fn books(&self) -> &[BookText] {
        &self.books
    }

    /// How many sentences are stored: running text and contexts.
    pub fn n_sentences(&self) -> usize {
        self.sentence_ends.len()
    }

    /// A sentence of the running text or of a context.
    pub fn sentence(&self, index: usize) -> &[WordId] {
        let start = if index == 0 { 0 } else { self.sentence_ends[index - 1] as usize };
        &self.words[start..self.sentence_ends[index] as usize]
    }

    /// Consecutive sentences of the running text or of a context.
    ///
    /// # Panics
    /// If the range reaches beyond [`Self::n_sentences`].
    pub fn sentences(&self, range: Range<usize>) -> Sentences<'_> {
        Sentences::of(&self.words, &self.sentence_ends, range)
    }

    /// The question at an index, with all that is known about it.
    pub fn example(&self, index: usize) -> Example<'_> {
        let record = &self.records[index];
        Example {
            question: Question {
                vocabulary: &self.vocabulary,
                context: self.sentences(self.context(index)),
                query: &self.queries[usize_range(&record.query)],
                blank: record.blank as usize,
                candidates: &self.candidates[usize_range(&record.candidates)],
            },
            answer: record.answer.map(|answer| answer as usize),
            class: record.class,
            split: record.split,
            book: record.book.map(|book| self.books[book as usize].name.as_str()),
        }
    }

    /// All questions in their order.
    pub fn examples(&self) -> impl ExactSizeIterator<Item = Example<'_>> {
        (0..self.len()).map(|index| self.example(index))
    }

    /// The context of a question as a range of sentences.
    pub fn context(&self, index: usize) -> Range<usize> {
        usize_range(&self.records[index].context)
    }

    /// The book of a question, as an index into [`Self::books`].
    pub fn book(&self, index: usize) -> Option<usize> {
        self.records[index].book.map(|book| book as usize)
    }

    /// The split of a question.
    pub(crate) fn split(&self, index: usize) -> Option<Split> {
        self.records[index].split
    }

    /// The indices of the questions of one split.
    pub fn of_split(&self, split: Split) -> Vec<usize> {
        (0..self.len()).filter(|&index| self.records[index].split == Some(split)).collect()
    }

    /// Appends a sentence; returns its index.
    ///
    /// A set holds fewer than 2³² words and sentences. A sentence that would exceed that is not stored, and every later
    /// [`Self::push`] fails.
    pub fn push_sentence(&mut self, words: impl IntoIterator<Item = WordId>) -> usize {
        self.words.extend(words);
        self.end_sentence()
    }

    /// Appends a word to a sentence that has not ended.
    pub(crate) fn push_word(&mut self, word: WordId) {
        self.words.push(word);
    }

    /// Ends the sentence of the words that were pushed; returns its index.
    pub(crate) fn end_sentence(&mut self) -> usize {
        if self.words.len() > self.max_words || self.sentence_ends.len() >= self.max_words {
            self.is_too_large = true;
            self.drop_sentence();
            return self.n_sentences();
        }
        self.sentence_ends.push(self.words.len() as u32);
        self.sentence_ends.len() - 1
    }

    /// The words that were pushed since the last sentence ended.
    pub(crate) fn open_sentence(&self) -> &[WordId] {
        &self.words[self.sentence_ends.last().map_or(0, |&end| end as usize)..]
    }

    /// Removes the words that were pushed since the last sentence ended.
    pub(crate) fn drop_sentence(&mut self) {
        self.words.truncate(self.words.len() - self.open_sentence().len());
    }

    /// Appends sentences of a set that has the same vocabulary; returns their indices here.
    pub(crate) fn push_sentences(
        &mut self,
        from: &QuestionSet,
        range: Range<usize>,
    ) -> Range<usize> {
        let first = self.n_sentences();
        from.sentences(range)
            .iter()
            .for_each(|words| _ = self.push_sentence(words.iter().copied()));
        first..self.n_sentences()
    }

    /// Appends a book whose sentences have been pushed; returns its index into [`Self::books`].
    pub fn push_book(&mut self, book: BookText) -> usize {
        self.books.push(book);
        self.books.len() - 1
    }

    /// Appends a question; returns its index.
    ///
    /// # Errors
    /// [`LineError::Blanks`], [`LineError::FewCandidates`] or [`LineError::DoubledCandidate`] for a question that
    /// breaks the rules of §2, [`LineError::Context`] or [`LineError::OutOfRange`] where it refers to what the set does not hold, and
    /// [`LineError::TooLarge`] for the 2³²nd word.
    pub fn push(&mut self, question: NewQuestion<'_>) -> Result<usize, LineError> {
        self.check(question.query, question.candidates)?;
        let within = |what, found: Option<usize>, len: usize| match found {
            Some(found) if found >= len => Err(LineError::OutOfRange { what, len, found }),
            _ => Ok(()),
        };
        let words = question.query.iter().chain(question.candidates).map(|word| word.index());
        within("word", words.max(), self.vocabulary.len())?;
        let Range { start, end } = question.context;
        if start > end || end > self.n_sentences() {
            return Err(LineError::Context { start, end, n_sentences: self.n_sentences() });
        }
        within("candidate", question.answer, question.candidates.len())?;
        within("book", question.book, self.books.len())?;
        self.push_checked(question)
    }

    /// Checks the rules that every question keeps (§2): one blank, two or more distinct candidates.
    pub(crate) fn check(&self, query: &[WordId], candidates: &[WordId]) -> Result<(), LineError> {
        let found = query.iter().filter(|&&word| word == BLANK).count();
        if found != 1 {
            return Err(LineError::Blanks { found });
        }
        if candidates.len() < 2 {
            return Err(LineError::FewCandidates { found: candidates.len() });
        }
        let mut sorted = candidates.to_vec();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => {
                let candidate = self.vocabulary.word(pair[0]).to_owned();
                Err(LineError::DoubledCandidate { candidate })
            }
            None => Ok(()),
        }
    }

    /// Appends a question that comes from another set.
    pub(crate) fn push_checked(&mut self, question: NewQuestion<'_>) -> Result<usize, LineError> {
        let [query, candidates] = [self.queries.len(), self.candidates.len()];
        let ends = [query + question.query.len(), candidates + question.candidates.len()];
        if self.is_too_large || ends.iter().any(|&end| end > self.max_words) {
            return Err(LineError::TooLarge);
        }
        let blank = question.query.iter().position(|&word| word == BLANK);
        self.ids = Ids::default();
        self.queries.extend_from_slice(question.query);
        self.candidates.extend_from_slice(question.candidates);
        self.records.push(Record {
            context: question.context.start as u32..question.context.end as u32,
            query: query as u32..ends[0] as u32,
            candidates: candidates as u32..ends[1] as u32,
            blank: blank.unwrap_or(0) as u32,
            answer: question.answer.map(|answer| answer as u32),
            class: question.class,
            split: question.split,
            book: question.book.map(|book| book as u32),
        });
        Ok(self.records.len() - 1)
    }

    /// A set without text or questions that has the words of this one.
    pub(crate) fn without_questions(&self) -> Self {
        Self { vocabulary: self.vocabulary.clone(), ..Self::default() }
    }

    /// Takes over the ids of all questions from a file.
    pub(crate) fn set_hashes(&mut self, hashes: Vec<Hash>) {
        assert_eq!(hashes.len(), self.len(), "one id per question");
        self.ids = Ids::stored(hashes);
    }

    pub(crate) fn id_store(&self) -> &Ids {
        &self.ids
    }

    /// Takes the words of a part into this vocabulary and renumbers them in the part, which is left
    /// without a vocabulary of its own.
    pub(crate) fn absorb_vocabulary(&mut self, part: &mut QuestionSet) {
        let words = std::mem::take(&mut part.vocabulary);
        let vocabulary = Arc::make_mut(&mut self.vocabulary);
        let numbers: Vec<WordId> = words.iter().map(|word| vocabulary.intern(word)).collect();
        for words in [&mut part.words, &mut part.queries, &mut part.candidates] {
            words.iter_mut().for_each(|word| *word = numbers[word.index()]);
        }
    }

    /// The words of sentences, queries and candidates together: each kind is held below 2³².
    pub(crate) fn n_words(&self) -> usize {
        self.words.len() + self.queries.len() + self.candidates.len()
    }
}

fn usize_range(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::bears;

    #[test]
    fn a_question_that_breaks_the_rules_or_refers_to_nothing_is_refused() {
        let mut set = bears(1);
        let [bear, bed] = ["bear", "bed"].map(|word| set.intern(word));
        let question = NewQuestion {
            context: 0..1,
            query: &[bear, BLANK],
            candidates: &[bear, bed],
            answer: Some(1),
            class: None,
            split: None,
            book: None,
        };
        let unknown = WordId(99);
        let wrong = [
            NewQuestion { query: &[bear], ..question.clone() },
            NewQuestion { query: &[BLANK, BLANK], ..question.clone() },
            NewQuestion { query: &[BLANK, unknown], ..question.clone() },
            NewQuestion { candidates: &[bear], answer: None, ..question.clone() },
            NewQuestion { candidates: &[bear, bed, bear], ..question.clone() },
            NewQuestion { candidates: &[bear, unknown], ..question.clone() },
            NewQuestion { context: 0..3, ..question.clone() },
            NewQuestion { context: 3..3, ..question.clone() },
            NewQuestion { context: Range { start: 1, end: 0 }, ..question.clone() },
            NewQuestion { answer: Some(2), ..question.clone() },
            NewQuestion { book: Some(0), ..question.clone() },
        ];
        let messages: Vec<String> =
            wrong.map(|question| set.push(question).unwrap_err().to_string()).into();
        expect_test::expect![[r#"
            the query has no blank: expected the word `XXXXX` once, found it 0 times
            the query has several blanks: expected the word `XXXXX` once, found it 2 times
            word 99 does not exist: there are 15
            too few candidates: expected two or more, found 1
            the candidate `bear` is listed twice: expected distinct candidates
            word 99 does not exist: there are 15
            the context 0..3 is not a range of the 2 sentences
            the context 3..3 is not a range of the 2 sentences
            the context 1..0 is not a range of the 2 sentences
            candidate 2 does not exist: there are 2
            book 0 does not exist: there are 0"#]]
        .assert_eq(&messages.join("\n"));
        assert_eq!((set.len(), set.push(question)), (1, Ok(1)));
    }

    #[test]
    fn more_words_than_can_be_counted_are_an_error() {
        let mut set = bears(1);
        let example = set.clone();
        let example = example.example(0).question;
        let question = NewQuestion {
            context: 0..1,
            query: example.query,
            candidates: example.candidates,
            answer: None,
            class: None,
            split: None,
            book: None,
        };
        set.max_words = set.words.len() + 1;
        assert_eq!(set.push(question.clone()), Ok(1));
        let n_sentences = set.n_sentences();
        set.push_sentence([BLANK, BLANK]);
        assert_eq!(set.n_sentences(), n_sentences);
        assert_eq!(set.push(question), Err(LineError::TooLarge));
    }
}
