//! An article with one question about it, as its file has it → checked, then words in a [`QuestionSet`].

use std::collections::BTreeSet;

use base::WordId;

use super::numbering::Numbering;
use crate::error::LineError;
use crate::formats::sentence;
use crate::{BLANK, BookText, NewQuestion, QuestionSet, Split};

/// The missing entity of a query, as the files have it.
const PLACEHOLDER: &str = "@placeholder";
/// Chosen: of 7,387 articles of CNN the richest has 393 entities; a list many times as long is no article.
const MOST_CANDIDATES: usize = 2_000;

/// A question and the article that it is about.
pub(crate) struct Article<'a> {
    /// `None` where it is not known.
    pub url: Option<&'a str>,
    pub text: &'a str,
    pub query: &'a str,
    /// `None` where it is not known.
    pub answer: Option<&'a str>,
    pub split: Option<Split>,
    /// The [`entities`] of the text: the candidates.
    pub entities: Vec<&'a str>,
}

/// What is wrong with an article's question, by the part that it is found in.
pub(crate) enum ArticleError {
    Query(LineError),
    Answer(LineError),
    Text(LineError),
}

impl Article<'_> {
    /// Adds the question, with the article as a book of its own. A question with an error leaves no trace.
    pub fn push(
        &self,
        set: &mut QuestionSet,
        numbering: &mut Numbering,
    ) -> Result<(), ArticleError> {
        self.check()?;
        // A text has no more words than bytes, but for the one after its last space.
        let most_words = set.n_words() + 2 * (self.text.len() + self.query.len() + 2);
        if u32::try_from(most_words).is_err() {
            return Err(ArticleError::Text(LineError::TooLarge));
        }
        let candidates = &self.entities;
        let first = set.n_sentences();
        numbering.number(self.text, set, |set, id, word| {
            set.push_word(id);
            if matches!(word, b"." | b"?" | b"!") {
                set.end_sentence();
            }
        });
        // A space after the last full stop is no sentence.
        if set.open_sentence().iter().all(|&word| set.vocabulary().word(word).is_empty()) {
            set.drop_sentence();
        } else {
            set.end_sentence();
        }
        let sentences = first..set.n_sentences();
        let query: Vec<WordId> = sentence::words(self.query)
            .map(|word| if word == PLACEHOLDER { BLANK } else { numbering.one(word, set) })
            .collect();
        let book = self.url.map(|url| {
            let sentences = sentences.clone();
            set.push_book(BookText { name: url.to_owned(), split: self.split, sentences })
        });
        let index = |answer| candidates.iter().position(|&candidate| candidate == answer);
        let answer = self.answer.and_then(index);
        let candidates: Vec<WordId> =
            candidates.iter().map(|word| numbering.one(word, set)).collect();
        let pushed = set.push_checked(NewQuestion {
            context: sentences,
            query: &query,
            candidates: &candidates,
            answer,
            class: None,
            split: self.split,
            book,
        });
        pushed.map(drop).map_err(ArticleError::Text)
    }

    fn check(&self) -> Result<(), ArticleError> {
        let (mut placeholders, mut blanks) = (0, 0);
        for word in sentence::words(self.query) {
            placeholders += usize::from(word == PLACEHOLDER);
            blanks += usize::from(word == crate::BLANK_WORD);
        }
        match (placeholders, blanks) {
            (1, 0) => {}
            (1, found) => return Err(ArticleError::Query(LineError::Blanks { found: found + 1 })),
            (found, _) => return Err(ArticleError::Query(LineError::Placeholders { found })),
        }
        match self.entities.len() {
            found @ 0..2 => return Err(ArticleError::Text(LineError::FewEntities { found })),
            2..=MOST_CANDIDATES => {}
            found => {
                return Err(ArticleError::Text(LineError::ManyCandidates {
                    found,
                    most: MOST_CANDIDATES,
                }));
            }
        }
        match self.answer.filter(|answer| !self.entities.contains(answer)) {
            None => Ok(()),
            Some(answer) => Err(ArticleError::Answer(LineError::AnswerNotInArticle {
                answer: answer.to_owned(),
                n_entities: self.entities.len(),
            })),
        }
    }
}

/// The distinct entities of a text, in the order of their numbers.
pub(crate) fn entities(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut seen = Entities::default();
    let new = memchr::memchr_iter(b'@', bytes).filter_map(|at| {
        let starts = at == 0 || bytes[at - 1] == b' ';
        let (entity, length) = leading_entity(&bytes[at..]).filter(|_| starts)?;
        let end = at + length;
        let is_word = bytes.get(end).is_none_or(|&byte| byte == b' ');
        (is_word && seen.insert(entity)).then(|| (entity, &text[at..end]))
    });
    let mut entities: Vec<(Entity, &str)> = Vec::with_capacity(64);
    entities.extend(new);
    entities.sort_unstable_by_key(|&(entity, _)| entity);
    entities.into_iter().map(|(_, word)| word).collect()
}

/// A set of entities, fast for the low numbers that articles have.
pub(crate) struct Entities {
    /// Whether each of the low numbers is in the set.
    first: [bool; 1 << 10],
    others: BTreeSet<Entity>,
}

impl Default for Entities {
    fn default() -> Self {
        Self { first: [false; 1 << 10], others: BTreeSet::new() }
    }
}

impl Entities {
    /// Adds an entity; returns whether it is new.
    pub fn insert(&mut self, entity: Entity) -> bool {
        match self.first.get_mut(entity as usize) {
            Some(is_in) => !std::mem::replace(is_in, true),
            None => self.others.insert(entity),
        }
    }

    pub fn contains(&self, entity: Entity) -> bool {
        let is_in = self.first.get(entity as usize).copied();
        is_in.unwrap_or_else(|| self.others.contains(&entity))
    }
}

/// The rank of an entity among all, shorter ones first: 1 for `@entity0`, 10 for `@entity9`, 11 for `@entity00`.
pub(crate) type Entity = u32;

/// `@entity0`, `@entity1`, …, with nine digits at most.
pub(crate) fn entity(word: &str) -> Option<Entity> {
    let (entity, length) = leading_entity(word.as_bytes())?;
    (length == word.len()).then_some(entity)
}

/// The entity that bytes begin with, and its length.
fn leading_entity(bytes: &[u8]) -> Option<(Entity, usize)> {
    const NAME: &[u8] = b"@entity";
    let rest = bytes.strip_prefix(NAME)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // With digits that count as 1 to 10, ranks have no gap and follow the lengths of the numerals.
    let rank = |sum, byte: &u8| 10 * sum + Entity::from(byte - b'0') + 1;
    (1..=9).contains(&digits).then(|| (rest[..digits].iter().fold(0, rank), NAME.len() + digits))
}
