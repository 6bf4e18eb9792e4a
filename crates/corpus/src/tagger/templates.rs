//! Which features say what a word's tag is: the templates of the two taggers.
//!
//! A template is numbered; its values come from the words at positions −2 … +2 and from the tags given
//! to the two words before. Three groups, because they cost differently: `single` templates look
//! at one word (worked out once for each distinct word of a book), `joint` ones at several, and
//! `sequence` ones at the tags before as well. `p2`, `p1`, `word`, `n1`, `n2` are the words at the
//! five positions; the number that opens a key is the template's, and a weights file depends on it.

use super::{
    description::Description,
    feature_key::{join, key1, key2},
};

/// The number of positions around a word that features look at, its own included.
pub const WINDOW: usize = 5;

/// The surroundings of the word to be tagged.
pub struct Window<'a> {
    /// The words at positions −2 … +2.
    pub words: [&'a Description; WINDOW],
    /// Parts of speech at positions −1, 0, +1; the tagger of entities alone reads them.
    pub pos: [u8; 3],
}

/// A tagger's features; `L` is the number of its tags, rounded up to whole vector registers of 8 or
/// 16 scores.
pub trait Templates<const L: usize> {
    /// How many tags there are.
    const TAGS: usize;

    /// What the first tag is given before any feature speaks, in the units of the weights file.
    const HEAD_START: i16;

    /// Features of the word at a position (0 is −2) alone.
    fn single(word: &Description, position: usize, features: &mut Vec<u32>);

    /// Features of several words.
    fn joint(window: &Window, features: &mut Vec<u32>);

    /// Features of the last tag and the one before it.
    fn sequence(window: &Window, last: u8, before: u8, features: &mut Vec<u32>);

    /// The tag of a word that needs no features.
    fn certain(word: &Description) -> Option<u8>;
}

/// The 45 parts of speech, rounded up.
pub const POS_LANES: usize = 48;
/// The 13 entity classes, rounded up.
pub const ENTITY_LANES: usize = 16;

/// The tag before the first word of a sentence.
pub const NO_TAG: u8 = 100;

/// Templates for parts of speech.
pub struct PartsOfSpeech;

impl Templates<POS_LANES> for PartsOfSpeech {
    const TAGS: usize = crate::PartOfSpeech::COUNT;
    const HEAD_START: i16 = 0;

    fn single(word: &Description, position: usize, features: &mut Vec<u32>) {
        let template = shared(word, position, features);
        if position == 2 {
            features.push(key2(template + 3, word.word, word.initial()));
            for (length, suffix) in present(&word.suffixes) {
                features.push(key1(template + 4 + length, suffix));
            }
            for (length, prefix) in present(&word.prefixes) {
                features.push(key1(template + 9 + length, prefix));
            }
            features.push(key2(template + 12, word.shape, word.initial()));
            features.push(key1(template + 13, word.flags));
            features.push(key2(template + 14, word.casing, word.capitals()));
            features.push(key1(template + 15, word.coarse));
            features.push(key2(template + 16, word.suffixes[2], word.capital_or_initial()));
            features.push(key2(template + 17, word.suffixes[1], word.casing));
        }
        if position == 1 || position == 3 {
            features.push(key1(template + 18, word.suffixes[2]));
            features.push(key1(template + 19, word.coarse));
            features.push(key2(template + 20, word.casing, word.capitals()));
            features.push(key1(template + 21, word.suffixes[1]));
        }
    }

    fn joint(window: &Window, features: &mut Vec<u32>) {
        let [_, p1, word, n1, n2] = window.words;
        features.push(key2(200, word.lower, n1.lower));
        features.push(key2(201, p1.lower, word.lower));
        features.push(key2(202, word.coarse, n1.coarse));
        features.push(key2(203, p1.coarse, word.coarse));
        features.push(key2(204, n1.coarse, n2.coarse));
        features.push(key2(205, word.suffixes[1], n1.lower));
        features.push(key2(206, word.lower, n1.fine));
        features.push(key2(207, p1.fine, word.lower));
        features.push(key2(208, p1.coarse, join(word.coarse, n1.coarse)));
        features.push(key2(209, word.capitals(), join(n1.capitals(), n1.casing)));
        features.push(key2(210, word.capitals(), join(p1.capitals(), p1.casing)));
        features.push(key2(211, p1.lower, n1.lower));
        features.push(key2(212, word.lower, join(n1.coarse, n2.coarse)));
    }

    fn sequence(window: &Window, last: u8, before: u8, features: &mut Vec<u32>) {
        let [_, _, word, n1, n2] = window.words;
        let (last, before) = (u64::from(last), u64::from(before));
        features.push(key1(300, last));
        features.push(key2(301, last, before));
        features.push(key2(302, last, word.lower));
        features.push(key2(303, last, n1.fine));
        features.push(key2(304, last, word.coarse));
        features.push(key2(305, join(last, before), n1.coarse));
        features.push(key2(306, last, n1.suffixes[2]));
        features.push(key2(307, last, word.suffixes[2]));
        features.push(key2(308, last, n1.lower));
        features.push(key2(309, join(last, before), word.lower));
        features.push(key2(310, last, join(word.lower, n1.coarse)));
        features.push(key2(311, last, join(word.coarse, n1.coarse)));
        features.push(key2(312, last, join(n1.coarse, n2.coarse)));
        features.push(key2(313, join(last, before), word.coarse));
        features.push(key2(314, last, join(word.capitals(), word.casing)));
    }

