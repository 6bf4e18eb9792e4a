//! The two tag sets of Stanford's tools: Penn Treebank parts of speech, and entity classes.

/// The 45 Penn Treebank tags that Stanford's tagger writes, in alphabetical order.
const PARTS_OF_SPEECH: [&str; 45] = [
    "#", "$", "''", ",", "-LRB-", "-RRB-", ".", ":", "CC", "CD", "DT", "EX", "FW", "IN", "JJ",
    "JJR", "JJS", "LS", "MD", "NN", "NNP", "NNPS", "NNS", "PDT", "POS", "PRP", "PRP$", "RB", "RBR",
    "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP", "WP$",
    "WRB", "``",
];

/// A part of speech: one of the 45 Penn Treebank tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartOfSpeech(u8);

impl PartOfSpeech {
    /// How many tags there are.
    pub const COUNT: usize = PARTS_OF_SPEECH.len();

    /// The tag of that name, or none if it is not one of the 45.
    pub fn from_name(name: &str) -> Option<Self> {
        PARTS_OF_SPEECH.binary_search(&name).ok().map(|index| Self(index as u8))
    }

    /// The tag at a place of the alphabetical list, or none past its end.
    pub fn from_index(index: usize) -> Option<Self> {
        (index < Self::COUNT).then_some(Self(index as u8))
    }

    /// Its place in the alphabetical list.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// As Stanford's tools print it: `NN`, `VBD`, `-LRB-`.
    pub fn name(self) -> &'static str {
        PARTS_OF_SPEECH[self.index()]
    }
}

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

/// An entity class, or [`Entity::NONE`] for a word outside any mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entity(u8);

impl Entity {
    /// How many classes there are, `O` included.
    pub const COUNT: usize = ENTITIES.len();
    /// `O`: not in a mention.
    pub const NONE: Self = Self(0);

    /// The class of that name, or none if Stanford's recogniser has no such class.
    pub fn from_name(name: &str) -> Option<Self> {
        ENTITIES.iter().position(|&entity| entity == name).map(|index| Self(index as u8))
    }

    /// The class at a place of the list, or none past its end.
    pub fn from_index(index: usize) -> Option<Self> {
        (index < Self::COUNT).then_some(Self(index as u8))
    }

    /// Its place in the list; `O` is 0.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// As Stanford's tools print it: `PERSON`, `DATE`, `O`.
    pub fn name(self) -> &'static str {
        ENTITIES[self.index()]
    }
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
