//! `docs/paper-map.md` leads to files that cite the paper in the words it gives, and to few others.

use std::fs;
use std::path::{Path, PathBuf};

/// A shorter citation, such as `§3.1`, could be anywhere.
const SHORTEST: usize = 12;
/// A citation that more files contain leads nowhere in particular.
const MOST_FILES: usize = 2;

#[test]
fn every_row_of_the_paper_map_leads_to_its_place() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let map = fs::read_to_string(repository.join("docs/paper-map.md")).unwrap();
    let sources = sources(&repository.join("crates"));
    let rows: Vec<Vec<&str>> = map
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains(".rs`"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    assert!(rows.len() > 50, "only {} rows", rows.len());
    let problems: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let [place, cited, file] = row[..] else { panic!("not three columns: {row:?}") };
            let path = repository.join(file.trim_matches('`'));
            let Ok(source) = fs::read_to_string(&path) else {
                return Some(format!("{place}: {file} does not exist"));
            };
            let n_files = sources.iter().filter(|source| source.contains(cited)).count();
            if !source.contains(cited) {
                Some(format!("{place}: {file} does not say `{cited}`"))
            } else if cited.chars().count() < SHORTEST {
                Some(format!("{place}: `{cited}` is too short to be found again"))
            } else if n_files > MOST_FILES {
                Some(format!("{place}: {n_files} files say `{cited}`"))
            } else {
                None
            }
        })
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The Rust sources below a folder.
fn sources(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        if path.is_dir() {
            sources(&path)
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            vec![fs::read_to_string(path).unwrap()]
        } else {
            Vec::new()
        }
    };
    entries.flat_map(read).collect()
}
