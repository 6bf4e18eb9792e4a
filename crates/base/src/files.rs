//! Files and folders that appear whole or not at all: written next to their place as `.NAME.partial`, synced to the
//! disk, then renamed.
//!
//! Where writing fails, the partial one is removed. Where the program is killed, it stays, and the next run
//! replaces it: the name is always the same.
//!
//! A folder takes the place of another in one step where the system can exchange two names (Linux). Elsewhere the
//! old one is first renamed to `.NAME.replaced`; a program killed between the two renames leaves both, and
//! [`recover_folder`] finishes its work.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file through `contents`, in place of one that is there; its folder is made if need be. If that fails,
/// what was there stays.
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
    let partial = hidden(path, "partial").map_err(&failed)?;
    let write = || {
        if let Some(parent) = path.parent().filter(|parent| !parent.exists()) {
            fs::create_dir_all(parent).map_err(&failed)?;
        }
        let file = fill(File::create(&partial).map_err(&failed)?)?;
        file.sync_all().map_err(&failed)?;
        fs::rename(&partial, path).map_err(&failed)?;
        sync_parent(path).map_err(&failed)
    };
    let written = write();
    if written.is_err() {
        // The first error is the one to report.
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
    write_folder_by(exchange, path, failed, contents)
}

fn write_folder_by<E>(
    exchange: fn(&Path, &Path) -> io::Result<()>,
    path: &Path,
    failed: impl Fn(io::Error) -> E,
    contents: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    if path.is_file() {
        return Err(failed(io::ErrorKind::NotADirectory.into()));
    }
    let partial = hidden(path, "partial").map_err(&failed)?;
    recover_folder(path).map_err(&failed)?;
    let write = || {
        remove(&partial).map_err(&failed)?;
        fs::create_dir_all(&partial).map_err(&failed)?;
        contents(&partial)?;
        sync_folder(&partial).and_then(|()| put(&partial, path, exchange)).map_err(&failed)
    };
    let written = write();
    if written.is_err() {
        // The first error is the one to report.
        let _ = remove(&partial);
    }
    written
}

/// Puts a complete folder in its place, where another may be.
fn put(
    partial: &Path,
    path: &Path,
    exchange: fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let replaced = hidden(path, "replaced")?;
    if !path.exists() {
        fs::rename(partial, path)?;
    } else if exchange(partial, path).is_ok() {
        // What was there has the other name now.
        remove(partial)?;
    } else {
        remove(&replaced)?;
        fs::rename(path, &replaced)?;
        if let Err(cause) = fs::rename(partial, path) {
            let _ = fs::rename(&replaced, path);
            return Err(cause);
        }
    }
    sync_parent(path)?;
    remove(&replaced)
}

/// Finishes what a program that was killed between the two renames of [`write_folder`] left: the new folder is put in
/// its place, or the old one back. Does nothing if a folder is there, or if there is none to recover.
///
/// # Errors
/// If the system refuses to rename.
pub fn recover_folder(path: &Path) -> io::Result<()> {
    let replaced = hidden(path, "replaced")?;
    if path.exists() || !replaced.exists() {
        return Ok(());
    }
    // The old one was renamed after the new one was complete.
    let partial = hidden(path, "partial")?;
    fs::rename(if partial.exists() { &partial } else { &replaced }, path)?;
    sync_parent(path)?;
    remove(&replaced)
}

/// Exchanges the names of two folders in one step, which no observer can see half done.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::fs::renameat_with(
        rustix::fs::CWD,
        one,
        rustix::fs::CWD,
        other,
        rustix::fs::RenameFlags::EXCHANGE,
    )?);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (one, other);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Makes sure that a folder and all that is in it survive a power cut.
fn sync_folder(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folder(&entry.path())?;
        } else if entry.file_type()?.is_file() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    sync_names(folder)
}

/// Makes sure that the new name of a file or folder survives a power cut.
fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    sync_names(parent.unwrap_or(Path::new(".")))
}

