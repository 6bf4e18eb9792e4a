//! Predictions files: JSON lines ⇄ [`Predictions`]. The keys are described in [`crate::predictions`].

mod harness;

use std::fs;
use std::io::Write;
use std::path::Path;

use base::{Split, WordClass};
use questions::formats::json::{self, describe};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::predictions::choose;
use crate::{Error, HumanAnswer, LineError, Prediction, Predictions};

/// The format that is written, and the newest that is read.
const FORMAT: u64 = 1;

/// Breaks ties of lines without `predicted`.
const SEED_OF_UNPREDICTED: u64 = 1;

impl Predictions {
    /// Reads a predictions file.
    ///
    /// # Errors
    /// [`Error::Read`], or [`Error::Line`] for the first line that is not a prediction.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let bytes =
            fs::read(path).map_err(|reason| Error::Read { path: path.to_owned(), reason })?;
        match str::from_utf8(&bytes) {
            Ok(text) => Self::from_text(&name, text),
            Err(error) => {
                let text = &bytes[..error.valid_up_to()];
                let line = 1 + text.iter().filter(|&&byte| byte == b'\n').count();
                Err(Error::Line { name, line, error: LineError::NotUtf8.into() })
            }
        }
    }

    /// Reads the text of a predictions file under its name. Blank lines at the end are ignored.
    ///
    /// # Errors
    /// [`Error::Line`] for the first line that is not a prediction; [`Error::Empty`].
    pub fn from_text(name: &str, text: &str) -> Result<Self, Error> {
        let parse = |(line, text)| {
            parse_line(text).map_err(|error| Error::Line {
                name: name.to_owned(),
                line,
                error: error.into(),
            })
        };
        let lines = (1..).zip(text.trim_start_matches('\u{feff}').trim_end().lines());
        let lines: Vec<ParsedLine> = lines.map(parse).collect::<Result<_, _>>()?;
        if lines.iter().all(|line| line.annotator.is_none()) {
            let model = lines.first().and_then(|line| line.model.clone());
            let model = model.filter(|_| lines.iter().all(|line| line.model == lines[0].model));
            let predictions = lines.into_iter().map(|line| line.prediction).collect();
            return Ok(Self::new(name, predictions)?.by_model(model));
        }
        let of_person =
            |(line, ParsedLine { prediction, annotator, seconds, .. }): (usize, ParsedLine)| {
                let missing = |key| Error::Line {
                    name: name.to_owned(),
                    line,
                    error: LineError::MissingKey { key }.into(),
                };
                let annotator = annotator.ok_or_else(|| missing("annotator"))?;
                let seconds = seconds.ok_or_else(|| missing("seconds"))?;
                Ok(HumanAnswer { annotator, seconds, prediction })
            };
        Self::of_people(name, (1..).zip(lines).map(of_person).collect::<Result<_, _>>()?)
    }

    /// The lines of the file: people's answers one by one, or else the predictions.
    fn lines(&self) -> Vec<Line<'_>> {
        match self.people() {
            [] => {
                let model = self.model();
                self.iter().map(|prediction| Line { model, ..Line::from(prediction) }).collect()
            }
            people => people.iter().map(Line::from).collect(),
        }
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        let text = |line| serde_json::to_string(&line).expect("texts and numbers can be written");
        self.lines().into_iter().map(|line| text(line) + "\n").collect()
    }

    /// Writes a predictions file whole or not at all, in place of one that is there.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let failed = |reason| Error::Write { path: path.to_owned(), reason };
        base::files::write_file(path, failed, |file| {
            self.lines().iter().try_for_each(|line| {
                serde_json::to_writer(&mut *file, line).map_err(|error| failed(error.into()))?;
                file.write_all(b"\n").map_err(failed)
            })
        })
    }
}

/// The keys in the order in which they are written.
#[derive(Serialize)]
struct Line<'a> {
    format: u64,
    id: &'a str,
    class: Option<&'static str>,
    split: Option<&'static str>,
    book: Option<&'a str>,
    candidates: &'a [String],
    scores: &'a [f64],
    answer: Option<&'a str>,
    predicted: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotator: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

/// A line that was read.
struct ParsedLine {
    prediction: Prediction,
    model: Option<String>,
    annotator: Option<String>,
    seconds: Option<f64>,
}

