//! A small question set for the tests: sixteen questions of four classes, each with four candidates.

use std::sync::Arc;

use models::Model;
use questions::{BLANK, BookText, NewQuestion, QuestionSet, Split, WordClass};

use crate::catalogue::NewAnswerer;

/// Text that must never reach a page unescaped.
pub const HOSTILE: &str = "<script>alert(1)</script>";

/// Sixteen test questions; question n asks for class n mod 4, and its answer is candidate n mod 4.
/// Each has a context of its own, and the hostile text is in all of them.
pub fn set() -> QuestionSet {
    let mut set = QuestionSet::default();
    let book = set.push_book(BookText {
        name: format!("{HOSTILE}.txt"),
        split: Some(Split::Test),
        sentences: 0..0,
    });
    for n in 0..16 {
        let answer = n % 4;
        let words = [format!("The bear{n} saw"), format!("the hen{n} {HOSTILE}")];
        let context: Vec<usize> = words
            .iter()
            .map(|sentence| {
                let words: Vec<_> = sentence.split(' ').map(|word| set.intern(word)).collect();
                set.push_sentence(words)
            })
            .collect();
        let [bear, hen] = ["bear", "hen"].map(|word| set.intern(&format!("{word}{n}")));
        let [soup, hostile] = ["soup", HOSTILE].map(|word| set.intern(word));
        let query = [set.intern("Then"), BLANK, set.intern("came")];
        set.push(NewQuestion {
            context: context[0]..context[1] + 1,
            query: &query,
            candidates: &[bear, hen, soup, hostile],
            answer: Some(answer),
            class: Some(WordClass::ALL[n % 4]),
            split: Some(Split::Test),
            book: Some(book),
        })
        .unwrap();
    }
    set
}

/// A model that has learnt from no set.
pub fn model(name: &str, model: Arc<dyn Model>) -> NewAnswerer {
    NewAnswerer {
        name: name.to_owned(),
        label: name.to_owned(),
        model: Some(model),
        predictions: None,
        learnt_from: vec![],
        on_request: false,
    }
}
