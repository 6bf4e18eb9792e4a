//! Files written whole or not at all: a temporary file in the same folder, then a rename.

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::Error;

/// Writes files, named and filled, into a folder that is made if need be; gives their paths.
///
/// Every temporary file is complete before the first rename, so a full disk leaves the folder as it was.
///
/// # Errors
/// [`Error::Exists`], [`Error::File`].
pub fn write_all(
    folder: &Path,
    files: &[(String, String)],
    overwrite: bool,
) -> Result<Vec<PathBuf>, Error> {
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
    if let Some(path) = paths.iter().find(|path| !overwrite && path.exists()) {
        return Err(Error::Exists { path: path.clone() });
    }
    let in_folder = |source| Error::File { path: folder.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(in_folder)?;
    let mut written = Vec::with_capacity(files.len());
    for (_, content) in files {
        let mut file = NamedTempFile::new_in(folder).map_err(in_folder)?;
        file.write_all(content.as_bytes()).map_err(in_folder)?;
        written.push(file);
    }
    for (file, path) in written.into_iter().zip(&paths) {
        let renamed = if overwrite { file.persist(path) } else { file.persist_noclobber(path) };
        renamed.map_err(|error| match error.error.kind() {
            std::io::ErrorKind::AlreadyExists => Error::Exists { path: path.clone() },
            _ => Error::File { path: path.clone(), source: error.error },
        })?;
    }
    Ok(paths)
}