impl<'a> From<&'a Prediction> for Line<'a> {
    fn from(prediction: &'a Prediction) -> Self {
        Self {
            format: FORMAT,
            id: &prediction.id,
            class: prediction.class.map(WordClass::code),
            split: prediction.split.map(Split::code),
            book: prediction.book.as_deref(),
            candidates: &prediction.candidates,
            scores: &prediction.scores,
            answer: prediction.answer.map(|answer| prediction.candidates[answer].as_str()),
            predicted: &prediction.candidates[prediction.predicted],
            model: None,
            annotator: None,
            seconds: None,
        }
    }
}

impl<'a> From<&'a HumanAnswer> for Line<'a> {
    fn from(answer: &'a HumanAnswer) -> Self {
        let (annotator, seconds) = (Some(answer.annotator.as_str()), Some(answer.seconds));
        Line { annotator, seconds, ..Line::from(&answer.prediction) }
    }
}

fn parse_line(line: &str) -> Result<ParsedLine, LineError> {
    let object: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| syntax_error(line, &error))?;
    if let Some(format) = object.get("format") {
        let found =
            format.as_u64().ok_or_else(|| wrong_type("format", "a whole number", format))?;
        if found > FORMAT {
            return Err(LineError::NewerFormat { expected: FORMAT, found });
        }
    }
    if object.contains_key("doc") && object.contains_key("filtered_resps") {
        return harness::parse(&object);
    }
    let line = Fields(object);
    let id = line.text("id")?.ok_or(LineError::MissingKey { key: "id" })?.to_owned();
    let candidates = line.candidates()?;
    let predicted = line.candidate("predicted", &candidates)?;
    let scores = match predicted {
        // Whoever chooses without scores gives all to the candidate that is chosen.
        Some(predicted) if line.get("scores").is_none() => {
            (0..candidates.len()).map(|place| f64::from(u8::from(place == predicted))).collect()
        }
        _ => line.scores()?,
    };
    let prediction = Prediction {
        class: line.code("class", "`NE`, `CN`, `V`, `P` or null", WordClass::from_code)?,
        split: line.code("split", "`train`, `valid`, `test` or null", Split::from_code)?,
        book: line.text("book")?.map(str::to_owned),
        answer: line.candidate("answer", &candidates)?,
        predicted: predicted.unwrap_or_else(|| choose(&scores, &id, SEED_OF_UNPREDICTED)),
        id,
        candidates,
        scores,
    };
    let annotator = line.text("annotator")?.map(str::to_owned);
    let seconds = if annotator.is_some() { line.seconds()? } else { None };
    let model = line.text("model")?.map(str::to_owned);
    Ok(ParsedLine { prediction, model, annotator, seconds })
}

/// The object of a line; a null value counts as a missing key.
struct Fields(Map<String, Value>);

impl Fields {
    fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &'static str) -> Result<Option<&str>, LineError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(key, "a string", other)),
        }
    }

    fn list(&self, key: &'static str, expected: &'static str) -> Result<&[Value], LineError> {
        let value = self.get(key).ok_or(LineError::MissingKey { key })?;
        value.as_array().map(Vec::as_slice).ok_or_else(|| wrong_type(key, expected, value))
    }

    fn candidates(&self) -> Result<Vec<String>, LineError> {
        const EXPECTED: &str = "a list of strings";
        let word = |value: &Value| match value {
            Value::String(word) => Ok(word.clone()),
            _ => Err(wrong_type("candidates", EXPECTED, value)),
        };
        self.list("candidates", EXPECTED)?.iter().map(word).collect()
    }

    fn scores(&self) -> Result<Vec<f64>, LineError> {
        let score = |value: &Value| {
            value.as_f64().ok_or_else(|| LineError::ScoreNotFinite { found: describe(value) })
        };
        self.list("scores", "a list of numbers")?.iter().map(score).collect()
    }

    fn seconds(&self) -> Result<Option<f64>, LineError> {
        const EXPECTED: &str = "a number that is not negative";
        let Some(value) = self.get("seconds") else { return Ok(None) };
        let seconds = value.as_f64().filter(|seconds| *seconds >= 0.0);
        seconds.map(Some).ok_or_else(|| wrong_type("seconds", EXPECTED, value))
    }

    fn code<T>(
        &self,
        key: &'static str,
        expected: &'static str,
        from_code: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, LineError> {
        let Some(code) = self.text(key)? else { return Ok(None) };
        let unknown = || LineError::WrongType { key, expected, found: format!("`{code}`") };
        from_code(code).map(Some).ok_or_else(unknown)
    }

    fn candidate(
        &self,
        key: &'static str,
        candidates: &[String],
    ) -> Result<Option<usize>, LineError> {
        let Some(word) = self.text(key)? else { return Ok(None) };
        let index = candidates.iter().position(|candidate| candidate == word);
        let twin = || {
            let same = |candidate: &&String| candidate.to_lowercase() == word.to_lowercase();
            candidates.iter().find(same).cloned()
        };
        let missing =
            || LineError::NotACandidate { key, found: word.to_owned(), case_twin: twin() };
        index.map(Some).ok_or_else(missing)
    }
}

