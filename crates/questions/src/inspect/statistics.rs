//! Table 1 and the statistics that the CBT release prints for each class: a question set → numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

use base::Vocabulary;
use foldhash::quality::FixedState;
use serde::{Deserialize, Serialize};

use crate::build::case::lower_cased;
use crate::{QuestionSet, Split, WordClass};

/// What Table 1 says of a set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// Its splits in the order of Table 1; questions without a split come last.
    pub splits: Vec<SplitStatistics>,
    /// d, the distinct words of texts, queries and candidates, lower-cased as in the paper.
    pub vocabulary: usize,
    /// The same with case.
    pub vocabulary_with_case: usize,
}

/// A column of Table 1, and the same for each class as in the release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SplitStatistics {
    /// The split, where it is known.
    pub split: Option<Split>,
    /// The rows of Table 1 for all questions of the split.
    pub all: Totals,
    /// Its questions by class.
    pub classes: BTreeMap<WordClass, Totals>,
}

/// The rows of Table 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Totals {
    /// «Number of books» that the questions are from, as far as they are known; none if no book is.
    pub books: Option<usize>,
    /// «Number of questions (context+query)».
    pub questions: usize,
    /// «Average words in contexts», punctuation included.
    pub context_words: f64,
    /// «Average words in queries», punctuation and the missing word included.
    pub query_words: f64,
    /// «Distinct candidates», lower-cased as in the paper and in the statistics that the release prints.
    pub distinct_candidates: usize,
}

/// What the questions and words of a set, or of a part of one, add to [`Statistics`]. Words and books are known by their
/// hashes, so that parts need no common vocabulary: of five million words, two have one hash once in a million runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialStatistics {
    sums: BTreeMap<usize, Sums>,
    /// In which groups a lower-cased word is a candidate: a bit for each.
    candidates: BTreeMap<u64, u32>,
    /// In which groups a book has questions.
    books: BTreeMap<u64, u32>,
    words: BTreeSet<u64>,
    /// The words when lower-cased.
    forms: BTreeSet<u64>,
}

/// What the questions of a class and split add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sums {
    questions: usize,
    context_words: usize,
    query_words: usize,
}

/// The splits in their order, and none.
const SPLITS: [Option<Split>; 4] =
    [Some(Split::Train), Some(Split::Valid), Some(Split::Test), None];
/// The classes in their order, and none.
const CLASSES: [Option<WordClass>; 5] = [
    Some(WordClass::NamedEntity),
    Some(WordClass::CommonNoun),
    Some(WordClass::Verb),
    Some(WordClass::Preposition),
    None,
];

/// A number for each split and class, less than 32.
fn group(split: Option<Split>, class: Option<WordClass>) -> usize {
    let split = split.map_or(SPLITS.len() - 1, |split| split as usize);
    let class = class.map_or(CLASSES.len() - 1, |class| class as usize);
    split * CLASSES.len() + class
}

impl Statistics {
    /// Counts a set in one pass.
    pub fn of(set: &QuestionSet) -> Self {
        PartialStatistics::of(set).statistics()
    }
}

impl PartialStatistics {
    /// Counts a set, or a part of one.
    pub fn of(set: &QuestionSet) -> Self {
        let (forms, form_of) = lower_cased(set.vocabulary());
        let hasher = FixedState::default();
        let mut part = Self::default();
        let mut groups_of_form = vec![0; forms.len()];
        let mut groups_of_book = vec![0; set.books().len()];
        for index in 0..set.len() {
            let example = set.example(index);
            let group = group(example.split, example.class);
            let question = example.question;
            let sums = part.sums.entry(group).or_default();
            sums.questions += 1;
            sums.context_words += question.context.words().len();
            sums.query_words += question.query.len();
            for word in question.candidates {
                groups_of_form[form_of[word.index()].index()] |= 1 << group;
            }
            if let Some(book) = set.book(index) {
                groups_of_book[book] |= 1 << group;
            }
        }
        // The blank is in every vocabulary and is no word.
        let hashes = |words: &Vocabulary| -> BTreeSet<u64> {
            words.iter().skip(1).map(|word| hasher.hash_one(word)).collect()
        };
        (part.words, part.forms) = (hashes(set.vocabulary()), hashes(&forms));
        let of_form = forms.iter().zip(groups_of_form).filter(|&(_, groups)| groups > 0);
        part.candidates = of_form.map(|(form, groups)| (hasher.hash_one(form), groups)).collect();
        let of_book = set.books().iter().zip(groups_of_book).filter(|&(_, groups)| groups > 0);
        part.books = of_book
            .map(|(book, groups)| (hasher.hash_one((&book.name, book.split)), groups))
            .collect();
        part
    }

