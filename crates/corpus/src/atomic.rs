//! Files and folders that appear whole or not at all: written beside their place as `.NAME.partial`, then renamed.
//!
//! Where writing fails, the partial one is removed. Where the program is killed, it stays, and the next run
//! replaces it: the name is always the same.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file through `contents`, in place of one that is there. If that fails, what was there stays.
///
/// # Errors
/// Whatever `contents` gives, and the system's refusals in the words of `failed`.
pub fn write_file<E>(
    path: &Path,
    failed: impl Fn(io::Error) -> E,
    contents: impl FnOnce(&mut BufWriter<&File>) -> Result<(), E>,
) -> Result<(), E> {
    let partial = beside(path, "partial").map_err(&failed)?;
    let write = || {
        let file = File::create(&partial).map_err(&failed)?;
        let mut writer = BufWriter::with_capacity(1 << 20, &file);
        contents(&mut writer)?;
        writer.flush().map_err(&failed)?;
        drop(writer);
        file.sync_all().map_err(&failed)?;
        fs::rename(&partial, path).map_err(&failed)
    };
    let written = write();
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Writes a folder through `contents`, which gets the folder to fill, in place of one that is there. If that
/// fails, what was there stays.
///
/// # Errors
/// Whatever `contents` gives, and the system's refusals in the words of `failed`.
pub fn write_folder<E>(
    path: &Path,
    failed: impl Fn(io::Error) -> E,
    contents: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let partial = beside(path, "partial").map_err(&failed)?;
    let replaced = beside(path, "replaced").map_err(&failed)?;
    let write = || {
        remove(&partial).map_err(&failed)?;
        fs::create_dir_all(&partial).map_err(&failed)?;
        contents(&partial)?;
        remove(&replaced).map_err(&failed)?;
        if path.exists() {
            fs::rename(path, &replaced).map_err(&failed)?;
        }
        if let Err(cause) = fs::rename(&partial, path) {
            let _ = fs::rename(&replaced, path);
            return Err(failed(cause));
        }
        remove(&replaced).map_err(&failed)
    };
    let written = write();
    if written.is_err() {
        // The first error is the one to tell.
        let _ = remove(&partial);
    }
    written
}

fn remove(folder: &Path) -> io::Result<()> {
    if folder.exists() { fs::remove_dir_all(folder) } else { Ok(()) }
}

/// `.NAME.ending` in the same folder, so that a rename stays within one file system.
fn beside(path: &Path, ending: &str) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "an output needs a name of its own")
    })?;
    Ok(path.with_file_name(format!(".{}.{ending}", name.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn full_disk() -> io::Error {
        io::ErrorKind::StorageFull.into()
    }

    #[test]
    fn a_file_is_replaced_whole_or_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tale.txt");
        // A run that was killed left this behind.
        fs::write(folder.path().join(".tale.txt.partial"), "half of a much longer ta").unwrap();
        write_file(&path, |error| error, |file| file.write_all(b"old")).unwrap();
        let failed = write_file(
            &path,
            |error| error,
            |file| file.write_all(b"new").and_then(|()| Err(full_disk())),
        );
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(listed(folder.path()), ["tale.txt"]);
    }

    #[test]
    fn a_folder_is_replaced_whole_or_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        fs::create_dir(folder.path().join(".set.partial")).unwrap();
        fs::write(folder.path().join(".set.partial/rest"), "of a killed run").unwrap();
        let write = |name: &'static str, result: io::Result<()>| {
            let fill = |inside: &Path| fs::write(inside.join(name), name).and(result);
            write_folder(&path, |error| error, fill)
        };
        write("first", Ok(())).unwrap();
        assert_eq!(listed(&path), ["first"]);
        assert!(write("second", Err(full_disk())).is_err());
        assert_eq!(listed(&path), ["first"]);
        write("third", Ok(())).unwrap();
        assert_eq!(listed(&path), ["third"]);
        assert_eq!(listed(folder.path()), ["set"]);
    }
}
