//! Runs the program and shows all that it said, as one text for a snapshot.

use std::path::Path;
use std::process::Command;

/// Runs a command line in a folder: exit code, stdout and stderr, the folder's name taken out.
pub fn goldilocks(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_goldilocks"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("COLUMNS")
        .output()
        .expect("the program can be started");
    let text = format!(
        "exit {}\n{}{}",
        output.status.code().map_or("by signal".to_owned(), |code| code.to_string()),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    text.replace(&folder.display().to_string(), "DIR")
}

/// The paths of all files below a folder, sorted, with `/` between their parts.
pub fn files_below(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("a folder of the test can be read") {
            let path = entry.expect("an entry of the test can be read").path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).expect("it is below the folder");
                    files.push(name.to_string_lossy().replace('\\', "/"));
                }
            }
        }
    }
    files.sort();
    files
}