/// Only Unix can open a folder to sync it.
fn sync_names(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn remove(folder: &Path) -> io::Result<()> {
    if folder.exists() { fs::remove_dir_all(folder) } else { Ok(()) }
}

/// `.NAME.ending` in the same folder, so that a rename stays within one file system.
fn hidden(path: &Path, ending: &str) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "an output needs a name of its own")
    })?;
    let mut full = OsString::from(".");
    full.push(name);
    full.push(".");
    full.push(ending);
    Ok(path.with_file_name(full))
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
        // Left by a run that was killed.
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

    fn cannot_exchange(_: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[test]
    fn a_folder_is_replaced_also_where_names_cannot_be_exchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        for name in ["first", "second"] {
            let fill = |inside: &Path| fs::write(inside.join(name), name);
            write_folder_by(cannot_exchange, &path, |error| error, fill).unwrap();
            assert_eq!(listed(&path), [name]);
            assert_eq!(listed(folder.path()), ["set"]);
        }
    }

    #[test]
    fn a_kill_between_the_renames_loses_neither_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        let leave = |ending: &str, name: &str| {
            let hidden = hidden(&path, ending).unwrap();
            fs::create_dir(&hidden).unwrap();
            fs::write(hidden.join(name), name).unwrap();
        };
        // Between the renames: the new one is complete.
        leave("replaced", "old");
        leave("partial", "new");
        recover_folder(&path).unwrap();
        assert_eq!(
            (listed(&path), listed(folder.path())),
            (vec!["new".into()], vec!["set".into()])
        );
        recover_folder(&path).unwrap();

        // A failure of the next writer leaves what was recovered.
        fs::remove_dir_all(&path).unwrap();
        leave("replaced", "old");
        assert!(write_folder(&path, |error| error, |_| Err(full_disk())).is_err());
        assert_eq!(
            (listed(&path), listed(folder.path())),
            (vec!["old".into()], vec!["set".into()])
        );

        // In the middle of writing: the old one is in its place.
        leave("partial", "half");
        recover_folder(&path).unwrap();
        assert_eq!(listed(&path), ["old"]);
    }

    /// Where the process to be killed writes, and how it replaces folders.
    const PLACE: &str = "GOLDILOCKS_TEST_WRITE_FOLDERS_AT";
    const EXCHANGES: &str = "GOLDILOCKS_TEST_EXCHANGES";

    /// Does nothing unless [`a_process_killed_at_any_time_leaves_a_whole_folder`] starts it.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the process that is started knows its task by them"
    )]
    fn writes_folders_until_it_is_killed() {
        let Some(path) = std::env::var_os(PLACE) else { return };
        let by = if std::env::var_os(EXCHANGES).is_some() { exchange } else { cannot_exchange };
        for number in u64::from(std::process::id()) << 32.. {
            let fill = |inside: &Path| {
                fs::write(inside.join("one"), number.to_string())?;
                fs::write(inside.join("other"), number.to_string())
            };
            write_folder_by(by, Path::new(&path), |error| error, fill).unwrap();
        }
    }

    #[test]
    fn a_process_killed_at_any_time_leaves_a_whole_folder() {
        use std::process::{Command, Stdio};
        use std::time::Duration;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        let read = |name: &str| fs::read_to_string(path.join(name)).unwrap_or_default();
        let mut n_at_work = 0;
        for kill in 0..40u64 {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "files::tests::writes_folders_until_it_is_killed"]);
            child.env(PLACE, &path).stdout(Stdio::null());
            if kill % 2 == 0 {
                child.env(EXCHANGES, "1");
            }
            let before = read("one");
            let mut child = child.spawn().unwrap();
            // Only a process that has begun to replace the folder is worth a kill.
            for _ in 0..2000 {
                if read("one") != before {
                    n_at_work += 1;
                    break;
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            std::thread::sleep(Duration::from_micros(kill * 7919 % 25_000));
            child.kill().unwrap();
            child.wait().unwrap();
            // Where names are exchanged, there is nothing to recover.
            if kill % 2 == 1 || !cfg!(target_os = "linux") {
                recover_folder(&path).unwrap();
            }
            let number: u64 = read("one").parse().expect("a whole folder is in its place");
            assert_eq!(read("other"), number.to_string());
        }
        assert!(n_at_work > 30, "only {n_at_work} of 40 processes were killed at work");
    }
}
