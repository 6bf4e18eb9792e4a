//! The layout of data sets on the Hugging Face hub: a folder that `datasets.load_dataset(DIR, "NE")` opens.
//!
//! ```text
//! README.md                        the data set's card: configurations, statistics, licence, origin
//! NE/train.parquet                 named entities, for training
//! NE/validation.parquet, …
//! ```
//!
//! The columns are those of [`crate::parquet`], and the question as plain text: `context`, `left` and `right`, so that
//! `context + " " + left + candidate + right` is what a reader sees.

mod card;

use std::path::Path;
use std::sync::Arc;

use corpus::detokenise::{Style, join, passage};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use toml::Table;

use crate::error::{Error, Result};
use crate::formats::jsonl::Row;
use crate::formats::output::write_file;
use crate::formats::parquet::SCHEMA as QUESTION_COLUMNS;
use crate::formats::write::by_split_and_class;
use crate::{EmptyFields, Question, QuestionSet, Split, WordClass};

use self::card::Card;

/// Rows in a row group: 25 MB of text where contexts have 20 sentences.
const GROUP_ROWS: usize = 10_000;

/// The columns that are written after those of [`QUESTION_COLUMNS`].
const PLAIN_COLUMNS: &str = "
    optional binary context (STRING);
    optional binary left (STRING);
    optional binary right (STRING);
}";

/// Returns whether an entry is one of those that are written here.
pub(crate) fn is_name(name: &str) -> bool {
    name == "README.md" || WordClass::ALL.iter().any(|class| class.code() == name)
}

/// What the hub calls a split.
fn hub_name(split: Split) -> &'static str {
    if split == Split::Valid { "validation" } else { split.code() }
}

/// Fills the folder `inside`, which is to become `output`. The manifest says how the questions were made.
pub(crate) fn write(
    set: &QuestionSet,
    manifest: &Table,
    inside: &Path,
    output: &Path,
) -> Result<()> {
    let mut parts: Vec<_> = by_split_and_class(set, output)?.into_iter().collect();
    parts.sort_by_key(|((_, class), _)| *class);
    let ids = set.all_ids();
    let mut card = Card::default();
    for ((split, class), questions) in parts {
        let name = format!("{}/{}.parquet", class.code(), hub_name(split));
        let (file, path) = (inside.join(&name), output.join(&name));
        std::fs::create_dir_all(inside.join(class.code()))
            .map_err(|cause| Error::Write { path: path.clone(), cause })?;
        write_file(&file, false, |file| write_part(set, &questions, &ids, file, &path))?;
        card.add(class, split, questions.len());
    }
    let path = output.join("README.md");
    write_file(&inside.join("README.md"), false, |file| {
        std::io::Write::write_all(file, card.text(set, manifest).as_bytes())
            .map_err(|cause| Error::Write { path, cause })
    })
}

/// A question as plain text: what comes before its query, and the query before and after the blank.
struct Plain {
    context: String,
    left: String,
    right: String,
}

impl Plain {
    fn of(question: &Question<'_>) -> Self {
        let spelt = |sentence: &[base::WordId]| -> Vec<&str> {
            sentence.iter().map(|&word| question.word(word)).collect()
        };
        let mut sentences: Vec<Vec<&str>> = question.context.iter().map(spelt).collect();
        let n_context: usize = sentences.iter().map(Vec::len).sum();
        sentences.push(spelt(question.query));
        let printed = passage(&sentences, Style::Plain);
        let blank = n_context + question.blank;
        let space = if printed[blank].has_space && question.blank > 0 { " " } else { "" };
        Self {
            context: join(&printed[..n_context]),
            left: join(&printed[n_context..blank]).trim_start().to_owned() + space,
            right: join(&printed[blank + 1..]),
        }
    }
}

