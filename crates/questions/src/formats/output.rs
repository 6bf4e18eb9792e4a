//! When an output may be written: never over anything, unless asked, and then only over what is ours.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

use base::files;

use crate::error::{Error, Result};

/// Writes a file through `contents`. If that fails, nothing is written and what was there stays.
///
/// # Errors
/// [`Error::Exists`] unless `overwrite`; [`Error::Write`]; whatever `contents` gives.
pub fn write_file(
    path: &Path,
    overwrite: bool,
    contents: impl FnOnce(&mut BufWriter<&File>) -> Result<()>,
) -> Result<()> {
    if !overwrite && path.exists() {
        return Err(Error::Exists { path: path.to_owned() });
    }
    files::write_file(path, |cause| Error::Write { path: path.to_owned(), cause }, contents)
}

/// Writes a folder through `contents`, which gets the folder to fill. If that fails, nothing is
/// written and what was there stays. An empty folder may be there; one that holds anything is replaced
/// only if `overwrite`, and only if `is_ours` says of every name in it that it is part of such a folder.
///
/// # Errors
/// [`Error::Exists`], [`Error::ForeignFolder`], [`Error::Write`]; whatever `contents` gives.
pub(crate) fn write_folder(
    path: &Path,
    overwrite: bool,
    is_ours: impl Fn(&str) -> bool,
    contents: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    if path.is_file() && overwrite {
        let cause = io::ErrorKind::NotADirectory.into();
        return Err(Error::Write { path: path.to_owned(), cause });
    }
    if path.is_file() {
        return Err(Error::Exists { path: path.to_owned() });
    }
    let names = names(path)?;
    if let (false, Some(_)) = (overwrite, names.first()) {
        return Err(Error::Exists { path: path.to_owned() });
    }
    if let Some(entry) = names.into_iter().find(|name| !is_ours(name)) {
        return Err(Error::ForeignFolder { path: path.to_owned(), entry });
    }
    // The folder is filled under another name, which says nothing to the person.
    let in_place = |inside: &Path, error| match error {
        Error::Write { path: written, cause } => {
            let name = written.strip_prefix(inside).map(|name| path.join(name));
            Error::Write { path: name.unwrap_or(written), cause }
        }
        other => other,
    };
    let failed = |cause| Error::Write { path: path.to_owned(), cause };
    files::write_folder(path, failed, |inside| {
        contents(inside).map_err(|error| in_place(inside, error))
    })
}

