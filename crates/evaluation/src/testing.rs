//! Small predictions and questions for the tests of this crate.

use base::{Split, WordClass};
use questions::{BLANK, BookText, NewQuestion, QuestionSet};
use rand::RngExt;

use crate::{Prediction, Predictions};

/// The candidates of the tests.
pub(crate) const WORDS: [&str; 10] =
    ["acorn", "badger", "candle", "door", "elm", "fiddle", "goose", "hill", "inn", "jug"];

/// A prediction of a named entity of the validation split, without a book; ties broken by seed 1.
pub(crate) fn prediction(id: &str, scores: &[f64], answer: usize) -> Prediction {
    let unscored = Prediction {
        id: id.to_owned(),
        class: Some(WordClass::NamedEntity),
        split: Some(Split::Valid),
        book: None,
        candidates: WORDS[..scores.len()].iter().map(|&word| word.to_owned()).collect(),
        scores: vec![],
        answer: Some(answer),
        predicted: 0,
    };
    unscored.rescored(scores.to_vec(), 1)
}

/// n predictions of ten candidates whose scores are given by the question's number.
pub(crate) fn predictions(name: &str, n: usize, scores: impl Fn(usize) -> Vec<f64>) -> Predictions {
    let one = |i| prediction(&format!("question {i}"), &scores(i), i * 7 % 10);
    Predictions::new(name, (0..n).map(one).collect()).unwrap()
}

/// Scores that point at one of ten candidates.
pub(crate) fn pointing_at(index: usize) -> Vec<f64> {
    (0..10).map(|i| if i == index { 1.0 } else { 0.0 }).collect()
}

/// A training book of four sentences, and three questions of two candidates each: two of the
/// validation split, about the answer one and two sentences back, and one of the test split.
pub(crate) fn question_set() -> QuestionSet {
    let mut set = QuestionSet::default();
    let book = |set: &mut QuestionSet, name: &str, split, sentences: &[&str]| {
        let first = set.n_sentences();
        for sentence in sentences {
            let words: Vec<_> = sentence.split(' ').map(|word| set.intern(word)).collect();
            set.push_sentence(words);
        }
        let sentences = first..set.n_sentences();
        set.push_book(BookText { name: name.to_owned(), split: Some(split), sentences })
    };
    let goose = "the Goose saw a goose";
    book(&mut set, "Training", Split::Train, &[goose, goose, goose, "a goose by the inn"]);
    let text = ["the Goose ran", "the jug fell", "a door shut"];
    let valid = book(&mut set, "Fen", Split::Valid, &text);
    let test = book(&mut set, "Moor", Split::Test, &["the inn was shut"]);
    let [the, opened, stood, goose, jug, door, inn] =
        ["the", "opened", "stood", "Goose", "jug", "door", "inn"].map(|word| set.intern(word));
    let mut ask = |context, query: &[_], candidates: &[_], class, split, book| {
        let (class, split, book) = (Some(class), Some(split), Some(book));
        let answer = Some(0);
        set.push(NewQuestion { context, query, candidates, answer, class, split, book }).unwrap();
    };
    use WordClass::{CommonNoun, NamedEntity};
    ask(4..7, &[the, BLANK, opened], &[door, jug], CommonNoun, Split::Valid, valid);
    ask(4..7, &[the, BLANK, stood, jug], &[goose, jug], NamedEntity, Split::Valid, valid);
    ask(7..8, &[the, BLANK, stood], &[inn, jug], CommonNoun, Split::Test, test);
    set
}

/// The predictions of the validation questions of [`question_set`], in reverse order.
pub(crate) fn valid_predictions(set: &QuestionSet, scores: [[f64; 2]; 2]) -> Predictions {
    let ids = set.ids(Some(Split::Valid));
    let one = |((index, id), scores): ((usize, String), [f64; 2])| {
        Prediction::of(&set.example(index), id, scores.to_vec(), 1)
    };
    let predictions: Vec<_> = ids.into_iter().zip(scores).map(one).rev().collect();
    Predictions::new("valid.jsonl", predictions).unwrap()
}

/// Draws an index with the given log-probabilities.
pub(crate) fn draw(log_probs: &[f64], rng: &mut impl RngExt) -> usize {
    let mut left: f64 = rng.random();
    let passes = |log_prob: &&f64| {
        left -= log_prob.exp();
        left > 0.0
    };
    log_probs[..log_probs.len() - 1].iter().take_while(passes).count()
}