fn write_part(
    set: &QuestionSet,
    questions: &[usize],
    ids: &[String],
    output: impl std::io::Write + Send,
    path: &Path,
) -> Result<()> {
    let failed = |error: ParquetError| Error::Write { path: path.to_owned(), cause: cause(error) };
    let schema = QUESTION_COLUMNS.trim_end_matches("\n}").to_owned() + PLAIN_COLUMNS;
    let schema = Arc::new(parse_message_type(&schema).expect("the schema is valid"));
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer =
        SerializedFileWriter::new(output, schema, Arc::new(properties)).map_err(failed)?;
    for questions in questions.chunks(GROUP_ROWS) {
        let row = |&question: &usize| {
            let row = Row::of(set, &EmptyFields::default(), question, ids[question].clone());
            row.map_err(|word| Error::Unwritable {
                path: path.to_owned(),
                format: "Parquet",
                question: question + 1,
                word: word.to_owned(),
            })
        };
        let rows: Vec<Row> = questions.iter().map(row).collect::<Result<_>>()?;
        let plain = questions.iter().map(|&question| Plain::of(&set.example(question).question));
        let plain: Vec<Plain> = plain.collect();
        let group = writer.next_row_group().map_err(failed)?;
        write_group(group, &rows, &plain).map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    Ok(())
}

fn write_group(
    mut group: SerializedRowGroupWriter<'_, impl std::io::Write + Send>,
    rows: &[Row<'_>],
    plain: &[Plain],
) -> Result<(), ParquetError> {
    type Text = for<'r> fn(&'r Row<'_>) -> Option<&'r str>;
    let lists = |row: &Row<'_>| -> [Vec<ByteArray>; 2] {
        [&row.sentences, &row.options].map(|list| list.iter().map(|text| bytes(text)).collect())
    };
    let (sentences, options): (Vec<_>, Vec<_>) =
        rows.iter().map(lists).map(|[sentences, options]| (sentences, options)).unzip();
    let of_rows = |text: Text| rows.iter().map(text).map(|text| text.map(bytes)).collect();
    let of_plain = |text: fn(&Plain) -> &str| plain.iter().map(|p| Some(bytes(text(p)))).collect();
    write_lists(&mut group, sentences)?;
    write_texts(&mut group, of_rows(|row| Some(&row.question)))?;
    write_texts(&mut group, of_rows(|row| row.answer.as_deref()))?;
    write_lists(&mut group, options)?;
    write_texts(&mut group, of_rows(|row| Some(&row.id)))?;
    write_texts(&mut group, of_rows(|row| row.class.as_deref()))?;
    write_texts(&mut group, of_rows(|row| row.split.as_deref()))?;
    write_texts(&mut group, of_rows(|row| row.book.as_deref()))?;
    write_texts(&mut group, of_plain(|plain| &plain.context))?;
    write_texts(&mut group, of_plain(|plain| &plain.left))?;
    write_texts(&mut group, of_plain(|plain| &plain.right))?;
    group.close().map(|_| ())
}

fn bytes(text: &str) -> ByteArray {
    ByteArray::from(text)
}

fn write_texts(
    group: &mut SerializedRowGroupWriter<'_, impl std::io::Write + Send>,
    texts: Vec<Option<ByteArray>>,
) -> Result<(), ParquetError> {
    let definitions: Vec<i16> = texts.iter().map(|text| i16::from(text.is_some())).collect();
    let values: Vec<ByteArray> = texts.into_iter().flatten().collect();
    write_column(group, &values, &definitions, None)
}

fn write_lists(
    group: &mut SerializedRowGroupWriter<'_, impl std::io::Write + Send>,
    lists: Vec<Vec<ByteArray>>,
) -> Result<(), ParquetError> {
    // Dremel levels: 3 is a value, 1 a list without an element; repetition 0 begins a row.
    let (mut definitions, mut repetitions) = (Vec::new(), Vec::new());
    for list in &lists {
        repetitions.push(0);
        repetitions.extend(std::iter::repeat_n(1, list.len().saturating_sub(1)));
        match list.len() {
            0 => definitions.push(1),
            n => definitions.extend(std::iter::repeat_n(3, n)),
        }
    }
    let values: Vec<ByteArray> = lists.into_iter().flatten().collect();
    write_column(group, &values, &definitions, Some(&repetitions))
}

fn write_column(
    group: &mut SerializedRowGroupWriter<'_, impl std::io::Write + Send>,
    values: &[ByteArray],
    definitions: &[i16],
    repetitions: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has as many columns as are written");
    column.typed::<ByteArrayType>().write_batch(values, Some(definitions), repetitions)?;
    column.close()
}

/// What the system said about a failed write.
fn cause(error: ParquetError) -> std::io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(cause) => *cause,
            Err(other) => std::io::Error::other(other),
        },
        other => std::io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fixtures::{push_book, push_question, spelt};
    use crate::{Format, OpenOptions, WriteOptions};

    fn set() -> QuestionSet {
        let mut set = QuestionSet::default();
        let hen = push_book(&mut set, "Hen", Split::Train, "`` Hen , '' said Owl .\nThe fox ran .");
        push_question(&mut set, hen, WordClass::Verb, "He XXXXX away , too . | ran saw");
        push_question(&mut set, hen, WordClass::Verb, "`` XXXXX ! '' said Hen . | Run See");
        let fox = push_book(&mut set, "Fox", Split::Valid, "A fox sat .\nIt sang .");
        push_question(&mut set, fox, WordClass::CommonNoun, "The XXXXX sang . | fox hen");
        set
    }

    #[test]
    fn a_class_is_a_folder_and_a_split_a_file_of_it_with_the_hubs_name() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("hub");
        set().write(&output, Format::HuggingFace, &WriteOptions::default()).unwrap();
        let found = |name: &str| output.join(name).exists();
        assert!(found("V/train.parquet") && found("CN/validation.parquet"));
        assert!(!found("V/validation.parquet") && !found("NE") && !found("P"));
        let card = fs::read_to_string(output.join("README.md")).unwrap();
        assert!(card.starts_with("---\nlicense: unknown\n"), "{card}");
        let config = "- config_name: CN\n  data_files:\n  - split: validation\n    path: CN/validation.parquet\n";
        assert!(card.contains(config), "{card}");
        assert!(card.contains("| Verbs | 2 | 0 | 0 |"), "{card}");
        // Again over itself, but not over anything else.
        let again = WriteOptions::overwrite(true);
        set().write(&output, Format::HuggingFace, &again).unwrap();
        fs::write(output.join("thesis.tex"), "").unwrap();
        let error = set().write(&output, Format::HuggingFace, &again).unwrap_err();
        assert!(matches!(error, Error::ForeignFolder { .. }), "{error}");
    }

    #[test]
    fn a_file_is_a_question_set_whose_other_columns_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("hub");
        set().write(&output, Format::HuggingFace, &WriteOptions::default()).unwrap();
        let path = output.join("V/train.parquet");
        let (read, _) = QuestionSet::open(&path, &OpenOptions::default()).unwrap();
        assert_eq!(spelt(&read), spelt(&set())[..2]);
    }

    #[test]
    fn the_parts_of_a_question_and_a_candidate_are_its_plain_text() {
        let set = set();
        let texts = |index: usize| {
            let plain = Plain::of(&set.example(index).question);
            [plain.context, plain.left, plain.right]
        };
        assert_eq!(texts(0), ["\"Hen,\" said Owl. The fox ran.", "He ", " away, too."]);
        assert_eq!(texts(1), ["\"Hen,\" said Owl. The fox ran.", "\"", "!\" said Hen."]);
        assert_eq!(texts(2), ["A fox sat. It sang.", "The ", " sang."]);
    }

    #[test]
    fn a_question_without_a_class_has_no_place() {
        let line =
            r#"{"sentences":["The hen ran ."],"question":"He XXXXX .","options":["ran","saw"]}"#;
        let path = Path::new("hen.jsonl");
        let (set, _) = crate::jsonl::read(line.as_bytes(), path, &OpenOptions::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("hub");
        let error = set.write(&output, Format::HuggingFace, &WriteOptions::default()).unwrap_err();
        assert!(matches!(error, Error::NoOrigin { missing: "class", .. }), "{error}");
        assert!(!output.exists());
    }
}
