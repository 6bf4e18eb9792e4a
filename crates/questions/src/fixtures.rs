//! For tests: sentences, books and questions in one line each, small random sets, sets as lists that can be compared, a
//! disk with little room.

use base::WordId;
use corpus::{Entity, PartOfSpeech, Word};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::{BLANK, BookText, EmptyFields, Example, NewQuestion, QuestionSet, Split, WordClass};

const PLAIN: [&str; 8] = ["bear", "Bear", "porridge", "naïve", "日本", "''", "n't", "\u{a0}"];
const ODD: [&str; 8] =
    ["", "a|b", "tab\tbed", "line\nline", "a b", "end\r", "XXXXX", "_BOOK_TITLE_"];

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

/// A book whose running text has one sentence per line.
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
    })
    .unwrap();
}

/// A question whose words are strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlainQuestion {
    pub context: Vec<Vec<String>>,
    pub query: Vec<String>,
    pub candidates: Vec<String>,
    pub answer: Option<usize>,
    pub class: Option<WordClass>,
    pub split: Option<Split>,
    pub book: Option<String>,
}

/// All questions of a set, spelt out.
pub(crate) fn spelt(set: &QuestionSet) -> Vec<PlainQuestion> {
    let strings = |words: &[WordId]| -> Vec<String> {
        words.iter().map(|&word| set.vocabulary().word(word).to_owned()).collect()
    };
    let question = |example: Example<'_>| PlainQuestion {
        context: example.question.context.iter().map(strings).collect(),
        query: strings(example.question.query),
        candidates: strings(example.question.candidates),
        answer: example.answer,
        class: example.class,
        split: example.split,
        book: example.book.map(str::to_owned),
    };
    set.examples().map(question).collect()
}

/// Context, query, candidates and answer on a line.
pub(crate) fn print(example: &Example<'_>) -> String {
    let question = &example.question;
    let join = |words: &[WordId]| {
        words.iter().map(|&word| question.word(word)).collect::<Vec<_>>().join(" ")
    };
    let context: Vec<String> = question.context.iter().map(join).collect();
    let answer = question.word(question.candidates[example.answer.unwrap()]);
    let (query, candidates) = (join(question.query), join(question.candidates));
    format!("{} | {query} | {candidates} | {answer}", context.join(" / "))
}

/// The running text of all books: name, split, sentences.
pub(crate) fn spelt_books(set: &QuestionSet) -> Vec<(String, Option<Split>, Vec<Vec<String>>)> {
    let sentence = |index: usize| -> Vec<String> {
        set.sentence(index).iter().map(|&word| set.vocabulary().word(word).to_owned()).collect()
    };
    let book = |book: &BookText| {
        (book.name.clone(), book.split, book.sentences.clone().map(sentence).collect())
    };
    set.books().iter().map(book).collect()
}

