//! Sources are short, and folders hold few of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of a source file before its tests.
const MOST_LINES: usize = 400;
/// Source files of a folder.
const MOST_FILES: usize = 20;
/// Has one file per command.
const COMMANDS: &str = "cli/src/commands";

/// The sources below a folder, with their text; files of tests alone are left out.
fn sources(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "cu")
            && path.file_stem().is_some_and(|stem| stem != "tests")
        {
            files.push((path.clone(), fs::read_to_string(path).unwrap()));
        }
    }
}

#[test]
fn files_have_at_most_400_lines_before_their_tests_and_folders_at_most_20_files() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        sources(&entry.unwrap().path().join("src"), &mut files);
    }
    assert!(files.len() > 300, "only {} files", files.len());
    let mut problems = Vec::new();
    let mut folders = BTreeMap::new();
    for (path, text) in &files {
        let inside = path.strip_prefix(&crates).unwrap().to_string_lossy().into_owned();
        let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
        let n_lines = code.lines().count();
        if n_lines > MOST_LINES {
            problems.push(format!("{inside}: {n_lines} lines before its tests"));
        }
        *folders.entry(path.parent().unwrap().to_owned()).or_insert(0) += 1;
    }
    problems.extend(folders.iter().filter_map(|(folder, &n_files)| {
        let inside = folder.strip_prefix(&crates).unwrap().to_string_lossy();
        (n_files > MOST_FILES && inside != COMMANDS).then(|| format!("{inside}: {n_files} files"))
    }));
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}
