//! The class of a word (§2): its tags and its position in a mention → NE, CN, V, P or none.

use std::collections::HashSet;

use corpus::{Entity, PartOfSpeech, Word};

use crate::{Result, Rules, WordClass};

/// Gives every word of a sentence its class, or none, by the [`Rules`].
pub(crate) struct Classifier<'k> {
    known: &'k (dyn Fn(&str) -> bool + Sync),
    last_word_of_mention: bool,
    unknown_nouns_are_entities: bool,
    lone_nouns: bool,
    letter_or_digit: bool,
    never_asked: [bool; Entity::COUNT],
    entity_tags: [bool; PartOfSpeech::COUNT],
    noun_tags: [bool; PartOfSpeech::COUNT],
    class_of_tag: [Option<WordClass>; PartOfSpeech::COUNT],
    entity_words: HashSet<String>,
    excluded_verbs: HashSet<String>,
}

impl<'k> Classifier<'k> {
    /// A classifier by these rules. `known` returns whether the tagger has learnt a word, spelt as in the text: known
    /// words are those of the tagger's training books, whatever the book that is classified.
    ///
    /// # Errors
    /// If the rules can't be followed.
    pub(crate) fn new(rules: &Rules, known: &'k (dyn Fn(&str) -> bool + Sync)) -> Result<Self> {
        rules.check()?;
        let part_of_speech = |index| PartOfSpeech::from_index(index).expect("an index in range");
        let is_in =
            |tags: &[String], index| tags.iter().any(|tag| tag == part_of_speech(index).name());
        let class_of_tag = std::array::from_fn(|index| {
            let tags = [
                (&rules.common_noun_tags, WordClass::CommonNoun),
                (&rules.verb_tags, WordClass::Verb),
                (&rules.preposition_tags, WordClass::Preposition),
            ];
            tags.into_iter().find(|(tags, _)| is_in(tags, index)).map(|(_, class)| class)
        });
        Ok(Self {
            known,
            last_word_of_mention: rules.last_word_of_mention,
            unknown_nouns_are_entities: rules.unknown_nouns_are_entities,
            lone_nouns: rules.lone_nouns,
            letter_or_digit: rules.letter_or_digit,
            never_asked: std::array::from_fn(|index| {
                let entity = Entity::from_index(index).expect("an index in range");
                rules.entities_never_asked.iter().any(|name| name == entity.name())
            }),
            entity_tags: std::array::from_fn(|index| is_in(&rules.entity_tags, index)),
            noun_tags: std::array::from_fn(|index| part_of_speech(index).name().starts_with("NN")),
            class_of_tag,
            entity_words: rules.entity_words.iter().cloned().collect(),
            excluded_verbs: rules.excluded_verbs.iter().map(|verb| verb.to_lowercase()).collect(),
        })
    }

    /// The classes of a sentence's words, in their order.
    pub(crate) fn classes(&self, sentence: &[Word]) -> impl Iterator<Item = Option<WordClass>> {
        sentence.iter().enumerate().map(|(position, word)| {
            let previous = position.checked_sub(1).and_then(|position| sentence.get(position));
            self.class(word, previous, sentence.get(position + 1))
        })
    }

