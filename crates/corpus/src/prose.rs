//! Whether a text is English prose, which is all that the tagger and the rules of the test are made for.

use crate::{Tagger, Word};

/// How much of a text is English prose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prose {
    /// The share of its words that the tagger has learnt.
    pub known_words: f64,
    /// The share of its sentences that have a verb.
    pub with_verb: f64,
}

impl Prose {
    /// Measures a tagged text on sentences at equal distances, at most a thousand or so.
    pub fn of(sentences: &[Vec<Word>], tagger: &Tagger) -> Self {
        const ENOUGH: usize = 1000;
        let sample = || sentences.iter().step_by(1 + sentences.len() / ENOUGH);
        let is_word = |word: &&Word| word.text.starts_with(char::is_alphabetic);
        let words = || sample().flatten().filter(is_word);
        let n_known = words().filter(|word| tagger.knows(&word.text)).count();
        let has_verb = |sentence: &&Vec<Word>| {
            sentence.iter().any(|word| matches!(word.pos.name().get(..2), Some("VB" | "MD")))
        };
        Self {
            known_words: share(n_known, words().count()),
            with_verb: share(sample().filter(has_verb).count(), sample().count()),
        }
    }

    /// Whether both shares are those of English prose.
    pub fn is_english(&self) -> bool {
        self.known_words >= Self::LEAST_KNOWN && self.with_verb >= Self::LEAST_WITH_VERB
    }

    /// The least share of known words. Chosen: the 108 books have .966 and more, the tales .922, a modern text about
    /// banks .841; a tale with one letter in twenty misread has .790, program code .65, German .34.
    pub const LEAST_KNOWN: f64 = 0.8;
    /// The least share of sentences with a verb. Chosen: the 108 books have .814 and more, a nursery rhyme .667; a
    /// list of words has none.
    pub const LEAST_WITH_VERB: f64 = 0.6;
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tales::TALES;
    use crate::tokenise_paragraphs;

    fn prose(text: &str) -> Prose {
        let tagger = Tagger::shipped();
        Prose::of(&tagger.tag(tokenise_paragraphs(text)), tagger)
    }

    #[test]
    fn tales_and_verse_are_english_prose() {
        for tale in TALES {
            let prose = prose(tale.text);
            assert!(prose.known_words > 0.9 && prose.with_verb > 0.85, "{}: {prose:?}", tale.name);
        }
        let verse = "Twinkle, twinkle, little star,\nHow I wonder what you are!\nUp above the world so high,\n\
                     Like a diamond in the sky.\n\nWhen the blazing sun is gone,\nWhen he nothing shines upon,\n\
                     Then you show your little light,\nTwinkle, twinkle, all the night.\n";
        assert!(prose(verse).is_english(), "{:?}", prose(verse));
    }

    #[test]
    fn other_languages_are_not() {
        let german = "Der alte Bär wohnte im Wald. Jeden Morgen kochte er seinen Haferbrei und stellte drei \
                      Schüsseln auf den Tisch. Eines Tages kam ein Mädchen an die Tür, klopfte und trat ein. \
                      Die Suppe war zu heiß, und das Bett war viel zu hart.";
        let french = "Le vieil ours habitait dans la forêt. Chaque matin il préparait sa bouillie et posait trois \
                      bols sur la table. Un jour une petite fille frappa à la porte et entra sans attendre.";
        for text in [german, french] {
            let prose = prose(text);
            assert!(prose.known_words < 0.5, "{prose:?}");
        }
    }

    #[test]
    fn code_lists_and_misread_letters_are_not() {
        let code = prose(include_str!("read.rs"));
        assert!(!code.is_english(), "{code:?}");
        let list = prose("Ant. Bear. Cat. Dog. Elk. Fox. Goat. Hen. Ibex. Jay.");
        assert!(list.with_verb < 0.3, "{list:?}");
        // One letter in ten is another.
        let letters = (0..).zip(TALES[0].text.chars());
        let misread: String = letters
            .map(|(place, c)| if place % 10 == 3 && c.is_alphabetic() { 'c' } else { c })
            .collect();
        let misread = prose(&misread);
        assert!(!misread.is_english(), "{misread:?}");
        assert!(!prose("").is_english());
    }
}
