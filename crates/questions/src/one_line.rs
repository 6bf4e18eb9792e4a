//! Sentences, books and questions for tests, written on one line each.

use corpus::{Entity, PartOfSpeech, Word};

use crate::{BookText, NewQuestion, QuestionSet, Split, WordClass};

/// `word/TAG/ENTITY word/TAG …`: a tagged sentence; without an entity, `O`.
pub(crate) fn tagged(sentence: &str) -> Vec<Word> {
    let word = |token: &str| {
        let mut parts = token.split('/');
        let text = parts.next().unwrap().to_owned();
        let pos = PartOfSpeech::from_name(parts.next().unwrap()).unwrap();
        let entity = parts.next().map_or(Entity::NONE, |name| Entity::from_name(name).unwrap());
        Word { text, pos, entity }
    };
    sentence.split_whitespace().map(word).collect()
}

/// A book whose running text is one sentence a line.
pub(crate) fn push_book(set: &mut QuestionSet, name: &str, split: Split, text: &str) -> usize {
    let start = set.n_sentences();
    for sentence in text.lines() {
        let words: Vec<_> = sentence.split_whitespace().map(|word| set.intern(word)).collect();
        set.push_sentence(words);
    }
    let sentences = start..set.n_sentences();
    set.push_book(BookText { name: name.to_owned(), split: Some(split), sentences })
}

/// A question about the whole text of a book: `query | candidates`, the answer being the first candidate.
pub(crate) fn push_question(set: &mut QuestionSet, book: usize, class: WordClass, text: &str) {
    let mut parts = text
        .split('|')
        .map(|part| part.split_whitespace().map(|word| set.intern(word)).collect::<Vec<_>>());
    let (query, candidates) = (parts.next().unwrap(), parts.next().unwrap());
    let BookText { split, sentences, .. } = set.books()[book].clone();
    set.push(NewQuestion {
        context: sentences,
        query: &query,
        candidates: &candidates,
        answer: Some(0),
        class: Some(class),
        split,
        book: Some(book),
    });
}
