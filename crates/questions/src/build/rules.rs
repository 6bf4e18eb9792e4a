//! [`Rules`]: what makes a word of a book a question (§2), one field per rule.
//!
//! The paper states few of them. The others were read off the README of the released data set, its statistics and
//! its validation file of named entities, never off the test split. [`Rules::default`] holds for any books;
//! [`Rules::released`] adds what only lists of Stanford's tools explain. What is not known is in
//! docs/deviations.md.

use corpus::{Entity, PartOfSpeech};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::{Error, Result, WordClass};

/// The most sentences of a context and the most candidates: more than any book has use for.
const MOST: usize = 10_000;

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
    /// What happens to a word that occurs more than once in the query. Released NE validation file: a question for
    /// each place. In 144 of its 2,000 questions the answer is elsewhere in the query too (.072; by this rule .074,
    /// by one question per distinct word .042), and 22 sentences have the same answer blanked at several places.
    pub per: RepeatedWords,
    /// Whether the answer must occur in the context as a word of its own class. Released files: always.
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
    /// from the names and rare nouns (*ogre*, *Chipmunk*) among their answers that the recogniser leaves out. What is
    /// known is the caller's to say: the shipped list has the words that occur five times in the training books and
    /// in books of three authors.
    pub unknown_nouns_are_entities: bool,
    /// Whether a common noun must have no other noun next to it, and an unknown noun that counts as an entity none
    /// after it. Released NE validation file: of nouns whose turn it would be as complementary candidates
    /// ([`Complement`]), those next to a noun (*spelling class*) are offered in 2 of 132 cases and the others in 3
    /// of 10; of unknown nouns, those before a noun are asked for at .07 and the others at .35.
    pub lone_nouns: bool,
    /// Words that are named entities outside any mention and whatever their part of speech, in exactly this
    /// spelling. Released files: *left*, *right*, *fire*, *storm*, *fall*, *war*, *drowned* and *escape* are asked
    /// for as named entities, about as often as names are. They are in CoreNLP's lists of ideologies, causes of
    /// death and criminal charges (RegexNER). The default is none; [`Rules::released`] has these.
    pub entity_words: Vec<String>,
    /// The parts of speech of common nouns. Paper, §2: «(Common) Nouns»; README of the released data set: «any word
    /// tagged as a noun … that is not already a NE», so proper nouns outside any mention too.
    pub common_noun_tags: Vec<String>,
    /// The parts of speech of verbs. Paper, §2: «Verbs»; released files: every VB tag.
    pub verb_tags: Vec<String>,
    /// Verbs that are neither asked for nor offered, in lower case; *Was* is *was*. Released files: none of these
    /// forms of *be*, *have* and *do* is among their candidates, though nearly every context has some.
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
    /// Which words of a wider class complement those of the class. Released NE validation file: see
    /// [`Complement::PythonSet`].
    pub complement: Complement,
    /// The order of the candidates. Released files: byte order.
    pub candidate_order: CandidateOrder,
}

/// How many questions a word makes that occurs more than once in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepeatedWords {
    /// One, where the word has the class for the first time. Released files.
    Distinct,
    /// One question per occurrence.
    Token,
    /// None: only words that occur once in the query are asked for.
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

/// Which words of a wider class become candidates where the class has too few.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Complement {
    /// Drawn from the first |C| − 1 words in the order in which a `set` of Python 2 would give them. Released NE
    /// validation file: with the common nouns of a context in that order, each of the first eight is offered in .37
    /// to .41 of the contexts that need three or more of them, the ninth in .32, the tenth in .22, the eleventh in
    /// .12 and the sixteenth in .05; other orders show nothing like it.
    PythonSet,
    /// Drawn from all of them.
    Random,
}

/// The order in which a question lists its candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CandidateOrder {
    /// By the bytes of their UTF-8, capitals first. Released files.
    Bytes,
    /// In an order drawn from the seed.
    Shuffled,
}

