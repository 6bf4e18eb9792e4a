//! JSON lines, one object a question: the columns of the public `cbt` data set, and ours.
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
//! Other keys are passed over. The running text of the books is not held.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::assemble::{Assembler, Fields};
use crate::error::{At, Error, Flaw, Result};
use crate::{OpenOptions, QuestionSet, Split, Warnings, WordClass, sentence};

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
    pub(crate) fn assemble(&self, assembler: &mut Assembler<'_>) -> Result<(), Flaw> {
        let class = code(&self.class, "class", "`NE`, `CN`, `V` or `P`", WordClass::from_code)?;
        let split = code(&self.split, "split", "`train`, `valid` or `test`", Split::from_code)?;
        if !assembler.wants(split) {
            return Ok(());
        }
        let sentences: Vec<&[u8]> = self.sentences.iter().map(|text| text.as_bytes()).collect();
        let context = assembler.context(&sentences).map_err(|_| Flaw::NotUtf8)?;
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

    /// The row of a question; gives the word that could not be read back as it is.
    pub(crate) fn of(set: &'a QuestionSet, question: usize, id: String) -> Result<Self, &'a str> {
        let text = |words| {
            let mut text = String::new();
            sentence::join(set, words, &mut text).map(|()| Cow::Owned(text))
        };
        let word = |&word| Cow::Borrowed(set.vocabulary().word(word));
        let candidates: Vec<Cow<str>> = set.candidates(question).iter().map(word).collect();
        if candidates.iter().any(|candidate| candidate.is_empty()) {
            return Err("");
        }
        let context = set.context(question).map(|place| text(set.sentence(place)));
        Ok(Row {
            sentences: context.collect::<Result<_, _>>()?,
            question: text(set.query(question))?,
            answer: set.answer(question).map(|answer| candidates[answer].clone()),
            options: match set.candidate_field(question) {
                Some(field) => field.split('|').map(Cow::Borrowed).collect(),
                None => candidates,
            },
            id,
            class: set.class(question).map(|class| class.code().into()),
            split: set.split(question).map(|split| split.code().into()),
            book: set.book(question).map(|book| set.books()[book].name.as_str().into()),
        })
    }
}

fn code<T>(
    value: &Option<Cow<'_, str>>,
    key: &'static str,
    expected: &'static str,
    from_code: fn(&str) -> Option<T>,
) -> Result<Option<T>, Flaw> {
    let Some(value) = value else { return Ok(None) };
    let wrong = || Flaw::Value { key, expected, found: format!("`{value}`") };
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
            Ok(text) => match serde_json::from_str::<Row>(text) {
                Ok(row) => row.assemble(&mut assembler),
                Err(error) => Err(explain(text, &error)),
            },
            Err(_) => Err(Flaw::NotUtf8),
        };
        result.map_err(|flaw| Error::Malformed {
            path: path.to_owned(),
            at: At::Line(line),
            flaw,
        })?;
    }
    Ok(assembler.finish())
}

/// Which key of a line is wrong: a second, slower look at a line that could not be read.
fn explain(text: &str, error: &serde_json::Error) -> Flaw {
    use serde_json::Value;
    // The place is a column: the line is the one that the message begins with.
    let reason = error.to_string().replace(" at line 1 column ", " at column ");
    let Ok(Value::Object(object)) = serde_json::from_str(text) else {
        return Flaw::Json { reason };
    };
    let is_text = |value: &Value| value.is_string();
    let is_list = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(is_text));
    let wrong = |key, expected, required: bool, fits: &dyn Fn(&Value) -> bool| {
        let value = object.get(key).unwrap_or(&Value::Null);
        let is_absent = value.is_null() && !required;
        (!is_absent && !fits(value)).then(|| Flaw::Value { key, expected, found: kind(value) })
    };
    let list = "a list of strings";
    let text = "a string";
    let text_or_none = "a string or null";
    wrong("sentences", list, true, &is_list)
        .or_else(|| wrong("question", text, true, &is_text))
        .or_else(|| wrong("options", list, true, &is_list))
        .or_else(|| wrong("answer", text_or_none, false, &is_text))
        .or_else(|| wrong("class", text_or_none, false, &is_text))
        .or_else(|| wrong("split", text_or_none, false, &is_text))
        .or_else(|| wrong("book", text_or_none, false, &is_text))
        .unwrap_or(Flaw::Json { reason })
}

fn kind(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(list) => match list.iter().find(|element| !element.is_string()) {
            Some(element) => format!("a list with {} in it", kind(element)),
            None => "a list".to_owned(),
        },
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Writes all questions of a set as JSON lines; `path` is for messages alone.
///
/// # Errors
/// [`Error::Unwritable`] for a word with a space in it, or [`Error::Write`].
pub fn write(set: &QuestionSet, output: &mut impl Write, path: &Path) -> Result<()> {
    for (question, id) in set.all_ids().into_iter().enumerate() {
        let row = Row::of(set, question, id).map_err(|word| Error::Unwritable {
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
