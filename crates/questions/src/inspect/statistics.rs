//! Table 1 and the statistics that the CBT release prints for each class: a question set → numbers.

use std::collections::BTreeMap;

use base::WordId;
use serde::Serialize;

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

impl Statistics {
    /// Counts a set in one pass.
    pub fn of(set: &QuestionSet) -> Self {
        let (forms, form_of) = lower_cased(set.vocabulary());
        let groups = || WordClass::ALL.map(Some).into_iter().chain([None]);
        let mut sums: BTreeMap<_, Sums> = BTreeMap::new();
        for index in 0..set.len() {
            // A split that is not known sorts after those that are.
            let split = set.example(index).split;
            let key = (split.is_none(), split, set.example(index).class);
            sums.entry(key)
                .or_insert_with(|| Sums::new(set, forms.len()))
                .add(set, index, &form_of);
        }
        let mut splits = Vec::new();
        for split in Split::ALL.map(Some).into_iter().chain([None]) {
            let of = |class| sums.get(&(split.is_none(), split, class));
            let all = groups().filter_map(of).cloned().reduce(Sums::merge);
            if let Some(all) = all {
                let classes = WordClass::ALL.into_iter();
                let classes = classes.filter_map(|class| Some((class, of(Some(class))?.totals())));
                splits.push(SplitStatistics {
                    split,
                    all: all.totals(),
                    classes: classes.collect(),
                });
            }
        }
        // The blank is in every vocabulary and is no word.
        Self {
            splits,
            vocabulary: forms.len() - 1,
            vocabulary_with_case: set.vocabulary().len() - 1,
        }
    }
}

/// What the questions of a class and split add up to.
#[derive(Clone)]
struct Sums {
    questions: usize,
    context_words: usize,
    query_words: usize,
    /// By lower-cased form.
    is_candidate: Vec<bool>,
    has_book: Vec<bool>,
}

impl Sums {
    fn new(set: &QuestionSet, n_forms: usize) -> Self {
        Self {
            questions: 0,
            context_words: 0,
            query_words: 0,
            is_candidate: vec![false; n_forms],
            has_book: vec![false; set.books().len()],
        }
    }

    fn add(&mut self, set: &QuestionSet, index: usize, form_of: &[WordId]) {
        let question = set.example(index).question;
        self.questions += 1;
        self.context_words += question.context.words().len();
        self.query_words += question.query.len();
        for word in question.candidates {
            self.is_candidate[form_of[word.index()].index()] = true;
        }
        if let Some(book) = set.book(index) {
            self.has_book[book] = true;
        }
    }

    fn merge(mut self, other: Self) -> Self {
        let either = |mine: &mut Vec<bool>, others: &[bool]| {
            mine.iter_mut().zip(others).for_each(|(mine, &other)| *mine |= other);
        };
        either(&mut self.is_candidate, &other.is_candidate);
        either(&mut self.has_book, &other.has_book);
        Self {
            questions: self.questions + other.questions,
            context_words: self.context_words + other.context_words,
            query_words: self.query_words + other.query_words,
            ..self
        }
    }

    fn totals(&self) -> Totals {
        let count = |flags: &[bool]| flags.iter().filter(|&&flag| flag).count();
        Totals {
            books: Some(count(&self.has_book)).filter(|&books| books > 0),
            questions: self.questions,
            context_words: self.context_words as f64 / self.questions as f64,
            query_words: self.query_words as f64 / self.questions as f64,
            distinct_candidates: count(&self.is_candidate),
        }
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
