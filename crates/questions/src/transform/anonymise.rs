//! The anonymised form of questions (Appendix D): «we replaced the mentions of the ten candidates in each
//! question by anonymised placeholders».
//!
//! A question becomes one whose candidates are `@candidate0`, `@candidate1`, …, in this order. Which number a
//! candidate gets is drawn from the seed, the query and the candidates, so neither its number nor its position
//! says anything about the word, and a question gets the same numbers in whatever file or set it is.
//!
//! Chosen: a word of context or query is a mention of the candidate that it equals, else of the first
//! candidate that it equals when both are lower-cased. Without that, *RABBIT* in one sentence would give away
//! *Rabbit* in another. Candidates that differ in case alone are two placeholders.

use base::{Vocabulary, WordId};
use rand::seq::SliceRandom;

use crate::build::case::lower_cased;
use crate::error::Result;
use crate::{BLANK, BookText, Example, NewQuestion, Question, QuestionSet, SentenceBuffer};
use base::seeds::{Use, generator};

/// Anonymises the questions of a set one at a time, in buffers of its own: a copy of every context of the CBT
/// would be 300 million words.
#[derive(Clone)]
pub struct Anonymiser<'s> {
    set: &'s QuestionSet,
    seed: u64,
    /// The words of the set, then the placeholders.
    vocabulary: Vocabulary,
    placeholders: Vec<WordId>,
    /// For each word, the number of its lower-cased form.
    form_of: Vec<WordId>,
    /// For each form, the first candidate of the current question that has it.
    candidate_of_form: Vec<Option<u16>>,
    context: SentenceBuffer,
    query: Vec<WordId>,
    candidates: Vec<WordId>,
}

