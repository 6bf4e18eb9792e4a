//! JSON lines, one object per question: the columns of the public `cbt` data set, and ours.
//!
//! | key | value |
//! |---|---|
//! | `sentences` | the context, a list of strings |
//! | `question` | the query with `XXXXX` in it |
//! | `answer` | the right candidate; null or absent where it is not known |
//! | `options` | the candidates, a list of strings |
//! | `id` | written always; never read, because it follows from the rest |
//! | `class` | `NE`, `CN`, `V` or `P`; null or absent where there is none |
//! | `split` | `train`, `valid` or `test`; null or absent |
//! | `book` | the book's name; null or absent |
//!
//! Other keys are ignored. The running text of the books is not held.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::LineError;
use crate::error::{Error, Location, Result};
use crate::formats::assemble::{Assembler, Fields};
use crate::formats::json::{Kind, parse};
use crate::formats::sentence;
use crate::{EmptyFields, OpenOptions, QuestionSet, Split, Warnings, WordClass};

/// A question as JSON and Parquet have it: words joined to sentences.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row<'a> {
    #[serde(borrow)]
    pub sentences: Vec<Cow<'a, str>>,
    #[serde(borrow)]
    pub question: Cow<'a, str>,
    #[serde(borrow, default)]
    pub answer: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub options: Vec<Cow<'a, str>>,
    #[serde(skip_deserializing)]
    pub id: String,
    #[serde(borrow, default)]
    pub class: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub split: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub book: Option<Cow<'a, str>>,
}

impl<'a> Row<'a> {
    /// Adds the question to those read so far.
    pub(crate) fn assemble(&self, assembler: &mut Assembler<'_>) -> Result<(), LineError> {
        let class = code(&self.class, "class", "`NE`, `CN`, `V` or `P`", WordClass::from_code)?;
        let split = code(&self.split, "split", "`train`, `valid` or `test`", Split::from_code)?;
        if !assembler.wants(split, class) {
            return Ok(());
        }
        let sentences: Vec<&[u8]> = self.sentences.iter().map(|text| text.as_bytes()).collect();
        let context = assembler.context(&sentences).map_err(|_| LineError::NotUtf8)?;
        assembler.push(
            context,
            Fields {
                query: &self.question,
                candidates: self.options.iter().map(|option| &**option),
                answer: self.answer.as_deref(),
                class,
                split,
                book: self.book.as_deref(),
            },
        )
    }

    /// The row of a question; the error is the word that would not be read back as it is.
    pub(crate) fn of(
        set: &'a QuestionSet,
        empty_fields: &EmptyFields,
        question: usize,
        id: String,
    ) -> Result<Self, &'a str> {
        let text = |words| {
            let mut text = String::new();
            sentence::join(set, words, &mut text).map(|()| Cow::Owned(text))
        };
        let example = set.example(question);
        let candidates: Vec<&str> =
            example.question.candidates.iter().map(|&word| set.vocabulary().word(word)).collect();
        if candidates.iter().any(|candidate| candidate.is_empty()) {
            return Err("");
        }
        let context = set.context(question).map(|sentence| text(set.sentence(sentence)));
        Ok(Row {
            sentences: context.collect::<Result<_, _>>()?,
            question: text(example.question.query)?,
            answer: example.answer.map(|answer| candidates[answer].into()),
            options: empty_fields
                .restore(question, &candidates)
                .into_iter()
                .map(Cow::Borrowed)
                .collect(),
            id,
            class: example.class.map(|class| class.code().into()),
            split: example.split.map(|split| split.code().into()),
            book: example.book.map(Cow::Borrowed),
        })
    }
}

fn code<T>(
    value: &Option<Cow<'_, str>>,
    key: &'static str,
    expected: &'static str,
    from_code: fn(&str) -> Option<T>,
) -> Result<Option<T>, LineError> {
    let Some(value) = value else { return Ok(None) };
    let wrong = || LineError::Value { key, expected, found: format!("`{value}`") };
    from_code(value).map(Some).ok_or_else(wrong)
}

