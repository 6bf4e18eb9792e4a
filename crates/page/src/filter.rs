//! Which questions of a set are shown: what a visitor asked for → indices of questions.

use base::WordId;
use questions::{QuestionSet, Selection, Split, WordClass};
use serde::{Deserialize, Serialize};

use crate::catalogue::{Answerer, Catalogue};

/// How much of a search is looked for, in characters: an address may be far longer.
pub const LONGEST_SEARCH: usize = 200;

/// What a visitor asked for, as it is in the address; an empty text asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Filter {
    /// The name of the set.
    pub set: String,
    /// `NE`, `CN`, `V` or `P`.
    pub class: String,
    /// `train`, `valid` or `test`.
    pub split: String,
    /// The book's name.
    pub book: String,
    /// The keys of answerers that are right, separated by commas.
    pub right: String,
    /// The keys of answerers that are wrong, separated by commas.
    pub wrong: String,
    /// Consecutive words of the context or the query, or a question's id.
    pub search: String,
    /// The page of the list, from 1.
    pub page: String,
    /// The key of the model whose windows are drawn.
    pub model: String,
}

/// Whether an answerer is to be right, wrong, or either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// Right or wrong.
    Any,
    /// Right about the question.
    Right,
    /// Wrong about the question.
    Wrong,
}

impl Filter {
    /// The indices of the questions that are asked for, in the order of [`crate::catalogue::LoadedSet::order`].
    pub fn indices(&self, catalogue: &Catalogue) -> Vec<usize> {
        let (number, loaded) = catalogue.set(&self.set);
        let set = &loaded.set;
        let selection = Selection {
            splits: Split::from_code(&self.split).into_iter().collect(),
            class: WordClass::from_code(&self.class),
        };
        let book = set.books().iter().position(|book| book.name == self.book);
        let answerers = |keys: &str, is_right: bool| -> Vec<(&Answerer, bool)> {
            let known = keys.split(',').filter_map(|key| catalogue.answerer(key));
            known.map(|answerer| (answerer, is_right)).collect()
        };
        let judges = [answerers(&self.right, true), answerers(&self.wrong, false)].concat();
        let search = Search::new(set, self.search.trim());
        let is_wanted = |&index: &usize| {
            let example = set.example(index);
            let is_judged = |(answerer, is_right): &(&Answerer, bool)| {
                answerer.is_right(catalogue, number, index) == Some(*is_right)
            };
            selection.has(example.split, example.class)
                && (book.is_none() || set.book(index) == book)
                && judges.iter().all(is_judged)
                && (search.finds(set, index) || loaded.ids[index] == self.search.trim())
        };
        loaded.order.iter().copied().filter(is_wanted).collect()
    }

    /// What is asked of an answerer.
    pub fn wanted(&self, key: &str) -> Wanted {
        let has = |keys: &str| keys.split(',').any(|other| other == key);
        match (has(&self.right), has(&self.wrong)) {
            (true, _) => Wanted::Right,
            (_, true) => Wanted::Wrong,
            _ => Wanted::Any,
        }
    }

    /// The same, but for what is asked of an answerer; from the first page.
    pub fn with(&self, key: &str, wanted: Wanted) -> Self {
        let change = |keys: &str, has: bool| {
            let others = keys.split(',').filter(|other| !other.is_empty() && *other != key);
            others.chain(has.then_some(key)).collect::<Vec<_>>().join(",")
        };
        Self {
            right: change(&self.right, wanted == Wanted::Right),
            wrong: change(&self.wrong, wanted == Wanted::Wrong),
            page: String::new(),
            ..self.clone()
        }
    }

