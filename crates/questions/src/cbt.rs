//! CBT text, the format of the released Children's Book Test: file ⇄ [`QuestionSet`], byte for byte.
//!
//! ```text
//! 1 Once upon a time there were three bears .
//! 2 They lived in a house in the wood .
//! 3 One day the XXXXX went for a walk .TABbearsTABTABbears|house|time|wood
//!
//! ```
//!
//! Any number of context sentences, the query last, and an empty line. Words are split on single spaces.
//! An answer that is not known is empty. The format holds neither class, split nor book of a question.
//! Four released questions have candidate lists that end in `||`: they are read, counted in [`Warnings`]
//! and written back unchanged.

use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::path::Path;

use crate::assemble::{Assembler, Fields, NotUtf8};
use crate::error::{At, Error, Flaw, Result};
use crate::{OpenOptions, QuestionSet, Warnings, sentence};

/// Reads CBT text; `path` is for messages alone.
///
/// # Errors
/// [`Error::Malformed`] with the line, or [`Error::Read`].
pub fn read(
    input: impl Read,
    path: &Path,
    options: &OpenOptions,
) -> Result<(QuestionSet, Warnings)> {
    let mut lines = Lines::new(input);
    let mut assembler = Assembler::new(options);
    loop {
        let question = lines.next_question().map_err(|problem| problem.at(path, lines.line))?;
        let Some(question) = question else { return Ok(assembler.finish()) };
        let flaw =
            |line, flaw| Error::Malformed { path: path.to_owned(), at: At::Line(line), flaw };
        let sentences: Vec<&[u8]> =
            question.sentences.iter().map(|range| &lines.text[range.clone()]).collect();
        let query_line = question.first_line + sentences.len();
        let context = assembler
            .context(&sentences)
            .map_err(|NotUtf8(place)| flaw(question.first_line + place, Flaw::NotUtf8))?;
        let fields =
            fields(&lines.text[question.query]).map_err(|found| flaw(query_line, found))?;
        assembler.push(context, fields).map_err(|found| flaw(query_line, found))?;
    }
}

/// The four fields of the query's line.
fn fields(line: &[u8]) -> Result<Fields<'_, std::str::Split<'_, char>>, Flaw> {
    let line = std::str::from_utf8(line).map_err(|_| Flaw::NotUtf8)?;
    let mut fields = line.split('\t');
    let four = [fields.next(), fields.next(), fields.next(), fields.next()];
    match (four, fields.next()) {
        ([Some(query), Some(answer), Some(""), Some(candidates)], None) => Ok(Fields {
            query,
            candidates: candidates.split('|'),
            answer: (!answer.is_empty()).then_some(answer),
            class: None,
            split: None,
            book: None,
        }),
        ([_, _, Some(third), Some(_)], None) => {
            Err(Flaw::Fields { found: format!("`{third}` as the third field") })
        }
        _ => Err(Flaw::Fields { found: format!("{} fields", line.split('\t').count()) }),
    }
}

/// The lines of one question, as ranges of [`Lines::text`] without their numbers.
struct QuestionLines {
    first_line: usize,
    sentences: Vec<Range<usize>>,
    query: Range<usize>,
}

/// Hands out a file question by question.
struct Lines<R> {
    input: BufReader<R>,
    /// The lines of the question at hand.
    text: Vec<u8>,
    /// The number of the last line read.
    line: usize,
    /// `1 `, `2 `, …: how the lines of a question begin.
    numbers: Vec<String>,
}

enum Problem {
    Flaw(Flaw),
    Read(std::io::Error),
}

impl Problem {
    fn at(self, path: &Path, line: usize) -> Error {
        let path = path.to_owned();
        match self {
            Problem::Flaw(flaw) => Error::Malformed { path, at: At::Line(line), flaw },
            Problem::Read(cause) => Error::Read { path, cause },
        }
    }
}

impl<R: Read> Lines<R> {
    fn new(input: R) -> Self {
        let input = BufReader::with_capacity(1 << 20, input);
        Self { input, text: Vec::new(), line: 0, numbers: Vec::new() }
    }

