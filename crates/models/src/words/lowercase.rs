//! [`Lowercase`]: case twins (With / with) get one number, as all methods but the recurrent ones need it
//! (Appendix A).
//!
//! It is made once for a vocabulary and then costs one look-up per word.

use base::{Vocabulary, WordId};
use questions::{BLANK, BLANK_WORD, Question};

/// For each word of a vocabulary the number of its lower-cased form; the blank keeps its own.
pub(crate) struct Lowercase {
    forms: Vec<WordId>,
    /// All words, those of the same form together.
    words: Vec<WordId>,
    /// For each form, where its words end.
    ends: Vec<u32>,
}

impl Lowercase {
    /// Lower-cases all words of a question set's vocabulary.
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let mut lower = Vocabulary::default();
        let blank = lower.intern(BLANK_WORD);
        debug_assert_eq!(blank, BLANK);
        let words = vocabulary.iter().skip(1).map(|word| lower.intern(&word.to_lowercase()));
        let forms: Vec<WordId> = std::iter::once(blank).chain(words).collect();
        let mut words: Vec<WordId> = (0..forms.len() as u32).map(WordId).collect();
        words.sort_by_key(|word| forms[word.index()]);
        let end = |form: u32| words.partition_point(|word| forms[word.index()].0 <= form) as u32;
        let ends = (0..lower.len() as u32).map(end).collect();
        Self { forms, words, ends }
    }

    /// The number of a word's lower-cased form: below the size of the vocabulary.
    pub fn of(&self, word: WordId) -> WordId {
        self.forms[word.index()]
    }

    /// The words of the vocabulary that are equal to a word in lower case, itself among them.
    pub fn variants(&self, word: WordId) -> &[WordId] {
        let form = self.of(word).index();
        let start = if form == 0 { 0 } else { self.ends[form - 1] as usize };
        &self.words[start..self.ends[form] as usize]
    }

    pub fn question(&self, question: &Question<'_>) -> LowercaseQuestion {
        let all = |words: &[WordId]| words.iter().map(|&word| self.of(word)).collect();
        LowercaseQuestion {
            context: all(question.context.words()),
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
        let variants = |word: &str| {
            let word = set.vocabulary().get(word).unwrap();
            lowercase
                .variants(word)
                .iter()
                .map(|&word| set.vocabulary().word(word))
                .collect::<Vec<_>>()
        };
        assert_eq!(variants("WITH"), ["With", "with", "WITH"]);
        assert_eq!((variants("XXXXX"), variants("xxxxx")), (vec!["XXXXX"], vec!["xxxxx"]));
    }
}
