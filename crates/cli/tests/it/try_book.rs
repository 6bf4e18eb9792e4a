//! `goldilocks try`: a book, its table, where a reader was wrong, and the report.

use expect_test::{Expect, expect};
use tempfile::TempDir;

use crate::run::{files_below, goldilocks};

/// A Transformer with random weights.
const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../transformer/tests/golden/qwen3");

fn says(folder: &TempDir, arguments: &[&str], expected: &Expect) {
    expected.assert_eq(&goldilocks(folder.path(), arguments));
}

#[test]
fn a_tale_is_tried_and_its_report_is_not_overwritten() {
    let folder = TempDir::new().unwrap();
    let said = goldilocks(folder.path(), &["try", "--sample", "2", "--models", TINY]);
    for part in
        ["exit 0\n", "Word distance", "qwen3", "Wrong answers, one of each class:\n", "    chose "]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    let written = files_below(folder.path());
    assert!(written.contains(&"candle_hall-report/index.html".to_owned()), "{written:?}");
    says(
        &folder,
        &["try"],
        &expect![[r#"
        exit 1
        error: candle_hall-report: already exists
        hint: choose another `-o`, or add `--force` to replace it
    "#]],
    );
    says(
        &folder,
        &["try", "missing.txt"],
        &expect![[r#"
        exit 1
        error: missing.txt: no such file or folder
        hint: check the spelling of the path
    "#]],
    );
    std::fs::write(folder.path().join("note.txt"), "The bear slept.\n").unwrap();
    says(
        &folder,
        &["try", "note.txt", "--models", TINY],
        &expect![[r#"
        exit 1
        error: note.txt: only 1 sentence was found: a question needs 21
        hint: check that this is the whole book: `goldilocks tag note.txt | less` shows how it was split; `build --skip-bad` leaves it out
    "#]],
    );
    says(
        &folder,
        &["try", "note.txt", "--models", "nowhere"],
        &expect![[r#"
        exit 1
        error: nowhere: not a model: it has no `model.toml`
        hint: make it with `goldilocks train MODEL SET -o nowhere`
    "#]],
    );
    assert_eq!(files_below(folder.path()).len(), written.len() + 1);
}
