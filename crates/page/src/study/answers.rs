//! What came of a study: progress, and people's answers as predictions.

use std::collections::BTreeMap;

use evaluation::{HumanAnswer, Predictions};
use rusqlite::params;
use serde::Serialize;

use super::create::count;
use super::{Mode, Study};
use crate::Result;
use crate::store::Store;

/// How far one annotator is.
#[derive(Debug, Serialize)]
pub struct Progress {
    /// The person's number.
    pub id: i64,
    /// What they call themselves.
    pub name: String,
    /// Their modes, as people read them.
    pub modes: String,
    /// How many questions are answered.
    pub answered: usize,
    /// How many they have.
    pub total: usize,
    /// The Unix time of the last answer.
    pub last: Option<f64>,
    /// How many attention checks there were.
    pub checks: usize,
    /// How many of them were passed.
    pub passed: usize,
}

/// How far each annotator is, in the order in which they joined.
///
/// # Errors
/// Those of the store.
pub fn progress(store: &Store, study: i64) -> Result<Vec<Progress>> {
    store.read(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT annotator.id, annotator.name, group_concat(DISTINCT item.mode),
                    count(answer.item), count(*), max(answer.answered),
                    (SELECT count(*) FROM attention WHERE attention.annotator = annotator.id),
                    (SELECT coalesce(sum(passed), 0) FROM attention
                     WHERE attention.annotator = annotator.id)
             FROM annotator JOIN item ON item.share = annotator.share
             LEFT JOIN answer ON answer.item = item.id
             WHERE annotator.study = ?1 GROUP BY annotator.id ORDER BY annotator.id",
        )?;
        let of_row = |row: &rusqlite::Row<'_>| {
            let modes: String = row.get(2)?;
            let labels: Vec<&str> =
                modes.split(',').filter_map(Mode::from_code).map(Mode::label).collect();
            Ok(Progress {
                id: row.get(0)?,
                name: row.get(1)?,
                modes: labels.join(", "),
                answered: count(row, 3)?,
                total: count(row, 4)?,
                last: row.get(5)?,
                checks: count(row, 6)?,
                passed: count(row, 7)?,
            })
        };
        statement.query_map(params![study], of_row)?.collect()
    })
}

/// The answers of each mode as predictions, named as their file; modes without answers are left out.
///
/// # Errors
/// Those of the store.
pub fn by_mode(store: &Store, study: &Study) -> Result<Vec<(Mode, Predictions)>> {
    let rows: Vec<(String, usize, String, usize, f64)> = store.read(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT item.mode, item.question, annotator.name, answer.chosen, answer.seconds
             FROM answer JOIN item ON item.id = answer.item
             JOIN annotator ON annotator.id = answer.annotator
             WHERE annotator.study = ?1 ORDER BY item.question, annotator.id",
        )?;
        let of_row = |row: &rusqlite::Row<'_>| {
            Ok((row.get(0)?, count(row, 1)?, row.get(2)?, count(row, 3)?, row.get(4)?))
        };
        statement.query_map(params![study.id], of_row)?.collect()
    })?;
    let mut of_mode: BTreeMap<Mode, Vec<HumanAnswer>> = BTreeMap::new();
    for (mode, question, name, chosen, seconds) in rows {
        let mode = Mode::from_code(&mode).expect("the schema allows no other mode");
        let answer = HumanAnswer::new(name, seconds, &study.questions.example(question), chosen);
        of_mode.entry(mode).or_default().push(answer);
    }
    of_mode
        .into_iter()
        .map(|(mode, answers)| Ok((mode, Predictions::of_people(mode.file(), answers)?)))
        .collect()
}
