//! The console blocks of the documentation are what the program says.
//!
//! A block's commands are run one after the other in a folder of their own. In the output that a document shows, `[..]`
//! stands for anything within a line and `...` for any lines; stdout comes before stderr.

use std::path::Path;

use tempfile::TempDir;

use crate::reproduction::REPRODUCTION;
use crate::run::goldilocks;

#[test]
fn console_blocks_are_true() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut n_commands = 0;
    for document in ["README.md", "crates/evaluation/predictions.md"] {
        let text = std::fs::read_to_string(repository.join(document)).unwrap();
        for block in console_blocks(&text) {
            let folder = TempDir::new().unwrap();
            let commands = commands(&block);
            let is_alone = commands.len() == 1;
            for (command, expected) in commands {
                let arguments: Vec<&str> = command.split_whitespace().collect();
                assert_eq!(arguments[0], "goldilocks", "{document}: {command}");
                let said = match arguments[1..] {
                    ["reproduce"] if is_alone => REPRODUCTION.said.clone(),
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
    }
    assert!(n_commands >= 5, "only {n_commands} commands are documented");
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