    fn certain(word: &Description) -> Option<u8> {
        word.certain_pos
    }
}

/// The features of a single word that both tag sets share; returns the number of the position's first
/// template.
fn shared(word: &Description, position: usize, features: &mut Vec<u32>) -> u64 {
    let template = 32 * position as u64;
    features.push(key1(template, word.lower));
    features.push(key1(template + 1, word.fine));
    if position == 2 {
        features.push(key1(template + 2, 0));
    }
    template
}

/// The prefixes or suffixes that a word is long enough to have, numbered from the shortest.
fn present(affixes: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    (0..).zip(affixes.iter().copied()).filter(|&(_, affix)| affix != 0)
}

/// Templates for entity classes.
pub struct Entities;

impl Templates<ENTITY_LANES> for Entities {
    const TAGS: usize = crate::Entity::COUNT;
    // Chosen: in books that it was not trained on, the perceptron finds several times more mentions
    // that Stanford's recogniser did not see than it misses. Between 80 and 160 the validation books
    // are at their best.
    const HEAD_START: i16 = 120;

    fn single(word: &Description, position: usize, features: &mut Vec<u32>) {
        let template = shared(word, position, features);
        if position == 2 {
            features.push(key2(template + 3, word.lower, word.capital_or_initial()));
            for (length, suffix) in present(&word.suffixes) {
                features.push(key2(template + 4 + length, suffix, word.capital()));
            }
            features.push(key2(template + 9, word.prefixes[2], word.capital()));
            features.push(key1(template + 10, word.shape));
            features.push(key1(template + 11, word.flags));
            features.push(key2(template + 12, word.casing, word.capitals()));
            features.push(key2(template + 13, word.fine, word.capital_or_initial()));
            features.push(key1(template + 14, word.coarse));
        }
        if position == 1 || position == 3 {
            features.push(key1(template + 15, word.suffixes[2]));
            features.push(key2(template + 16, word.lower, word.capital_or_initial()));
            features.push(key1(template + 17, word.shape));
        }
    }

    fn joint(window: &Window, features: &mut Vec<u32>) {
        let [p2, p1, word, n1, n2] = window.words;
        let [p1_pos, pos, n1_pos] = window.pos.map(u64::from);
        let capital = word.capital_or_initial();
        features.push(key2(200, p1.lower, capital));
        features.push(key2(201, n1.lower, capital));
        features.push(key2(202, p2.lower, capital));
        features.push(key2(203, n2.lower, capital));
        features.push(key2(204, p1.fine, capital));
        features.push(key2(205, n1.fine, capital));
        features.push(key2(206, word.coarse, p1.coarse));
        features.push(key2(207, word.coarse, n1.coarse));
        features.push(key2(208, word.shape, n1.shape));
        features.push(key2(209, p1.shape, word.shape));
        features.push(key2(210, join(n1.casing, n1.capital_or_initial()), capital));
        features.push(key2(211, join(p1.casing, p1.capital_or_initial()), capital));
        features.push(key2(212, word.lower, n1.lower));
        features.push(key2(213, p1.lower, word.lower));
        features.push(key2(214, p1.lower, join(word.lower, n1.lower)));
        features.push(key2(215, word.lower, join(n1.lower, n2.lower)));
        features.push(key2(216, p2.lower, join(p1.lower, word.lower)));
        features.push(key2(217, word.lower, n1.fine));
        features.push(key2(218, p1.fine, word.lower));
        features.push(key2(230, pos, capital));
        features.push(key2(231, pos, p1_pos));
        features.push(key2(232, pos, n1_pos));
        features.push(key2(233, pos, join(word.casing, word.capitals())));
        features.push(key2(234, join(p1_pos, n1_pos), capital));
        features.push(key2(235, pos, word.lower));
        features.push(key2(236, pos, word.fine));
    }

    fn sequence(window: &Window, last: u8, before: u8, features: &mut Vec<u32>) {
        let [_, p1, word, n1, _] = window.words;
        let (last, before) = (u64::from(last), u64::from(before));
        let pos = u64::from(window.pos[1]);
        features.push(key1(300, last));
        features.push(key2(301, last, before));
        features.push(key2(302, last, word.capitals()));
        features.push(key2(303, last, pos));
        features.push(key2(304, last, word.lower));
        features.push(key2(305, last, n1.lower));
        features.push(key2(306, last, join(p1.lower, word.lower)));
        features.push(key2(307, last, word.fine));
        features.push(key2(308, last, join(word.casing, word.capitals())));
        features.push(key2(309, last, join(pos, u64::from(window.pos[2]))));
    }

    fn certain(word: &Description) -> Option<u8> {
        word.certain_entity
    }
}
