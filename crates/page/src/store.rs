//! The store of studies: one SQLite file, and the thread that writes it.
//!
//! Writes that wait at the same time share a transaction, so a hundred people who answer at once cost one
//! flush of the disk. A write is confirmed after its transaction is on the disk (`synchronous = FULL`): what
//! was confirmed survives the death of the process, and of the machine.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use tokio::sync::oneshot;

use crate::keys::Key;
use crate::{Error, Result};

/// The version of `schema.sql` with `attention.sql`.
const FORMAT: i64 = 2;
/// The version before there was `attention.sql`; its stores get that table.
const WITHOUT_CHECKS: i64 = 1;
/// How many writes share a transaction at most.
const BATCH: usize = 256;

/// An open store; the writer and each reader have their own connection.
pub struct Store {
    path: PathBuf,
    reader: Mutex<Connection>,
    writer: mpsc::Sender<Job>,
    key: Key,
}

/// A write that waits: does its work, and gives what is to be called when it is known whether the
/// transaction is on the disk.
type Job = Box<dyn FnOnce(&Connection) -> Reply + Send>;
type Reply = Box<dyn FnOnce(Result<(), &str>) + Send>;

impl Store {
    /// Opens a store; a new one is made where there is none.
    ///
    /// # Errors
    /// [`Error::Store`]; [`Error::OtherStore`].
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |reason| Error::Store { path: path.to_owned(), reason };
        make_private(path);
        let connection = connect(path).map_err(failed)?;
        let found: i64 =
            connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
        let tables: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(failed)?;
        match (found, tables) {
            (FORMAT, _) => {}
            (WITHOUT_CHECKS, _) => add_checks(&connection).map_err(failed)?,
            (0, 0) => make(&connection, &Key::random()?).map_err(failed)?,
            _ => {
                return Err(Error::OtherStore { path: path.to_owned(), expected: FORMAT, found });
            }
        }
        let key: Vec<u8> =
            connection.query_row("SELECT key FROM secret", [], |row| row.get(0)).map_err(failed)?;
        let (writer, jobs) = mpsc::channel();
        let writing = connect(path).map_err(failed)?;
        std::thread::spawn(move || write_all(&writing, &jobs));
        let (path, key) = (path.to_owned(), Key::of_secret(&key));
        Ok(Self { path, reader: Mutex::new(connection), writer, key })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What seals of this store are made with.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Reads.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.reader()).map_err(|reason| self.failed(reason))
    }

    /// Writes; the result comes after it is on the disk.
    ///
    /// # Errors
    /// [`Error::Store`] where the work fails, [`Error::NotWritten`] where the disk does.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let done = self.send(work);
        self.received(done.await)
    }

    /// As [`Self::write`], for a thread that may wait.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let done = self.send(work);
        self.received(done.blocking_recv())
    }

    fn send<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> oneshot::Receiver<Written<T>> {
        let (sender, receiver) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            let done = in_savepoint(connection, work);
            Box::new(move |committed| {
                // Whoever asked may have gone; what was written stays.
                let _ = sender.send(match committed {
                    Ok(()) => done.map_err(NotWritten::Work),
                    Err(reason) => Err(NotWritten::Disk(reason.to_owned())),
                });
            })
        });
        // Without a writer the job is dropped, and its receiver says so.
        let _ = self.writer.send(job);
        receiver
    }

    fn received<T>(&self, written: Result<Written<T>, oneshot::error::RecvError>) -> Result<T> {
        let not_written = |reason| Error::NotWritten { path: self.path.clone(), reason };
        match written {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(NotWritten::Work(reason))) => Err(self.failed(reason)),
            Ok(Err(NotWritten::Disk(reason))) => Err(not_written(reason)),
            Err(_) => Err(not_written("the writer has stopped".to_owned())),
        }
    }

    fn reader(&self) -> MutexGuard<'_, Connection> {
        // A reader that panicked has changed nothing.
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, reason: rusqlite::Error) -> Error {
        Error::Store { path: self.path.clone(), reason }
    }
}

type Written<T> = Result<T, NotWritten>;

enum NotWritten {
    Work(rusqlite::Error),
    Disk(String),
}

/// Makes the file where there is none, for its owner alone: the right answers are in it. SQLite gives the
/// files next to it the same rights, and reports what is wrong where it can't be made.
fn make_private(path: &Path) {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(connection)
}

/// Makes the tables, all of them or none.
fn make(connection: &Connection, key: &Key) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let is_there = connection
        .query_row("SELECT 1 FROM sqlite_schema LIMIT 1", [], |_| Ok(()))
        .optional()?
        .is_some();
    if !is_there {
        connection.execute_batch(include_str!("schema.sql"))?;
        connection.execute_batch(include_str!("attention.sql"))?;
        connection.execute("INSERT INTO secret (key) VALUES (?1)", params![key.secret()])?;
        connection.pragma_update(None, "user_version", FORMAT)?;
    }
    connection.execute_batch("COMMIT")
}

/// Makes a store of the version before into one of this.
fn add_checks(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found == WITHOUT_CHECKS {
        connection.execute_batch(include_str!("attention.sql"))?;
        connection.pragma_update(None, "user_version", FORMAT)?;
    }
    connection.execute_batch("COMMIT")
}

