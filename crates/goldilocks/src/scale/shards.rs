//! A set in shards, one shard at a time: what is too large for one set is answered file by file.

use std::path::{Path, PathBuf};

use questions::shards::{self, ShardFile};
use questions::{QuestionSet, Split};

use super::{MergedSet, PLAN, Plan, files};
use crate::sets::{self, SetOptions};
use crate::{AnswerProvenance, Error, Reporter, Result};

/// The shards of a set in their order, which is that of their numbers.
#[derive(Debug)]
pub struct Shards {
    folder: PathBuf,
    files: Vec<ShardFile>,
    identity: String,
}

impl Shards {
    /// The shards of a set; none if it has another form.
    ///
    /// # Errors
    /// If one is missing, or the set is planned and not merged: its identical questions have no numbers yet.
    pub fn find(folder: &Path) -> Result<Option<Self>> {
        if folder.join(PLAN).is_file() {
            let plan = Plan::open(folder)?;
            let Some(merged) = MergedSet::find(&plan) else {
                return Err(Error::NotMerged { path: folder.to_owned() });
            };
            let file = |shard: &super::Shard| {
                let path = folder.join(&shard.file);
                ShardFile { path, split: shard.split }
            };
            let files = plan.shards().iter().map(file).collect();
            return Ok(Some(Self { folder: folder.to_owned(), files, identity: merged.sha256 }));
        }
        let Some(files) = shards::files(folder)? else { return Ok(None) };
        // Nobody has hashed these files: a file is known by its name and length.
        let mut names = String::new();
        for file in &files {
            let length = std::fs::metadata(&file.path).map_err(Error::io(&file.path))?.len();
            names += &format!("{length} {}\n", name(file));
        }
        let identity = base::hash::sha256(names.as_bytes());
        Ok(Some(Self { folder: folder.to_owned(), files, identity }))
    }

    /// The folder of the set.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files of the shards.
    pub fn files(&self) -> &[ShardFile] {
        &self.files
    }

    /// What identifies the set, as long as its files stay as they are.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// A shard by its number.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if there is none of that number.
    pub fn file(&self, number: usize) -> Result<&ShardFile> {
        let n = self.files.len();
        self.files.get(number).ok_or_else(|| no_shard(number, n))
    }

    /// Opens a shard by itself, with the ids that its questions have in the whole set.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn open(
        &self,
        number: usize,
        options: &SetOptions,
        reporter: &dyn Reporter,
    ) -> Result<QuestionSet> {
        sets::open_shard(self.file(number)?, options, reporter)
    }
}

/// There is no shard of a number.
pub(super) fn no_shard(number: usize, of: usize) -> Error {
    let message = format!("expected 0 to {}, found {number}", of.saturating_sub(1));
    Error::InvalidOption { what: "shard", message }
}

fn name(file: &ShardFile) -> String {
    file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// A folder of predictions: a file for each shard of a set that was answered, and what all of them were made from.
#[derive(Debug)]
pub struct AnswerFolder {
    folder: PathBuf,
}

/// What the predictions of a folder are made from.
const FROM: &str = "answers.toml";

impl AnswerFolder {
    /// Opens or begins a folder. `from` has [`Shards::identity`] in place of the fingerprint of one set.
    ///
    /// # Errors
    /// If the folder has predictions of something else, unless they are to be replaced.
    pub fn open(folder: &Path, from: &AnswerProvenance, overwrite: bool) -> Result<Self> {
        let path = folder.join(FROM);
        let text = toml::to_string(from).expect("every field has a form in TOML");
        // Looked at before the note is: a worker that begins the folder meanwhile has written the note by then.
        let was_in_use = is_in_use(folder);
        if std::fs::read_to_string(&path).is_ok_and(|there| there == text) {
            return Ok(Self { folder: folder.to_owned() });
        }
        // A folder of something else is not filled with predictions.
        if was_in_use && !overwrite {
            return Err(Error::Exists { path: folder.to_owned() });
        }
        if was_in_use {
            for file in predictions(folder)? {
                std::fs::remove_file(&file).map_err(Error::io(&file))?;
            }
        }
        files::write_text(&path, &text)?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// The predictions file of a shard. It is there when all questions of the shard are answered.
    pub fn file(&self, shard: &ShardFile) -> PathBuf {
        self.folder.join(name(shard) + ".jsonl")
    }
}

fn is_in_use(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    // Another worker may be writing the same note at this moment.
    entries.map(|entry| entry.file_name()).any(|name| !name.to_string_lossy().starts_with('.'))
}

/// The predictions files of a folder, in the order of their shards.
///
/// # Errors
/// [`Error::PredictionsMissing`] unless the files of all shards of a split are there, if any is.
pub fn prediction_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let found = predictions(folder)?;
    let numbered = found.iter().filter_map(|path| Some((shard_of(path)?, path)));
    let mut numbered: Vec<((Split, usize, usize), &PathBuf)> = numbered.collect();
    numbered.sort_unstable();
    for of_split in numbered.chunk_by(|a, b| a.0.0 == b.0.0) {
        let (split, _, of) = of_split[0].0;
        let is_there = |number| of_split.iter().any(|(shard, _)| *shard == (split, number, of));
        if let Some(number) = (0..of).find(|&number| !is_there(number)) {
            let name = shards::name(split, number, of).replace(".parquet", ".jsonl");
            return Err(Error::PredictionsMissing { path: folder.join(name), of });
        }
    }
    match numbered.is_empty() {
        true => Err(Error::NoPredictions { path: folder.to_owned() }),
        false => Ok(numbered.into_iter().map(|(_, path)| path.clone()).collect()),
    }
}

/// The shard whose predictions a file has: split, number, and of how many.
fn shard_of(path: &Path) -> Option<(Split, usize, usize)> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    shards::parse(&format!("{stem}.parquet"))
}

fn predictions(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io(folder))? {
        let path = entry.map_err(Error::io(folder))?.path();
        found.extend(shard_of(&path).is_some().then_some(path));
    }
    Ok(found)
}
