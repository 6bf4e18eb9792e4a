//! [`Lowercase`]: case twins (With / with) get one number, as all methods but the recurrent ones need it
//! (Appendix A).
//!
//! It is made once for a vocabulary and then costs one look-up a word.

use corpus::{Vocabulary, WordId};
use questions::{BLANK, BLANK_WORD, Question};

/// For each word of a vocabulary the number of its lower-cased form; the blank keeps its own.
pub(crate) struct Lowercase(Vec<WordId>);

impl Lowercase {
    /// Lower-cases all words of a question set's vocabulary.
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let mut lower = Vocabulary::default();
        let blank = lower.intern(BLANK_WORD);
        debug_assert_eq!(blank, BLANK);
        let words = vocabulary.iter().skip(1).map(|word| lower.intern(&word.to_lowercase()));
        Self(std::iter::once(blank).chain(words).collect())
    }

    /// The number of a word's lower-cased form: below the size of the vocabulary.
    pub fn of(&self, word: WordId) -> WordId {
        self.0[word.index()]
    }

    pub fn question(&self, question: &Question<'_>) -> LowercaseQuestion {
        let all = |words: &[WordId]| words.iter().map(|&word| self.of(word)).collect();
        LowercaseQuestion {
            context: question.context_words().map(|word| self.of(word)).collect(),
            query: all(question.query),
            blank: question.blank,
            candidates: all(question.candidates),
        }
    }
}

/// A question in lower case, its context one running text.
pub(crate) struct LowercaseQuestion {
    pub context: Vec<WordId>,
    pub query: Vec<WordId>,
    pub blank: usize,
    pub candidates: Vec<WordId>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::one_question;

    #[test]
    fn case_twins_become_one_and_the_blank_stays_apart() {
        let set = one_question(&["With ÉLAN with", "xxxxx"], "WITH XXXXX", &["élan", "With"]);
        let lowercase = Lowercase::new(set.vocabulary());
        let question = lowercase.question(&set.example(0).question);
        let numbers = |words: &[WordId]| words.iter().map(|word| word.0).collect::<Vec<_>>();
        assert_eq!(numbers(&question.context), [1, 2, 1, 3]);
        assert_eq!(numbers(&question.query), [1, 0]);
        assert_eq!(numbers(&question.candidates), [2, 1]);
    }
}