    fn next_question(&mut self) -> Result<Option<QuestionLines>, Problem> {
        self.text.clear();
        let first_line = self.line + 1;
        let mut sentences = Vec::with_capacity(20);
        loop {
            let Some(line) = self.next_line()? else {
                return match sentences.is_empty() {
                    true => Ok(None),
                    false => {
                        Err(Problem::Flaw(Flaw::Cut { expected: "the query and its candidates" }))
                    }
                };
            };
            let content = self.after_number(line, sentences.len() + 1)?;
            if self.text[content.clone()].contains(&b'\t') {
                self.expect_empty_line()?;
                return Ok(Some(QuestionLines { first_line, sentences, query: content }));
            }
            sentences.push(content);
        }
    }

    /// The next line without its end; none at the end of the file.
    fn next_line(&mut self) -> Result<Option<Range<usize>>, Problem> {
        let start = self.text.len();
        let length = self.input.read_until(b'\n', &mut self.text).map_err(Problem::Read)?;
        self.line += 1;
        match &self.text[start..] {
            [] => Ok(None),
            [.., b'\r', b'\n'] => Err(Problem::Flaw(Flaw::CarriageReturn)),
            [.., b'\n'] => Ok(Some(start..start + length - 1)),
            _ => Err(Problem::Flaw(Flaw::Cut { expected: "the end of the line" })),
        }
    }

    fn after_number(&mut self, line: Range<usize>, number: usize) -> Result<Range<usize>, Problem> {
        if self.numbers.len() < number {
            self.numbers.push(format!("{number} "));
        }
        let expected = self.numbers[number - 1].as_bytes();
        let content = &self.text[line.clone()];
        if content.starts_with(expected) {
            return Ok(line.start + expected.len()..line.end);
        }
        let found = content.split(|&byte| byte == b' ').next().unwrap_or_default();
        let found = String::from_utf8_lossy(found).into_owned();
        Err(Problem::Flaw(Flaw::Numbering { expected: number, found }))
    }

    /// The end of the file is as good as an empty line: nothing of the question is lost.
    fn expect_empty_line(&mut self) -> Result<(), Problem> {
        let end = self.text.len();
        match self.next_line()? {
            Some(line) if !line.is_empty() => {
                let found = String::from_utf8_lossy(&self.text[line]).into_owned();
                Err(Problem::Flaw(Flaw::AfterQuery { found }))
            }
            _ => {
                self.text.truncate(end);
                Ok(())
            }
        }
    }
}

/// Writes some questions of a set as CBT text; `path` is for messages alone.
///
/// # Errors
/// [`Error::Unwritable`] for a word that would be read back as another: one with a space, tab, line end
/// or, as a candidate, a bar; [`Error::Write`].
pub fn write(
    set: &QuestionSet,
    questions: &[usize],
    output: &mut impl Write,
    path: &Path,
) -> Result<()> {
    let mut text = String::new();
    for &question in questions {
        text.clear();
        let unwritable = |word: &str| Error::Unwritable {
            path: path.to_owned(),
            format: "CBT text",
            question: question + 1,
            word: word.to_owned(),
        };
        format_question(set, question, &mut text).map_err(|word| unwritable(&word))?;
        output
            .write_all(text.as_bytes())
            .map_err(|cause| Error::Write { path: path.to_owned(), cause })?;
    }
    Ok(())
}

/// Appends a question; gives the word, sentence or field that the format can't hold.
fn format_question(set: &QuestionSet, question: usize, text: &mut String) -> Result<(), String> {
    let context = set.context(question);
    let query_number = context.len() + 1;
    let lines = context.map(|sentence| set.sentence(sentence)).chain([set.query(question)]);
    for (number, line) in (1..).zip(lines) {
        text.push_str(&number.to_string());
        text.push(' ');
        let start = text.len();
        sentence::join(set, line, text).map_err(str::to_owned)?;
        let line = &text[start..];
        if line.contains(['\n', '\t']) || (line.ends_with('\r') && number < query_number) {
            return Err(line.to_owned());
        }
        text.push(if number < query_number { '\n' } else { '\t' });
    }
    let candidates: Vec<&str> =
        set.candidates(question).iter().map(|&word| set.vocabulary().word(word)).collect();
    let field = match set.candidate_field(question) {
        Some(field) => field.to_owned(),
        None => candidates.join("|"),
    };
    if let Some(odd) = candidates.iter().find(|word| word.is_empty() || word.contains('|')) {
        return Err((*odd).to_owned());
    }
    if field.contains(['\n', '\t']) || field.ends_with('\r') {
        return Err(field);
    }
    let answer = set.answer(question).map_or("", |place| candidates[place]);
    text.extend([answer, "\t\t", &field, "\n\n"]);
    Ok(())
}
