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
//! Four released questions have candidate lists that end in `||`: see [`EmptyFields`].

use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::path::Path;

use crate::error::LineError;
use crate::error::{Error, Location, Result};
use crate::formats::assemble::{Assembler, Fields, NotUtf8};
use crate::formats::sentence;
use crate::{EmptyFields, OpenOptions, QuestionSet, Warnings};

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
    if !assembler.wants(None, None) {
        return Ok(assembler.finish());
    }
    loop {
        let question = lines.next_question().map_err(|error| error.at(path, lines.line))?;
        let Some(question) = question else { return Ok(assembler.finish()) };
        let error = |line, error| Error::Malformed {
            path: path.to_owned(),
            at: Location::Line(line),
            error,
        };
        let sentences: Vec<&[u8]> =
            question.sentences.iter().map(|range| &lines.text[range.clone()]).collect();
        let query_line = question.first_line + sentences.len();
        let context = assembler
            .context(&sentences)
            .map_err(|NotUtf8(index)| error(question.first_line + index, LineError::NotUtf8))?;
        let fields =
            fields(&lines.text[question.query]).map_err(|found| error(query_line, found))?;
        assembler.push(context, fields).map_err(|found| error(query_line, found))?;
    }
}

/// The four fields of the query's line.
fn fields(line: &[u8]) -> Result<Fields<'_, std::str::Split<'_, char>>, LineError> {
    let line = std::str::from_utf8(line).map_err(|_| LineError::NotUtf8)?;
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
            Err(LineError::Fields { found: format!("`{third}` as the third field") })
        }
        _ => Err(LineError::Fields { found: format!("{} fields", line.split('\t').count()) }),
    }
}

/// The lines of one question, as ranges of [`Lines::text`] without their numbers.
struct QuestionLines {
    first_line: usize,
    sentences: Vec<Range<usize>>,
    query: Range<usize>,
}

/// Reads a file question by question.
struct Lines<R> {
    input: BufReader<R>,
    /// The lines of the current question.
    text: Vec<u8>,
    /// The number of the last line read.
    line: usize,
    /// `1 `, `2 `, …: how the lines of a question begin.
    numbers: Vec<String>,
}

/// Why the next question could not be read.
enum ReadError {
    Line(LineError),
    Io(std::io::Error),
}

impl ReadError {
    fn at(self, path: &Path, line: usize) -> Error {
        let path = path.to_owned();
        match self {
            ReadError::Line(error) => Error::Malformed { path, at: Location::Line(line), error },
            ReadError::Io(cause) => Error::Read { path, cause },
        }
    }
}

impl<R: Read> Lines<R> {
    fn new(input: R) -> Self {
        let input = BufReader::with_capacity(1 << 20, input);
        Self { input, text: Vec::new(), line: 0, numbers: Vec::new() }
    }