/// Reads JSON lines one at a time; `path` is for messages alone.
///
/// # Errors
/// [`Error::Malformed`] with the line and the key, or [`Error::Read`].
pub fn read(
    input: impl Read,
    path: &Path,
    options: &OpenOptions,
) -> Result<(QuestionSet, Warnings)> {
    let mut input = BufReader::with_capacity(1 << 20, input);
    let mut assembler = Assembler::new(options);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let length = input
            .read_until(b'\n', &mut bytes)
            .map_err(|cause| Error::Read { path: path.to_owned(), cause })?;
        if length == 0 {
            break;
        }
        let result = match std::str::from_utf8(&bytes) {
            Ok(text) if text.trim_ascii().is_empty() => continue,
            Ok(text) => parse::<Row>(text, KEYS).and_then(|row: Row| row.assemble(&mut assembler)),
            Err(_) => Err(LineError::NotUtf8),
        };
        result.map_err(|error| Error::Malformed {
            path: path.to_owned(),
            at: Location::Line(line),
            error,
        })?;
    }
    Ok(assembler.finish())
}

const KEYS: &[(&str, Kind)] = &[
    ("sentences", Kind::List),
    ("question", Kind::Text),
    ("options", Kind::List),
    ("answer", Kind::TextOrNone),
    ("class", Kind::TextOrNone),
    ("split", Kind::TextOrNone),
    ("book", Kind::TextOrNone),
];