    /// Adds words of the running text, which need not be in any question.
    pub fn add_words<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        let hasher = FixedState::default();
        for word in words {
            if self.words.insert(hasher.hash_one(word)) {
                self.forms.insert(hasher.hash_one(word.to_lowercase()));
            }
        }
    }

    /// Adds another part of the same set.
    pub fn merge(&mut self, other: Self) {
        for (group, sums) in other.sums {
            let mine = self.sums.entry(group).or_default();
            mine.questions += sums.questions;
            mine.context_words += sums.context_words;
            mine.query_words += sums.query_words;
        }
        let either = |mine: &mut BTreeMap<u64, u32>, others: BTreeMap<u64, u32>| {
            others.into_iter().for_each(|(what, groups)| *mine.entry(what).or_default() |= groups);
        };
        either(&mut self.candidates, other.candidates);
        either(&mut self.books, other.books);
        self.words.extend(other.words);
        self.forms.extend(other.forms);
    }

    /// The figures of all parts that were added.
    pub fn statistics(&self) -> Statistics {
        let of_split = |split| {
            let all: Vec<usize> = CLASSES.iter().map(|&class| group(split, class)).collect();
            let classes = CLASSES.iter().flatten();
            let of_class = |&class| Some((class, self.totals(&[group(split, Some(class))])?));
            let classes = classes.filter_map(of_class).collect();
            Some(SplitStatistics { split, all: self.totals(&all)?, classes })
        };
        Statistics {
            splits: SPLITS.into_iter().filter_map(of_split).collect(),
            vocabulary: self.forms.len(),
            vocabulary_with_case: self.words.len(),
        }
    }

    /// The figures of some groups together; none where they have no question.
    fn totals(&self, groups: &[usize]) -> Option<Totals> {
        let mut sums = Sums::default();
        for of_group in groups.iter().filter_map(|group| self.sums.get(group)) {
            sums.questions += of_group.questions;
            sums.context_words += of_group.context_words;
            sums.query_words += of_group.query_words;
        }
        let bits: u32 = groups.iter().map(|group| 1 << group).sum();
        let count =
            |of: &BTreeMap<u64, u32>| of.values().filter(|&&groups| groups & bits != 0).count();
        (sums.questions > 0).then(|| Totals {
            books: Some(count(&self.books)).filter(|&books| books > 0),
            questions: sums.questions,
            context_words: sums.context_words as f64 / sums.questions as f64,
            query_words: sums.query_words as f64 / sums.questions as f64,
            distinct_candidates: count(&self.candidates),
        })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::fixtures::{push_book, push_question};

    fn totals(books: usize, questions: usize, words: [f64; 2], candidates: usize) -> Totals {
        Totals {
            books: Some(books),
            questions,
            context_words: words[0],
            query_words: words[1],
            distinct_candidates: candidates,
        }
    }
    use crate::{BLANK, NewQuestion};

    #[test]
    fn a_small_set_is_counted() {
        let mut set = QuestionSet::default();
        let hen = push_book(&mut set, "Hen", Split::Train, "The hen ran .\nthe HEN sat");
        let fox = push_book(&mut set, "Fox", Split::Train, "A fox");
        let owl = push_book(&mut set, "Owl", Split::Test, "Owl saw owl");
        // Contexts of 7, 7 and 2 words, queries of 2, 4 and 3.
        push_question(&mut set, hen, WordClass::CommonNoun, "the XXXXX | hen HEN");
        push_question(&mut set, hen, WordClass::Verb, "The hen XXXXX . | ran sat");
        push_question(&mut set, fox, WordClass::CommonNoun, "A XXXXX ran | fox hen");
        push_question(&mut set, owl, WordClass::NamedEntity, "XXXXX | Owl owl");
        let statistics = Statistics::of(&set);

        let [train, test] = &statistics.splits[..] else { panic!("{statistics:?}") };
        assert_eq!(train.all, totals(2, 3, [16.0 / 3.0, 3.0], 4));
        assert_eq!(train.classes[&WordClass::CommonNoun], totals(2, 2, [4.5, 2.5], 2));
        assert_eq!(train.classes[&WordClass::Verb], totals(1, 1, [7.0, 4.0], 2));
        assert_eq!(test.all, totals(1, 1, [3.0, 1.0], 1));
        // The hen ran . the HEN sat A fox Owl saw owl, with and without case.
        assert_eq!((statistics.vocabulary_with_case, statistics.vocabulary), (12, 9));
        expect![[r#"{"split":"test","all":{"books":1,"questions":1,"context_words":3.0,"query_words":1.0,"distinct_candidates":1},"classes":{"NE":{"books":1,"questions":1,"context_words":3.0,"query_words":1.0,"distinct_candidates":1}}}"#]]
            .assert_eq(&serde_json::to_string(test).unwrap());
    }

    #[test]
    fn questions_of_unknown_origin_are_a_column_of_their_own() {
        let mut set = QuestionSet::default();
        let words = ["hen", "fox"].map(|word| set.intern(word));
        let sentence = set.push_sentence(words);
        set.push(NewQuestion {
            context: sentence..sentence + 1,
            query: &[BLANK],
            candidates: &words,
            answer: None,
            class: None,
            split: None,
            book: None,
        })
        .unwrap();
        let statistics = Statistics::of(&set);
        let all = Totals { books: None, ..totals(0, 1, [2.0, 1.0], 2) };
        let column = SplitStatistics { split: None, all, classes: BTreeMap::new() };
        assert_eq!(statistics.splits, [column]);
        assert!(Statistics::of(&QuestionSet::default()).splits.is_empty());
    }
}