    fn next_question(&mut self) -> Result<Option<QuestionLines>, ReadError> {
        self.text.clear();
        let first_line = self.line + 1;
        let mut sentences = Vec::with_capacity(20);
        loop {
            let Some(line) = self.next_line()? else {
                if sentences.is_empty() {
                    return Ok(None);
                }
                let expected = "the query and its candidates";
                return Err(ReadError::Line(LineError::Cut { expected }));
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
    fn next_line(&mut self) -> Result<Option<Range<usize>>, ReadError> {
        let start = self.text.len();
        let length = self.input.read_until(b'\n', &mut self.text).map_err(ReadError::Io)?;
        self.line += 1;
        match &self.text[start..] {
            [] => Ok(None),
            [.., b'\r', b'\n'] => Err(ReadError::Line(LineError::CarriageReturn)),
            [.., b'\n'] => Ok(Some(start..start + length - 1)),
            _ => Err(ReadError::Line(LineError::Cut { expected: "the end of the line" })),
        }
    }

    fn after_number(
        &mut self,
        line: Range<usize>,
        number: usize,
    ) -> Result<Range<usize>, ReadError> {
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
        Err(ReadError::Line(LineError::Numbering { expected: number, found }))
    }

    /// Skips the empty line after a question; the end of the file will do too, since the question is complete.
    fn expect_empty_line(&mut self) -> Result<(), ReadError> {
        let end = self.text.len();
        match self.next_line()? {
            Some(line) if !line.is_empty() => {
                let found = String::from_utf8_lossy(&self.text[line]).into_owned();
                Err(ReadError::Line(LineError::AfterQuery { found }))
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
    empty_fields: &EmptyFields,
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
        format_question(set, empty_fields, question, &mut text)
            .map_err(|word| unwritable(&word))?;
        output
            .write_all(text.as_bytes())
            .map_err(|cause| Error::Write { path: path.to_owned(), cause })?;
    }
    Ok(())
}

/// Appends a question; returns the word, sentence or field that the format cannot hold as an error.
fn format_question(
    set: &QuestionSet,
    empty_fields: &EmptyFields,
    question: usize,
    text: &mut String,
) -> Result<(), String> {
    let context = set.context(question);
    let query_number = context.len() + 1;
    let lines = context
        .map(|sentence| set.sentence(sentence))
        .chain([set.example(question).question.query]);
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
    let candidates: Vec<&str> = set
        .example(question)
        .question
        .candidates
        .iter()
        .map(|&word| set.vocabulary().word(word))
        .collect();
    if let Some(odd) = candidates.iter().find(|word| word.is_empty() || word.contains('|')) {
        return Err((*odd).to_owned());
    }
    let field = empty_fields.restore(question, &candidates).join("|");
    if field.contains(['\n', '\t']) || field.ends_with('\r') {
        return Err(field);
    }
    let answer = set.example(question).answer.map_or("", |index| candidates[index]);
    text.extend([answer, "\t\t", &field, "\n\n"]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;
    use crate::fixtures::{SmallDisk, bears, error_text, sets, spelt};

    const BEARS: &str = "\
1 Once there were  three bears .
2 They had a house .
3 One day the XXXXX went out .\tbears\t\tbears|house|day|Once

1 They had a house .
2 One day the bears went out .
3 A girl came to the XXXXX .\thouse\t\thouse|bears||

1 The XXXXX was cold .\t\t\tporridge|soup

";

    fn parse(text: &[u8]) -> Result<(QuestionSet, Warnings)> {
        read(text, Path::new("bears.txt"), &OpenOptions::default())
    }

    fn written(set: &QuestionSet, empty_fields: &EmptyFields) -> Result<String> {
        let all: Vec<usize> = (0..set.len()).collect();
        let mut bytes = Vec::new();
        write(set, empty_fields, &all, &mut bytes, Path::new("out.txt"))?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_file_is_written_back_byte_for_byte() {
        let (set, warnings) = parse(BEARS.as_bytes()).unwrap();
        assert_eq!(written(&set, &warnings.empty_fields).unwrap(), BEARS);
        assert_eq!(warnings.empty_fields.len(), 1);
        assert_eq!(set.n_sentences(), 3, "the second context overlaps the first");
        assert_eq!(set.example(1).question.candidates.len(), 2);
        assert_eq!(
            [0, 1, 2].map(|question| set.example(question).answer),
            [Some(0), Some(0), None]
        );
    }

    #[test]
    fn the_last_empty_line_may_be_missing() {
        let (set, warnings) = parse(BEARS.strip_suffix('\n').unwrap().as_bytes()).unwrap();
        assert_eq!(written(&set, &warnings.empty_fields).unwrap(), BEARS);
    }

    #[test]
    fn class_and_split_come_from_the_caller() {
        let options = OpenOptions {
            class: Some(crate::WordClass::Verb),
            split: Some(crate::Split::Test),
            ..OpenOptions::default()
        };
        let (set, _) = read(BEARS.as_bytes(), Path::new("bears.txt"), &options).unwrap();
        assert_eq!((set.example(0).class, set.example(0).split), (options.class, options.split));
    }

    fn refuses(text: impl AsRef<[u8]>, message: Expect) {
        message.assert_eq(&error_text(&parse(text.as_ref()).unwrap_err()));
    }

    #[test]
    fn a_file_cut_in_the_middle_of_a_question_is_refused() {
        refuses(
            "1 A house .\n2 A bear .\n",
            expect![[r#"
            error: bears.txt:3: the file ends in the middle of a question: expected the query and its candidates, found the end of the file
            hint: the file was cut; copy or download it again
        "#]],
        );
        refuses(
            "1 A house .\n2 The XXXXX .\tbear\t\tbear|hou",
            expect![[r#"
            error: bears.txt:2: the file ends in the middle of a question: expected the end of the line, found the end of the file
            hint: the file was cut; copy or download it again
        "#]],
        );
    }

    #[test]
    fn every_cut_but_between_questions_is_refused() {
        let ends: Vec<usize> =
            BEARS.match_indices("\n\n").flat_map(|(at, _)| [at + 1, at + 2]).collect();
        for length in 1..BEARS.len() {
            let is_whole = ends.contains(&length);
            assert_eq!(parse(&BEARS.as_bytes()[..length]).is_ok(), is_whole, "cut at {length}");
        }
    }

    #[test]
    fn a_query_without_or_with_two_blanks_is_refused() {
        refuses(
            "1 A house .\n2 The bear .\tbear\t\tbear|house\n\n",
            expect![[r#"
            error: bears.txt:2: the query has no blank: expected the word `XXXXX` once, found it 0 times
            hint: the missing word of the query, and nothing else, is written `XXXXX`
        "#]],
        );
        refuses(
            "1 XXXXX the XXXXX .\tbear\t\tbear|house\n\n",
            expect![[r#"
            error: bears.txt:1: the query has several blanks: expected the word `XXXXX` once, found it 2 times
            hint: the missing word of the query, and nothing else, is written `XXXXX`
        "#]],
        );
    }

    #[test]
    fn an_answer_that_is_no_candidate_is_refused() {
        refuses(
            "1 The XXXXX .\tBear\t\tbear|house\n\n",
            expect![[r#"
            error: bears.txt:1: the answer is not among the candidates: expected one of `bear|house`, found `Bear`
            hint: case counts; an answer that is unknown is left empty
        "#]],
        );
    }

    #[test]
    fn too_few_and_doubled_candidates_are_refused() {
        refuses(
            "1 The XXXXX .\tbear\t\tbear\n\n",
            expect![[r#"
            error: bears.txt:1: too few candidates: expected two or more, found 1
            hint: a question has two or more different candidates
        "#]],
        );
        refuses(
            "1 The XXXXX .\tbear\t\t||\n\n",
            expect![[r#"
            error: bears.txt:1: too few candidates: expected two or more, found 0
            hint: a question has two or more different candidates
        "#]],
        );
        refuses(
            "1 The XXXXX .\tbear\t\tbear|house|bear\n\n",
            expect![[r#"
            error: bears.txt:1: the candidate `bear` is listed twice: expected distinct candidates
            hint: a question has two or more different candidates
        "#]],
        );
    }

    #[test]
    fn lines_that_are_not_numbered_as_expected_are_refused() {
        refuses(
            "1 A house .\n3 The XXXXX .\tbear\t\tbear|house\n\n",
            expect![[r#"
            error: bears.txt:2: lines are not numbered as expected: expected `2`, found `3`
            hint: a question is lines numbered from 1, the query last, and then an empty line
        "#]],
        );
        refuses(
            "1 A house .\n\n",
            expect![[r#"
            error: bears.txt:2: lines are not numbered as expected: expected `2`, found nothing
            hint: a question is lines numbered from 1, the query last, and then an empty line
        "#]],
        );
        refuses(
            "\u{feff}1 A house .\n",
            expect![[r#"
                error: bears.txt:1: lines are not numbered as expected: expected `1`, found `\u{feff}1`
                hint: a question is lines numbered from 1, the query last, and then an empty line
            "#]],
        );
    }

    #[test]
    fn a_question_that_goes_on_after_its_query_is_refused() {
        refuses(
            "1 The XXXXX .\tbear\t\tbear|house\n1 A house .\n",
            expect![[r#"
                error: bears.txt:2: a question continues after its query: expected an empty line, found `1 A house .`
                hint: a question is lines numbered from 1, the query last, and then an empty line
            "#]],
        );
    }

    #[test]
    fn other_fields_than_four_are_refused() {
        refuses(
            "1 The XXXXX .\tbear\tbear|house\n\n",
            expect![[r#"
            error: bears.txt:1: the query's line is not as expected: expected `query TAB answer TAB TAB candidates`, found 3 fields
            hint: candidates are joined by `|`; the field before them is empty
        "#]],
        );
        refuses(
            "1 The XXXXX .\tbear\t1\tbear|house\n\n",
            expect![[r#"
            error: bears.txt:1: the query's line is not as expected: expected `query TAB answer TAB TAB candidates`, found `1` as the third field
            hint: candidates are joined by `|`; the field before them is empty
        "#]],
        );
    }

    #[test]
    fn windows_line_ends_and_other_encodings_are_refused() {
        refuses(
            "1 A house .\r\n",
            expect![[r#"
            error: bears.txt:1: the line ends in a carriage return: expected Unix line ends
            hint: `tr -d '\r' < IN.txt > OUT.txt` makes Unix line ends
        "#]],
        );
        refuses(
            b"1 A house .\n2 Na\xefve .\n3 The XXXXX .\tbear\t\tbear|house\n\n",
            expect![[r#"
            error: bears.txt:2: the text is not UTF-8
            hint: `iconv -f WINDOWS-1252 -t UTF-8 IN > OUT` converts the commonest other encoding
        "#]],
        );
    }

    #[test]
    fn words_that_the_format_cannot_hold_are_refused() {
        let mut set = bears(1);
        let [spaced, barred] = ["Mother Bear", "bear|bears"].map(|word| set.intern(word));
        let context = set.push_sentence([spaced]);
        let [bear, blank] = ["Bear", "XXXXX"].map(|word| set.intern(word));
        let question = crate::NewQuestion {
            context: context..context + 1,
            query: &[blank],
            candidates: &[bear, spaced],
            answer: None,
            class: None,
            split: None,
            book: None,
        };
        let mut barred_set = set.clone();
        set.push(question.clone()).unwrap();
        expect![[r#"
            error: out.txt: question 2 cannot be written as CBT text: it holds `Mother Bear`
            hint: write it as the compact form, which holds any text
        "#]]
        .assert_eq(&error_text(&written(&set, &EmptyFields::default()).unwrap_err()));
        let candidates = &[bear, barred];
        barred_set.push(crate::NewQuestion { context: 0..1, candidates, ..question }).unwrap();
        expect![[r#"
            error: out.txt: question 2 cannot be written as CBT text: it holds `bear|bears`
            hint: write it as the compact form, which holds any text
        "#]]
        .assert_eq(&error_text(&written(&barred_set, &EmptyFields::default()).unwrap_err()));
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let mut disk = SmallDisk { inner: Vec::new(), room: 100 };
        let none = EmptyFields::default();
        let error =
            write(&bears(3), &none, &[0, 1, 2], &mut disk, Path::new("out.txt")).unwrap_err();
        expect![[r#"
            error: out.txt: cannot be written: no storage space
            hint: free some space on the disk of `out.txt`, or choose another place
        "#]]
        .assert_eq(&error_text(&error));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back((set, empty_fields) in sets()) {
            match written(&set, &empty_fields) {
                Ok(text) => {
                    let (read, warnings) = parse(text.as_bytes()).unwrap();
                    let mut expected = spelt(&set);
                    for question in &mut expected {
                        (question.class, question.split, question.book) = (None, None, None);
                    }
                    prop_assert_eq!(spelt(&read), expected);
                    prop_assert_eq!(&warnings.empty_fields, &empty_fields);
                    prop_assert_eq!(written(&read, &empty_fields).unwrap(), text);
                }
                Err(error) => prop_assert!(matches!(error, Error::Unwritable { .. }), "{}", error),
            }
        }

        #[test]
        fn no_bytes_make_the_reader_panic(text in "[1-3 a|\tX\n]{0,40}(XXXXX)?[\t|ab\n]{0,20}") {
            if let Ok((set, warnings)) = parse(text.as_bytes()) {
                let written = written(&set, &warnings.empty_fields).unwrap();
                prop_assert_eq!(written.trim_end_matches('\n'), text.trim_end_matches('\n'));
            }
        }
    }
}
