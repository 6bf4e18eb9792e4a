//! What a learner keeps in its folder: its words, and tables as safetensors.
//!
//! ```text
//! words.txt              the words, see `word_list`
//! weights.safetensors    the tables; metadata: the words' hash, the model and its settings
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use base::Vocabulary;
use base::files::write_file;
use numerics::Table;
use numerics::weights::{self, Precision, Weights};
use serde::Deserialize;

use crate::words::dictionary::Dictionary;
use crate::words::word_list;
use crate::{Error, Result, Settings};

const FILE: &str = "weights.safetensors";
const DICTIONARY: &str = "dictionary";

/// What the setting `weights` chooses.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SavedAs {
    F32,
    F16,
    I8,
}

impl SavedAs {
    /// Makes a table what it will be after it has been saved and loaded.
    pub fn round(self, table: &mut Table<f32>) {
        Precision::from(self).round(table);
    }
}

impl From<SavedAs> for Precision {
    fn from(saved_as: SavedAs) -> Self {
        match saved_as {
            SavedAs::F32 => Self::F32,
            SavedAs::F16 => Self::F16,
            SavedAs::I8 => Self::I8,
        }
    }
}

/// Writes words and tables into the folder of a model.
pub(crate) fn write(
    folder: &Path,
    words: &Vocabulary,
    tables: &[(&str, &Table<f32>)],
    saved_as: SavedAs,
    settings: &Settings,
) -> Result<()> {
    word_list::write(folder, words)?;
    let mut about: BTreeMap<String, String> =
        settings.texts().map(|(key, value)| (format!("settings.{key}"), value)).collect();
    about.insert("model".to_owned(), settings.model().to_owned());
    about.insert(DICTIONARY.to_owned(), word_list::hash(words));
    let path = folder.join(FILE);
    let failed = |reason| Error::File { path: path.clone(), reason };
    write_file(&path, failed, |file| {
        weights::write(file, tables, saved_as.into(), &about).map_err(failed)
    })
}

/// Reads the dictionary, and the tables of some names and dimensions: rows × dim.
pub(crate) fn read<const N: usize>(
    folder: &Path,
    shapes: impl FnOnce(&Dictionary) -> [(&'static str, usize, usize); N],
) -> Result<(Dictionary, [Table<f32>; N])> {
    let dictionary = Dictionary::read(folder)?;
    let tables = read_tables(folder, dictionary.words(), &shapes(&dictionary))?;
    Ok((dictionary, tables.try_into().expect("one table for each shape")))
}

/// Reads tables of some names and dimensions, rows × dim, that belong to some words.
pub(crate) fn read_tables(
    folder: &Path,
    words: &Vocabulary,
    shapes: &[(&str, usize, usize)],
) -> Result<Vec<Table<f32>>> {
    let path = folder.join(FILE);
    let weights = weights::read(&path)?;
    let (expected, found) = (word_list::hash(words), weights.about.get(DICTIONARY));
    if found != Some(&expected) {
        let found = found.map_or("none", String::as_str);
        let reason = format!("weights of another dictionary: expected {expected}, found {found}");
        return Err(Error::Damaged { path, line: None, reason });
    }
    extract_tables(&path, weights, shapes)
}

/// The tables of some names and dimensions, rows × dim, among those that a file has.
pub(crate) fn extract_tables(
    path: &Path,
    mut weights: Weights,
    shapes: &[(&str, usize, usize)],
) -> Result<Vec<Table<f32>>> {
    let mut take = |&(name, rows, dim): &(&str, usize, usize)| {
        let table = weights.tables.remove(name);
        let fits = |table: &Table<f32>| (table.rows(), table.dim()) == (rows, dim);
        table.filter(fits).ok_or_else(|| Error::Damaged {
            path: path.to_owned(),
            line: None,
            reason: format!("it has no table `{name}` of {rows} × {dim} numbers"),
        })
    };
    shapes.iter().map(&mut take).collect()
}
