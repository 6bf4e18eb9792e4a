//! A model on disk: a folder with the files of the model and `model.toml`, which says what it is.
//!
//! ```text
//! model.toml    format = 1, model = "word-distance", [settings], [provenance]
//! …             whatever Model::save writes
//! ```
//!
//! The folder appears whole or not at all: it is written beside its place, as `.NAME.partial`, and then
//! renamed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::settings::typed;
use crate::{Error, Model, Result, Saved, Settings, find};

const MANIFEST: &str = "model.toml";
const FORMAT: i64 = 1;

/// What `model.toml` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: i64,
    /// The name of the model in [`crate::MODELS`].
    pub model: String,
    /// All its settings, defaults included.
    pub settings: Table,
    /// Where it comes from, in the words of the program: seed, version, hash of the data.
    pub provenance: BTreeMap<String, String>,
}

/// Writes a model into a new folder, or in the place of an older model if `overwrite` says so.
///
/// # Errors
/// Those of [`check_place`], and if something can't be written; then nothing stays behind.
pub fn save(
    model: &dyn Model,
    settings: &Settings,
    provenance: BTreeMap<String, String>,
    folder: &Path,
    overwrite: bool,
) -> Result<()> {
    check_place(folder, overwrite)?;
    let partial = beside(folder, "partial")?;
    let manifest = Manifest {
        format: FORMAT,
        model: settings.model().to_owned(),
        settings: settings.values().clone(),
        provenance,
    };
    remove(&partial)?;
    let written = at(&partial, fs::create_dir_all(&partial))
        .and_then(|()| model.save(&partial))
        .and_then(|()| write_toml(&partial.join(MANIFEST), &manifest))
        .and_then(|()| put(&partial, folder));
    if written.is_err() {
        // The first error is the one to tell; what is left behind then has a name that says so.
        let _ = remove(&partial);
    }
    written
}

/// Whether [`save`] would write there: to be asked before a long training.
///
/// # Errors
/// [`Error::Exists`] if something is there and is not a model that may be replaced.
pub fn check_place(folder: &Path, overwrite: bool) -> Result<()> {
    let is_model = folder.join(MANIFEST).exists();
    if folder.exists() && !(is_model && overwrite) {
        return Err(Error::Exists { path: folder.to_owned(), is_model });
    }
    Ok(())
}

/// Reads a model that [`save`] wrote.
///
/// # Errors
/// If there is none, it is of another format, or a file of it is missing or damaged.
pub fn load(folder: &Path) -> Result<(Box<dyn Model>, Manifest)> {
    let path = folder.join(MANIFEST);
    if !path.exists() {
        return Err(Error::NoModel { path: folder.to_owned() });
    }
    let damaged =
        |reason: String| Error::Damaged { path: path.clone(), line: None, reason };
    let table: Table = read_toml(&path)?;
    let found = table.get("format").and_then(toml::Value::as_integer);
    let found = found.ok_or_else(|| damaged("it has no `format`".to_owned()))?;
    if found != FORMAT {
        let model = table.get("model").and_then(|name| name.as_str()).unwrap_or("MODEL").to_owned();
        return Err(Error::OtherFormat { path, model, expected: FORMAT, found });
    }
    let manifest: Manifest = read_toml(&path)?;
    let entry = find(&manifest.model).map_err(|error| damaged(error.to_string()))?;
    let texts: Vec<String> =
        manifest.settings.iter().map(|(key, value)| format!("{key}={}", typed(value))).collect();
    let settings = Settings::from_text(entry, texts.iter().map(String::as_str))
        .map_err(|error| damaged(error.to_string()))?;
    let model = (entry.load)(&Saved { folder, settings })?;
    Ok((model, manifest))
}

/// Reads a file of a model.
pub(crate) fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let damaged = |line, reason| Error::Damaged { path: path.to_owned(), line, reason };
    let text = fs::read_to_string(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => damaged(None, "the file is missing".to_owned()),
        ErrorKind::InvalidData => damaged(None, "not UTF-8".to_owned()),
        _ => Error::Io { path: path.to_owned(), source: error },
    })?;
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map(|span| 1 + text[..span.start].matches('\n').count());
        damaged(line, error.message().to_owned())
    })
}

/// Writes a file of a model.
pub(crate) fn write_toml(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = toml::to_string(value).expect("maps with text as keys can be written as TOML");
    at(path, fs::write(path, text))
}

fn at<T>(path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|source| Error::Io { path: path.to_owned(), source })
}

/// `.NAME.ending` in the same folder, so that a rename stays within one file system.
fn beside(folder: &Path, ending: &str) -> Result<PathBuf> {
    let no_name = || io::Error::new(ErrorKind::InvalidInput, "a model needs a folder with a name");
    let name = at(folder, folder.file_name().and_then(OsStr::to_str).ok_or_else(no_name))?;
    Ok(folder.with_file_name(format!(".{name}.{ending}")))
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() { at(folder, fs::remove_dir_all(folder)) } else { Ok(()) }
}

/// Moves a finished folder to its place; an older one there goes only when the new one is in.
fn put(partial: &Path, folder: &Path) -> Result<()> {
    let replaced = beside(folder, "replaced")?;
    remove(&replaced)?;
    if folder.exists() {
        at(folder, fs::rename(folder, &replaced))?;
    }
    at(folder, fs::rename(partial, folder))?;
    remove(&replaced)
}
