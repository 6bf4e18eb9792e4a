//! Predictions files: JSON lines ⇄ [`Predictions`]. The keys are described in [`crate::predictions`].

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use questions::{Split, WordClass};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::predictions::choose;
use crate::{Error, LineProblem, Prediction, Predictions};

/// The format that is written, and the newest that is read.
pub const FORMAT: u64 = 1;

/// Draws among the best candidates of a line without `predicted`.
const SEED_OF_UNSAID: u64 = 1;

impl Predictions {
    /// Reads a predictions file.
    ///
    /// # Errors
    /// [`Error::File`], or [`Error::Line`] for the first line that is no prediction.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path)
            .map_err(|source| Error::File { path: path.to_owned(), source })?;
        Self::from_text(&path.display().to_string(), &text)
    }

    /// Reads the text of a predictions file under its name. Blank lines at the end are no lines.
    ///
    /// # Errors
    /// [`Error::Line`] for the first line that is no prediction; [`Error::Empty`].
    pub fn from_text(name: &str, text: &str) -> Result<Self, Error> {
        let parse = |(line, text)| {
            parse_line(text).map_err(|problem| Error::Line {
                name: name.to_owned(),
                line,
                problem: problem.into(),
            })
        };
        let lines = (1..).zip(text.trim_start_matches('\u{feff}').trim_end().lines());
        Self::new(name, lines.map(parse).collect::<Result<_, _>>()?)
    }

    /// Writes a predictions file whole or not at all, in place of one that is there.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        self.write_and_rename(path).map_err(|source| Error::File { path: path.to_owned(), source })
    }

    fn write_and_rename(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        // Others may read the file as any other, unlike a temporary one.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
        let mut out = io::BufWriter::new(&mut file);
        for prediction in self.iter() {
            serde_json::to_writer(&mut out, &Line::from(prediction))?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
        drop(out);
        file.persist(path)?;
        Ok(())
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
        }
    }
}

fn parse_line(line: &str) -> Result<Prediction, LineProblem> {
    let object: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| syntax_problem(line, &error))?;
    if let Some(format) = object.get("format") {
        let found =
            format.as_u64().ok_or_else(|| wrong_type("format", "a whole number", format))?;
        if found > FORMAT {
            return Err(LineProblem::NewerFormat { expected: FORMAT, found });
        }
    }
    let line = Fields(object);
    let id = line.text("id")?.ok_or(LineProblem::MissingKey { key: "id" })?.to_owned();
    let candidates = line.candidates()?;
    let scores = line.scores()?;
    Ok(Prediction {
        class: line.code("class", "`NE`, `CN`, `V`, `P` or null", WordClass::from_code)?,
        split: line.code("split", "`train`, `valid`, `test` or null", Split::from_code)?,
        book: line.text("book")?.map(str::to_owned),
        answer: line.candidate("answer", &candidates)?,
        predicted: line
            .candidate("predicted", &candidates)?
            .unwrap_or_else(|| choose(&scores, &id, SEED_OF_UNSAID)),
        id,
        candidates,
        scores,
    })
}

/// The object of a line; a null value is as good as a missing key.
struct Fields(Map<String, Value>);

impl Fields {
    fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &'static str) -> Result<Option<&str>, LineProblem> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(key, "a text", other)),
        }
    }

    fn list(&self, key: &'static str, expected: &'static str) -> Result<&[Value], LineProblem> {
        let value = self.get(key).ok_or(LineProblem::MissingKey { key })?;
        value.as_array().map(Vec::as_slice).ok_or_else(|| wrong_type(key, expected, value))
    }

    fn candidates(&self) -> Result<Vec<String>, LineProblem> {
        const EXPECTED: &str = "a list of texts";
        let word = |value: &Value| match value {
            Value::String(word) => Ok(word.clone()),
            _ => Err(wrong_type("candidates", EXPECTED, value)),
        };
        self.list("candidates", EXPECTED)?.iter().map(word).collect()
    }

    fn scores(&self) -> Result<Vec<f64>, LineProblem> {
        let score = |value: &Value| {
            value.as_f64().ok_or_else(|| LineProblem::ScoreNotFinite { found: kind(value) })
        };
        self.list("scores", "a list of numbers")?.iter().map(score).collect()
    }

    fn code<T>(
        &self,
        key: &'static str,
        expected: &'static str,
        from_code: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, LineProblem> {
        let Some(code) = self.text(key)? else { return Ok(None) };
        let unknown = || LineProblem::WrongType { key, expected, found: format!("`{code}`") };
        from_code(code).map(Some).ok_or_else(unknown)
    }

    fn candidate(
        &self,
        key: &'static str,
        candidates: &[String],
    ) -> Result<Option<usize>, LineProblem> {
        let Some(word) = self.text(key)? else { return Ok(None) };
        let place = candidates.iter().position(|candidate| candidate == word);
        let twin = || {
            let same = |candidate: &&String| candidate.to_lowercase() == word.to_lowercase();
            candidates.iter().find(same).cloned()
        };
        let missing = || LineProblem::NotACandidate { key, found: word.to_owned(), twin: twin() };
        place.map(Some).ok_or_else(missing)
    }
}

fn wrong_type(key: &'static str, expected: &'static str, found: &Value) -> LineProblem {
    LineProblem::WrongType { key, expected, found: kind(found) }
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
        Value::String(text) => format!("the text `{text}`"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Python writes scores that are no numbers as `NaN` and `Infinity`, which is not JSON: those get
/// their own name.
fn syntax_problem(line: &str, error: &serde_json::Error) -> LineProblem {
    let column = error.column();
    let near = |word: &&str| {
        let starts = column.saturating_sub(2)..=column;
        starts.filter_map(|start| line.get(start..)).any(|rest| rest.starts_with(*word))
    };
    if let Some(word) = ["NaN", "Infinity"].into_iter().find(near) {
        return LineProblem::ScoreNotFinite { found: format!("`{word}`") };
    }
    let message = error.to_string();
    let place = format!(" at line {} column {column}", error.line());
    LineProblem::Json { message: message.trim_end_matches(&place).to_owned(), column }
}
