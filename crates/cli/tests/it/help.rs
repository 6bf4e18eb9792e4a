//! `--help` of every command, as a person sees it; `UPDATE_EXPECT=1` rewrites the files.

use std::path::Path;
use std::process::Command;

use expect_test::expect_file;

/// What `--help` of a command prints.
fn help(command: &[String]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_goldilocks"))
        .args(command)
        .arg("--help")
        .env_remove("COLUMNS")
        .output()
        .expect("the program can be started");
    assert!(output.status.success(), "{command:?}");
    let text = String::from_utf8(output.stdout).expect("help is UTF-8");
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The names below `Commands:`.
fn commands(help: &str) -> Vec<String> {
    let after = help.split_once("\nCommands:\n").map_or("", |(_, after)| after);
    let lines = after.lines().take_while(|line| !line.is_empty());
    let indented = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = indented.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

fn check(command: &[String]) -> usize {
    let name = if command.is_empty() { "goldilocks".to_owned() } else { command.join("-") };
    let text = help(command);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/help");
    expect_file![folder.join(format!("{name}.txt"))].assert_eq(&text);
    let below = commands(&text).into_iter();
    1 + below.map(|name| check(&[command, &[name]].concat())).sum::<usize>()
}

#[test]
fn help_is_as_written() {
    let n_commands = check(&[]);
    assert!(n_commands > 25, "only {n_commands} commands have a help");
}