fn wrong_type(key: &'static str, expected: &'static str, found: &Value) -> LineError {
    LineError::WrongType { key, expected, found: describe(found) }
}

/// Python writes scores that are not finite as `NaN` and `Infinity`, which is not JSON: they get an error of
/// their own, and so do numbers that no `f64` holds.
fn syntax_error(line: &str, error: &serde_json::Error) -> LineError {
    let column = error.column();
    let near = |word: &&str| {
        let starts = column.saturating_sub(2)..=column;
        starts.filter_map(|start| line.get(start..)).any(|rest| rest.starts_with(*word))
    };
    if let Some(word) = ["NaN", "Infinity"].into_iter().find(near) {
        return LineError::ScoreNotFinite { found: format!("`{word}`") };
    }
    let (message, column) = json::syntax_error(error);
    if message == "number out of range" {
        return LineError::ScoreNotFinite { found: format!("a {message}") };
    }
    LineError::Json { message, column }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    /// The guide for other programs, whose lines must be what it says they are.
    const GUIDE: &str = include_str!("../../predictions.md");

    fn guide_lines(block: usize) -> &'static str {
        let block = GUIDE.split("```json\n").nth(block).and_then(|rest| rest.split("```").next());
        block.expect("the guide has this block")
    }

    /// A good line with one part of it replaced.
    fn with(part: &str, other: &str) -> String {
        let line = r#"{"id": "1", "candidates": ["Rook", "rook", "hill"], "scores": [0.5, -1, 0.25], "answer": "hill", "predicted": "Rook"}"#;
        assert!(line.contains(part));
        line.replace(part, other)
    }

    fn check_error(text: &str, message_and_hint: Expect) {
        let error = Predictions::from_text("rooks.jsonl", text).unwrap_err();
        let hint = error.remedy().map_or(String::new(), |remedy| format!("\nhint: {remedy}"));
        message_and_hint.assert_eq(&format!("{error}{hint}"));
    }

    #[test]
    fn the_lines_of_the_guide_are_read() {
        let full = Predictions::from_text("full", guide_lines(1)).unwrap();
        let prediction = full.iter().next().unwrap();
        assert_eq!(prediction.class, Some(WordClass::CommonNoun));
        assert_eq!(prediction.split, Some(Split::Test));
        assert_eq!(prediction.answer, Some(prediction.predicted));
        let minimal = Predictions::from_text("minimal", guide_lines(2)).unwrap();
        let prediction = minimal.iter().next().unwrap();
        assert_eq!((prediction.class, prediction.split, prediction.answer), (None, None, None));
        assert_eq!(prediction.candidates[prediction.predicted], "lamp");
    }

    #[test]
    fn the_model_that_answered_is_read_and_written_where_all_lines_agree_on_it() {
        let line = |id: &str, model: &str| {
            format!(r#"{{"id":"{id}","candidates":["a","b"],"scores":[1,0],"model":"{model}"}}"#)
        };
        let read = |lines: [String; 2]| Predictions::from_text("p", &lines.join("\n")).unwrap();
        let same = read([line("1", "memnn-window"), line("2", "memnn-window")]);
        assert_eq!(same.model(), Some("memnn-window"));
        assert_eq!(same.to_text().matches("\"model\":\"memnn-window\"").count(), 2);
        assert_eq!(read([line("1", "memnn-window"), line("2", "kneser-ney")]).model(), None);
    }

    #[test]
    fn the_full_line_of_the_guide_is_written_as_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.jsonl");
        Predictions::from_text("full", guide_lines(1)).unwrap().write(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), guide_lines(1));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said_with_its_place() {
        check_error(
            &with("}", ""),
            expect![[r#"
                rooks.jsonl:1: not a JSON object: EOF while parsing an object at column 116
                hint: a line is one whole JSON object; check whether its writer was stopped"#]],
        );
        check_error(
            &format!("{}\n[1]", with("1", "2")),
            expect![[r#"
                rooks.jsonl:2: not a JSON object: invalid type: sequence, expected a map at column 1
                hint: a line is one whole JSON object; check whether its writer was stopped"#]],
        );
        check_error(
            &with("{", r#"{"format": 2, "#),
            expect![[r#"
            rooks.jsonl:1: predictions of format 2: expected 1 or lower
            hint: a newer version of this program wrote it: update"#]],
        );
        check_error(
            &with(
                r#""scores": [0.5, -1, 0.25], "answer": "hill", "predicted": "Rook""#,
                r#""answer": "hill""#,
            ),
            expect![[r#"
            rooks.jsonl:1: the key `scores` is missing
            hint: a line needs `id`, `candidates`, and `scores` or `predicted`"#]],
        );
        check_error(
            &with(r#""1""#, "1"),
            expect!["rooks.jsonl:1: `id`: expected a string, found `1`"],
        );
        check_error(
            &with("[0.5, -1, 0.25]", r#""high""#),
            expect!["rooks.jsonl:1: `scores`: expected a list of numbers, found the string `high`"],
        );
        check_error(
            &with(r#""answer": "hill""#, r#""class": "NN""#),
            expect!["rooks.jsonl:1: `class`: expected `NE`, `CN`, `V`, `P` or null, found `NN`"],
        );
    }

    #[test]
    fn scores_that_are_no_numbers_or_too_few_are_refused() {
        check_error(
            &with("-1", "NaN"),
            expect![[r#"
            rooks.jsonl:1: `scores`: expected finite numbers, found `NaN`
            hint: JSON has no NaN or infinity; look for a model that diverged, or a log of zero"#]],
        );
        check_error(
            &with("-1", "-Infinity"),
            expect![[r#"
            rooks.jsonl:1: `scores`: expected finite numbers, found `Infinity`
            hint: JSON has no NaN or infinity; look for a model that diverged, or a log of zero"#]],
        );
        check_error(
            &with("-1", "null"),
            expect![[r#"
            rooks.jsonl:1: `scores`: expected finite numbers, found null
            hint: JSON has no NaN or infinity; look for a model that diverged, or a log of zero"#]],
        );
        check_error(
            &with("-1", "1e999"),
            expect![[r#"
                rooks.jsonl:1: `scores`: expected finite numbers, found a number out of range
                hint: JSON has no NaN or infinity; look for a model that diverged, or a log of zero"#]],
        );
        check_error(
            &with(", 0.25", ""),
            expect!["rooks.jsonl:1: `scores`: expected 3, one per candidate, found 2"],
        );
        let ten = r#"{"id": "1", "candidates": ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"], "scores": [1, 2, 3, 4, 5, 6, 7, 8, 9]}"#;
        check_error(
            ten,
            expect!["rooks.jsonl:1: `scores`: expected 10, one per candidate, found 9"],
        );
    }

    #[test]
    fn candidates_answers_and_predictions_must_fit_together() {
        check_error(
            &with(r#""rook", "hill""#, r#""Rook", "hill""#),
            expect!["rooks.jsonl:1: `candidates`: expected distinct words, found `Rook` twice"],
        );
        let alone = r#"{"id": "1", "candidates": ["hill"], "scores": [1]}"#;
        check_error(alone, expect!["rooks.jsonl:1: `candidates`: expected two or more, found 1"]);
        check_error(
            &with(r#""answer": "hill""#, r#""answer": "Hill""#),
            expect![[r#"
            rooks.jsonl:1: `answer`: expected one of the candidates, found `Hill`
            hint: `hill` is a candidate: case counts"#]],
        );
        check_error(
            &with(r#""answer": "hill""#, r#""answer": "owl""#),
            expect!["rooks.jsonl:1: `answer`: expected one of the candidates, found `owl`"],
        );
        check_error(
            &with(r#""predicted": "Rook""#, r#""predicted": "owl""#),
            expect!["rooks.jsonl:1: `predicted`: expected one of the candidates, found `owl`"],
        );
        check_error(
            &with(r#""predicted": "Rook""#, r#""predicted": "rook""#),
            expect![[r#"
            rooks.jsonl:1: `predicted`: expected a candidate with the highest score, 0.5 (`Rook`), found `rook` with -1
            hint: higher scores are better: negate losses; without `predicted` it is filled in"#]],
        );
    }

    #[test]
    fn a_question_is_answered_once() {
        let line = with("hill", "hill");
        check_error(
            &format!("{line}\n{}\n{line}", with("1", "2")),
            expect![[r#"
                rooks.jsonl:3: question `1` is answered again: first in line 1
                hint: answer a question once; one that is in two splits needs `split` on both lines"#]],
        );
        let test = with("{", r#"{"split": "test", "#);
        let both_splits = format!("{}\n{test}", with("{", r#"{"split": "valid", "#));
        assert_eq!(Predictions::from_text("both", &both_splits).unwrap().len(), 2);
    }

    #[test]
    fn an_empty_file_is_an_error_and_blank_lines_are_so_only_in_the_middle() {
        check_error(
            "\n",
            expect![[r#"
                rooks.jsonl: no predictions: expected one JSON object per line, found an empty file
                hint: check whether the program that wrote it was stopped"#]],
        );
        check_error(
            &format!("{}\n\n{}", with("1", "2"), with("1", "3")),
            expect![[r#"
                rooks.jsonl:2: not a JSON object: EOF while parsing a value at column 1
                hint: a line is one whole JSON object; check whether its writer was stopped"#]],
        );
        assert!(Predictions::from_text("p", &(with("1", "2") + "\r\n\n")).is_ok());
    }

    /// The good line as a person's.
    fn by(annotator: &str, seconds: &str) -> String {
        let keys = format!(r#""id": "1", "annotator": "{annotator}", "seconds": {seconds}"#);
        with(r#""id": "1""#, &keys)
    }

    #[test]
    fn people_are_read_and_written_one_by_one() {
        let text = [by("Wren", "2.5"), by("Finch", "4")].join("\n");
        let people = Predictions::from_text("rooks.jsonl", &text).unwrap();
        assert_eq!((people.len(), people.people().len()), (1, 2));
        assert_eq!(people.people()[0].seconds, 2.5);
        assert_eq!(Predictions::from_text("rooks.jsonl", &people.to_text()).unwrap(), people);
    }

    #[test]
    fn lines_that_are_no_persons_among_people_are_named() {
        let two = |second: &str| format!("{}\n{second}", by("Wren", "2.5"));
        check_error(
            &two(&with("1", "2")),
            expect![[r#"
                rooks.jsonl:2: the key `annotator` is missing
                hint: in a file of people's answers every line has `annotator` and `seconds`"#]],
        );
        check_error(
            &two(&by("Finch", "null")),
            expect![[r#"
                rooks.jsonl:2: the key `seconds` is missing
                hint: in a file of people's answers every line has `annotator` and `seconds`"#]],
        );
        check_error(
            &two(&by("Finch", "-1")),
            expect!["rooks.jsonl:2: `seconds`: expected a number that is not negative, found `-1`"],
        );
        check_error(
            &two(&by("Wren", "1")),
            expect![[r#"
                rooks.jsonl:2: question `1` is answered again: first in line 1
                hint: answer a question once; one that is in two splits needs `split` on both lines"#]],
        );
    }

    #[test]
    fn text_in_another_encoding_is_refused_with_its_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let line = with("hill", "h\u{fc}gel") + "\n";
        let latin_1 = [line.as_bytes(), b"{\"id\": \"h\xfcgel\"}"].concat();
        fs::write(file.path(), latin_1).unwrap();
        let error = Predictions::read(file.path()).unwrap_err();
        assert_eq!(error.to_string(), format!("{}:2: not UTF-8", file.path().display()));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Predictions::read(Path::new("no/such.jsonl")).unwrap_err();
        expect![[r#"
            no/such.jsonl: cannot be read: No such file or directory (os error 2)
            hint: answer questions with a model to make predictions"#]]
        .assert_eq(&format!("{error}\nhint: {}", error.remedy().unwrap()));
    }

    prop_compose! {
        fn any_prediction()(
            id in "\\PC{1,8}",
            class in prop::option::of(prop::sample::select(WordClass::ALL.to_vec())),
            split in prop::option::of(prop::sample::select(Split::ALL.to_vec())),
            book in prop::option::of("\\PC{0,8}"),
            candidates in prop::collection::btree_set("\\PC{1,4}", 2..12),
            scores in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO, 12),
            answer in prop::option::of(0..2_usize),
        ) -> Prediction {
            let candidates: Vec<String> = candidates.into_iter().collect();
            let scores = scores[..candidates.len()].to_vec();
            let predicted = choose(&scores, &id, 1);
            Prediction { id, class, split, book, candidates, scores, answer, predicted }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(predictions in prop::collection::vec(any_prediction(), 1..5)) {
            let file = tempfile::NamedTempFile::new().unwrap();
            let Ok(predictions) = Predictions::new(file.path().display().to_string(), predictions)
            else {
                // Two of them had the same id.
                return Ok(());
            };
            predictions.write(file.path()).unwrap();
            prop_assert_eq!(Predictions::read(file.path()).unwrap(), predictions);
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC{0,60}", cut in 0..130_usize) {
            let line = with("1", "2");
            let spliced = line.get(..cut).unwrap_or(&line).to_owned() + &text;
            let _ = Predictions::from_text("p", &spliced);
        }
    }
}
