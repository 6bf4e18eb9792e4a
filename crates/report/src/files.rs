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
        let mut file = temporary(folder).map_err(in_folder)?;
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

/// A temporary file that others may read once it is in place, as far as the user's mask allows: a report is
/// there to be shown.
#[cfg(unix)]
fn temporary(folder: &Path) -> std::io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = std::fs::Permissions::from_mode(0o666);
    tempfile::Builder::new().permissions(permissions).tempfile_in(folder)
}

#[cfg(not(unix))]
fn temporary(folder: &Path) -> std::io::Result<NamedTempFile> {
    NamedTempFile::new_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_overwritten_unless_asked_and_nothing_stays_behind() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("report");
        let files = |text: &str| {
            [("a", text), ("b", text)].map(|(name, text)| (name.to_owned(), text.to_owned()))
        };
        let paths = write_all(&folder, &files("old"), false).unwrap();
        assert_eq!(paths, [folder.join("a"), folder.join("b")]);
        let refused = write_all(&folder, &files("new"), false).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("{}: the file exists already", folder.join("a").display())
        );
        assert_eq!(refused.hint().unwrap(), "`--force` writes over it");
        assert_eq!(std::fs::read_to_string(&paths[0]).unwrap(), "old");
        write_all(&folder, &files("new"), true).unwrap();
        assert_eq!(std::fs::read_to_string(&paths[1]).unwrap(), "new");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    }
}
