//! The names of Parquet shards: `data/train-00000-of-00012.parquet`, the layout that Hugging Face's `datasets` opens with
//! the right splits.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::formats::parquet;
use crate::{OpenOptions, QuestionId, QuestionSet, Split, Warnings};

/// The folder of the shards in that of the set.
pub const FOLDER: &str = "data";

/// The name of a shard of a split, in [`FOLDER`].
pub fn name(split: Split, number: usize, of: usize) -> String {
    format!("{}-{number:05}-of-{of:05}.parquet", long_name(split))
}

fn long_name(split: Split) -> &'static str {
    if split == Split::Valid { "validation" } else { split.code() }
}

/// Split, number and how many there are, from the name of a shard.
pub fn parse(name: &str) -> Option<(Split, usize, usize)> {
    let stem = name.strip_suffix(".parquet")?;
    let split = Split::ALL.into_iter().find(|&split| stem.starts_with(long_name(split)))?;
    let (number, of) =
        stem.strip_prefix(long_name(split))?.strip_prefix('-')?.split_once("-of-")?;
    let (number, of) = (number.parse().ok()?, of.parse().ok()?);
    (self::name(split, number, of) == name).then_some((split, number, of))
}

/// A shard that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The split of its questions.
    pub split: Split,
}

impl ShardFile {
    /// Opens the shard by itself. Identical questions have the numbers that they have in the whole set, if its file says
    /// so.
    ///
    /// # Errors
    /// Those of [`QuestionSet::open`].
    pub fn open(&self, options: &OpenOptions) -> Result<(QuestionSet, Warnings)> {
        let (mut set, warnings) =
            parquet::read_files(std::slice::from_ref(self), &self.options(options))?;
        let twins = self.twins()?;
        if !twins.is_empty() {
            set.take_twins(&twins);
        }
        Ok((set, warnings))
    }

    /// The ids of the questions of which the set has identical ones, in their order.
    fn twins(&self) -> Result<Vec<QuestionId>> {
        let read = |visit: &mut dyn FnMut(QuestionId)| {
            let read =
                parquet::read_ids(&self.path, |id| id.parse().into_iter().for_each(&mut *visit));
            // A file of another origin may have no ids.
            match read {
                Err(Error::Column { .. }) => Ok(()),
                other => other,
            }
        };
        let mut later = BTreeSet::new();
        read(&mut |id| later.extend((!id.is_first_twin()).then(|| id.first_twin())))?;
        let mut twins = Vec::new();
        if !later.is_empty() {
            read(&mut |id| twins.extend(later.contains(&id.first_twin()).then_some(id)))?;
        }
        Ok(twins)
    }

    /// What its questions are read by: they are of its split, if they do not say so themselves.
    pub fn options(&self, options: &OpenOptions) -> OpenOptions {
        OpenOptions { split: options.split.or(Some(self.split)), ..options.clone() }
    }
}

/// The shards of a set in their order; none if the folder does not hold any.
///
/// # Errors
/// [`Error::MissingShard`] where one of them is not there, [`Error::Read`].
pub fn files(folder: &Path) -> Result<Option<Vec<ShardFile>>> {
    let inside = folder.join(FOLDER);
    if !inside.is_dir() {
        return Ok(None);
    }
    let failed = |cause| Error::Read { path: inside.clone(), cause };
    let mut found = Vec::new();
    for entry in fs::read_dir(&inside).map_err(failed)? {
        let file_name = entry.map_err(failed)?.file_name();
        found.extend(file_name.to_str().and_then(parse));
    }
    found.sort_unstable();
    for of_split in found.chunk_by(|a, b| a.0 == b.0) {
        let (split, _, of) = of_split[0];
        let missing = (0..of).find(|&number| of_split.get(number) != Some(&(split, number, of)));
        if let Some(number) = missing {
            let file = name(split, number, of);
            return Err(Error::MissingShard { path: folder.to_owned(), file, of });
        }
    }
    let file =
        |(split, number, of)| ShardFile { path: inside.join(name(split, number, of)), split };
    Ok((!found.is_empty()).then(|| found.into_iter().map(file).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_in_the_order_of_splits_and_none_may_be_missing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(files(folder.path()).unwrap(), None);
        fs::create_dir(folder.path().join(FOLDER)).unwrap();
        let write = |name: &str| fs::write(folder.path().join(FOLDER).join(name), "").unwrap();
        write(".train-00000-of-00002.parquet.x.partial");
        assert_eq!(files(folder.path()).unwrap(), None);
        let names = [name(Split::Train, 0, 2), name(Split::Train, 1, 2), name(Split::Valid, 0, 1)];
        assert_eq!(names[2], "validation-00000-of-00001.parquet");
        write(&names[1]);
        write(&names[2]);
        let error = files(folder.path()).unwrap_err().to_string();
        assert!(
            error.ends_with("shard train-00000-of-00002.parquet is missing: expected 2 files"),
            "{error}"
        );
        write(&names[0]);
        let found = files(folder.path()).unwrap().unwrap();
        let found: Vec<_> =
            found.iter().map(|f| f.path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(found, names);
    }
}
