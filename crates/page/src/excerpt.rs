//! Some questions of a set as a set of their own, with no more text than they need.

use std::ops::Range;

use questions::{NewQuestion, Question, QuestionSet};

/// The questions at some places, in that order.
pub fn excerpt(set: &QuestionSet, places: &[usize]) -> QuestionSet {
    let mut excerpt = QuestionSet::default();
    for &place in places {
        let example = set.example(place);
        let context = push_context(&mut excerpt, &example.question);
        let mut intern = |words: &[base::WordId]| {
            words.iter().map(|&word| excerpt.intern(example.question.word(word))).collect()
        };
        let query: Vec<_> = intern(example.question.query);
        let candidates: Vec<_> = intern(example.question.candidates);
        let book = example.book.map(|name| book(&mut excerpt, name, example.split));
        let added = excerpt.push(NewQuestion {
            context,
            query: &query,
            candidates: &candidates,
            answer: example.answer,
            class: example.class,
            split: example.split,
            book,
        });
        added.expect("a part of a set breaks no rule that the set keeps");
    }
    excerpt
}

fn push_context(set: &mut QuestionSet, question: &Question<'_>) -> Range<usize> {
    let start = set.n_sentences();
    for sentence in question.context {
        let words: Vec<_> = sentence.iter().map(|&word| set.intern(question.word(word))).collect();
        set.push_sentence(words);
    }
    start..set.n_sentences()
}

fn book(set: &mut QuestionSet, name: &str, split: Option<questions::Split>) -> usize {
    let found = set.books().iter().position(|book| book.name == name);
    found.unwrap_or_else(|| {
        let end = set.n_sentences();
        set.push_book(questions::BookText { name: name.to_owned(), split, sentences: end..end })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn an_excerpt_keeps_all_that_is_known_of_a_question() {
        let set = fixture::set();
        let chosen = excerpt(&set, &[3, 1]);
        assert_eq!(chosen.len(), 2);
        for (place, original) in [(0, 3), (1, 1)] {
            let (one, two) = (chosen.example(place), set.example(original));
            assert_eq!(one.question.id(), two.question.id());
            assert_eq!((one.answer, one.class), (two.answer, two.class));
            assert_eq!((one.split, one.book), (two.split, two.book));
        }
    }
}
