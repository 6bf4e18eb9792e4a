//! Puts the commit into `goldilocks --version`, so that every figure can be traced to its code. Sources that had
//! changed since the commit are marked: `-dirty`.

use std::path::Path;
use std::process::Command;

/// What the program is made from: documents that change do not make it another.
const SOURCES: [&str; 3] = ["crates", "Cargo.toml", "Cargo.lock"];

fn main() {
    let repository = Path::new("../..");
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(repository).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    let changed = git(&[&["status", "--porcelain", "--"], &SOURCES[..]].concat());
    let dirty = if changed.is_some_and(|files| !files.is_empty()) { "-dirty" } else { "" };
    println!("cargo::rustc-env=GOLDILOCKS_COMMIT={commit}");
    println!("cargo::rustc-env=GOLDILOCKS_DIRTY={dirty}");
    // HEAD names the branch and the branch's file the commit; watching both sees every new commit.
    let of_git = ["HEAD", "logs/HEAD"].map(|file| git(&["rev-parse", "--git-path", file]));
    let sources = SOURCES.map(|source| Some(source.to_owned()));
    for file in of_git.into_iter().chain(sources).flatten() {
        let path = repository.join(file);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}
