//! JSON lines.

use std::fs;
use std::path::Path;

use base::Remedy;

use super::{REGATTA, encoded, layout, open, skipping};
use crate::error::Result;
use crate::formats::cnn::lines::read_lines_in_chunks;
use crate::{OpenOptions, QuestionSet, Split, Warnings};

/// The same question as JSON lines have it.
fn line(more: &str) -> String {
    let mut parts = REGATTA.split("\n\n");
    let mut part = || parts.next().unwrap().replace('"', "\\\"");
    let (url, document, question, answer) = (part(), part(), part(), part());
    format!(
        r#"{{"source":"cnn","split":"validation","id":"0","url":"{url}","document":"{document}","question":"{question}","answer":"{answer}","entities":{{}}{more}}}"#
    )
}

/// Reads lines in chunks so small that there are several.
pub fn parse(text: &str, options: &OpenOptions) -> Result<(QuestionSet, Warnings)> {
    read_lines_in_chunks(text.as_bytes(), Path::new("news.jsonl"), options, 200)
}

#[test]
fn json_lines_hold_the_same_questions_as_files() {
    let root = layout("validation", &[REGATTA]);
    let (of_files, _) = open(root.path(), &OpenOptions::default()).unwrap();
    let path = root.path().join("news.jsonl");
    fs::write(&path, format!("\n{}\n", line(""))).unwrap();
    let (of_lines, _) = open(&path, &OpenOptions::default()).unwrap();
    assert_eq!(encoded(&of_lines), encoded(&of_files));
    assert_eq!(of_lines.all_ids(), of_files.all_ids());
}

#[test]
fn lines_of_other_sources_and_splits_are_left_out() {
    let mail = line("").replace("\"cnn\"", "\"dailymail\"");
    let test = line("").replace("\"validation\"", "\"test\"");
    let text = [line(""), mail, test].join("\n");
    let (set, warnings) = parse(&text, &OpenOptions::default()).unwrap();
    assert_eq!((set.len(), warnings.of_other_sources), (2, 1));
    let only = OpenOptions { only: Some(vec![Split::Test]), ..OpenOptions::default() };
    let (set, warnings) = parse(&text, &only).unwrap();
    assert_eq!((set.len(), warnings.of_other_sources), (1, 0));
}

#[test]
fn a_set_without_a_question_of_cnn_says_whose_they_are() {
    let root = layout("validation", &[]);
    let path = root.path().join("news.jsonl");
    fs::write(&path, line("").replace("\"cnn\"", "\"bbc\"")).unwrap();
    let error = open(&path, &OpenOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("holds no question of CNN: all 1 are of another source"), "{error}");
}

#[test]
fn lines_are_counted_across_chunks() {
    let lines = [line(""), line(""), line(""), line("").replace("@placeholder", "she")].join("\n");
    let error = parse(&lines, &OpenOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("news.jsonl:4: "), "{error}");
    let (set, warnings) = parse(&lines, &skipping()).unwrap();
    // All three are about one article: its text is there once.
    assert_eq!((set.len(), warnings.bad, set.books().len()), (3, 1, 1));
    assert_eq!(set.context(0), set.context(2));
}

#[test]
fn a_wrong_line_is_refused_by_its_number_and_key() {
    let keys = "a question of CNN QA has `document`, `question`, `answer`, `url` and `split`";
    for (wrong, message) in [
        (
            line("").replace("\"document\":\"", "\"document\":[1],\"x\":\""),
            "`document`: expected a string, found a list with `1` in it",
        ),
        (
            line("").replace("\"question\"", "\"query\""),
            "`question`: expected a string, found nothing",
        ),
        (
            line("").replace("\"validation\"", "\"dev\""),
            "`split`: expected `training`, `validation` or `test`, found `dev`",
        ),
        ("[1]".to_owned(), "the line is not a JSON object: it does not begin with `{`"),
        (
            line("")[..40].to_owned(),
            "the line is not a JSON object: EOF while parsing a string at column 40",
        ),
    ] {
        let text = format!("{}\n{wrong}\n", line(""));
        let error = parse(&text, &OpenOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("news.jsonl:2: {message}"));
        assert_eq!(error.remedy(), Some(Remedy::SkipMalformed { advice: keys }));
        let (set, warnings) = parse(&text, &skipping()).unwrap();
        assert_eq!((set.len(), warnings.bad), (1, 1));
    }
    let error = parse(&line("").replace("@placeholder", "she"), &OpenOptions::default());
    assert_eq!(
        error.unwrap_err().to_string(),
        "news.jsonl:1: the query has no blank: expected the word `@placeholder` once, found it 0 times"
    );
}