impl Default for Rules {
    fn default() -> Self {
        let list = |words: &str| words.split(' ').map(str::to_owned).collect();
        Self {
            context_sentences: 20,
            within_chapters: false,
            classes: WordClass::ALL.to_vec(),
            per: RepeatedWords::Token,
            answer_in_context: true,
            last_word_of_mention: true,
            entities_never_asked: list("DATE NUMBER PERCENT"),
            entity_tags: list("JJ JJR JJS NN NNP NNPS NNS RB RBR RBS"),
            unknown_nouns_are_entities: true,
            lone_nouns: true,
            entity_words: Vec::new(),
            common_noun_tags: list("NN NNP NNPS NNS"),
            verb_tags: list("VB VBD VBG VBN VBP VBZ"),
            excluded_verbs: list(
                "'d 'll 'm 're 's 've are be been did do does had has have is was were",
            ),
            preposition_tags: list("IN TO"),
            letter_or_digit: true,
            lower_case: false,
            n_candidates: 10,
            fill_up: FillUp::Widen,
            complement: Complement::PythonSet,
            candidate_order: CandidateOrder::Bytes,
        }
    }
}

impl Rules {
    /// Whether the rules can be followed.
    ///
    /// # Errors
    /// If a number is too small or too large, or a tag is not one of the tagger's.
    pub fn check(&self) -> Result<()> {
        let wrong = |rule: &str, expected: &str, found: String| {
            let (rule, expected) = (rule.to_owned(), expected.to_owned());
            Err(Error::Rule { rule, expected, found })
        };
        if !(1..=MOST).contains(&self.context_sentences) {
            let expected = format!("1 to {MOST}");
            return wrong("context_sentences", &expected, self.context_sentences.to_string());
        }
        if !(2..=MOST).contains(&self.n_candidates) {
            return wrong("n_candidates", &format!("2 to {MOST}"), self.n_candidates.to_string());
        }
        for (rule, tags) in [
            ("entity_tags", &self.entity_tags),
            ("common_noun_tags", &self.common_noun_tags),
            ("verb_tags", &self.verb_tags),
            ("preposition_tags", &self.preposition_tags),
        ] {
            if let Some(tag) = tags.iter().find(|tag| PartOfSpeech::from_name(tag).is_none()) {
                return wrong(rule, "a Penn Treebank tag", tag.clone());
            }
        }
        let entities = &self.entities_never_asked;
        if let Some(tag) = entities.iter().find(|tag| Entity::from_name(tag).is_none()) {
            let expected = "an entity class of Stanford's recogniser";
            return wrong("entities_never_asked", expected, tag.clone());
        }
        Ok(())
    }

    /// The default rules with the words that Stanford's lists make named entities in the released files.
    pub fn released() -> Self {
        let words = "drowned escape fall fire left right storm war";
        let entity_words = words.split(' ').map(str::to_owned).collect();
        Self { entity_words, ..Self::default() }
    }

    /// The default rules, but for those that the table gives.
    ///
    /// # Errors
    /// As [`Rules::with`].
    pub fn from_table(table: &Table) -> Result<Self> {
        Self::default().with(table)
    }

    /// These rules, but for those that the table gives.
    ///
    /// # Errors
    /// [`Error::UnknownRule`], or [`Error::Rule`] for a value of another type.
    pub fn with(&self, table: &Table) -> Result<Self> {
        let mut rules = self.table();
        let defaults = Self::default().table();
        for (rule, value) in table {
            let default =
                defaults.get(rule).ok_or_else(|| Error::UnknownRule { rule: rule.clone() })?;
            let alone = Table::from_iter([(rule.clone(), value.clone())]);
            alone.try_into::<Self>().map_err(|error| Error::Rule {
                rule: rule.clone(),
                expected: expected(default, error.message()),
                found: value.to_string(),
            })?;
        }
        rules.extend(table.clone());
        Ok(rules.try_into().expect("every rule was read alone"))
    }

    /// The names of all rules.
    pub(crate) fn names() -> Vec<String> {
        Self::default().table().into_iter().map(|(name, _)| name).collect()
    }

    fn table(&self) -> Table {
        Table::try_from(self).expect("rules are numbers, texts and lists by name")
    }
}

