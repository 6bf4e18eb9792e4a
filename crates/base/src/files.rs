//! Files and folders that appear whole or not at all: written beside their place as `.NAME.partial`, then renamed.
//!
//! Where writing fails, the partial one is removed. Where the program is killed, it stays, and the next run
//! replaces it: the name is always the same.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file through `contents`, in place of one that is there; its folder is made if need be. If that fails, what was there stays.
///
/// # Errors
/// Whatever `contents` gives, and the system's refusals in the words of `failed`.
pub fn write_file<E>(
    path: &Path,
    failed: impl Fn(io::Error) -> E,
    contents: impl FnOnce(&mut BufWriter<&File>) -> Result<(), E>,
) -> Result<(), E> {
    if path.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    // A link stays, and what it leads to is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let fill = |file: File| {
        let mut writer = BufWriter::with_capacity(1 << 20, &file);
        contents(&mut writer)?;
        writer.flush().map_err(&failed)?;
        drop(writer);
        Ok(file)
    };
    // A rename would put a file in the place of a device or a pipe.
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return File::create(path).map_err(&failed).and_then(fill).map(drop);
    }
    let partial = beside(path, "partial").map_err(&failed)?;
    let write = || {
        if let Some(parent) = path.parent().filter(|parent| !parent.exists()) {
            fs::create_dir_all(parent).map_err(&failed)?;
        }
        let file = fill(File::create(&partial).map_err(&failed)?)?;
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
    if path.is_file() {
        return Err(failed(io::ErrorKind::NotADirectory.into()));
    }
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
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".");
    hidden.push(ending);
    Ok(path.with_file_name(hidden))
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

    #[cfg(unix)]
    #[test]
    fn a_link_and_a_device_stay_what_they_are() {
        use std::os::unix::fs::{FileTypeExt as _, symlink};

        let folder = tempfile::tempdir().unwrap();
        let [link, device, target] = ["link", "null", "tale"].map(|name| folder.path().join(name));
        fs::write(&target, "old").unwrap();
        symlink(&target, &link).unwrap();
        symlink("/dev/null", &device).unwrap();
        for path in [&link, &device] {
            write_file(path, |error| error, |file| file.write_all(b"new")).unwrap();
            assert!(path.is_symlink());
        }
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        assert_eq!(listed(folder.path()), ["link", "null", "tale"]);
    }

    #[test]
    fn a_path_without_a_name_and_a_file_in_place_of_a_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tale");
        fs::write(&file, "old").unwrap();
        for path in [folder.path().join(".."), file] {
            assert!(write_folder(&path, |error| error, |_| Ok(())).is_err());
        }
        assert!(write_file(Path::new(".."), |error| error, |_| Ok(())).is_err());
        assert_eq!(listed(folder.path()), ["tale"]);
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