/// What is drawn for one question.
#[derive(Clone, Debug)]
struct Draw {
    context: (usize, usize),
    query: (Vec<&'static str>, usize),
    candidates: Vec<&'static str>,
    answer: Option<prop::sample::Index>,
    class: Option<WordClass>,
    book: Option<prop::sample::Index>,
    /// Whether the candidate list ends in `||`.
    has_empty_fields: bool,
    /// Whether the query is the sentence after the context, with a blank.
    follows: bool,
}

/// Sets of a few questions over two books, some with empty fields; half of the sets hold words that some format
/// cannot.
pub(crate) fn sets() -> impl Strategy<Value = (QuestionSet, EmptyFields)> {
    let odd: Vec<&str> = PLAIN.into_iter().chain(ODD).collect();
    select(vec![(PLAIN.to_vec(), 1), (odd, 0)]).prop_flat_map(|(pool, shortest)| {
        let sentences = vec(vec(select(pool.clone()), shortest..5), 4..12);
        (sentences, vec(draws(pool), 1..6)).prop_map(|(sentences, draws)| set(&sentences, &draws))
    })
}

fn draws(pool: Vec<&'static str>) -> impl Strategy<Value = Draw> {
    let unblanked: Vec<&str> = pool.iter().copied().filter(|&word| word != "XXXXX").collect();
    (
        (0..12usize, 0..4usize),
        (vec(select(unblanked), 0..5), 0..5usize),
        subsequence(pool, 2..5),
        option::of(any::<prop::sample::Index>()),
        option::weighted(0.9, select(WordClass::ALL.to_vec())),
        option::weighted(0.9, any::<prop::sample::Index>()),
        prop::bool::weighted(0.2),
        any::<bool>(),
    )
        .prop_map(
            |(context, query, candidates, answer, class, book, has_empty_fields, follows)| Draw {
                context,
                query,
                candidates,
                answer,
                class,
                book,
                has_empty_fields,
                follows,
            },
        )
}

/// The first half of the sentences is a training book, the rest a test book.
fn set(sentences: &[Vec<&str>], draws: &[Draw]) -> (QuestionSet, EmptyFields) {
    let (mut set, mut empty_fields) = (QuestionSet::default(), EmptyFields::default());
    for sentence in sentences {
        let words: Vec<WordId> = sentence.iter().map(|word| set.intern(word)).collect();
        set.push_sentence(words);
    }
    let (half, end) = (sentences.len() / 2, sentences.len());
    let books = [("Bears", Split::Train, 0..half), ("Wood", Split::Test, half..end)];
    for (name, split, sentences) in books {
        set.push_book(BookText { name: name.to_owned(), split: Some(split), sentences });
    }
    for draw in draws {
        let start = draw.context.0.min(end);
        let context = start..end.min(start + draw.context.1);
        let candidates: Vec<WordId> = draw.candidates.iter().map(|word| set.intern(word)).collect();
        let answer = draw.answer.as_ref().map(|index| index.index(candidates.len()));
        let mut query: Vec<WordId> = draw.query.0.iter().map(|word| set.intern(word)).collect();
        query.insert(draw.query.1.min(query.len()), BLANK);
        if let (true, Some(answer)) = (draw.follows && context.end < end, answer) {
            let next = set.sentence(context.end);
            if let Some(blank) = next.iter().position(|&word| word == candidates[answer]) {
                let mut blanked = next.to_vec();
                blanked[blank] = BLANK;
                if blanked.iter().filter(|&&word| word == BLANK).count() == 1 {
                    query = blanked;
                }
            }
        }
        let book = draw.book.as_ref().map(|index| index.index(2));
        let question = set
            .push(NewQuestion {
                context,
                query: &query,
                candidates: &candidates,
                answer,
                class: draw.class,
                split: book.and_then(|book| set.books()[book].split),
                book,
            })
            .unwrap();
        let is_plain = draw.candidates.iter().all(|word| !word.is_empty() && !word.contains('|'));
        if draw.has_empty_fields && is_plain {
            empty_fields.record(question, draw.candidates.iter().copied().chain(["", ""]));
        }
    }
    (set, empty_fields)
}

/// A writer on a disk with little room.
pub(crate) struct SmallDisk<W> {
    pub inner: W,
    pub room: usize,
}

impl<W: std::io::Write> std::io::Write for SmallDisk<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.room == 0 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        let length = self.inner.write(&bytes[..bytes.len().min(self.room)])?;
        self.room -= length;
        Ok(length)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

/// A set of `n` questions about three bears, each with two sentences of context and four candidates.
pub(crate) fn bears(n: usize) -> QuestionSet {
    let mut set = QuestionSet::default();
    let mut intern =
        |text: &str| -> Vec<WordId> { text.split(' ').map(|w| set.intern(w)).collect() };
    let sentences: Vec<Vec<WordId>> =
        (0..n + 1).map(|number| intern(&format!("Bear {number} ate the porridge ."))).collect();
    let query = intern("The XXXXX was cold .");
    let candidates = intern("Bear porridge soup spoon");
    for sentence in sentences {
        set.push_sentence(sentence);
    }
    for first in 0..n {
        set.push(NewQuestion {
            context: first..first + 2,
            query: &query,
            candidates: &candidates,
            answer: Some(1),
            class: Some(WordClass::CommonNoun),
            split: Some(Split::Valid),
            book: None,
        })
        .unwrap();
    }
    set
}

/// Whatever a test writes, in the words that a user reads.
pub(crate) fn error_text(error: &crate::Error) -> String {
    match error.remedy() {
        Some(hint) => format!("error: {error}\nhint: {hint}\n"),
        None => format!("error: {error}\n"),
    }
}
