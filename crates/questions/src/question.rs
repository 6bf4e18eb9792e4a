//! [`Question`], x = (q, S, C) of §2, and [`Example`], the pair (x, a) with its class and origin.

use base::{Split, Vocabulary, WordClass, WordId};

use crate::Sentences;

/// What a model is asked: x = (q, S, C). It has no answer and no word class.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Turns the numbers of words back into words.
    pub vocabulary: &'a Vocabulary,
    /// S, the sentences before the query: 20 in the CBT.
    pub context: Sentences<'a>,
    /// q, with [`crate::BLANK`] in place of the missing word.
    pub query: &'a [WordId],
    /// k, the index of the missing word in the query.
    pub blank: usize,
    /// C, the candidate answers: ten distinct words in the CBT.
    pub candidates: &'a [WordId],
}

impl<'a> Question<'a> {
    /// The spelling of a word.
    pub fn word(&self, id: WordId) -> &'a str {
        self.vocabulary.word(id)
    }
}

/// A question with what is known about it.
#[derive(Clone, Copy, Debug)]
pub struct Example<'a> {
    /// What a model sees of it.
    pub question: Question<'a>,
    /// a, as an index into [`Question::candidates`]; `None` if it is not known.
    pub answer: Option<usize>,
    /// The class of the missing word; CNN QA has none.
    pub class: Option<WordClass>,
    /// The split that the book belongs to.
    pub split: Option<Split>,
    /// The book that the passage is from, where it could be found.
    pub book: Option<&'a str>,
}
