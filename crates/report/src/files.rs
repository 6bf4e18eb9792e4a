//! The files of a report: refused before anything is written, each written whole.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::Error;

/// Writes files, named and filled, into a folder that is made if need be; gives their paths.
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
    std::fs::create_dir_all(folder)
        .map_err(|source| Error::File { path: folder.to_owned(), source })?;
    for ((_, content), path) in files.iter().zip(&paths) {
        let failed = |source| Error::File { path: path.clone(), source };
        corpus::atomic::write_file(path, failed, |file| {
            file.write_all(content.as_bytes()).map_err(failed)
        })?;
    }
    Ok(paths)
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
