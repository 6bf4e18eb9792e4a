//! CNN QA as JSON lines: `document`, `question`, `answer`, `url`, `split`, `source` → [`QuestionSet`].
//!
//! | key | holds |
//! |---|---|
//! | `document` | the article |
//! | `question` | the query with `@placeholder` |
//! | `answer` | the missing entity; null or absent where it is not known |
//! | `url` | the article's address; null or absent |
//! | `split` | `training`, `validation` or `test`, or `train`, `valid` or `test`; null or absent |
//! | `source` | `cnn`; lines of another source are counted and left out; null or absent |
//!
//! Other keys are ignored, among them `entities`, the names of the entities.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use rayon::prelude::*;
use serde::Deserialize;

use super::article::{Article, ArticleError, entities};
use super::chunks::{Chunk, collect_chunks};
use super::folder::split_from;
use crate::error::LineError;
use crate::error::{Error, Location, Result};
use crate::formats::json::{Kind, parse};
use crate::{OpenOptions, QuestionSet, Warnings};

/// How many bytes a thread reads in one go, and the rest of the line that they end in.
const BYTES_PER_CHUNK: u64 = 8 << 20;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    document: Cow<'a, str>,
    #[serde(borrow)]
    question: Cow<'a, str>,
    #[serde(default)]
    answer: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    split: Option<String>,
    #[serde(default)]
    source: Option<String>,
}

/// Whether a file of JSON lines is of this kind: its first line has the key `document`.
///
/// # Errors
/// [`Error::Read`].
pub fn is_news(path: &Path) -> Result<bool> {
    let failed = |cause| Error::Read { path: path.to_owned(), cause };
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let mut line = Vec::new();
    while line.trim_ascii().is_empty() {
        line.clear();
        if file.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            return Ok(false);
        }
    }
    // Not parsed: a line that is no JSON must be refused by the right reader too.
    let text = String::from_utf8_lossy(&line);
    let mut after_key = text.split("\"document\"").skip(1);
    Ok(after_key.any(|rest| rest.trim_start().starts_with(':')))
}

/// Reads JSON lines in parallel; `path` is for messages alone.
///
/// # Errors
/// [`Error::Malformed`] with the line, unless bad questions are to be skipped; [`Error::Read`].
pub fn read_lines(
    input: impl Read + Send,
    path: &Path,
    options: &OpenOptions,
) -> Result<(QuestionSet, Warnings)> {
    read_lines_in_chunks(input, path, options, BYTES_PER_CHUNK)
}

pub(super) fn read_lines_in_chunks(
    input: impl Read + Send,
    path: &Path,
    options: &OpenOptions,
    bytes_per_chunk: u64,
) -> Result<(QuestionSet, Warnings)> {
    let n_chunks = 2 * rayon::current_num_threads();
    let input = BufReader::with_capacity(1 << 20, input);
    let mut blocks = Blocks { input, bytes_per_block: bytes_per_chunk, line: 1 };
    let waves = std::iter::from_fn(move || {
        let wave: std::io::Result<Vec<Block>> =
            (0..n_chunks).map_while(|_| blocks.next().transpose()).collect();
        let wave = wave.map_err(|cause| Error::Read { path: path.to_owned(), cause });
        Some(wave).filter(|wave| wave.as_ref().map_or(true, |blocks| !blocks.is_empty()))
    });
    let read = |blocks: &Vec<Block>| -> Vec<Chunk> {
        blocks.par_iter().map(|block| read_chunk(block, path, options)).collect()
    };
    collect_chunks(path, options, waves, read)
}

/// Whole lines of a file.
struct Block {
    text: Vec<u8>,
    first_line: usize,
}

struct Blocks<R> {
    input: BufReader<R>,
    bytes_per_block: u64,
    /// The number of the next line.
    line: usize,
}

impl<R: Read> Blocks<R> {
    fn next(&mut self) -> std::io::Result<Option<Block>> {
        let mut text = Vec::new();
        self.input.by_ref().take(self.bytes_per_block).read_to_end(&mut text)?;
        if !text.ends_with(b"\n") {
            self.input.read_until(b'\n', &mut text)?;
        }
        let first_line = self.line;
        self.line += text.iter().filter(|&&byte| byte == b'\n').count();
        Ok((!text.is_empty()).then_some(Block { text, first_line }))
    }
}

fn read_chunk(block: &Block, path: &Path, options: &OpenOptions) -> Chunk {
    let mut chunk = Chunk::default();
    for (bytes, line) in block.text.split(|&byte| byte == b'\n').zip(block.first_line..) {
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let read = read_line(bytes, options, &mut chunk).map_err(|error| Error::Malformed {
            path: path.to_owned(),
            at: Location::Line(line),
            error,
        });
        if !chunk.count(read, options) {
            break;
        }
    }
    chunk
}

fn read_line(bytes: &[u8], options: &OpenOptions, chunk: &mut Chunk) -> Result<(), LineError> {
    let text = std::str::from_utf8(bytes).map_err(|_| LineError::NotUtf8)?;
    let line: Line<'_> = parse(text, KEYS).map_err(|error| LineError::News(error.into()))?;
    let split = line.split.as_deref().map(|split| {
        let found = format!("`{split}`");
        let expected = "`training`, `validation` or `test`";
        let wrong = LineError::News(LineError::Value { key: "split", expected, found }.into());
        split_from(split).ok_or(wrong)
    });
    let split = split.transpose()?.or(options.split);
    if line.source.is_some_and(|source| source != "cnn") {
        chunk.of_other_sources += usize::from(options.wants(split, None));
        return Ok(());
    }
    if !options.wants(split, None) {
        return Ok(());
    }
    let article = Article {
        url: line.url.as_deref(),
        text: &line.document,
        query: &line.question,
        answer: line.answer.as_deref().filter(|answer| !answer.is_empty()),
        split,
        entities: entities(&line.document),
    };
    article.push(&mut chunk.set, &mut chunk.numbering).map_err(
        |(ArticleError::Query(error) | ArticleError::Answer(error) | ArticleError::Text(error))| {
            error
        },
    )
}

const KEYS: &[(&str, Kind)] = &[
    ("document", Kind::Text),
    ("question", Kind::Text),
    ("answer", Kind::TextOrNone),
    ("url", Kind::TextOrNone),
    ("split", Kind::TextOrNone),
    ("source", Kind::TextOrNone),
];
