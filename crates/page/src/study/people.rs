//! An annotator's way through a study (§4.5): joining, the next question, an answer, the score at the end.

use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::Mode;
use super::create::count;
use crate::Result;
use crate::keys::token_hash;
use crate::store::Store;

/// A person who takes part in a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotator {
    /// The person's number.
    pub id: i64,
    /// The study's number.
    pub study: i64,
    /// What they are to answer.
    pub share: i64,
    /// What they call themselves.
    pub name: String,
    /// Whether the study takes answers.
    pub is_open: bool,
}

/// What came of joining.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinOutcome {
    /// The person has a share.
    Yes,
    /// Somebody has that name.
    NameTaken,
    /// All shares that this person may have are given out.
    Full,
    /// The study takes no answers.
    Closed,
}

/// A question to be shown: it has no answer and no class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextItem {
    /// The item's number.
    pub item: i64,
    /// The question, as a place among the study's.
    pub question: usize,
    /// What is shown of it.
    pub mode: Mode,
}

/// Gives a person the next free share.
///
/// Nobody gets a question in both modes: a share that holds one which this person has in the other mode in
/// another study, going by the name, is left for others.
///
/// # Errors
/// Those of the store.
pub async fn join(
    store: &Store,
    study: i64,
    name: String,
    token: &str,
    now: f64,
) -> Result<JoinOutcome> {
    let hash = token_hash(token);
    store.write(move |connection| join_in(connection, study, &name, &hash, now)).await
}

fn join_in(
    connection: &Connection,
    study: i64,
    name: &str,
    token_hash: &[u8; 32],
    now: f64,
) -> rusqlite::Result<JoinOutcome> {
    let is_open: bool =
        connection.query_row("SELECT is_open FROM study WHERE id = ?1", params![study], |row| {
            row.get(0)
        })?;
    if !is_open {
        return Ok(JoinOutcome::Closed);
    }
    let taken = connection
        .query_row(
            "SELECT 1 FROM annotator WHERE study = ?1 AND name = ?2",
            params![study, name],
            |_| Ok(()),
        )
        .optional()?;
    if taken.is_some() {
        return Ok(JoinOutcome::NameTaken);
    }
    let joined = connection.execute(
        "INSERT INTO annotator (study, share, name, token_hash, joined)
         SELECT :study, share.id, :name, :token_hash, :now FROM share
         WHERE share.study = :study
           AND NOT EXISTS (SELECT 1 FROM annotator WHERE annotator.share = share.id)
           AND NOT EXISTS (
               SELECT 1 FROM item
               JOIN item AS other ON other.question_id = item.question_id AND other.mode <> item.mode
               JOIN annotator ON annotator.share = other.share
               WHERE item.share = share.id AND annotator.name = :name)
         ORDER BY share.id LIMIT 1",
        named_params! {
            ":study": study, ":name": name, ":token_hash": &token_hash[..], ":now": now,
        },
    )?;
    Ok(if joined == 1 { JoinOutcome::Yes } else { JoinOutcome::Full })
}

/// The person whose token this is.
///
/// # Errors
/// Those of the store.
pub fn annotator(store: &Store, token: &str) -> Result<Option<Annotator>> {
    store.read(|connection| {
        connection
            .prepare_cached(
                "SELECT annotator.id, study.id, annotator.share, annotator.name, study.is_open
                 FROM annotator JOIN study ON study.id = annotator.study WHERE token_hash = ?1",
            )?
            .query_row(params![&token_hash(token)[..]], |row| {
                Ok(Annotator {
                    id: row.get(0)?,
                    study: row.get(1)?,
                    share: row.get(2)?,
                    name: row.get(3)?,
                    is_open: row.get(4)?,
                })
            })
            .optional()
    })
}

/// The first question that the person has not answered; none at the end.
///
/// # Errors
/// Those of the store.
pub fn next(store: &Store, annotator: &Annotator) -> Result<Option<NextItem>> {
    store.read(|connection| {
        connection
            .prepare_cached(
                "SELECT item.id, item.question, item.mode FROM item
                 WHERE item.share = ?1
                   AND NOT EXISTS (SELECT 1 FROM answer WHERE answer.item = item.id)
                 ORDER BY item.position LIMIT 1",
            )?
            .query_row(params![annotator.share], |row| {
                let mode: String = row.get(2)?;
                let mode = Mode::from_code(&mode).expect("the schema allows no other mode");
                Ok(NextItem { item: row.get(0)?, question: count(row, 1)?, mode })
            })
            .optional()
    })
}

/// How many questions of the share are answered, and how many it has.
///
/// # Errors
/// Those of the store.
pub fn done(store: &Store, annotator: &Annotator) -> Result<(usize, usize)> {
    store.read(|connection| {
        connection
            .prepare_cached(
                "SELECT count(answer.item), count(*) FROM item LEFT JOIN answer ON answer.item = item.id
                 WHERE item.share = ?1",
            )?
            .query_row(params![annotator.share], |row| Ok((count(row, 0)?, count(row, 1)?)))
    })
}

/// Keeps an answer; a second one to the same item changes nothing. When this returns, it is on the disk.
///
/// # Errors
/// Those of the store.
pub async fn record(
    store: &Store,
    annotator: &Annotator,
    item: i64,
    chosen: usize,
    times: (f64, f64),
) -> Result<()> {
    let (id, share, (seconds, now)) = (annotator.id, annotator.share, times);
    store
        .write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO answer (item, annotator, chosen, seconds, answered)
                     SELECT item.id, :annotator, :chosen, :seconds, :now FROM item
                     JOIN share ON share.id = item.share JOIN study ON study.id = share.study
                     WHERE item.id = :item AND item.share = :share AND study.is_open
                     ON CONFLICT (item) DO NOTHING",
                )?
                .execute(named_params! {
                    ":annotator": id, ":chosen": chosen as i64, ":seconds": seconds, ":now": now,
                    ":item": item, ":share": share,
                })
        })
        .await?;
    Ok(())
}

/// The item that the person answered last, and the Unix time of it.
///
/// # Errors
/// Those of the store.
pub fn latest(store: &Store, annotator: &Annotator) -> Result<Option<(i64, f64)>> {
    store.read(|connection| {
        connection
            .prepare_cached(
                "SELECT item, answered FROM answer WHERE annotator = ?1
                 ORDER BY answered DESC, item DESC LIMIT 1",
            )?
            .query_row(params![annotator.id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
    })
}

/// Takes an answer back that was given since a time, so that its question comes again.
///
/// # Errors
/// Those of the store.
pub async fn take_back(store: &Store, annotator: &Annotator, item: i64, since: f64) -> Result<()> {
    let id = annotator.id;
    store
        .write(move |connection| {
            connection
                .prepare_cached(
                    "DELETE FROM answer
                     WHERE item = :item AND annotator = :annotator AND answered >= :since",
                )?
                .execute(named_params! { ":item": item, ":annotator": id, ":since": since })
        })
        .await?;
    Ok(())
}

/// The person's answers as (question, chosen candidate), for the score at the end.
///
/// # Errors
/// Those of the store.
pub fn score(store: &Store, annotator: &Annotator) -> Result<Vec<(usize, usize)>> {
    store.read(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT item.question, answer.chosen FROM answer JOIN item ON item.id = answer.item
             WHERE answer.annotator = ?1 ORDER BY item.position",
        )?;
        statement
            .query_map(params![annotator.id], |row| Ok((count(row, 0)?, count(row, 1)?)))?
            .collect()
    })
}
