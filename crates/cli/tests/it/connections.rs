//! Only a command that is given an address opens a connection: `fetch`, and through one file of the library `answer`,
//! `probe` and `serve --models`. `reproduce` takes the predictions of servers as files.

use std::fs;
use std::path::{Path, PathBuf};

/// The sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// The files whose text has one of these names, from the folder of the crates.
fn naming(names: &[&str]) -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().path().join("src"));
    let files = folders.filter(|folder| folder.is_dir()).flat_map(|folder| sources(&folder));
    let rust = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let has = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        names.iter().any(|name| text.contains(name))
    };
    let inside = |path: PathBuf| path.strip_prefix(&crates).unwrap().display().to_string();
    let mut found: Vec<String> = rust.filter(has).map(inside).collect();
    found.sort();
    found
}

#[test]
fn one_file_of_the_library_and_one_command_open_connections() {
    let clients = ["ureq", "reqwest", "hyper::client", "curl"];
    let expected = ["cli/src/commands/fetch.rs", "goldilocks/src/server/connection.rs"];
    assert_eq!(naming(&clients), expected);
    let connects = ["LanguageModel::connect("];
    let commands = ["answer", "probe", "serve"].map(|name| format!("cli/src/commands/{name}.rs"));
    let of_program: Vec<String> =
        naming(&connects).into_iter().filter(|path| path.starts_with("cli/")).collect();
    assert_eq!(of_program, commands);
}
