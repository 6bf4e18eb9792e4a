//! The two tag sets of Stanford's tools: Penn Treebank parts of speech, and entity classes.

/// The 45 Penn Treebank tags that Stanford's tagger writes, in alphabetical order.
const PARTS_OF_SPEECH: [&str; 45] = [
    "#", "$", "''", ",", "-LRB-", "-RRB-", ".", ":", "CC", "CD", "DT", "EX", "FW", "IN", "JJ",
    "JJR", "JJS", "LS", "MD", "NN", "NNP", "NNPS", "NNS", "PDT", "POS", "PRP", "PRP$", "RB", "RBR",
    "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP", "WP$",
    "WRB", "``",
];

const ENTITIES: [&str; 13] = [
    "O",
    "DATE",
    "DURATION",
    "LOCATION",
    "MISC",
    "MONEY",
    "NUMBER",
    "ORDINAL",
    "ORGANIZATION",
    "PERCENT",
    "PERSON",
    "SET",
    "TIME",
];

/// A tag type that numbers the names of a list.
macro_rules! tag_set {
    ($(#[$doc:meta])* $name:ident, $names:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u8);

        impl $name {
            /// The number of tags.
            pub const COUNT: usize = $names.len();

            /// The tag with a name, if Stanford's tools have it.
            pub fn from_name(name: &str) -> Option<Self> {
                $names.iter().position(|&tag| tag == name).map(|index| Self(index as u8))
            }

            /// The tag at an index of the list, or `None` past its end.
            pub fn from_index(index: usize) -> Option<Self> {
                (index < Self::COUNT).then_some(Self(index as u8))
            }

            /// Its index in the list.
            pub fn index(self) -> usize {
                usize::from(self.0)
            }

            /// As Stanford's tools print it.
            pub fn name(self) -> &'static str {
                $names[self.index()]
            }
        }
    };
}

tag_set!(
    /// A part of speech: one of the 45 Penn Treebank tags (`NN`, `VBD`, `-LRB-`), in alphabetical order.
    PartOfSpeech,
    PARTS_OF_SPEECH
);
tag_set!(
    /// An entity class (`PERSON`, `DATE`), or [`Entity::NONE`] for a word outside any mention.
    Entity,
    ENTITIES
);

impl Entity {
    /// `O`: not in a mention.
    pub const NONE: Self = Self(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_is_found_by_its_name() {
        for (index, name) in PARTS_OF_SPEECH.iter().enumerate() {
            assert_eq!(PartOfSpeech::from_name(name).map(PartOfSpeech::index), Some(index));
        }
        for (index, name) in ENTITIES.iter().enumerate() {
            assert_eq!(Entity::from_name(name).map(Entity::index), Some(index));
        }
        assert_eq!(PartOfSpeech::from_name("NOUN"), None);
        assert_eq!(Entity::NONE.name(), "O");
    }
}