/// What a rule may be, going by its default, or by the list that `serde` gives where there is a choice.
fn expected(default: &Value, message: &str) -> String {
    match (message.split_once("expected one of "), default) {
        (Some((_, choice)), _) => format!("one of {choice}"),
        (None, Value::Boolean(_)) => "`true` or `false`".to_owned(),
        (None, Value::Integer(_)) => "a whole number, 0 or more".to_owned(),
        (None, Value::Array(_)) => "a list of strings".to_owned(),
        (None, _) => "a string".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixtures::error_text;

    #[test]
    fn the_default_rules_can_be_followed_and_survive_being_written_down() {
        let rules = Rules::default();
        rules.check().unwrap();
        let written = serde_json::to_string(&rules).unwrap();
        assert_eq!(serde_json::from_str::<Rules>(&written).unwrap(), rules);
        assert_eq!(serde_json::from_str::<Rules>("{}").unwrap(), rules);
        assert_eq!(Rules::from_table(&rules.table()).unwrap(), rules);
    }

    #[test]
    fn rules_that_cannot_be_followed_are_named() {
        let message = |change: fn(&mut Rules)| {
            let mut rules = Rules::default();
            change(&mut rules);
            rules.check().unwrap_err().to_string()
        };
        expect!["rule `n_candidates`: expected 2 to 10000, found `1`"]
            .assert_eq(&message(|rules| rules.n_candidates = 1));
        expect!["rule `context_sentences`: expected 1 to 10000, found `18446744073709551615`"]
            .assert_eq(&message(|rules| rules.context_sentences = usize::MAX));
        expect!["rule `verb_tags`: expected a Penn Treebank tag, found `VERB`"]
            .assert_eq(&message(|rules| rules.verb_tags.push("VERB".into())));
        expect!["rule `entities_never_asked`: expected an entity class of Stanford's recogniser, found `AGE`"]
            .assert_eq(&message(|rules| rules.entities_never_asked.push("AGE".into())));
    }

    #[test]
    fn a_rule_is_set_by_its_name() {
        let table = "context_sentences = 3\ncandidate_order = \"shuffled\"".parse().unwrap();
        let expected = Rules {
            context_sentences: 3,
            candidate_order: CandidateOrder::Shuffled,
            ..Rules::default()
        };
        assert_eq!(Rules::from_table(&table).unwrap(), expected);
        let released = Rules::released().with(&table).unwrap();
        assert_eq!(released.entity_words.len(), 8);
        assert_eq!(Rules { entity_words: vec![], ..released }, expected);
    }

    fn refused(text: &str, message: Expect) {
        message.assert_eq(&error_text(&Rules::from_table(&text.parse().unwrap()).unwrap_err()));
    }

    #[test]
    fn an_unknown_rule_is_answered_with_the_nearest() {
        refused(
            "contexts = 3",
            expect![[r#"
            error: unknown rule `contexts`
            hint: did you mean `context_sentences`?
        "#]],
        );
        refused(
            "qqq = 3",
            expect![[r#"
            error: unknown rule `qqq`
            hint: the rules are `answer_in_context`, `candidate_order`, `classes`, `common_noun_tags`, `complement`, `context_sentences`, `entities_never_asked`, `entity_tags`, `entity_words`, `excluded_verbs`, `fill_up`, `last_word_of_mention`, `letter_or_digit`, `lone_nouns`, `lower_case`, `n_candidates`, `per`, `preposition_tags`, `unknown_nouns_are_entities`, `verb_tags`, `within_chapters`
        "#]],
        );
    }

    #[test]
    fn a_value_of_another_type_is_refused_by_its_rule() {
        refused(
            "n_candidates = \"ten\"",
            expect![[r#"
                error: rule `n_candidates`: expected a whole number, 0 or more, found `"ten"`
            "#]],
        );
        refused(
            "n_candidates = -1",
            expect![[r#"
                error: rule `n_candidates`: expected a whole number, 0 or more, found `-1`
            "#]],
        );
        refused(
            "lower_case = 1",
            expect![[r#"
            error: rule `lower_case`: expected `true` or `false`, found `1`
        "#]],
        );
        refused(
            "classes = \"NE\"",
            expect![[r#"
                error: rule `classes`: expected a list of strings, found `"NE"`
            "#]],
        );
        refused(
            "classes = [\"NN\"]",
            expect![[r#"
            error: rule `classes`: expected one of `NE`, `CN`, `V`, `P`, found `["NN"]`
        "#]],
        );
        refused(
            "per = \"word\"",
            expect![[r#"
            error: rule `per`: expected one of `distinct`, `token`, `once`, found `"word"`
        "#]],
        );
    }
}