/// Writes all questions of a set as JSON lines; `path` is for messages alone.
///
/// # Errors
/// [`Error::Unwritable`] for a word with a space in it, or [`Error::Write`].
pub fn write(
    set: &QuestionSet,
    empty_fields: &EmptyFields,
    output: &mut impl Write,
    path: &Path,
) -> Result<()> {
    for (question, id) in set.all_ids().into_iter().enumerate() {
        let row = Row::of(set, empty_fields, question, id).map_err(|word| Error::Unwritable {
            path: path.to_owned(),
            format: "JSON lines",
            question: question + 1,
            word: word.to_owned(),
        })?;
        serde_json::to_writer(&mut *output, &row)
            .map_err(std::io::Error::from)
            .and_then(|()| output.write_all(b"\n"))
            .map_err(|cause| Error::Write { path: path.to_owned(), cause })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;
    use crate::fixtures::{SmallDisk, bears, error_text, sets, spelt};

    fn parse(text: &[u8]) -> Result<(QuestionSet, Warnings)> {
        read(text, Path::new("bears.jsonl"), &OpenOptions::default())
    }

    fn written(set: &QuestionSet, empty_fields: &EmptyFields) -> Result<String> {
        let mut bytes = Vec::new();
        write(set, empty_fields, &mut bytes, Path::new("out.jsonl"))?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_question_is_a_line() {
        // printf 'Bear 0 ate the porridge .\nBear 1 ate the porridge .\nThe XXXXX was cold .\nBear\nporridge\nsoup\nspoon\n' | sha256sum | cut -c1-16
        expect![[r#"
            {"sentences":["Bear 0 ate the porridge .","Bear 1 ate the porridge ."],"question":"The XXXXX was cold .","answer":"porridge","options":["Bear","porridge","soup","spoon"],"id":"415f2dc2612c6dc2","class":"CN","split":"valid","book":null}
        "#]].assert_eq(&written(&bears(1), &EmptyFields::default()).unwrap());
    }

    #[test]
    fn the_public_columns_alone_are_enough() {
        let text = r#"{"sentences":["A bear  .",""],"question":"The XXXXX .","answer":"bear","options":["bear","house","",""],"more":1}

{"question":"The XXXXX .","sentences":[],"options":["soup","h\u00e9"],"split":"test","class":null,"book":"Bears"}
"#;
        let (set, warnings) = parse(text.as_bytes()).unwrap();
        assert_eq!(warnings.empty_fields.len(), 1);
        expect![[r#"
            {"sentences":["A bear  .",""],"question":"The XXXXX .","answer":"bear","options":["bear","house","",""],"id":"9ff33b1b5693db89","class":null,"split":null,"book":null}
            {"sentences":[],"question":"The XXXXX .","answer":null,"options":["soup","hé"],"id":"231d96efda731c2c","class":null,"split":"test","book":"Bears"}
        "#]].assert_eq(&written(&set, &warnings.empty_fields).unwrap());
    }

    #[test]
    fn only_the_splits_asked_for_are_kept() {
        let text = r#"{"sentences":["a"],"question":"XXXXX","options":["a","b"],"split":"train"}
{"sentences":["b"],"question":"XXXXX","options":["a","b"],"split":"test"}
{"sentences":["c"],"question":"XXXXX","options":["a","b"]}
"#;
        let options = OpenOptions { only: Some(vec![Split::Test]), ..OpenOptions::default() };
        let (set, _) = read(text.as_bytes(), Path::new("bears.jsonl"), &options).unwrap();
        assert_eq!([set.example(0).split, set.example(1).split], [Some(Split::Test), None]);
        assert_eq!((set.len(), set.n_sentences()), (2, 2));
    }

    fn refuses(text: impl AsRef<[u8]>, message: Expect) {
        message.assert_eq(&error_text(&parse(text.as_ref()).unwrap_err()));
    }

    #[test]
    fn a_line_that_is_no_object_is_refused() {
        refuses(
            "\n[1]",
            expect![[r#"
                error: bears.jsonl:2: the line is not a JSON object: it does not begin with `{`
                hint: a question has `sentences`, `question`, `answer` and `options`, perhaps `class`, `split` and `book`
            "#]],
        );
        refuses(
            "{\"sentences\":[\"A be",
            expect![[r#"
                error: bears.jsonl:1: the line is not a JSON object: EOF while parsing a string at column 19
                hint: a question has `sentences`, `question`, `answer` and `options`, perhaps `class`, `split` and `book`
            "#]],
        );
        refuses(
            b"\"\xff\"",
            expect![[r#"
            error: bears.jsonl:1: the text is not UTF-8
            hint: `iconv -f WINDOWS-1252 -t UTF-8 IN > OUT` converts the commonest other encoding
        "#]],
        );
    }

    #[test]
    fn a_wrong_value_is_refused_by_its_key() {
        for (line, message) in [
            (
                r#"{"sentences":"a"}"#,
                "`sentences`: expected a list of strings, found the string `a`",
            ),
            (
                r#"{"sentences":["a",1]}"#,
                "`sentences`: expected a list of strings, found a list with `1` in it",
            ),
            (r#"{"sentences":[]}"#, "`question`: expected a string, found nothing"),
            (
                r#"{"sentences":[],"question":"XXXXX","options":{}}"#,
                "`options`: expected a list of strings, found an object",
            ),
            (
                r#"{"sentences":[],"question":"XXXXX","options":["a","b"],"answer":0}"#,
                "`answer`: expected a string or null, found `0`",
            ),
            (
                r#"{"sentences":[],"question":"XXXXX","options":["a","b"],"class":"NN"}"#,
                "`class`: expected `NE`, `CN`, `V` or `P`, found `NN`",
            ),
            (
                r#"{"sentences":[],"question":"XXXXX","options":["a","b"],"split":"dev"}"#,
                "`split`: expected `train`, `valid` or `test`, found `dev`",
            ),
        ] {
            let error = parse(line.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), format!("bears.jsonl:1: {message}"));
            let hint = "a question has `sentences`, `question`, `answer` and `options`, perhaps `class`, `split` and `book`";
            assert_eq!(error.remedy().unwrap().to_string(), hint);
        }
    }

    #[test]
    fn a_question_that_breaks_the_rules_is_refused() {
        refuses(
            r#"{"sentences":[],"question":"The .","options":["a","b"]}"#,
            expect![[r#"
            error: bears.jsonl:1: the query has no blank: expected the word `XXXXX` once, found it 0 times
            hint: the missing word of the query, and nothing else, is written `XXXXX`
        "#]],
        );
        refuses(
            r#"{"sentences":[],"question":"XXXXX","options":["a","b"],"answer":"c"}"#,
            expect![[r#"
                error: bears.jsonl:1: the answer is not among the candidates: expected one of `a|b`, found `c`
                hint: case counts; an answer that is unknown is left empty
            "#]],
        );
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let mut disk = SmallDisk { inner: Vec::new(), room: 100 };
        let none = EmptyFields::default();
        let error = write(&bears(3), &none, &mut disk, Path::new("out.jsonl")).unwrap_err();
        expect![[r#"
            error: out.jsonl: cannot be written: no storage space
            hint: free some space on the disk of `out.jsonl`, or choose another place
        "#]]
        .assert_eq(&error_text(&error));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back((set, empty_fields) in sets()) {
            match written(&set, &empty_fields) {
                Ok(text) => {
                    let (read, warnings) = parse(text.as_bytes()).unwrap();
                    prop_assert_eq!(spelt(&read), spelt(&set));
                    prop_assert_eq!(&warnings.empty_fields, &empty_fields);
                    prop_assert_eq!(read.all_ids(), set.all_ids());
                }
                Err(error) => prop_assert!(matches!(error, Error::Unwritable { .. }), "{}", error),
            }
        }
    }
}
