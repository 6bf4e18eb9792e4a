//! Documents name files, functions, packages and headings that exist.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders whose paths, written in back-ticks, must exist.
const FOLDERS: [&str; 5] = ["crates/", "docs/", "benches/", "fuzz/", ".ci/"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every document of the repository: its path from there, and its text.
fn documents() -> Vec<(String, String)> {
    let repository = repository();
    let markdown = |folder: &str| {
        let entries = fs::read_dir(repository.join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let names = names.filter(|name| name.ends_with(".md"));
        names.map(|name| format!("{folder}{name}")).collect::<Vec<_>>()
    };
    let mut paths = [markdown(""), markdown("docs/")].concat();
    paths.push("crates/evaluation/predictions.md".to_owned());
    paths.sort();
    assert!(paths.len() > 8, "only {} documents", paths.len());
    let read = |path: String| {
        let text = fs::read_to_string(repository.join(&path)).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// The text without its blocks of code.
fn prose(text: &str) -> String {
    let mut in_code = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The texts in back-ticks.
fn code_spans(prose: &str) -> impl Iterator<Item = &str> {
    prose.split('`').skip(1).step_by(2)
}

/// The targets of `[words](target)` and of `[words]: target` that lie in the repository.
fn links(prose: &str) -> Vec<&str> {
    let inline = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let named = prose.lines().filter(|line| line.starts_with('['));
    let named = named.filter_map(|line| line.split_once("]: ").map(|(_, target)| target.trim()));
    inline.chain(named).filter(|target| !target.contains("://")).collect()
}

/// A heading's anchor, as the usual renderers of Markdown make it.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    heading.chars().filter(kept).collect::<String>().replace(' ', "-")
}

/// Fails with all problems at once.
#[track_caller]
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn every_path_in_back_ticks_exists() {
    let repository = repository();
    let (mut checked, mut problems) = (0, Vec::new());
    for (document, text) in documents() {
        for span in code_spans(&prose(&text)) {
            let is_path = FOLDERS.iter().any(|folder| span.starts_with(folder));
            if !is_path || span.contains([' ', '*', '…']) {
                continue;
            }
            checked += 1;
            if !repository.join(span).exists() {
                problems.push(format!("{document}: no `{span}`"));
            }
        }
    }
    assert_none(&problems);
    assert!(checked > 60, "only {checked} paths");
}

#[test]
fn every_link_inside_the_repository_resolves() {
    let repository = repository();
    let (mut checked, mut problems) = (0, Vec::new());
    for (document, text) in documents() {
        for link in links(&prose(&text)) {
            checked += 1;
            let document = Path::new(&document);
            let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
            let path = match path {
                "" => document.to_owned(),
                path => document.parent().unwrap().join(path),
            };
            let found = match fs::read_to_string(repository.join(&path)) {
                Ok(target) if !fragment.is_empty() => {
                    let target = prose(&target);
                    let mut headings = target.lines().filter(|line| line.starts_with('#'));
                    headings.any(|heading| anchor(heading) == fragment)
                }
                _ => repository.join(&path).exists(),
            };
            if !found {
                problems.push(format!("{}: no {link}", document.display()));
            }
        }
    }
    assert_none(&problems);
    assert!(checked > 10, "only {checked} links");
}

#[test]
fn every_package_named_in_a_command_exists() {
    let crates = repository().join("crates");
    let mut problems = Vec::new();
    for (document, text) in documents() {
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.windows(2).filter(|pair| pair[0] == "-p") {
            let package = pair[1].trim_matches(|letter: char| !letter.is_alphanumeric());
            let folder = match package {
                "goldilocks" => package,
                package => package.strip_prefix("goldilocks-").unwrap_or("not ours"),
            };
            if !crates.join(folder).exists() {
                problems.push(format!("{document}: no package {package}"));
            }
        }
    }
    assert_none(&problems);
}

/// The rows of the tables in a section of ARCHITECTURE.md, without heads and rules.
fn rows_of_section(title: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## ").find(|section| section.starts_with(title)).unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let columns =
        |row: &str| row.trim_matches('|').split('|').map(|it| it.trim().to_owned()).collect();
    rows.map(columns).collect()
}

#[test]
fn the_walk_through_the_code_names_functions_that_exist() {
    let repository = repository();
    let (mut checked, mut problems) = (0, Vec::new());
    for row in rows_of_section("One question") {
        let file = row[1].trim_matches('`');
        let source = fs::read_to_string(repository.join(file)).unwrap_or_default();
        for name in code_spans(&row[2]) {
            checked += 1;
            let name = name.rsplit("::").next().unwrap();
            let kinds = ["fn ", "struct ", "enum ", "trait "];
            if !kinds.iter().any(|kind| source.contains(&format!("{kind}{name}"))) {
                problems.push(format!("ARCHITECTURE.md: {file} does not define `{name}`"));
            }
        }
    }
    assert_none(&problems);
    assert!(checked > 15, "only {checked} names");
}

#[test]
fn the_table_of_crates_has_the_dependencies_of_each() {
    let repository = repository();
    let rows = rows_of_section("The crates");
    let crates: Vec<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    assert_eq!(crates.len(), fs::read_dir(repository.join("crates")).unwrap().count());
    for (row, name) in rows.iter().zip(&crates) {
        let manifest = repository.join("crates").join(name).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        let dependencies = manifest.split("\n[dependencies]\n").nth(1).unwrap();
        let dependencies = dependencies.split("\n[").next().unwrap();
        let needs = |other: &&str| {
            dependencies.lines().any(|line| line.split(['.', ' ']).next() == Some(*other))
        };
        let found: Vec<&str> = crates.iter().copied().filter(needs).collect();
        let mut stated: Vec<&str> = code_spans(&row[3]).collect();
        if row[3] == "all of the above" {
            stated = crates.iter().copied().take_while(|other| other != name).collect();
        }
        stated.sort_by_key(|stated| crates.iter().position(|name| name == stated));
        assert_eq!(stated, found, "ARCHITECTURE.md: what {name} depends on");
    }
}

#[test]
fn lines_of_documents_are_at_most_110_columns_wide() {
    let mut problems = Vec::new();
    for (document, text) in documents() {
        if document == "README.md" || document.ends_with("predictions.md") {
            continue;
        }
        for line in prose(&text).lines() {
            let is_table = line.trim_start().starts_with('|');
            if !is_table && line.chars().count() > 110 {
                problems.push(format!("{document}: {line}"));
            }
        }
    }
    assert_none(&problems);
}