    fn class(
        &self,
        word: &Word,
        previous: Option<&Word>,
        next: Option<&Word>,
    ) -> Option<WordClass> {
        let ends_mention = next.is_none_or(|next| next.entity != word.entity);
        let is_noun =
            |word: Option<&Word>| word.is_some_and(|word| self.noun_tags[word.pos.index()]);
        let tag = word.pos.index();
        if self.letter_or_digit && !word.text.chars().any(char::is_alphanumeric) {
            return None;
        }
        if self.never_asked[word.entity.index()] {
            return None;
        }
        if word.entity != Entity::NONE && self.entity_tags[tag] {
            let asked = ends_mention || !self.last_word_of_mention;
            return asked.then_some(WordClass::NamedEntity);
        }
        if word.entity == Entity::NONE && self.entity_words.contains(&word.text) {
            return Some(WordClass::NamedEntity);
        }
        if self.unknown_nouns_are_entities && self.noun_tags[tag] && !(self.known)(&word.text) {
            let asked = !self.lone_nouns || !is_noun(next);
            return asked.then_some(WordClass::NamedEntity);
        }
        let class = self.class_of_tag[tag]?;
        let excluded = match class {
            WordClass::CommonNoun => self.lone_nouns && (is_noun(previous) || is_noun(next)),
            WordClass::Verb => self.excluded_verbs.contains(&word.text.to_lowercase()),
            _ => false,
        };
        (!excluded).then_some(class)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::fixtures::tagged;

    fn classes(change: fn(&mut Rules), sentence: &str) -> String {
        let mut rules = Rules::default();
        change(&mut rules);
        let known = |word: &str| word != "gruffkin";
        let classifier = Classifier::new(&rules, &known).unwrap();
        let sentence = tagged(sentence);
        let classes = classifier.classes(&sentence);
        let code = |class: Option<WordClass>| class.map_or("-", WordClass::code);
        classes.map(code).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_rule_decides_the_class_of_a_word() {
        // The mention is «Old Mother Hen of Dell»: its last word is asked for, and so is each word without
        // the rule, but for the preposition, which has its usual class.
        let hen = "Old/JJ/PERSON Mother/NNP/PERSON Hen/NNP/PERSON of/IN/PERSON Dell/NNP/PERSON";
        expect!["- - - P NE"].assert_eq(&classes(|_| {}, hen));
        expect!["NE NE NE P NE"]
            .assert_eq(&classes(|rules| rules.last_word_of_mention = false, hen));

        // Two mentions of one class without a word between them look like one.
        expect!["- NE NE"]
            .assert_eq(&classes(|_| {}, "Ned/NNP/PERSON Tom/NNP/PERSON Dell/NNP/LOCATION"));

        // A number and a date have no class, whatever their part of speech; a duration has.
        let days = "two/CD/NUMBER dozen/NN/NUMBER May/NNP/DATE days/NNS/DURATION";
        expect!["- - - NE"].assert_eq(&classes(|_| {}, days));
        expect!["- NE NE NE"].assert_eq(&classes(|rules| rules.entities_never_asked.clear(), days));

        // A noun that the tagger does not know is an entity; a proper noun outside any mention is a common noun.
        let noun = "gruffkin/NN/O saw/VBD/O eggs/NNS/O at/IN/O Noon/NNP/O";
        expect!["NE V CN P CN"].assert_eq(&classes(|_| {}, noun));
        expect!["CN V CN P CN"]
            .assert_eq(&classes(|rules| rules.unknown_nouns_are_entities = false, noun));
        expect!["NE V CN P -"].assert_eq(&classes(
            |rules| rules.common_noun_tags = vec!["NN".into(), "NNS".into()],
            noun,
        ));

        // Nouns side by side are no common nouns; an unknown one is an entity if it is the last.
        let compound =
            "the/DT spelling/NN class/NN of/IN gruffkin/NN tails/NNS and/CC Old/NNP gruffkin/NN";
        expect!["- - - P - - - - NE"].assert_eq(&classes(|_| {}, compound));
        expect!["- CN CN P NE CN - CN NE"]
            .assert_eq(&classes(|rules| rules.lone_nouns = false, compound));

        // «was» is excluded in any case.
        expect!["- - V"].assert_eq(&classes(|_| {}, "was/VBD/O Was/VBD/O went/VBD/O"));
        expect!["V V V"].assert_eq(&classes(
            |rules| rules.excluded_verbs.clear(),
            "was/VBD/O Was/VBD/O went/VBD/O",
        ));

        let left = "left/VBD fire/NN the/DT Left/NNP left/RB/DATE";
        expect!["V CN - CN -"].assert_eq(&classes(|_| {}, left));
        expect!["NE NE - CN -"].assert_eq(&classes(
            |rules| rules.entity_words = vec!["left".into(), "fire".into()],
            left,
        ));

        expect!["- P CN"].assert_eq(&classes(|_| {}, "--/NN/O to/TO/O 3rd/NN/O"));
        expect!["CN P CN"]
            .assert_eq(&classes(|rules| rules.letter_or_digit = false, "--/NN/O to/TO/O 3rd/NN/O"));
    }
}
