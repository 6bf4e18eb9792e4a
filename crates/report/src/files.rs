//! The files of a report: a folder of its own, written whole, in place of an earlier report and of nothing else.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::{Error, TableKind};

/// Writes a folder of files, named and filled, in place of an earlier report; gives their paths.
///
/// # Errors
/// [`Error::Exists`] where there is a report and it is not to be replaced, [`Error::ForeignFolder`] where there
/// is anything else, [`Error::File`].
pub fn write_all(
    folder: &Path,
    files: &[(String, String)],
    overwrite: bool,
) -> Result<Vec<PathBuf>, Error> {
    let failed_at = |path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| Error::File { path: path.clone(), source }
    };
    let failed = failed_at(folder);
    let there = match folder.exists() {
        true => fs::read_dir(folder).map_err(&failed)?.collect::<io::Result<_>>(),
        false => Ok(Vec::new()),
    };
    let names = there.map_err(&failed)?.into_iter().map(|entry: fs::DirEntry| entry.file_name());
    let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    if !overwrite && !names.is_empty() {
        return Err(Error::Exists { path: folder.to_owned() });
    }
    let is_ours = |name: &String| is_part(name) || files.iter().any(|(own, _)| own == name);
    if let Some(entry) = names.into_iter().find(|name| !is_ours(name)) {
        return Err(Error::ForeignFolder { path: folder.to_owned(), entry });
    }
    base::files::write_folder(folder, &failed, |inside| {
        files.iter().try_for_each(|(name, content)| {
            let failed = failed_at(&folder.join(name));
            base::files::write_file(&inside.join(name), &failed, |file| {
                file.write_all(content.as_bytes()).map_err(&failed)
            })
        })
    })?;
    Ok(files.iter().map(|(name, _)| folder.join(name)).collect())
}

/// Whether some report has a file of that name: the page, or a table in one of its forms.
fn is_part(name: &str) -> bool {
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let is_table = stem == "table-1" || TableKind::from_code(stem).is_some();
    name == "index.html" || is_table && ["md", "tex", "csv"].contains(&ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: [&str; 2], text: &str) -> [(String, String); 2] {
        names.map(|name| (name.to_owned(), text.to_owned()))
    }

    #[test]
    fn a_report_is_replaced_when_asked_and_nothing_stale_stays() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("deep").join("report");
        let old = files(["index.html", "cnn.md"], "old");
        let paths = write_all(&folder, &old, false).unwrap();
        assert_eq!(paths, [folder.join("index.html"), folder.join("cnn.md")]);
        let new = files(["index.html", "table-2.md"], "new");
        let refused = write_all(&folder, &new, false).unwrap_err();
        assert_eq!(refused.to_string(), format!("{}: exists already", folder.display()));
        assert_eq!(fs::read_to_string(&paths[0]).unwrap(), "old");
        write_all(&folder, &new, true).unwrap();
        assert_eq!(fs::read_to_string(&paths[0]).unwrap(), "new");
        let entries = fs::read_dir(&folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["index.html", "table-2.md"]);
    }

    #[test]
    fn a_folder_with_other_things_in_it_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("diary.md"), "mine").unwrap();
        let new = files(["index.html", "table-2.md"], "new");
        let refused = write_all(folder.path(), &new, true).unwrap_err();
        let message = refused.to_string();
        assert!(
            message.ends_with("it holds `diary.md`, which is no part of a report"),
            "{message}"
        );
        assert_eq!(refused.hint().unwrap(), "choose a new folder; only a report is replaced");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