    /// The query of an address that asks for the same.
    pub fn query(&self) -> String {
        let Self { set, class, split, book, right, wrong, search, page, model } = self;
        let pairs = [
            ("set", set),
            ("class", class),
            ("split", split),
            ("book", book),
            ("right", right),
            ("wrong", wrong),
            ("search", search),
            ("page", page),
            ("model", model),
        ];
        let pairs = pairs.into_iter().filter(|(_, text)| !text.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
    }
}

/// A phrase that is looked for, without regard to case.
struct Search {
    /// For each word of the phrase, whether a word of the vocabulary is it.
    is_word: Vec<Vec<bool>>,
    /// For each sentence, the number of sentences before it that have the phrase.
    before: Vec<u32>,
}

impl Search {
    fn new(set: &QuestionSet, phrase: &str) -> Self {
        let phrase = phrase.chars().take(LONGEST_SEARCH).collect::<String>().to_lowercase();
        let words: Vec<String> = if phrase.is_empty() {
            Vec::new()
        } else {
            set.vocabulary().iter().map(str::to_lowercase).collect()
        };
        let is_word: Vec<Vec<bool>> = phrase
            .split_whitespace()
            .map(|wanted| words.iter().map(|word| word == wanted).collect())
            .collect();
        let mut search = Self { is_word, before: Vec::new() };
        if !search.is_word.is_empty() {
            search.before.push(0);
            for sentence in 0..set.n_sentences() {
                let n = search.before[sentence] + u32::from(search.is_in(set.sentence(sentence)));
                search.before.push(n);
            }
        }
        search
    }

    fn finds(&self, set: &QuestionSet, index: usize) -> bool {
        let context = set.context(index);
        self.is_word.is_empty()
            || self.before[context.end] > self.before[context.start]
            || self.is_in(set.example(index).question.query)
    }

    fn is_in(&self, sentence: &[WordId]) -> bool {
        let is = |(is_word, word): (&Vec<bool>, &WordId)| is_word[word.index()];
        sentence.windows(self.is_word.len()).any(|words| self.is_word.iter().zip(words).all(is))
    }
}

#[cfg(test)]
mod tests {
    use axum::extract::Query;

    use super::*;
    use crate::fixture;

    fn found(filter: &Filter) -> Vec<usize> {
        let catalogue = Catalogue::new(vec![("bears".to_owned(), fixture::set())], vec![]).unwrap();
        filter.indices(&catalogue)
    }

    #[test]
    fn class_split_and_search_narrow_the_list() {
        let all = Filter::default();
        assert_eq!(found(&all).len(), 16);
        let of = |class: &str, split: &str, search: &str| {
            let (class, split) = (class.to_owned(), split.to_owned());
            found(&Filter { class, split, search: search.to_owned(), ..Filter::default() })
        };
        assert_eq!(of("V", "test", ""), [2, 6, 10, 14]);
        assert_eq!(of("", "train", ""), [0_usize; 0]);
        assert_eq!(of("", "", "THE bear3 "), [3]);
        assert_eq!(of("", "", "bear3 the"), [0_usize; 0]);
        // Words of the query are found as well, and no phrase runs across sentences.
        assert_eq!(of("P", "", "then"), [3, 7, 11, 15]);
        assert_eq!(of("", "", &fixture::set().all_ids()[5]), [5]);
    }

    #[test]
    fn a_search_without_end_is_cut_off() {
        let search = Search::new(&fixture::set(), &"the ".repeat(16_000));
        assert_eq!(search.is_word.len(), LONGEST_SEARCH / "the ".len());
    }

    #[test]
    fn an_answerer_is_asked_to_be_right_wrong_or_either() {
        let filter = Filter { right: "a,b".into(), page: "7".into(), ..Filter::default() };
        assert_eq!(
            ["a", "b", "c"].map(|key| filter.wanted(key))[1..],
            [Wanted::Right, Wanted::Any]
        );
        let wrong = filter.with("a", Wanted::Wrong);
        assert_eq!((&*wrong.right, &*wrong.wrong, &*wrong.page), ("b", "a", ""));
        let any = wrong.with("a", Wanted::Any);
        assert_eq!((&*any.right, &*any.wrong), ("b", ""));
    }

    #[test]
    fn an_address_asks_for_the_same_again() {
        let filter =
            Filter { search: "a & b = 50 %".into(), class: "NE".into(), ..Filter::default() };
        assert_eq!(filter.query(), "class=NE&search=a+%26+b+%3D+50+%25");
        let address = format!("/questions?{}", filter.query()).parse().unwrap();
        let Query(read) = Query::<Filter>::try_from_uri(&address).unwrap();
        assert_eq!(read, filter);
    }
}
