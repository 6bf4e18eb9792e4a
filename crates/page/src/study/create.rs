//! A study in the store: making it, finding it, opening and closing it.

use std::path::Path;
use std::sync::Arc;

use questions::{EmptyFields, OpenOptions, QuestionSet, jsonl};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

use super::{Deal, Settings};
use crate::store::Store;
use crate::{Error, Result};

/// A study with its questions.
#[derive(Clone)]
pub struct Study {
    /// The number of the study in its file.
    pub id: i64,
    /// Part of the address that annotators get.
    pub code: String,
    /// What the researcher decided.
    pub settings: Settings,
    /// The questions that were drawn.
    pub questions: Arc<QuestionSet>,
}

/// A line of the list of studies.
#[derive(Debug, serde::Serialize)]
pub struct StudySummary {
    /// The number of the study in its file.
    pub id: i64,
    /// The name of the study.
    pub name: String,
    /// Part of the address that annotators get.
    pub code: String,
    /// Whether answers are taken.
    pub is_open: bool,
    /// How many annotators there are.
    pub annotators: usize,
    /// How many answers there are.
    pub answers: usize,
    /// How many answers there are to be.
    pub items: usize,
}

/// Puts a study into the store, open at once; gives its number. `code` is the secret in its address.
///
/// # Errors
/// Those of the store.
pub fn create(
    store: &Store,
    settings: &Settings,
    deal: &Deal,
    code: String,
    now: f64,
) -> Result<i64> {
    let mut questions = Vec::new();
    jsonl::write(&deal.questions, &EmptyFields::default(), &mut questions, store.path())?;
    let questions = String::from_utf8(questions).expect("JSON lines are UTF-8");
    let name = settings.name.clone();
    let settings = serde_json::to_string(settings).expect("settings can be written as JSON");
    let (shares, ids) = (deal.shares.clone(), deal.questions.all_ids());
    store.write_blocking(move |connection| {
        connection.execute(
            "INSERT INTO study (code, name, settings, questions, created)
             VALUES (:code, :name, :settings, :questions, :created)",
            named_params! {
                ":code": code, ":name": name, ":settings": settings, ":questions": questions,
                ":created": now,
            },
        )?;
        let study = connection.last_insert_rowid();
        let mut share_in = connection.prepare("INSERT INTO share (study) VALUES (?1)")?;
        let mut item_in = connection.prepare(
            "INSERT INTO item (share, position, question, question_id, mode)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for items in &shares {
            share_in.execute(params![study])?;
            let share = connection.last_insert_rowid();
            for (position, item) in items.iter().enumerate() {
                item_in.execute(params![
                    share,
                    position as i64,
                    item.question as i64,
                    ids[item.question],
                    item.mode.code()
                ])?;
            }
        }
        Ok(study)
    })
}

/// All studies, the newest first.
///
/// # Errors
/// Those of the store.
pub fn list(store: &Store) -> Result<Vec<StudySummary>> {
    store.read(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT id, name, code, is_open,
                (SELECT count(*) FROM annotator WHERE annotator.study = study.id),
                (SELECT count(*) FROM answer JOIN annotator ON annotator.id = answer.annotator
                 WHERE annotator.study = study.id),
                (SELECT count(*) FROM item JOIN share ON share.id = item.share WHERE share.study = study.id)
             FROM study ORDER BY id DESC",
        )?;
        let listed = |row: &Row<'_>| {
            Ok(StudySummary {
                id: row.get(0)?,
                name: row.get(1)?,
                code: row.get(2)?,
                is_open: row.get(3)?,
                annotators: count(row, 4)?,
                answers: count(row, 5)?,
                items: count(row, 6)?,
            })
        };
        statement.query_map([], listed)?.collect()
    })
}

/// The study with a number, its questions read.
///
/// # Errors
/// [`Error::NoStudy`]; those of the store.
pub fn study(store: &Store, id: i64) -> Result<Study> {
    let found = store.read(|connection| {
        let mut statement = connection
            .prepare_cached("SELECT code, settings, questions FROM study WHERE id = ?1")?;
        statement
            .query_row(params![id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()
    })?;
    let none = || Error::NoStudy { path: store.path().to_owned(), id };
    let (code, settings, questions): (String, String, String) = found.ok_or_else(none)?;
    let settings = serde_json::from_str(&settings).map_err(|_| none())?;
    let options = OpenOptions::default();
    let (questions, _) = jsonl::read(questions.as_bytes(), Path::new("study"), &options)?;
    Ok(Study { id, code, settings, questions: Arc::new(questions) })
}

/// The number of the study with a code, and whether it is open.
///
/// # Errors
/// Those of the store.
pub fn find_by_code(store: &Store, code: &str) -> Result<Option<(i64, bool)>> {
    store.read(|connection| {
        connection
            .prepare_cached("SELECT id, is_open FROM study WHERE code = ?1")?
            .query_row(params![code], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
    })
}

/// Opens a study for answers, or closes it.
///
/// # Errors
/// Those of the store.
pub async fn close_or_open(store: &Store, id: i64, is_open: bool) -> Result<()> {
    store
        .write(move |connection| {
            connection.execute("UPDATE study SET is_open = ?2 WHERE id = ?1", params![id, is_open])
        })
        .await?;
    Ok(())
}

/// Takes back what an annotator has not answered, as a share for somebody else.
///
/// # Errors
/// Those of the store.
pub async fn release(store: &Store, study: i64, annotator: i64) -> Result<()> {
    store.write(move |connection| release_in(connection, study, annotator)).await
}

fn release_in(connection: &Connection, study: i64, annotator: i64) -> rusqlite::Result<()> {
    let share: Option<i64> = connection
        .query_row(
            "SELECT share FROM annotator WHERE id = ?1 AND study = ?2
             AND EXISTS (SELECT 1 FROM item WHERE item.share = annotator.share
                         AND NOT EXISTS (SELECT 1 FROM answer WHERE answer.item = item.id))",
            params![annotator, study],
            |row| row.get(0),
        )
        .optional()?;
    let Some(share) = share else { return Ok(()) };
    connection.execute("INSERT INTO share (study) VALUES (?1)", params![study])?;
    connection.execute(
        "UPDATE item SET share = ?2
         WHERE share = ?1 AND NOT EXISTS (SELECT 1 FROM answer WHERE answer.item = item.id)",
        params![share, connection.last_insert_rowid()],
    )?;
    Ok(())
}

/// A column that counts.
pub(super) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<usize> {
    row.get::<_, i64>(column).map(|n| usize::try_from(n).unwrap_or(0))
}
