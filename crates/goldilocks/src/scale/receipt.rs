//! What a worker writes last: the shard is done, by this plan, with these bytes.

use std::fs;
use std::path::{Path, PathBuf};

use base::Remedy;
use questions::WordClass;
use serde::{Deserialize, Serialize};

use super::{Plan, Shard, files};
use crate::sets::sha256_of_file;
use crate::{Error, Result};

/// The folder of receipts in that of the set.
pub(super) const FOLDER: &str = "receipts";

/// A shard that was built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// The plan, see [`Plan::hash`].
    pub plan: String,
    /// The file, below the set's folder.
    pub file: String,
    /// The SHA-256 of the file.
    pub sha256: String,
    /// The length of the file.
    pub bytes: u64,
    /// How many questions it has.
    pub rows: usize,
    /// How many questions of each class were kept, where the plan limits them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<[usize; WordClass::ALL.len()]>,
    /// The books that the questions come from.
    pub books: Vec<ShardBook>,
}

/// A book of a shard that was built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardBook {
    /// The name of the book.
    pub name: String,
    /// The SHA-256 of its file.
    pub sha256: String,
    /// How many sentences it has.
    pub sentences: usize,
    /// The number of words, punctuation included.
    pub words: usize,
    /// How many questions, by class: named entities, common nouns, verbs, prepositions.
    pub questions: [usize; WordClass::ALL.len()],
    /// Words that could be asked for, but have too few candidates in their context.
    pub refused: usize,
}

impl Receipt {
    /// How many questions of each class the books of the shard have.
    pub fn found(&self) -> [usize; WordClass::ALL.len()] {
        let mut found = [0; WordClass::ALL.len()];
        for book in &self.books {
            found.iter_mut().zip(book.questions).for_each(|(sum, n)| *sum += n);
        }
        found
    }

    fn path(folder: &Path, shard: &Shard) -> PathBuf {
        folder.join(FOLDER).join(format!("{:05}.toml", shard.number))
    }

    /// The receipt of a shard, if the shard is built: the receipt is of this plan, and the file is the one that it
    /// speaks of.
    ///
    /// # Errors
    /// [`Error::OtherPlan`] for a receipt of another plan.
    pub fn find(plan: &Plan, shard: &Shard) -> Result<Option<Self>> {
        let path = Self::path(plan.folder(), shard);
        let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
        let Ok(receipt) = toml::from_str::<Self>(&text) else { return Ok(None) };
        if receipt.plan != plan.hash() {
            let (expected, found) = (plan.hash().to_owned(), receipt.plan);
            return Err(Error::OtherPlan { path, expected, found });
        }
        let file = plan.folder().join(&shard.file);
        let is_there = fs::metadata(&file).is_ok_and(|there| there.len() == receipt.bytes);
        let is_whole = is_there && sha256_of_file(&file)? == receipt.sha256;
        Ok((is_whole && receipt.file == shard.file).then_some(receipt))
    }

    /// The receipt of a shard that is built, without another look at its file.
    pub(super) fn read(plan: &Plan, shard: &Shard) -> Result<Self> {
        let path = Self::path(plan.folder(), shard);
        let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
        toml::from_str(&text).map_err(|error| {
            let message = error.message().to_owned();
            Error::Corrupt { path, message }
        })
    }

    /// Writes the receipt next to the file of its shard.
    pub(super) fn write(&self, plan: &Plan, shard: &Shard) -> Result<()> {
        let text = toml::to_string(self).expect("every field has a form in TOML");
        files::write_text(&Self::path(plan.folder(), shard), &text)
    }
}

/// What to do about shards that are not there.
pub(super) fn build_missing(folder: &Path) -> Remedy {
    Remedy::BuildMissingShards { folder: folder.to_owned() }
}
