//! Folders of `.question` files: `questions/{training,validation,test}/*.question` → [`QuestionSet`].

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::chunks::{Chunk, collect_chunks};
use super::question_file::read_question;
use crate::error::{Error, Result};
use crate::{OpenOptions, QuestionSet, Split, Warnings};

/// How many files a thread reads in one go: about ten megabytes.
const FILES_PER_CHUNK: usize = 2_048;

/// All `.question` files in a folder and the folders in it, sorted.
///
/// # Errors
/// [`Error::Read`].
pub fn question_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |cause| Error::Read { path: folder.clone(), cause };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            // A link is followed if it leads to a file: one to a folder could lead back here.
            if entry.file_type().map_err(failed)?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "question") {
                files.push(path);
            }
        }
    }
    // By bytes: comparing paths component by component takes as long as reading them.
    files.par_sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(files)
}

/// Reads the files that [`question_files`] found in a folder. Chosen: of the two halves of the release, the paper used CNN;
/// a folder `dailymail` in the one that was named is left out.
///
/// # Errors
/// [`Error::Malformed`] with the file and the line, unless bad questions are to be skipped; [`Error::Read`].
pub fn read_files(
    folder: &Path,
    files: Vec<PathBuf>,
    options: &OpenOptions,
) -> Result<(QuestionSet, Warnings)> {
    read_files_in_chunks(folder, files, options, FILES_PER_CHUNK)
}

pub(super) fn read_files_in_chunks(
    folder: &Path,
    mut files: Vec<PathBuf>,
    options: &OpenOptions,
    files_per_chunk: usize,
) -> Result<(QuestionSet, Warnings)> {
    files.retain(|file| options.wants(split_of(file).or(options.split), None));
    let n_all = files.len();
    files.retain(|file| !is_daily_mail(file.strip_prefix(folder).unwrap_or(file)));
    let of_other_sources = n_all - files.len();
    let n_chunks = 2 * rayon::current_num_threads();
    let waves = files.chunks(n_chunks * files_per_chunk).map(Ok);
    let read = |files: &&[PathBuf]| -> Vec<Chunk> {
        files.par_chunks(files_per_chunk).map(|files| read_chunk(files, options)).collect()
    };
    let (set, warnings) = collect_chunks(folder, options, waves, read)?;
    Ok((set, Warnings { of_other_sources, ..warnings }))
}

/// Reads one question; `path` is for messages, and the name of its folder may be that of a split.
///
/// # Errors
/// Those of [`read_files`].
pub fn read_file(
    mut input: impl Read,
    path: &Path,
    options: &OpenOptions,
) -> Result<(QuestionSet, Warnings)> {
    let mut bytes = Vec::new();
    let failed = |cause| Error::Read { path: path.to_owned(), cause };
    input.read_to_end(&mut bytes).map_err(failed)?;
    let mut chunk = Chunk::default();
    let split = split_of(path).or(options.split);
    if options.wants(split, None) {
        read_question(&bytes, path, split, &mut chunk)?;
    }
    Ok((chunk.set, Warnings::default()))
}

fn read_chunk(files: &[PathBuf], options: &OpenOptions) -> Chunk {
    let mut chunk = Chunk::default();
    let mut bytes = Vec::new();
    for file in files {
        let failed = |cause| Error::Read { path: file.clone(), cause };
        let split = split_of(file).or(options.split);
        bytes.clear();
        // A file by itself would be asked for its size first, which takes as long as to read it.
        let read = File::open(file)
            .and_then(|file| file.take(u64::MAX).read_to_end(&mut bytes))
            .map_err(failed)
            .and_then(|_| read_question(&bytes, file, split, &mut chunk));
        if !chunk.count(read, options) {
            break;
        }
    }
    chunk
}

fn is_daily_mail(file: &Path) -> bool {
    file.components().any(|folder| folder.as_os_str() == "dailymail")
}

/// The split that the file's folder is named after.
fn split_of(file: &Path) -> Option<Split> {
    split_from(file.parent()?.file_name()?.to_str()?)
}

/// The split of a name: as the release has it, or as we have it.
pub(crate) fn split_from(name: &str) -> Option<Split> {
    match name {
        "training" => Some(Split::Train),
        "validation" => Some(Split::Valid),
        _ => Split::from_code(name),
    }
}
