//! [`Rules`]: what makes a word of a book a question (§2), one field a rule.
//!
//! The paper states few of them. The others were read off the released files: the 4,500 named entity
//! questions of its validation and test sets, and the few released questions of the other classes.

use corpus::{Entity, PartOfSpeech};
use serde::{Deserialize, Serialize};

use crate::{BuildError, WordClass};

/// The rules of a build; the default is the released CBT.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// |S|, the sentences of a context; the next sentence is the query. Paper, §2: 20.
    pub context_sentences: usize,
    /// Whether a context and its query must lie in one chapter. Paper, §2: «from chapters in the book».
    /// Released files: contexts run across chapter headings, so the default is `false`.
    ///
    /// A chapter begins with a sentence whose first word is *Chapter* (as such or in capitals) or a Roman
    /// numeral of I, V, X and L other than *I*, which is nearly always the pronoun. Chapters of a book that
    /// counts them in another way are not seen.
    pub within_chapters: bool,
    /// The classes that are asked for. Paper, §2: all four. Candidates do not depend on this list.
    pub classes: Vec<WordClass>,
    /// What happens to a word that stands more than once in the query. Released files: one question.
    pub per: Per,
    /// Whether the answer must stand in the context as a word of its own class. Released files: always.
    pub answer_in_context: bool,
    /// Whether only the last word of a mention counts: *Chuck* in *Johnny Chuck*. Released files: yes.
    pub last_word_of_mention: bool,
    /// Entity classes whose words have no word class at all. Released files: dates, numbers and percentages
    /// are never asked for, but durations, times, ordinals and sets are.
    pub entities_never_asked: Vec<String>,
    /// The parts of speech that a named entity may have. Released files: nouns, adjectives and adverbs;
    /// articles, prepositions and numbers inside a mention are not asked for.
    pub entity_tags: Vec<String>,
    /// Whether a noun that the tagger does not know counts as a named entity. Released files: yes, as seen
    /// from the names among their answers that the recogniser leaves out.
    pub unknown_nouns_are_entities: bool,
    /// Words that are named entities outside any mention and whatever their part of speech, in exactly this
    /// writing. Released files: *left*, *right*, *fire*, *storm*, *fall*, *war*, *drowned* and *escape* are asked
    /// for as named entities, about as often as names are. These stand in CoreNLP's lists of ideologies, causes
    /// of death and criminal charges (RegexNER), of which they are but a few: the default is none.
    pub entity_words: Vec<String>,
    /// The parts of speech of common nouns. Paper, §2: «(Common) Nouns»; released files: NN and NNS.
    pub common_noun_tags: Vec<String>,
    /// The parts of speech of verbs. Paper, §2: «Verbs»; released files: every VB tag.
    pub verb_tags: Vec<String>,
    /// Verbs that are neither asked for nor offered, in exactly this writing. Released files: none of these
    /// forms of *be*, *have* and *do* stands among their candidates, though nearly every context has some.
    pub excluded_verbs: Vec<String>,
    /// The parts of speech of prepositions. Released files: IN and TO, so *that*, *than* and *while* too.
    pub preposition_tags: Vec<String>,
    /// Whether a word needs a letter or a digit to have a class. Released files: yes.
    pub letter_or_digit: bool,
    /// Whether all words are lower-cased. Released files: words keep their case, so *With* and *with* may be
    /// two candidates of one question.
    pub lower_case: bool,
    /// |C|, the candidates of a question, the answer among them. Paper, §2: 10.
    pub n_candidates: usize,
    /// What happens where the context has too few words of the class. Paper, Figure 1, and released files:
    /// see [`FillUp::Widen`].
    pub fill_up: FillUp,
    /// The order of the candidates. Released files: byte order.
    pub candidate_order: CandidateOrder,
}

/// How many questions a word makes that stands more than once in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// One, at the first place where the word has the class. Released files.
    Distinct,
    /// One for each place.
    Token,
    /// None: only words that stand in the query once are asked for.
    Once,
}

