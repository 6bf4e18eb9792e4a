//! [`Selection`]: the splits and the class of questions that are wanted (§2).

use serde::{Deserialize, Serialize};

/// The splits and the class of questions that are wanted. What is not known of a question does not exclude it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The splits; empty: all.
    pub splits: Vec<Split>,
    /// The class; none: all.
    pub class: Option<WordClass>,
}

impl Selection {
    /// All questions of one split.
    pub fn split(split: Split) -> Self {
        Self { splits: vec![split], class: None }
    }

    /// Whether everything is wanted.
    pub fn is_all(&self) -> bool {
        self.splits.is_empty() && self.class.is_none()
    }

    /// Whether a question of this split and class is wanted.
    pub fn has(&self, split: Option<Split>, class: Option<WordClass>) -> bool {
        self.has_split(split) && self.class.zip(class).is_none_or(|(only, class)| only == class)
    }

    /// Whether a question of this split is wanted, if its class is.
    pub fn has_split(&self, split: Option<Split>) -> bool {
        self.splits.is_empty() || split.is_none_or(|split| self.splits.contains(&split))
    }
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
    /// The books that models learn from.
    Train,
    /// The books that settings are chosen on.
    Valid,
    /// The books that figures are reported on, once.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_of_a_question_does_not_exclude_it() {
        let verbs = Selection { splits: vec![Split::Valid], class: Some(WordClass::Verb) };
        assert!(verbs.has(Some(Split::Valid), Some(WordClass::Verb)));
        assert!(!verbs.has(Some(Split::Test), Some(WordClass::Verb)));
        assert!(!verbs.has(Some(Split::Valid), Some(WordClass::CommonNoun)));
        assert!(verbs.has(None, None));
        assert!(Selection::default().has(Some(Split::Train), Some(WordClass::Verb)));
        assert!(Selection::default().is_all() && !verbs.is_all());
    }
}