/// Does what waits, a transaction at a time, until the store is closed.
fn write_all(connection: &Connection, jobs: &mpsc::Receiver<Job>) {
    while let Ok(first) = jobs.recv() {
        let mut waiting = vec![first];
        waiting.extend(jobs.try_iter().take(BATCH - 1));
        let begun = connection.execute_batch("BEGIN IMMEDIATE");
        let replies: Vec<Reply> = waiting.into_iter().map(|job| job(connection)).collect();
        let committed = begun.and_then(|()| connection.execute_batch("COMMIT"));
        if committed.is_err() {
            // Nothing of it is left for the next transaction; there may be none to roll back.
            let _ = connection.execute_batch("ROLLBACK");
        }
        let committed = committed.map_err(|reason| reason.to_string());
        for reply in replies {
            reply(committed.as_ref().map(|_| ()).map_err(String::as_str));
        }
    }
}

/// Work that fails is rolled back without the rest of its transaction.
fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    if connection.is_autocommit() {
        // The transaction could not begin: nothing may be written outside one.
        return Err(rusqlite::Error::ExecuteReturnedResults);
    }
    connection.execute_batch("SAVEPOINT work")?;
    let done = work(connection);
    if done.is_err() {
        connection.execute_batch("ROLLBACK TO work")?;
    }
    connection.execute_batch("RELEASE work")?;
    done
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn store(folder: &TempDir) -> Store {
        Store::open(&folder.path().join("study.db")).unwrap()
    }

    fn insert(connection: &Connection, name: &str) -> rusqlite::Result<usize> {
        let sql = "INSERT INTO study (code, name, settings, questions, created) VALUES (?1, ?1, '', '', 0)";
        connection.execute(sql, params![name])
    }

    fn names(store: &Store) -> Vec<String> {
        store
            .read(|connection| {
                let mut statement = connection.prepare("SELECT name FROM study ORDER BY name")?;
                statement.query_map([], |row| row.get(0))?.collect()
            })
            .unwrap()
    }

    #[test]
    fn what_was_written_is_there_when_it_is_opened_again_and_seals_still_hold() {
        let folder = TempDir::new().unwrap();
        let first = store(&folder);
        first.write_blocking(|connection| insert(connection, "bears")).unwrap();
        let seal = first.key().seal(&["bears"]);
        let second = store(&folder);
        assert_eq!(names(&second), ["bears"]);
        assert!(second.key().has_sealed(&["bears"], &seal));
    }

    #[test]
    fn work_that_fails_leaves_nothing_and_the_others_alone() {
        let folder = TempDir::new().unwrap();
        let store = store(&folder);
        let failing = store.send(|connection| {
            insert(connection, "half")?;
            insert(connection, "half")
        });
        store.write_blocking(|connection| insert(connection, "whole")).unwrap();
        assert!(failing.blocking_recv().unwrap().is_err());
        assert_eq!(names(&store), ["whole"]);
    }

    #[test]
    fn the_journal_is_flushed_before_a_write_is_confirmed() {
        let folder = TempDir::new().unwrap();
        let store = store(&folder);
        let pragma = |connection: &Connection, name: &str| -> rusqlite::Result<String> {
            connection.pragma_query_value(None, name, |row| {
                row.get::<_, rusqlite::types::Value>(0).map(|value| format!("{value:?}"))
            })
        };
        let found = store
            .write_blocking(move |connection| {
                Ok((pragma(connection, "journal_mode")?, pragma(connection, "synchronous")?))
            })
            .unwrap();
        // 2 is FULL: https://sqlite.org/pragma.html#pragma_synchronous
        assert_eq!(found, ("Text(\"wal\")".to_owned(), "Integer(2)".to_owned()));
    }

    #[cfg(unix)]
    #[test]
    fn a_new_store_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = TempDir::new().unwrap();
        let store = store(&folder);
        store.write_blocking(|connection| insert(connection, "bears")).unwrap();
        for file in ["study.db", "study.db-wal", "study.db-shm"] {
            let mode = folder.path().join(file).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
    }

    #[test]
    fn a_store_of_the_version_before_keeps_its_studies_and_gets_the_new_table() {
        let folder = TempDir::new().unwrap();
        store(&folder).write_blocking(|connection| insert(connection, "bears")).unwrap();
        let path = folder.path().join("study.db");
        let old = Connection::open(&path).unwrap();
        old.execute_batch("DROP TABLE attention; PRAGMA user_version = 1").unwrap();
        drop(old);
        let store = store(&folder);
        assert_eq!(names(&store), ["bears"]);
        let n = |connection: &Connection| {
            connection.query_row("SELECT count(*) FROM attention", [], |row| row.get::<_, i64>(0))
        };
        assert_eq!(store.read(n).unwrap(), 0);
    }

    #[test]
    fn another_database_is_left_alone() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("study.db");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE diary (day)").unwrap();
        let error = Store::open(&path).err().unwrap();
        assert_eq!(
            error.to_string().replace(&folder.path().display().to_string(), "DIR"),
            "DIR/study.db: not a study of this version: expected format 2, found 0"
        );
        std::fs::write(&path, "not a database at all, but long enough to be looked at").unwrap();
        assert!(matches!(Store::open(&path), Err(Error::Store { .. })));
    }
}
