//! What a set gives away or holds twice: a question set → shared 8-grams of its books, duplicate questions,
//! and candidates that are not ten distinct words.
//!
//! The paper allocates books to splits and reports none of this; the released split has such leaks.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use base::WordId;
use foldhash::quality::FixedState;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::build::case::lower_cased;
use crate::inspect::shared_ngrams::{self, PairCounts};
use crate::{QuestionSet, Split, WordClass};

/// The leak report of a set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leaks {
    /// Pairs of books that share text, most first; empty where the set has no running text.
    pub overlaps: Vec<Overlap>,
    /// Questions that the set has more than once.
    pub duplicates: Vec<Duplicates>,
    /// Candidates that are not ten distinct words, by split and class.
    pub candidates: Vec<CandidateFaults>,
}

/// Two books that share 8-grams: eight words on end, lower-cased and without the punctuation between them,
/// over the ends of sentences. A book counts each once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overlap {
    /// The book of which the greater part is in the other.
    pub book: String,
    /// The split of that book.
    pub split: Option<Split>,
    /// The book that has less of its text in common.
    pub other: String,
    /// The split of the other book.
    pub other_split: Option<Split>,
    /// How many distinct 8-grams both have.
    pub shared: usize,
    /// Their share of the book's distinct 8-grams.
    pub share: f64,
    /// Their share of the other's.
    pub other_share: f64,
}

/// What two questions must have in common to be called the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DuplicateKind {
    /// Context, query and candidates: the id.
    Question,
    /// Context and query: the same gap in the same passage, perhaps with other candidates.
    Passage,
    /// Query and answer: the same sentence, whatever comes before it.
    Query,
}

impl DuplicateKind {
    /// From all that a question is to less.
    pub const ALL: [Self; 3] = [Self::Question, Self::Passage, Self::Query];
}

/// How many questions of one split are the same as questions of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Duplicates {
    /// What they have in common.
    pub same: DuplicateKind,
    /// The split whose questions are counted.
    pub split: Option<Split>,
    /// The split that has them too; if it is the same one, only those after the first of each kind count.
    pub other: Option<Split>,
    /// How many questions that are.
    pub questions: usize,
}

/// Candidate lists of a class and split: how long they are, and which are not ten words, distinct even without case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateFaults {
    /// The split that is counted; `None` for questions without one.
    pub split: Option<Split>,
    /// The class that is counted; `None` for questions without one.
    pub class: Option<WordClass>,
    /// How many questions the class has in the split.
    pub questions: usize,
    /// Those with two candidates that are one when lower-cased.
    pub case_twins: usize,
    /// Those whose answer is one of two such candidates: a model that lower-cases cannot distinguish them.
    pub answer_has_twin: usize,
    /// Those with fewer than ten candidates.
    pub fewer_than_ten: usize,
    /// The number of candidates of all its questions together.
    pub candidates: usize,
    /// The candidates of the question that has most.
    pub most_candidates: usize,
    /// How many of all candidates begin with a capital letter.
    pub capitals: usize,
    /// How many answers do: where it is many more, a model that chooses by capitals alone beats chance.
    pub answer_capitals: usize,
}

impl Leaks {
    /// Looks for leaks; of two books the pair is reported if they share `least` (say 0.01) of the 8-grams of
    /// either.
    pub fn of(set: &QuestionSet, least: f64) -> Self {
        Self {
            overlaps: overlaps_of(set, least),
            duplicates: duplicates_of(set),
            candidates: candidate_faults(set),
        }
    }
}

impl CandidateFaults {
    /// Adds the lists of another part of a set, of the same split and class.
    pub fn merge(&mut self, other: &Self) {
        self.questions += other.questions;
        self.case_twins += other.case_twins;
        self.answer_has_twin += other.answer_has_twin;
        self.capitals += other.capitals;
        self.answer_capitals += other.answer_capitals;
        self.fewer_than_ten += other.fewer_than_ten;
        self.candidates += other.candidates;
        self.most_candidates = self.most_candidates.max(other.most_candidates);
    }
}

