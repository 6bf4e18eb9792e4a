//! One `.question` file: bytes → [`Article`].
//!
//! ```text
//! http://web.archive.org/…/index.html
//!
//! ( @entity0 ) a few months into the @entity2 war , …
//!
//! general @placeholder is leaving the army
//!
//! @entity3
//!
//! @entity0:CNN
//! @entity2:Iraq
//! @entity3:David Petraeus
//! ```
//!
//! The map of entities goes to the end of the file. Every entity of article and query is in it, which is how a
//! file that was cut is recognised.

use std::path::Path;

use super::article::{Article, ArticleError, Entities, entities, entity};
use super::chunks::Chunk;
use crate::Split;
use crate::error::LineError;
use crate::error::{Error, Location, Result};
use crate::formats::sentence;

/// What follows what, each on a line of its own followed by an empty line.
const PARTS: [&str; 4] = ["the URL", "the article", "the query", "the answer"];

/// Adds the question of a file to a chunk; `path` is for messages alone.
///
/// # Errors
/// [`Error::Malformed`] with the line; then nothing was added.
pub(crate) fn read_question(
    bytes: &[u8],
    path: &Path,
    split: Option<Split>,
    chunk: &mut Chunk,
) -> Result<()> {
    let added = article(bytes, split).and_then(|article| {
        article.push(&mut chunk.set, &mut chunk.numbering).map_err(|error| match error {
            ArticleError::Text(error) => (3, error),
            ArticleError::Query(error) => (5, error),
            ArticleError::Answer(error) => (7, error),
        })
    });
    added.map_err(|(line, error)| Error::Malformed {
        path: path.to_owned(),
        at: Location::Line(line),
        error,
    })
}

/// The article of a file, or what is wrong in which line.
fn article(bytes: &[u8], split: Option<Split>) -> Result<Article<'_>, (usize, LineError)> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        (before.split(|&byte| byte == b'\n').count(), LineError::NotUtf8)
    })?;
    let mut lines = sentence::split(text, b'\n').zip(1..);
    let mut parts = [""; PARTS.len()];
    for (part, expected) in parts.iter_mut().zip(PARTS) {
        let cut = || (text.split('\n').count(), LineError::Cut { expected });
        let (line, number) = lines.next().ok_or_else(cut)?;
        if line.ends_with('\r') {
            return Err((number, LineError::CarriageReturn));
        }
        *part = line;
        match lines.next() {
            Some(("", _)) => {}
            Some((found, number)) => {
                return Err((
                    number,
                    LineError::NoEmptyLine { after: expected, found: found.into() },
                ));
            }
            None => return Err((number, LineError::Cut { expected: "an empty line" })),
        }
    }
    let [url, text, query, answer] = parts;
    let entities_of_text = entities(text);
    check_map(lines, entities_of_text.iter().copied().chain(entities(query)))?;
    let answer = (!answer.is_empty()).then_some(answer);
    let url = (!url.is_empty()).then_some(url);
    Ok(Article { url, text, query, answer, split, entities: entities_of_text })
}

/// Whether the map's lines are `@entity0:NAME` and name all entities. A name may have colons in it.
fn check_map<'a>(
    lines: impl Iterator<Item = (&'a str, usize)>,
    mut entities: impl Iterator<Item = &'a str>,
) -> Result<(), (usize, LineError)> {
    let mut named = Entities::default();
    let mut last = 2 * PARTS.len();
    for (line, number) in lines.filter(|(line, _)| !line.is_empty()) {
        last = number;
        let colon = memchr::memchr(b':', line.as_bytes());
        match colon.and_then(|colon| entity(&line[..colon])) {
            Some(entity) => _ = named.insert(entity),
            None => return Err((number, LineError::EntityMap { found: line.to_owned() })),
        }
    }
    let missing = |word: &&str| entity(word).is_some_and(|entity| !named.contains(entity));
    match entities.find(missing) {
        Some(entity) => Err((last, LineError::NotInEntityMap { entity: entity.to_owned() })),
        None => Ok(()),
    }
}
