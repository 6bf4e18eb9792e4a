//! The one rule of imports, as `lib.rs` states it: a folder imports from those before it, a family never from a family.

use std::fs;
use std::path::{Path, PathBuf};

const LAYERS: [&[&str]; 5] = [
    &["contract"],
    &["words"],
    &["learning"],
    &["memories"],
    &["baselines", "kneser_ney", "networks", "selfsup", "soft"],
];

fn layer(folder: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&folder))
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources are here") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            sources(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// The folders that a text names after `crate::`.
fn imported(text: &str) -> impl Iterator<Item = &str> {
    text.split("crate::").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_')?;
        layer(&rest[..end]).map(|_| &rest[..end])
    })
}

#[test]
fn a_folder_imports_from_those_before_it_and_a_family_from_no_family() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = Vec::new();
    let mut n_seen = 0;
    for path in files {
        let inside = path.strip_prefix(&root).expect("it is inside").to_string_lossy().into_owned();
        let Some(own) = inside.split('/').next().filter(|folder| layer(folder).is_some()) else {
            continue;
        };
        let text = fs::read_to_string(&path).expect("UTF-8");
        for other in imported(&text).filter(|other| *other != own) {
            n_seen += 1;
            if layer(other) >= layer(own) {
                wrong.push(format!("{inside} imports from {other}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_seen > 50, "only {n_seen} imports were found");
}
