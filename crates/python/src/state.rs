//! What is pickled: the files of a folder, by name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use goldilocks::{Error, Result};
use tempfile::TempDir;

/// The files of a folder; a file's name has `/` where it is in a folder of its own.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What `write` writes into a folder that it is given.
pub fn written(write: impl FnOnce(&Path) -> Result<()>) -> Result<Files> {
    let folder = temporary()?;
    let inside = folder.path().join("state");
    write(&inside)?;
    let mut files = Files::new();
    collect(&inside, "", &mut files)?;
    Ok(files)
}

/// What `read` reads from a folder with some files.
pub fn read<T>(files: &Files, read: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let folder = temporary()?;
    let inside = folder.path().join("state");
    for (name, bytes) in files {
        // Names come from a pickle, which is trusted like a program; they still stay in the folder.
        let parts = name.split('/').filter(|part| !matches!(*part, "" | "." | ".."));
        let path = parts.fold(inside.clone(), |path, part| path.join(part));
        let parent = path.parent().unwrap_or(&inside);
        fs::create_dir_all(parent).map_err(Error::io(parent))?;
        fs::write(&path, bytes).map_err(Error::io(&path))?;
    }
    read(&inside)
}

/// A folder that is removed when it is dropped.
pub fn temporary() -> Result<TempDir> {
    tempfile::Builder::new()
        .prefix("goldilocks-")
        .tempdir()
        .map_err(|error| Error::io("a temporary folder")(error))
}

fn collect(folder: &Path, prefix: &str, files: &mut Files) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
        let path = entry.map_err(Error::io(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            collect(&path, &format!("{name}/"), files)?;
        } else {
            files.insert(name, fs::read(&path).map_err(Error::io(&path))?);
        }
    }
    Ok(())
}
