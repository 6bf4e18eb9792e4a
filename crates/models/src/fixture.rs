//! Small question sets for the tests, from plain text.

use std::sync::Arc;

use proptest::prelude::*;
use questions::{BookText, NewQuestion, Question, QuestionSet, Split};

use crate::{Explanation, Model, Scores};

/// The scores of one question.
pub fn score<M: Model + ?Sized>(model: &Arc<M>, question: &Question<'_>) -> Vec<f32> {
    let mut scores = Scores::default();
    let words = Arc::new(question.vocabulary.clone());
    model.clone().scorer(&words).score(&[*question], &mut scores).unwrap();
    scores.get(0).to_vec()
}

/// What a model looked at in one question.
pub fn explain<M: Model + ?Sized>(model: &Arc<M>, question: &Question<'_>) -> Explanation {
    let words = Arc::new(question.vocabulary.clone());
    model.clone().scorer(&words).explain(question).unwrap()
}

/// A question in words separated by spaces.
#[derive(Clone, Debug)]
pub struct TestQuestion<'a> {
    pub context: Vec<&'a str>,
    pub query: &'a str,
    pub candidates: &'a [&'a str],
    pub answer: Option<usize>,
    pub split: Split,
}

/// A set of questions, each from a book of its own whose running text is the context.
pub fn set_of(asked: &[TestQuestion<'_>]) -> QuestionSet {
    let mut set = QuestionSet::default();
    for asked in asked {
        let start = set.n_sentences();
        for sentence in &asked.context {
            let words: Vec<_> = sentence.split_whitespace().map(|word| set.intern(word)).collect();
            set.push_sentence(words);
        }
        let sentences = start..set.n_sentences();
        let split = Some(asked.split);
        let book = BookText { name: "a tale".to_owned(), split, sentences: sentences.clone() };
        let book = Some(set.push_book(book));
        let query: Vec<_> = asked.query.split_whitespace().map(|word| set.intern(word)).collect();
        let candidates: Vec<_> = asked.candidates.iter().map(|word| set.intern(word)).collect();
        set.push(NewQuestion {
            context: sentences,
            query: &query,
            candidates: &candidates,
            answer: asked.answer,
            class: None,
            split,
            book,
        })
        .unwrap();
    }
    set
}

/// A test question about a context.
pub fn one_question(context: &[&str], query: &str, candidates: &[&str]) -> QuestionSet {
    let context = context.to_vec();
    set_of(&[TestQuestion { context, query, candidates, answer: Some(0), split: Split::Test }])
}

/// Context sentences, query with a blank, candidates: of few words, so that they meet often, some of
/// them case twins.
pub fn texts() -> impl Strategy<Value = (Vec<String>, String, Vec<String>)> {
    let word = || prop::sample::select(vec!["a", "A", "b", "B", "c", "d", "É", "é", "g", "."]);
    let words = |length| prop::collection::vec(word(), length);
    let context = prop::collection::vec(words(0..12), 0..5);
    let query = (words(0..7), words(0..7));
    let candidates = prop::sample::subsequence(vec!["a", "A", "b", "c", "É", "é", "absent"], 2..=7);
    (context, query, candidates.prop_shuffle()).prop_map(
        |(context, (before, after), candidates)| {
            let query = [before, vec![questions::BLANK_WORD], after].concat().join(" ");
            let context = context.into_iter().map(|sentence| sentence.join(" ")).collect();
            (context, query, candidates.into_iter().map(str::to_owned).collect())
        },
    )
}