impl Overlap {
    /// Whether the books are in different splits.
    pub fn is_across_splits(&self) -> bool {
        self.split != self.other_split
    }
}

/// The pairs of books that share `least` of the 8-grams of either, most first: from the names and splits of all books,
/// how many distinct 8-grams each has, and how many two share.
pub fn overlaps(
    books: &[(&str, Option<Split>, usize)],
    shared: &PairCounts,
    least: f64,
) -> Vec<Overlap> {
    let mut overlaps = Vec::new();
    for (&(first, second), &shared) in shared {
        let pair = (first as usize, second as usize);
        let [(book, share), (other, other_share)] =
            shared_ngrams::in_order(pair, shared, |book| books[book].2);
        if share >= least {
            overlaps.push(Overlap {
                book: books[book].0.to_owned(),
                split: books[book].1,
                other: books[other].0.to_owned(),
                other_split: books[other].1,
                shared,
                share,
                other_share,
            });
        }
    }
    overlaps.sort_by(|a, b| b.share.total_cmp(&a.share));
    overlaps
}

fn overlaps_of(set: &QuestionSet, least: f64) -> Vec<Overlap> {
    let hash_of: Vec<Option<u64>> = set.vocabulary().iter().map(shared_ngrams::word_hash).collect();
    let ngrams: Vec<Vec<u64>> = set
        .books()
        .par_iter()
        .map(|book| {
            let sentences = book.sentences.clone().map(|sentence| set.sentence(sentence));
            let words = sentences.flatten().filter_map(|word| hash_of[word.index()]);
            shared_ngrams::distinct(&words.collect::<Vec<u64>>())
        })
        .collect();
    let books = set.books().iter().zip(&ngrams);
    let books: Vec<_> =
        books.map(|(book, ngrams)| (book.name.as_str(), book.split, ngrams.len())).collect();
    overlaps(&books, &shared_ngrams::count_pairs(&ngrams), least)
}

/// Hashes of the questions of a set by what two must have in common to be called the same, in the order of
/// [`DuplicateKind::ALL`], with their splits. They are of words, so those of any two sets can be compared.
pub fn question_hashes(set: &QuestionSet) -> [Vec<(u64, Option<Split>)>; 3] {
    let hasher = FixedState::default();
    let words: Vec<u64> = set.vocabulary().iter().map(|word| hasher.hash_one(word)).collect();
    let hash_all =
        |ids: &[WordId]| -> Vec<u64> { ids.iter().map(|id| words[id.index()]).collect() };
    let sentences: Vec<u64> = (0..set.n_sentences())
        .into_par_iter()
        .map(|sentence| hasher.hash_one(hash_all(set.sentence(sentence))))
        .collect();
    DuplicateKind::ALL.map(|same| {
        let hash = |index: usize| {
            let example = set.example(index);
            let question = &example.question;
            let (context, query) = (&sentences[set.context(index)], hash_all(question.query));
            let hash = match same {
                DuplicateKind::Question => {
                    hasher.hash_one((context, query, hash_all(question.candidates)))
                }
                DuplicateKind::Passage => hasher.hash_one((context, query)),
                DuplicateKind::Query => {
                    let answer = example.answer.map(|index| question.candidates[index]);
                    hasher.hash_one((query, answer.map(|answer| words[answer.index()])))
                }
            };
            (hash, example.split)
        };
        (0..set.len()).into_par_iter().map(hash).collect()
    })
}

/// How many questions are the same, by what they have in common and by two splits.
pub type RepeatCounts = BTreeMap<(DuplicateKind, Option<Split>, Option<Split>), usize>;