/// Where candidates come from when the class has too few words in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FillUp {
    /// From wider classes: named entities from common nouns, then all from words of any class. A context
    /// that has too few words even so makes no question. Paper, Figure 1: entities and common nouns mix
    /// where «fewer than ten named entities are found in the context».
    Widen,
    /// From nowhere: no question.
    Refuse,
    /// From nowhere: a question with fewer candidates, but at least two.
    Fewer,
}

/// The order in which a question lists its candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CandidateOrder {
    /// By the bytes of their UTF-8, capitals first. Released files.
    Bytes,
    /// At random.
    Shuffled,
}

impl Default for Rules {
    fn default() -> Self {
        let list = |words: &str| words.split(' ').map(str::to_owned).collect();
        Self {
            context_sentences: 20,
            within_chapters: false,
            classes: WordClass::ALL.to_vec(),
            per: Per::Distinct,
            answer_in_context: true,
            last_word_of_mention: true,
            entities_never_asked: list("DATE NUMBER PERCENT"),
            entity_tags: list("JJ JJR JJS NN NNP NNPS NNS RB RBR RBS"),
            unknown_nouns_are_entities: true,
            entity_words: Vec::new(),
            common_noun_tags: list("NN NNS"),
            verb_tags: list("VB VBD VBG VBN VBP VBZ"),
            excluded_verbs: list(
                "'d 'll 'm 're 's 've are be been did do does had has have is was were",
            ),
            preposition_tags: list("IN TO"),
            letter_or_digit: true,
            lower_case: false,
            n_candidates: 10,
            fill_up: FillUp::Widen,
            candidate_order: CandidateOrder::Bytes,
        }
    }
}

impl Rules {
    /// Whether the rules can be followed.
    ///
    /// # Errors
    /// If a number is too small or a tag is not one of the tagger's.
    pub fn check(&self) -> Result<(), BuildError> {
        for (rule, least, found) in [
            ("context_sentences", 1, self.context_sentences),
            ("n_candidates", 2, self.n_candidates),
        ] {
            if found < least {
                return Err(BuildError::RuleTooSmall { rule, least, found });
            }
        }
        for (rule, tags) in [
            ("entity_tags", &self.entity_tags),
            ("common_noun_tags", &self.common_noun_tags),
            ("verb_tags", &self.verb_tags),
            ("preposition_tags", &self.preposition_tags),
        ] {
            if let Some(tag) = tags.iter().find(|tag| PartOfSpeech::from_name(tag).is_none()) {
                let expected = "a Penn Treebank tag";
                return Err(BuildError::RuleUnknownTag { rule, expected, found: tag.clone() });
            }
        }
        let entities = &self.entities_never_asked;
        if let Some(tag) = entities.iter().find(|tag| Entity::from_name(tag).is_none()) {
            return Err(BuildError::RuleUnknownTag {
                rule: "entities_never_asked",
                expected: "an entity class of Stanford's recogniser",
                found: tag.clone(),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn the_default_rules_can_be_followed_and_survive_being_written_down() {
        let rules = Rules::default();
        rules.check().unwrap();
        let written = serde_json::to_string(&rules).unwrap();
        assert_eq!(serde_json::from_str::<Rules>(&written).unwrap(), rules);
        assert_eq!(serde_json::from_str::<Rules>("{}").unwrap(), rules);
        assert!(serde_json::from_str::<Rules>(r#"{"contexts": 20}"#).is_err());
    }

    #[test]
    fn rules_that_cannot_be_followed_are_named() {
        let message = |change: fn(&mut Rules)| {
            let mut rules = Rules::default();
            change(&mut rules);
            rules.check().unwrap_err().to_string()
        };
        expect!["rule `n_candidates` is too small: expected 2 or more, found 1"]
            .assert_eq(&message(|rules| rules.n_candidates = 1));
        expect!["rule `verb_tags`: expected a Penn Treebank tag, found `VERB`"]
            .assert_eq(&message(|rules| rules.verb_tags.push("VERB".into())));
        expect!["rule `entities_never_asked`: expected an entity class of Stanford's recogniser, found `AGE`"]
            .assert_eq(&message(|rules| rules.entities_never_asked.push("AGE".into())));
    }
}
