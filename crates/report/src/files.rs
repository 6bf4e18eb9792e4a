//! The files of a report: a folder of its own, written whole, in place of an earlier report and of nothing else.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::{Error, TableKind};

/// The name of the HTML page.
pub const PAGE: &str = "index.html";
/// The code of Table 1, which has no accuracies and so no [`TableKind`].
pub const TABLE_1: &str = "table-1";

/// The files that a table can have.
#[derive(Clone, Copy, Debug)]
pub enum FileKind {
    Markdown,
    Latex,
    Csv,
    CurveSvg,
    CurveLatex,
}

impl FileKind {
    const ALL: [Self; 5] =
        [Self::Markdown, Self::Latex, Self::Csv, Self::CurveSvg, Self::CurveLatex];

    /// The name of the file of this kind that the table with `code` has.
    pub fn file_name(self, code: &str) -> String {
        let ending = [".md", ".tex", ".csv", "-curve.svg", "-curve.tex"][self as usize];
        format!("{code}{ending}")
    }
}

/// Returns whether some report has a file of that name, so that it may be replaced by another report.
fn is_report_file(name: &str) -> bool {
    let codes = TableKind::ALL.map(TableKind::code).into_iter().chain([TABLE_1]);
    let mut tables = codes.flat_map(|code| FileKind::ALL.map(|kind| kind.file_name(code)));
    name == PAGE || name == crate::language_models::FILE || tables.any(|known| known == name)
}

/// Writes a folder of files, given as names and contents, in place of an earlier report, and returns their paths.
///
/// # Errors
/// [`Error::Exists`] where there is a report and `overwrite` is not set, [`Error::ForeignFolder`] where the folder
/// holds anything else, [`Error::File`].
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
    let entries: Vec<fs::DirEntry> = if folder.exists() {
        fs::read_dir(folder).and_then(Iterator::collect).map_err(&failed)?
    } else {
        Vec::new()
    };
    let names = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names: Vec<String> = names.collect();
    if !overwrite && !names.is_empty() {
        return Err(Error::Exists { path: folder.to_owned() });
    }
    debug_assert!(files.iter().all(|(name, _)| is_report_file(name)), "names come from `FileKind`");
    if let Some(entry) = names.into_iter().find(|name| !is_report_file(name)) {
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
        assert_eq!(refused.to_string(), format!("{}: already exists", folder.display()));
        assert_eq!(fs::read_to_string(&paths[0]).unwrap(), "old");
        write_all(&folder, &new, true).unwrap();
        assert_eq!(fs::read_to_string(&paths[0]).unwrap(), "new");
        let entries = fs::read_dir(&folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["index.html", "table-2.md"]);
    }

    #[test]
    fn every_file_of_a_report_can_be_replaced_by_another_report() {
        let folder = tempfile::tempdir().unwrap();
        for old in ["goldilocks-curve.svg", "goldilocks-curve.tex", "table-1.csv", "cnn.tex"] {
            write_all(folder.path(), &files(["index.html", old], "old"), true).unwrap();
            write_all(folder.path(), &files(["index.html", "table-2.md"], "new"), true).unwrap();
            assert!(!folder.path().join(old).exists(), "{old}");
        }
    }

    #[test]
    fn a_folder_with_other_things_in_it_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("diary.md"), "mine").unwrap();
        let new = files(["index.html", "table-2.md"], "new");
        let refused = write_all(folder.path(), &new, true).unwrap_err();
        let message = refused.to_string();
        assert!(
            message.ends_with("it holds `diary.md`, which is not part of a report"),
            "{message}"
        );
        assert_eq!(refused.remedy(), Some(base::Remedy::ChooseNewFolder));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
