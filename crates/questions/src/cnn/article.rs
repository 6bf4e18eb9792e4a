//! An article with one question about it, as its file has it → checked, then words in a [`QuestionSet`].

use corpus::WordId;

use super::numbering::Numbering;
use crate::flaw::Flaw;
use crate::{BLANK, BookText, NewQuestion, QuestionSet, Split, sentence};

/// The missing entity of a query, as the files have it.
const PLACEHOLDER: &str = "@placeholder";
/// Chosen: of 7,387 articles of CNN the richest has 393 entities; a list many times as long is no article.
const MOST_CANDIDATES: usize = 2_000;

/// A question about an article.
pub(crate) struct Article<'a> {
    /// Its address; none where it is not known.
    pub url: Option<&'a str>,
    pub text: &'a str,
    pub query: &'a str,
    /// None where it is not known.
    pub answer: Option<&'a str>,
    pub split: Option<Split>,
    /// The [`entities`] of the text: the candidates.
    pub entities: Vec<&'a str>,
}

/// What is wrong with an article's question.
pub(crate) enum Wrong {
    Query(Flaw),
    Answer(Flaw),
    Text(Flaw),
}

impl Article<'_> {
    /// Adds the question, with the article as a book of its own. A question with a flaw leaves no trace.
    pub fn push(&self, set: &mut QuestionSet, numbering: &mut Numbering) -> Result<(), Wrong> {
        self.check()?;
        // A text has no more words than bytes, but for the one behind its last space.
        let most_words = set.n_words() + 2 * (self.text.len() + self.query.len() + 2);
        if u32::try_from(most_words).is_err() {
            return Err(Wrong::Text(Flaw::TooLarge));
        }
        let candidates = &self.entities;
        let first = set.n_sentences();
        let mut sentence: Vec<WordId> = Vec::new();
        numbering.number(self.text, set, |set, id, word| {
            sentence.push(id);
            if matches!(word, "." | "?" | "!") {
                set.push_sentence(sentence.drain(..));
            }
        });
        // A space after the last full stop is no sentence.
        if !sentence.iter().all(|&word| set.vocabulary().word(word).is_empty()) {
            set.push_sentence(sentence);
        }
        let sentences = first..set.n_sentences();
        let query: Vec<WordId> = sentence::words(self.query)
            .map(|word| if word == PLACEHOLDER { BLANK } else { set.intern(word) })
            .collect();
        let book = self.url.map(|url| {
            let sentences = sentences.clone();
            set.push_book(BookText { name: url.to_owned(), split: self.split, sentences })
        });
        let place = |answer| candidates.iter().position(|&candidate| candidate == answer);
        let answer = self.answer.and_then(place);
        let candidates: Vec<WordId> = candidates.iter().map(|word| set.intern(word)).collect();
        set.push(NewQuestion {
            context: sentences,
            query: &query,
            candidates: &candidates,
            answer,
            class: None,
            split: self.split,
            book,
        });
        Ok(())
    }

    fn check(&self) -> Result<(), Wrong> {
        let times = |blank| sentence::words(self.query).filter(|&word| word == blank).count();
        match (times(PLACEHOLDER), times(crate::BLANK_WORD)) {
            (1, 0) => {}
            (1, found) => return Err(Wrong::Query(Flaw::Blanks { found: found + 1 })),
            (found, _) => return Err(Wrong::Query(Flaw::Placeholders { found })),
        }
        match self.entities.len() {
            found @ 0..2 => return Err(Wrong::Text(Flaw::FewCandidates { found })),
            2..=MOST_CANDIDATES => {}
            found => {
                return Err(Wrong::Text(Flaw::ManyCandidates { found, most: MOST_CANDIDATES }));
            }
        }
        match self.answer.filter(|answer| !self.entities.contains(answer)) {
            None => Ok(()),
            Some(answer) => Err(Wrong::Answer(Flaw::AnswerNotInArticle {
                answer: answer.to_owned(),
                n_entities: self.entities.len(),
            })),
        }
    }
}

/// The distinct entities of a text, in the order of their numbers.
pub(crate) fn entities(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mentions = memchr::memchr_iter(b'@', bytes).filter_map(|at| {
        let starts = at == 0 || bytes[at - 1] == b' ';
        let end = bytes[at..].iter().position(|&byte| byte == b' ').map_or(text.len(), |n| at + n);
        let entity = entity(&text[at..end]).filter(|_| starts)?;
        Some((entity, &text[at..end]))
    });
    let mut entities: Vec<(Entity, &str)> = mentions.collect();
    entities.sort_unstable_by_key(|&(entity, _)| entity);
    entities.dedup_by_key(|(entity, _)| *entity);
    entities.into_iter().map(|(_, word)| word).collect()
}

/// How many digits an entity's number has, and the number: in their order, and no two entities have the same.
pub(crate) type Entity = (u8, u32);

/// `@entity0`, `@entity1`, …, with nine digits at most.
pub(crate) fn entity(word: &str) -> Option<Entity> {
    let digits = word.strip_prefix("@entity")?.as_bytes();
    let digit = |&byte: &u8| byte.is_ascii_digit().then(|| u32::from(byte - b'0'));
    let number = |sum: u32, byte: &u8| digit(byte).map(|digit| 10 * sum + digit);
    match digits.len() {
        length @ 1..=9 => Some((length as u8, digits.iter().try_fold(0, number)?)),
        _ => None,
    }
}
