//! Questions → the rows of a Parquet file.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use base::WordId;
use foldhash::fast::FixedState;
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use zstd::bulk::Compressor;

use super::chunk::{Chunk, ZSTD_LEVEL};
use super::{GROUP_ROWS, SCHEMA};
use crate::error::{Error, Result};
use crate::formats::sentence;
use crate::{EmptyFields, QuestionSet};

/// A row group ends early where its distinct texts are longer.
const GROUP_BYTES: usize = 1 << 29;

/// Writes questions, of one set after the other, in groups of ten thousand rows. The bytes depend on the questions and
/// their ids alone, not on how they come in sets.
pub struct Writer<'p, W: Write + Send> {
    file: SerializedFileWriter<W>,
    compressor: Compressor<'static>,
    path: &'p Path,
    group: Group,
    n_rows: usize,
}

/// The rows of a group, by column.
struct Group {
    n_rows: usize,
    n_bytes: usize,
    contexts: Contexts,
    option_numbers: WordNumbers,
    sentences: Chunk,
    question: Chunk,
    answer: Chunk,
    options: Chunk,
    id: Chunk,
    class: Chunk,
    split: Chunk,
    book: Chunk,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            n_rows: 0,
            n_bytes: 0,
            contexts: Contexts::default(),
            option_numbers: WordNumbers::default(),
            sentences: Chunk::default(),
            question: Chunk::plain(),
            answer: Chunk::default(),
            options: Chunk::default(),
            id: Chunk::plain(),
            class: Chunk::default(),
            split: Chunk::default(),
            book: Chunk::default(),
        }
    }
}

impl Group {
    /// In the order of the schema.
    fn columns(&self) -> [&Chunk; 8] {
        let Self { sentences, question, answer, options, id, class, split, book, .. } = self;
        [sentences, question, answer, options, id, class, split, book]
    }
}

/// Which number each sentence of a set has in the group, and the context that came last.
#[derive(Default)]
struct Contexts {
    numbers: HashMap<usize, u32, FixedState>,
    last: Option<Range<usize>>,
    list: Vec<u32>,
}

/// Which number each word of a set has in the dictionary of a column.
#[derive(Default)]
struct WordNumbers(Vec<Option<u32>>);

impl WordNumbers {
    fn number(&mut self, word: WordId, set: &QuestionSet, column: &mut Chunk) -> u32 {
        if self.0.is_empty() {
            self.0.resize(set.vocabulary().len(), None);
        }
        *self.0[word.index()].get_or_insert_with(|| column.number(set.vocabulary().word(word)))
    }
}

impl<'p, W: Write + Send> Writer<'p, W> {
    /// Begins a file; `path` is for messages alone.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn new(output: W, path: &'p Path) -> Result<Self> {
        let schema = Arc::new(parse_message_type(SCHEMA).expect("the schema is valid"));
        let failed = |cause| Error::Write { path: path.to_owned(), cause };
        let file = SerializedFileWriter::new(output, schema, Arc::default());
        Ok(Self {
            file: file.map_err(|error| failed(cause(error)))?,
            compressor: Compressor::new(ZSTD_LEVEL).map_err(failed)?,
            path,
            group: Group::default(),
            n_rows: 0,
        })
    }

    /// Adds all questions of a set; `id` gives their ids.
    ///
    /// # Errors
    /// [`Error::Unwritable`] for a word with a space in it, or [`Error::Write`].
    pub fn push(
        &mut self,
        set: &QuestionSet,
        empty_fields: &EmptyFields,
        id: impl Fn(usize) -> String,
    ) -> Result<()> {
        self.group.contexts = Contexts::default();
        self.group.option_numbers = WordNumbers::default();
        for question in 0..set.len() {
            let added = self.group.push(set, empty_fields, question, &id(question));
            added.map_err(|word| Error::Unwritable {
                path: self.path.to_owned(),
                format: "Parquet",
                question: self.n_rows + 1,
                word: word.to_owned(),
            })?;
            self.n_rows += 1;
            if self.group.n_rows == GROUP_ROWS || self.group.n_bytes > GROUP_BYTES {
                self.write_group()?;
            }
        }
        Ok(())
    }

    /// Ends the file; returns how many rows it has.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(mut self) -> Result<usize> {
        if self.group.n_rows > 0 {
            self.write_group()?;
        }
        let path = self.path.to_owned();
        self.file.close().map_err(|error| Error::Write { path, cause: cause(error) })?;
        Ok(self.n_rows)
    }

    fn write_group(&mut self) -> Result<()> {
        let group = std::mem::take(&mut self.group);
        let written = (|| {
            let columns = self.file.schema_descr().columns().to_vec();
            let mut writer = self.file.next_row_group()?;
            for (chunk, column) in group.columns().into_iter().zip(&columns) {
                let (bytes, close) = chunk.encode(column, &mut self.compressor)?;
                writer.append_column(&bytes, close)?;
            }
            writer.close()
        })();
        let failed = |error| Error::Write { path: self.path.to_owned(), cause: cause(error) };
        written.map(drop).map_err(failed)
    }
}