/// Counts questions that are the same. All questions of a hash must come together.
pub fn count_repeats(
    same: DuplicateKind,
    hashes: &mut [(u64, Option<Split>)],
    counts: &mut RepeatCounts,
) {
    let splits = || Split::ALL.map(Some).into_iter().chain([None]);
    hashes.par_sort_unstable();
    for run in hashes.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
        let n_in = |split| run.iter().filter(|&&(_, other)| other == split).count();
        for split in splits().filter(|&split| n_in(split) > 0) {
            for other in splits().filter(|&other| n_in(other) > 0) {
                let repeated = n_in(split) - usize::from(other == split);
                *counts.entry((same, split, other)).or_default() += repeated;
            }
        }
    }
}

/// The report of questions that are the same.
pub fn duplicates(counts: &RepeatCounts) -> Vec<Duplicates> {
    let found = counts.iter().filter(|&(_, &questions)| questions > 0);
    let line = |(&(same, split, other), &questions)| Duplicates { same, split, other, questions };
    found.map(line).collect()
}

fn duplicates_of(set: &QuestionSet) -> Vec<Duplicates> {
    let mut counts = RepeatCounts::new();
    for (same, mut hashes) in DuplicateKind::ALL.into_iter().zip(question_hashes(set)) {
        count_repeats(same, &mut hashes, &mut counts);
    }
    duplicates(&counts)
}