impl<'s> Anonymiser<'s> {
    /// For the questions of a set.
    pub fn new(set: &'s QuestionSet, seed: u64) -> Self {
        let (forms, form_of) = lower_cased(set.vocabulary());
        let most = set.examples().map(|example| example.question.candidates.len()).max();
        let mut vocabulary = Vocabulary::clone(set.vocabulary());
        let placeholder = |number| vocabulary.intern(&format!("@candidate{number}"));
        let placeholders = (0..most.unwrap_or(0)).map(placeholder).collect();
        Self {
            set,
            seed,
            vocabulary,
            placeholders,
            form_of,
            candidate_of_form: vec![None; forms.len()],
            context: SentenceBuffer::default(),
            query: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// The words of the set and the placeholders.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The question at an index of the set, anonymised.
    pub fn example(&mut self, index: usize) -> Example<'_> {
        let Example { question, answer, class, split, book } = self.set.example(index);
        let numbers = self.numbers(&question);
        for (index, word) in question.candidates.iter().enumerate() {
            let first = &mut self.candidate_of_form[self.form_of[word.index()].index()];
            first.get_or_insert(index as u16);
        }
        let replace = |word: &WordId| {
            let first = self.candidate_of_form[self.form_of[word.index()].index()];
            let Some(first) = first.filter(|_| *word != BLANK) else {
                return *word;
            };
            let exact = question.candidates.iter().position(|candidate| candidate == word);
            self.placeholders[numbers[exact.unwrap_or(usize::from(first))]]
        };
        self.context.clear();
        for sentence in question.context {
            self.context.push(sentence.iter().map(replace));
        }
        self.query.clear();
        self.query.extend(question.query.iter().map(replace));
        self.candidates.clear();
        self.candidates.extend(&self.placeholders[..question.candidates.len()]);
        for word in question.candidates {
            self.candidate_of_form[self.form_of[word.index()].index()] = None;
        }

        Example {
            question: Question {
                vocabulary: &self.vocabulary,
                context: self.context.sentences(),
                query: &self.query,
                blank: question.blank,
                candidates: &self.candidates,
            },
            answer: answer.map(|index| numbers[index]),
            class,
            split,
            book,
        }
    }

    /// The number of each candidate's placeholder.
    fn numbers(&self, question: &Question<'_>) -> Vec<usize> {
        let mut text = String::new();
        for &word in question.query.iter().chain(question.candidates) {
            text.push_str(question.word(word));
            text.push('\n');
        }
        let mut numbers: Vec<usize> = (0..question.candidates.len()).collect();
        numbers.shuffle(&mut generator(self.seed, Use::Anonymise, &[&text]));
        numbers
    }
}

/// A set with all its questions anonymised. Each has a context of its own, so the set is for tens of
/// thousands of questions; the books keep their names and lose their running text, which would give the words away.
///
/// # Errors
/// [`crate::LineError::TooLarge`] for the 2³²nd word.
pub fn anonymise(set: &QuestionSet, seed: u64) -> Result<QuestionSet> {
    let mut anonymiser = Anonymiser::new(set, seed);
    let mut numbers: Vec<Option<WordId>> = vec![None; anonymiser.vocabulary.len()];
    let mut result = QuestionSet::default();
    for book in set.books() {
        result.push_book(BookText { sentences: 0..0, ..book.clone() });
    }
    for index in 0..set.len() {
        let Example { question, answer, class, split, .. } = anonymiser.example(index);
        let mut number = |result: &mut QuestionSet, word: &WordId| {
            *numbers[word.index()].get_or_insert_with(|| result.intern(question.word(*word)))
        };
        let start = result.n_sentences();
        for sentence in question.context {
            let words: Vec<WordId> =
                sentence.iter().map(|word| number(&mut result, word)).collect();
            result.push_sentence(words);
        }
        let query: Vec<WordId> =
            question.query.iter().map(|word| number(&mut result, word)).collect();
        let candidates: Vec<WordId> =
            question.candidates.iter().map(|word| number(&mut result, word)).collect();
        result.push_checked(NewQuestion {
            context: start..result.n_sentences(),
            query: &query,
            candidates: &candidates,
            answer,
            class,
            split,
            book: set.book(index),
        })?;
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fixtures::{print, push_book, push_question};
    use crate::{Split, WordClass};

    fn hens() -> QuestionSet {
        let mut set = QuestionSet::default();
        let hen = push_book(&mut set, "Hen", Split::Test, "Hen saw FOX .\nfox , fox and Owl ran");
        push_question(&mut set, hen, WordClass::CommonNoun, "The fox saw XXXXX | Hen Fox fox");
        push_question(&mut set, hen, WordClass::Verb, "The fox XXXXX away | ran saw");
        set
    }

    #[test]
    fn mentions_become_placeholders_exactly_or_else_by_their_lower_case() {
        let set = hens();
        let printed = print(&Anonymiser::new(&set, 1).example(0));
        // «FOX» is no candidate, and «Fox» is the first that equals it when both are lower-cased.
        let found = (0..3).flat_map(|hen| (0..3).map(move |fox| (hen, fox))).find(|&(hen, fox)| {
            hen != fox && {
                let small = 3 - hen - fox;
                printed
                    == format!(
                        "@candidate{hen} saw @candidate{fox} . / @candidate{small} , @candidate{small} \
                         and Owl ran | The @candidate{small} saw XXXXX | \
                         @candidate0 @candidate1 @candidate2 | @candidate{hen}"
                    )
            }
        });
        assert!(found.is_some(), "{printed}");
    }

    #[test]
    fn numbers_are_shuffled_by_the_seed_and_do_not_depend_on_the_rest_of_the_set() {
        let set = hens();
        let numberings: BTreeSet<String> =
            (0..60).map(|seed| print(&Anonymiser::new(&set, seed).example(0))).collect();
        assert_eq!(numberings.len(), 6, "all orders of three candidates");

        let mut alone = QuestionSet::default();
        let hen = push_book(&mut alone, "Hen", Split::Test, "Hen saw FOX .\nfox , fox and Owl ran");
        push_question(&mut alone, hen, WordClass::Verb, "The fox XXXXX away | ran saw");
        let mut anonymiser = Anonymiser::new(&set, 5);
        anonymiser.example(0);
        let after_another = print(&anonymiser.example(1));
        assert_eq!(print(&Anonymiser::new(&alone, 5).example(0)), after_another);
    }

    #[test]
    fn a_whole_set_holds_what_the_questions_one_by_one_do() {
        let set = hens();
        let whole = anonymise(&set, 3).unwrap();
        let mut anonymiser = Anonymiser::new(&set, 3);
        for (index, example) in whole.examples().enumerate() {
            assert_eq!(print(&example), print(&anonymiser.example(index)));
            let origin = set.example(index);
            assert_eq!(
                (example.class, example.split, example.book),
                (origin.class, origin.split, origin.book)
            );
        }
        assert_eq!(whole.len(), 2);
        assert!(whole.vocabulary().get("Hen").is_some(), "the second question does not ask for it");
        assert!(whole.books()[0].sentences.is_empty());
    }

    #[test]
    fn a_candidate_spelt_like_the_blank_leaves_the_blank_alone() {
        let mut set = QuestionSet::default();
        let odd = push_book(&mut set, "Odd", Split::Test, "xxxxx marks the spot");
        push_question(&mut set, odd, WordClass::CommonNoun, "the XXXXX | spot xxxxx");
        push_question(&mut set, odd, WordClass::CommonNoun, "the XXXXX | spot XXXXX");
        for example in anonymise(&set, 1).unwrap().examples() {
            assert_eq!(example.question.query[example.question.blank], BLANK);
        }
    }
}
