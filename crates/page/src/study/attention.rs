//! Attention checks: now and then an annotator is asked for a word that the page names. Chosen: the paper has none;
//! platforms of paid work want them.

use rusqlite::params;

use super::Annotator;
use super::create::count;
use crate::Result;
use crate::store::Store;

/// The checks that an annotator has had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// How many there were.
    pub n: usize,
    /// In how many the word was chosen.
    pub passed: usize,
}

/// The checks of an annotator so far.
///
/// # Errors
/// Those of the store.
pub fn checks(store: &Store, annotator: &Annotator) -> Result<Checks> {
    store.read(|connection| {
        connection
            .prepare_cached(
                "SELECT count(*), coalesce(sum(passed), 0) FROM attention WHERE annotator = ?1",
            )?
            .query_row(params![annotator.id], |row| {
                Ok(Checks { n: count(row, 0)?, passed: count(row, 1)? })
            })
    })
}

/// Keeps what came of a check; a second answer to the same changes nothing.
///
/// # Errors
/// Those of the store.
pub async fn record_check(
    store: &Store,
    annotator: &Annotator,
    number: usize,
    passed: bool,
    now: f64,
) -> Result<()> {
    let id = annotator.id;
    store
        .write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO attention (annotator, number, passed, answered)
                     VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
                )?
                .execute(params![id, number as i64, passed, now])
        })
        .await?;
    Ok(())
}
