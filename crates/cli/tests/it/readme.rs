//! The console blocks of the documentation are what the program says.
//!
//! A document's commands are run one after the other in one folder. In the output that a document shows, `[..]`
//! stands for anything within a line and `...` for any lines; stdout comes before stderr.

use std::path::Path;

use tempfile::TempDir;

use crate::reproduction::REPRODUCTION;
use crate::run::goldilocks;

#[test]
fn console_blocks_are_true() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut n_commands, mut n_pictures) = (0, 0);
    for document in ["README.md", "crates/evaluation/predictions.md"] {
        let text = std::fs::read_to_string(repository.join(document)).unwrap();
        let folder = TempDir::new().unwrap();
        for block in console_blocks(&text) {
            for (command, expected) in commands(&block) {
                let arguments: Vec<&str> = command.split_whitespace().collect();
                assert_eq!(arguments[0], "goldilocks", "{document}: {command}");
                let said = match arguments[1..] {
                    ["reproduce"] => REPRODUCTION.said.clone(),
                    _ => goldilocks(folder.path(), &arguments[1..]),
                };
                let said: Vec<&str> = said.lines().skip(1).collect();
                assert!(
                    matches(&expected, &said),
                    "{document}: `{command}` says\n{}",
                    said.join("\n")
                );
                n_commands += 1;
            }
        }
        for (name, picture) in pictures(folder.path()) {
            let committed = repository.join("docs/images").join(&name);
            let committed = std::fs::read(&committed).unwrap_or_default();
            assert!(picture == committed, "docs/images/{name} is not what {document} draws");
            n_pictures += 1;
        }
    }
    assert_eq!(n_pictures, 1, "the README's picture");
    assert!(n_commands >= 5, "only {n_commands} commands are documented");
}

/// The SVG files in a folder, each with its name.
fn pictures(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let drawn = entries.filter(|path| path.extension().is_some_and(|ending| ending == "svg"));
    let named = drawn.map(|path| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap())
    });
    named.collect()
}

fn console_blocks(text: &str) -> Vec<String> {
    let after_fence = text.split("```console\n").skip(1);
    after_fence.map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

/// The commands of a block with the output that the document shows.
fn commands(block: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command, Vec::new())),
            (None, Some((_, expected))) => expected.push(line),
            (None, None) => panic!("a console block begins with `$ `, not with `{line}`"),
        }
    }
    commands
}

fn matches(expected: &[&str], said: &[&str]) -> bool {
    match expected {
        [] => said.is_empty(),
        ["...", rest @ ..] => (0..=said.len()).any(|skipped| matches(rest, &said[skipped..])),
        [line, rest @ ..] => {
            said.first().is_some_and(|first| line_matches(line, first)) && matches(rest, &said[1..])
        }
    }
}

fn line_matches(expected: &str, said: &str) -> bool {
    let said = said.trim_end();
    match expected.trim_end().split_once("[..]") {
        None => expected.trim_end() == said,
        Some((before, after)) => said.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len())
                .filter(|&end| rest.is_char_boundary(end))
                .any(|end| line_matches(after, &rest[end..]))
        }),
    }
}