impl Group {
    /// Adds the row of a question; the error is the word that would not be read back as it is.
    fn push<'a>(
        &mut self,
        set: &'a QuestionSet,
        empty_fields: &EmptyFields,
        question: usize,
        id: &str,
    ) -> Result<(), &'a str> {
        let example = set.example(question);
        let candidates = example.question.candidates;
        let text = |&word: &WordId| set.vocabulary().word(word);
        if candidates.iter().any(|word| text(word).is_empty()) {
            return Err("");
        }
        let (context, contexts) = (set.context(question), &mut self.contexts);
        if contexts.last.as_ref() != Some(&context) {
            contexts.list.clear();
            for sentence in context.clone() {
                let number = match contexts.numbers.get(&sentence) {
                    Some(&number) => number,
                    None => {
                        let mut text = String::new();
                        sentence::join(set, set.sentence(sentence), &mut text)?;
                        self.n_bytes += text.len();
                        let number = self.sentences.number(&text);
                        contexts.numbers.insert(sentence, number);
                        number
                    }
                };
                contexts.list.push(number);
            }
            contexts.last = Some(context);
        }
        let mut query = String::new();
        sentence::join(set, example.question.query, &mut query)?;
        let options: Vec<u32> = if empty_fields.is_empty() {
            let number = |&word| self.option_numbers.number(word, set, &mut self.options);
            candidates.iter().map(number).collect()
        } else {
            let candidates: Vec<&str> = candidates.iter().map(text).collect();
            let fields = empty_fields.restore(question, &candidates);
            fields.iter().map(|field| self.options.number(field)).collect()
        };
        self.n_bytes += query.len() + id.len();
        self.n_rows += 1;
        self.sentences.push_list(&contexts.list);
        self.question.push(Some(&query));
        self.answer.push(example.answer.map(|answer| text(&candidates[answer])));
        self.options.push_list(&options);
        self.id.push(Some(id));
        self.class.push(example.class.map(|class| class.code()));
        self.split.push(example.split.map(|split| split.code()));
        self.book.push(example.book);
        Ok(())
    }
}

/// Writes all questions of a set as Parquet; `path` is for messages alone.
///
/// # Errors
/// [`Error::Unwritable`] for a word with a space in it, or [`Error::Write`].
pub fn write(
    set: &QuestionSet,
    empty_fields: &EmptyFields,
    output: &mut (impl Write + Send),
    path: &Path,
) -> Result<()> {
    let mut writer = Writer::new(output, path)?;
    writer.push(set, empty_fields, |question| set.id(question).to_string())?;
    writer.finish().map(drop)
}

/// What the system said about a failed write.
pub(super) fn cause(error: ParquetError) -> std::io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(cause) => *cause,
            Err(other) => std::io::Error::other(other),
        },
        other => std::io::Error::other(other),
    }
}