/// Looks at the candidate lists of a set.
pub fn candidate_faults(set: &QuestionSet) -> Vec<CandidateFaults> {
    let (_, form_of) = lower_cased(set.vocabulary());
    let mut faults = BTreeMap::new();
    let mut forms: Vec<WordId> = Vec::new();
    for (index, example) in set.examples().enumerate() {
        let (split, class) = (set.example(index).split, set.example(index).class);
        let group = faults.entry((split, class)).or_insert(CandidateFaults {
            split,
            class,
            questions: 0,
            case_twins: 0,
            answer_has_twin: 0,
            fewer_than_ten: 0,
            candidates: 0,
            most_candidates: 0,
            capitals: 0,
            answer_capitals: 0,
        });
        forms.clear();
        forms.extend(example.question.candidates.iter().map(|word| form_of[word.index()]));
        let answer = example.answer.map(|index| forms[index]);
        group.questions += 1;
        group.candidates += forms.len();
        group.most_candidates = group.most_candidates.max(forms.len());
        let has_capital = |&&word: &&WordId| {
            example.question.word(word).chars().next().is_some_and(char::is_uppercase)
        };
        let candidates = example.question.candidates;
        group.capitals += candidates.iter().filter(has_capital).count();
        let answer_word = example.answer.map(|index| &candidates[index]);
        group.answer_capitals += answer_word.iter().filter(|word| has_capital(word)).count();
        group.fewer_than_ten += usize::from(forms.len() < 10);
        let times = forms.iter().filter(|&&form| Some(form) == answer).count();
        group.answer_has_twin += usize::from(times > 1);
        forms.sort_unstable();
        group.case_twins += usize::from(forms.windows(2).any(|pair| pair[0] == pair[1]));
    }
    faults.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{push_book, push_question};

    #[test]
    fn shared_eight_grams_are_counted_without_case_and_punctuation() {
        let mut set = QuestionSet::default();
        // Ten words make three 8-grams, of which the longer book has the first two as well.
        push_book(
            &mut set,
            "short",
            Split::Valid,
            "One two , three four .\nFive six seven eight nine TEN",
        );
        let long =
            "zero one two three four five six `` seven '' Eight nine ten two three four five";
        push_book(&mut set, "long", Split::Train, &long.replace(" ten ", " other "));
        push_book(&mut set, "none", Split::Train, "one two three four five six seven");
        let overlaps = Leaks::of(&set, 0.2).overlaps;
        assert_eq!(
            overlaps,
            [Overlap {
                book: "short".into(),
                split: Some(Split::Valid),
                other: "long".into(),
                other_split: Some(Split::Train),
                shared: 2,
                share: 2.0 / 3.0,
                other_share: 2.0 / 8.0,
            }]
        );
        assert!(overlaps[0].is_across_splits());
        assert!(Leaks::of(&set, 0.7).overlaps.is_empty());
    }

    #[test]
    fn an_eight_gram_that_a_book_repeats_counts_once() {
        let mut set = QuestionSet::default();
        // a b c d e f g h a b …: eight distinct 8-grams in the first book, one in the second.
        push_book(&mut set, "again", Split::Train, &"a b c d e f g h ".repeat(5));
        push_book(&mut set, "once", Split::Train, "a b c d e f g h");
        let overlap = &Leaks::of(&set, 0.0).overlaps[0];
        assert_eq!(
            (overlap.book.as_str(), overlap.shared, overlap.other_share),
            ("once", 1, 0.125)
        );
    }

    #[test]
    fn the_same_question_is_found_within_and_across_splits() {
        let mut set = QuestionSet::default();
        let train = push_book(&mut set, "train", Split::Train, "the hen ran");
        let same_text = push_book(&mut set, "test", Split::Test, "the hen ran");
        let other_text = push_book(&mut set, "valid", Split::Valid, "a fox sat");
        let class = WordClass::Verb;
        push_question(&mut set, train, class, "she XXXXX | ran hen");
        push_question(&mut set, train, class, "she XXXXX | ran hen");
        push_question(&mut set, same_text, class, "she XXXXX | ran hen");
        // The same passage with other candidates, then the same query and answer elsewhere.
        push_question(&mut set, same_text, class, "she XXXXX | ran the");
        push_question(&mut set, other_text, class, "she XXXXX | ran fox");
        let found: Vec<_> = Leaks::of(&set, 0.5)
            .duplicates
            .iter()
            .map(|d| (d.same, d.split.unwrap(), d.other.unwrap(), d.questions))
            .collect();
        use DuplicateKind::{Passage, Query, Question};
        use Split::{Test, Train, Valid};
        assert_eq!(
            found,
            [
                (Question, Train, Train, 1),
                (Question, Train, Test, 2),
                (Question, Test, Train, 1),
                (Passage, Train, Train, 1),
                (Passage, Train, Test, 2),
                (Passage, Test, Train, 2),
                (Passage, Test, Test, 1),
                (Query, Train, Train, 1),
                (Query, Train, Valid, 2),
                (Query, Train, Test, 2),
                (Query, Valid, Train, 1),
                (Query, Valid, Test, 1),
                (Query, Test, Train, 2),
                (Query, Test, Valid, 2),
                (Query, Test, Test, 1),
            ]
        );
    }

    #[test]
    fn candidates_that_are_not_ten_distinct_words_are_counted() {
        let mut set = QuestionSet::default();
        let book = push_book(&mut set, "book", Split::Test, "the hen ran");
        let (noun, verb) = (WordClass::CommonNoun, WordClass::Verb);
        push_question(&mut set, book, noun, "XXXXX | a b c d e f g h i j");
        push_question(&mut set, book, noun, "XXXXX | a b B d e f g h i j");
        push_question(&mut set, book, noun, "XXXXX | b B c d e f g h i");
        push_question(&mut set, book, verb, "XXXXX | a b");
        let found: Vec<_> = Leaks::of(&set, 0.5)
            .candidates
            .iter()
            .map(|f| (f.class, f.questions, f.case_twins, f.answer_has_twin, f.fewer_than_ten))
            .collect();
        assert_eq!(found, [(Some(noun), 3, 2, 1, 1), (Some(verb), 1, 0, 0, 1)]);
        let lengths = Leaks::of(&set, 0.5).candidates;
        assert_eq!(
            lengths.iter().map(|f| (f.candidates, f.most_candidates)).collect::<Vec<_>>(),
            [(29, 10), (2, 2)]
        );
    }
}
