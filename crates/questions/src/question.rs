//! [`Question`], x = (q, S, C) of §2, and [`Example`], the pair (x, a) with its class and origin.

use corpus::{Vocabulary, WordId};
use serde::{Deserialize, Serialize};

/// What a model is asked: x = (q, S, C). It has no answer and no word class.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Turns the numbers of words back into words.
    pub vocabulary: &'a Vocabulary,
    /// S, the sentences before the query: 20 in the CBT.
    pub context: Vec<&'a [WordId]>,
    /// q, with [`crate::BLANK`] in place of the missing word.
    pub query: &'a [WordId],
    /// k, the place of the missing word in the query.
    pub blank: usize,
    /// C, the candidate answers: ten distinct words in the CBT.
    pub candidates: &'a [WordId],
}

impl<'a> Question<'a> {
    /// The word behind a number.
    pub fn word(&self, id: WordId) -> &'a str {
        self.vocabulary.word(id)
    }

    /// The context as one running text.
    pub fn context_words(&self) -> impl Iterator<Item = WordId> {
        self.context.iter().flat_map(|sentence| sentence.iter().copied())
    }
}

/// A question with what is known about it.
#[derive(Clone, Debug)]
pub struct Example<'a> {
    /// The question itself.
    pub question: Question<'a>,
    /// a, as a place in [`Question::candidates`]; none where the file does not tell.
    pub answer: Option<usize>,
    /// The class of the missing word; CNN QA has none.
    pub class: Option<WordClass>,
    /// The split that the book belongs to.
    pub split: Option<Split>,
    /// The book that the passage is from, where it could be found.
    pub book: Option<&'a str>,
}

/// The four classes of missing words (§2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum WordClass {
    /// `NE`: the last word of an entity's mention.
    #[serde(rename = "NE")]
    NamedEntity,
    /// `CN`: singular and plural nouns.
    #[serde(rename = "CN")]
    CommonNoun,
    /// `V`: verbs in any form.
    #[serde(rename = "V")]
    Verb,
    /// `P`: prepositions, subordinating conjunctions and *to*.
    #[serde(rename = "P")]
    Preposition,
}

impl WordClass {
    /// In the order of the paper's columns.
    pub const ALL: [Self; 4] = [Self::NamedEntity, Self::CommonNoun, Self::Verb, Self::Preposition];

    /// As file names have it: `NE`, `CN`, `V`, `P`.
    pub fn code(self) -> &'static str {
        ["NE", "CN", "V", "P"][self as usize]
    }

    /// As the paper's column headings have it.
    pub fn label(self) -> &'static str {
        ["Named Entities", "Common Nouns", "Verbs", "Prepositions"][self as usize]
    }

    /// The class of a code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.code() == code)
    }
}

/// Training, validation or test; a book is in one of them only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// For learning.
    Train,
    /// For choosing settings.
    Valid,
    /// For reporting, once.
    Test,
}

impl Split {
    /// In the order of Table 1's columns.
    pub const ALL: [Self; 3] = [Self::Train, Self::Valid, Self::Test];

    /// As files and flags have it: `train`, `valid`, `test`.
    pub fn code(self) -> &'static str {
        ["train", "valid", "test"][self as usize]
    }

    /// The split of a code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|split| split.code() == code)
    }
}