/// The names in a folder; none if it is not there.
fn names(path: &Path) -> Result<Vec<String>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let failed = |cause| Error::Read { path: path.to_owned(), cause };
    let entries = fs::read_dir(path).map_err(failed)?;
    let name = |entry: io::Result<fs::DirEntry>| {
        Ok(entry.map_err(failed)?.file_name().to_string_lossy().into_owned())
    };
    entries.map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use expect_test::expect;

    use super::*;
    use crate::EmptyFields;
    use crate::fixtures::{SmallDisk, bears, error_text};
    use crate::formats::cbt;

    /// The names in a folder, hidden ones included.
    fn listed(folder: &Path) -> Vec<String> {
        let mut names = names(folder).unwrap();
        names.sort();
        names
    }

    fn full_disk(file: &mut impl Write, path: &Path) -> Result<()> {
        let mut disk = SmallDisk { inner: file, room: 100 };
        cbt::write(&bears(9), &EmptyFields::default(), &(0..9).collect::<Vec<_>>(), &mut disk, path)
    }

    #[test]
    fn a_full_disk_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bears.txt");
        let write = |overwrite| write_file(&path, overwrite, |file| full_disk(file, &path));
        let error =
            error_text(&write(false).unwrap_err()).replace(folder.path().to_str().unwrap(), "…");
        expect![[r#"
            error: …/bears.txt: cannot be written: no storage space
            hint: free some space on the disk of `…/bears.txt`, or choose another place
        "#]]
        .assert_eq(&error);
        assert!(listed(folder.path()).is_empty());

        fs::write(&path, "old").unwrap();
        assert!(matches!(write(true), Err(Error::Write { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(listed(folder.path()), ["bears.txt"]);
    }

    #[test]
    fn an_existing_file_is_replaced_only_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bears.txt");
        fs::write(&path, "old").unwrap();
        let write = |overwrite| {
            write_file(&path, overwrite, |file| {
                file.write_all(b"new").map_err(|cause| Error::Write { path: path.clone(), cause })
            })
        };
        let error =
            error_text(&write(false).unwrap_err()).replace(folder.path().to_str().unwrap(), "…");
        expect![[r#"
            error: …/bears.txt: already exists
            hint: choose another place, or ask for the output to be replaced
        "#]]
        .assert_eq(&error);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        write(true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn a_folder_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        let fill = |text: &'static str| {
            move |inside: &Path| {
                fs::write(inside.join("part.txt"), text).unwrap();
                match text {
                    "bad" => Err(Error::Exists { path: inside.to_owned() }),
                    _ => Ok(()),
                }
            }
        };
        let write =
            |overwrite, text| write_folder(&path, overwrite, |name| name == "part.txt", fill(text));
        assert!(write(false, "bad").is_err());
        assert!(listed(folder.path()).is_empty());
        write(false, "first").unwrap();
        assert!(matches!(write(false, "second"), Err(Error::Exists { .. })));
        assert!(write(true, "bad").is_err());
        assert_eq!(fs::read_to_string(path.join("part.txt")).unwrap(), "first");
        write(true, "second").unwrap();
        assert_eq!(fs::read_to_string(path.join("part.txt")).unwrap(), "second");
        assert_eq!(listed(folder.path()), ["set"]);
    }

    #[test]
    fn a_full_disk_is_reported_for_the_path_that_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        let fill = |inside: &Path| {
            let file = inside.join("part.txt");
            write_file(&file, false, |out| full_disk(out, &file))
        };
        let error = write_folder(&path, false, |_| true, fill).unwrap_err();
        let Error::Write { path: named, .. } = error else { panic!("{error}") };
        assert_eq!(named, path.join("part.txt"));
        assert!(listed(folder.path()).is_empty());
    }

    #[test]
    fn a_folder_with_other_things_in_it_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        fs::create_dir(&path).unwrap();
        write_folder(&path, false, |_| true, |_| Ok(())).unwrap();
        fs::write(path.join("diary.txt"), "mine").unwrap();
        let error = write_folder(&path, true, |name| name == "part.txt", |_| Ok(())).unwrap_err();
        expect![[r#"
            error: …/set: is not replaced: it holds `diary.txt`, which is not part of a question set
            hint: choose a new folder: this one is never replaced
        "#]]
        .assert_eq(&error_text(&error).replace(folder.path().to_str().unwrap(), "…"));
        assert_eq!(fs::read_to_string(path.join("diary.txt")).unwrap(), "mine");
    }

    #[test]
    fn a_file_is_never_replaced_by_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        fs::write(&path, "mine").unwrap();
        let write = |overwrite| write_folder(&path, overwrite, |_| true, |_| Ok(())).unwrap_err();
        assert!(matches!(write(false), Error::Exists { .. }));
        expect![[r#"
            error: …/set: cannot be written: not a directory
            hint: nothing was written; check that you can write there
        "#]]
        .assert_eq(&error_text(&write(true)).replace(folder.path().to_str().unwrap(), "…"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }

    #[test]
    fn the_folder_of_a_file_is_made_unless_a_file_is_in_its_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("house").join("bears.txt");
        write_file(&path, false, |_| Ok(())).unwrap();
        let inside = path.join("more.txt");
        let error = error_text(&write_file(&inside, false, |_| Ok(())).unwrap_err());
        expect![[r#"
            error: …/deep/house/bears.txt/more.txt: cannot be written: Not a directory (os error 20)
            hint: nothing was written; check that you can write there
        "#]]
        .assert_eq(&error.replace(folder.path().to_str().unwrap(), "…"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_gets_the_permissions_of_any_other() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode =
            |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        fs::write(folder.path().join("plain"), "").unwrap();
        write_file(&folder.path().join("ours"), false, |_| Ok(())).unwrap();
        assert_eq!(mode("ours"), mode("plain"));
    }
}
