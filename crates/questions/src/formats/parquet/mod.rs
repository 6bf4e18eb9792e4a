//! Parquet with the columns of [`crate::jsonl`]: lists of strings for `sentences` and `options`, strings
//! for the others. Reads what pyarrow, pandas and the public `cbt` data set's own tools write.
//!
//! Columns are read side by side, a batch of rows at a time, and written in groups of ten thousand rows: a
//! file of any length needs little memory.

mod checked_pages;
mod chunk;
mod ids;
mod write;

use std::borrow::Cow;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::basic::{Compression, Repetition, Type as PhysicalType};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;

use crate::error::LineError;
use crate::error::{Error, Location, Result};
use crate::formats::assemble::Assembler;
use crate::formats::jsonl::Row;
use crate::formats::shards::ShardFile;
use crate::{OpenOptions, QuestionSet, Warnings};
use checked_pages::CheckedPages;

pub use ids::{read_ids, with_ids};
pub use write::{Writer, write};

/// Rows in a row group that is written: 25 MB of text where contexts have 20 sentences.
const GROUP_ROWS: usize = 10_000;
/// Rows that are decoded at once when reading.
const BATCH_ROWS: usize = 500;

/// In the order of the fields of [`Row`]; lists have the naming of pyarrow.
pub(crate) const SCHEMA: &str = "message questions {
    optional group sentences (LIST) { repeated group list { optional binary element (STRING); } }
    optional binary question (STRING);
    optional binary answer (STRING);
    optional group options (LIST) { repeated group list { optional binary element (STRING); } }
    optional binary id (STRING);
    optional binary class (STRING);
    optional binary split (STRING);
    optional binary book (STRING);
}";

/// Reads a Parquet file; `path` is for messages alone.
///
/// # Errors
/// [`Error::Parquet`] for a file that is damaged, [`Error::Column`] for one with other columns,
/// [`Error::Malformed`] with the row for a question that is wrong.
pub fn read(
    input: impl ChunkReader + 'static,
    path: &Path,
    options: &OpenOptions,
) -> Result<(QuestionSet, Warnings)> {
    sound(path, || {
        let mut assembler = Assembler::new(options);
        read_rows(input, path, &mut assembler)?;
        Ok(assembler.finish())
    })
}

/// Reads the shards of a set, one after the other, as one set; of splits that are not asked for, none is opened.
///
/// # Errors
/// Those of [`read`].
pub fn read_files(files: &[ShardFile], options: &OpenOptions) -> Result<(QuestionSet, Warnings)> {
    let mut assembler = Assembler::new(options);
    for file in files.iter().filter(|file| options.wants(Some(file.split), None)) {
        let failed = |cause| Error::Read { path: file.path.clone(), cause };
        let input = File::open(&file.path).map_err(failed)?;
        sound(&file.path, || read_rows(input, &file.path, &mut assembler))?;
    }
    Ok(assembler.finish())
}

/// Reads from a file that may be damaged.
fn sound<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    // The library asserts what a damaged file can break: negative sizes, for one. Nothing that it
    // held is used after a panic. The program's panic hook is called all the same, because a hook is
    // the program's and not a library's: unless it has its own, the panic's message is printed before
    // the error's.
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(Error::Parquet {
            path: path.to_owned(),
            reason: "its parts contradict each other".into(),
        })
    })
}

fn read_rows(
    input: impl ChunkReader + 'static,
    path: &Path,
    assembler: &mut Assembler<'_>,
) -> Result<()> {
    let unsound =
        |error: ParquetError| Error::Parquet { path: path.to_owned(), reason: error.to_string() };
    let file = SerializedFileReader::new(input).map_err(unsound)?;
    let metadata = file.metadata().file_metadata();
    let mut indices = [None; COLUMNS.len()];
    for (index, column) in indices.iter_mut().zip(&COLUMNS) {
        *index = column.index(metadata.schema_descr(), path)?;
    }
    let mut row = 0;
    for group in 0..file.metadata().num_row_groups() {
        let group = file.get_row_group(group).map_err(unsound)?;
        let unpackable = |column: &&ColumnChunkMetaData| !can_unpack(column.compression());
        if let Some(column) = group.metadata().columns().iter().find(unpackable) {
            return Err(Error::Compression {
                path: path.to_owned(),
                found: column.compression().to_string(),
            });
        }
        let mut readers = GroupReader::new(&*group, indices).map_err(unsound)?;
        loop {
            let batch = readers.next_batch().map_err(unsound)?;
            if batch.rows == 0 {
                break;
            }
            for index in 0..batch.rows {
                row += 1;
                let result = batch.row(index).and_then(|row| row.assemble(assembler));
                result.map_err(|error| Error::Malformed {
                    path: path.to_owned(),
                    at: Location::Row(row),
                    error,
                })?;
            }
        }
    }
    Ok(())
}

fn can_unpack(compression: Compression) -> bool {
    use Compression::{GZIP, SNAPPY, UNCOMPRESSED, ZSTD};
    matches!(compression, UNCOMPRESSED | SNAPPY | GZIP(_) | ZSTD(_))
}

/// A column of [`Row`] as readers look for it.
struct Column {
    name: &'static str,
    is_list: bool,
    is_required: bool,
}

const COLUMNS: [Column; 7] = [
    Column { name: "sentences", is_list: true, is_required: true },
    Column { name: "question", is_list: false, is_required: true },
    Column { name: "answer", is_list: false, is_required: false },
    Column { name: "options", is_list: true, is_required: true },
    Column { name: "class", is_list: false, is_required: false },
    Column { name: "split", is_list: false, is_required: false },
    Column { name: "book", is_list: false, is_required: false },
];

impl Column {
    /// Its index among the columns of a file; `None` if it is neither there nor required.
    fn index(&self, schema: &SchemaDescriptor, path: &Path) -> Result<Option<usize>> {
        let wrong = |found: &str| Error::Column {
            path: path.to_owned(),
            column: self.name,
            expected: if self.is_list { "a list of strings" } else { "strings" },
            found: found.to_owned(),
        };
        let is_named = |index: &usize| schema.column(*index).path().parts()[0] == self.name;
        let indices: Vec<usize> = (0..schema.num_columns()).filter(is_named).collect();
        match indices[..] {
            [] if self.is_required => Err(wrong("no such column")),
            [] => Ok(None),
            [index] => {
                let leaf = schema.column(index);
                let is_text = leaf.physical_type() == PhysicalType::BYTE_ARRAY;
                let is_list = leaf.max_rep_level() == 1;
                let is_single = leaf.path().parts().len() == 1;
                let fits = if self.is_list { is_list } else { is_single && !is_list };
                if is_text && fits {
                    Ok(Some(index))
                } else {
                    Err(wrong(&format!("`{}`, {}", leaf.path(), leaf.physical_type())))
                }
            }
            _ => Err(wrong("a group of several columns")),
        }
    }
}

/// One column of a row group.
struct TextReader {
    reader: ColumnReaderImpl<ByteArrayType>,
    /// The definition level of a value that is there.
    present: i16,
    /// The definition level from which on a list has an element, be it null.
    inside: i16,
}

/// Some rows of one column: each a range of `values`, none of them a value where it is null.
#[derive(Default)]
struct TextBatch {
    values: Vec<Option<ByteArray>>,
    ends: Vec<usize>,
}

impl TextReader {
    fn new(group: &dyn RowGroupReader, index: usize) -> Result<Self, ParquetError> {
        let leaf = group.metadata().schema_descr().column(index);
        let present = leaf.max_def_level();
        let element = leaf.self_type().get_basic_info().repetition();
        let inside = present - i16::from(element == Repetition::OPTIONAL);
        let pages = CheckedPages(group.get_column_page_reader(index)?);
        Ok(Self { reader: ColumnReaderImpl::new(leaf, Box::new(pages)), present, inside })
    }

    fn next_batch(&mut self) -> Result<TextBatch, ParquetError> {
        let (mut definitions, mut repetitions, mut found) = (Vec::new(), Vec::new(), Vec::new());
        let (_, _, levels) = self.reader.read_records(
            BATCH_ROWS,
            Some(&mut definitions),
            Some(&mut repetitions),
            &mut found,
        )?;
        let mut found = found.into_iter();
        let mut batch = TextBatch::default();
        for level in 0..levels {
            if level > 0 && repetitions.get(level).is_none_or(|&repetition| repetition == 0) {
                batch.ends.push(batch.values.len());
            }
            let definition = definitions.get(level).copied().unwrap_or(self.present);
            if definition == self.present {
                batch.values.push(found.next());
            } else if definition >= self.inside {
                batch.values.push(None);
            }
        }
        if levels > 0 {
            batch.ends.push(batch.values.len());
        }
        Ok(batch)
    }
}

impl TextBatch {
    fn values(&self, row: usize) -> &[Option<ByteArray>] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.values[start..self.ends[row]]
    }
}

/// All columns of a row group, side by side.
struct GroupReader([Option<TextReader>; COLUMNS.len()]);

/// Some rows of all columns.
struct Batch {
    rows: usize,
    columns: [Option<TextBatch>; COLUMNS.len()],
}

impl GroupReader {
    fn new(
        group: &dyn RowGroupReader,
        indices: [Option<usize>; COLUMNS.len()],
    ) -> Result<Self, ParquetError> {
        let mut readers = [const { None }; COLUMNS.len()];
        for (reader, index) in readers.iter_mut().zip(indices) {
            *reader = index.map(|index| TextReader::new(group, index)).transpose()?;
        }
        Ok(Self(readers))
    }

    fn next_batch(&mut self) -> Result<Batch, ParquetError> {
        let mut columns = [const { None }; COLUMNS.len()];
        for (column, reader) in columns.iter_mut().zip(&mut self.0) {
            *column = reader.as_mut().map(TextReader::next_batch).transpose()?;
        }
        let mut lengths = columns.iter().flatten().map(|column| column.ends.len());
        let rows = lengths.next().unwrap_or(0);
        if lengths.all(|length| length == rows) {
            Ok(Batch { rows, columns })
        } else {
            Err(ParquetError::General("columns have different lengths".to_owned()))
        }
    }
}

impl Batch {
    fn row(&self, index: usize) -> Result<Row<'_>, LineError> {
        let column = |number: usize| {
            let values =
                self.columns[number].as_ref().map_or(&[][..], |column| column.values(index));
            values.iter().map(|value| match value {
                Some(bytes) => {
                    std::str::from_utf8(bytes.data()).map_err(|_| LineError::NotUtf8).map(Some)
                }
                None => Ok(None),
            })
        };
        let null = |number: usize, found: &str| LineError::Value {
            key: COLUMNS[number].name,
            expected: if COLUMNS[number].is_list { "a list of strings" } else { "a string" },
            found: found.to_owned(),
        };
        let text = |number| column(number).next().transpose().map(Option::flatten);
        let list = |number| {
            let filled = column(number).map(|value| match value? {
                Some(text) => Ok(Cow::from(text)),
                None => Err(null(number, "a list with null in it")),
            });
            filled.collect::<Result<Vec<_>, LineError>>()
        };
        Ok(Row {
            sentences: list(0)?,
            question: text(1)?.ok_or_else(|| null(1, "null"))?.into(),
            answer: text(2)?.map(Cow::from),
            options: list(3)?,
            id: String::new(),
            class: text(4)?.map(Cow::from),
            split: text(5)?.map(Cow::from),
            book: text(6)?.map(Cow::from),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::expect;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use proptest::prelude::*;

    use super::*;
    use crate::EmptyFields;
    use crate::fixtures::{SmallDisk, bears, error_text, sets, spelt};

    fn parse(bytes: Vec<u8>) -> Result<(QuestionSet, Warnings)> {
        read(bytes::Bytes::from(bytes), Path::new("bears.parquet"), &OpenOptions::default())
    }

    fn written(set: &QuestionSet, empty_fields: &EmptyFields) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        write(set, empty_fields, &mut bytes, Path::new("out.parquet"))?;
        Ok(bytes)
    }

    /// A file of one row in another schema: every column a value at the highest levels, or null.
    fn file(schema: &str, values: &[&[&str]]) -> Vec<u8> {
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for values in values {
            let mut column = group.next_column().unwrap().unwrap();
            let values: Vec<ByteArray> = values.iter().map(|&value| value.into()).collect();
            let typed = column.typed::<ByteArrayType>();
            let present = typed.get_descriptor().max_def_level();
            let levels = values.len().max(1);
            let definitions = vec![if values.is_empty() { 0 } else { present }; levels];
            let repetitions: Vec<i16> = (0..levels).map(|level| i16::from(level > 0)).collect();
            typed.write_batch(&values, Some(&definitions), Some(&repetitions)).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        bytes
    }

    #[test]
    fn other_namings_and_nestings_of_lists_are_read() {
        let row: [&[&str]; 3] = [&["A bear .", "A house ."], &["The XXXXX ."], &["bear", "house"]];
        let legacy = "message m {
            required group sentences (LIST) { repeated group list { optional binary item (UTF8); } }
            required binary question;
            repeated binary options (STRING);
        }";
        let hive = "message m {
            optional group sentences (LIST) { repeated group bag { required binary array_element; } }
            optional binary question (STRING);
            required group options (LIST) { repeated binary array; }
        }";
        for schema in [legacy, hive] {
            let (set, _) = parse(file(schema, &row)).unwrap();
            let question = &spelt(&set)[0];
            assert_eq!(question.context, [["A", "bear", "."], ["A", "house", "."]]);
            assert_eq!((question.query.join(" "), question.answer), ("The XXXXX .".into(), None));
            assert_eq!(question.candidates, ["bear", "house"]);
        }
    }

    #[test]
    fn a_missing_or_other_column_is_refused() {
        let error = |schema, values| error_text(&parse(file(schema, values)).unwrap_err());
        expect![[r#"
            error: bears.parquet: column `sentences`: expected a list of strings, found no such column
            hint: the columns are those of the public `cbt` data set: sentences, question, answer, options
        "#]].assert_eq(&error("message m { optional binary question; }", &[&["XXXXX"]]));
        let schema = "message m { required binary sentences; required binary question; }";
        expect![[r#"
            error: bears.parquet: column `sentences`: expected a list of strings, found `"sentences"`, BYTE_ARRAY
            hint: the columns are those of the public `cbt` data set: sentences, question, answer, options
        "#]].assert_eq(&error(schema, &[&["a"], &["XXXXX"]]));
    }

    #[test]
    fn a_row_that_breaks_the_rules_is_refused() {
        let schema = "message m {
            repeated binary sentences; optional binary question; repeated binary options;
        }";
        let error = |values| error_text(&parse(file(schema, values)).unwrap_err());
        expect![[r#"
            error: bears.parquet: row 1: `question`: expected a string, found null
            hint: a question has `sentences`, `question`, `answer` and `options`, perhaps `class`, `split` and `book`
        "#]].assert_eq(&error(&[&[], &[], &["a", "b"]]));
        expect![[r#"
            error: bears.parquet: row 1: the candidate `a` is listed twice: expected distinct candidates
            hint: a question has two or more different candidates
        "#]].assert_eq(&error(&[&["b"], &["a XXXXX"], &["a", "a"]]));
        let (set, _) = parse(file(schema, &[&[], &["a XXXXX"], &["a", "b"]])).unwrap();
        assert!(set.context(0).is_empty(), "a list without an element is no null");
    }

    #[test]
    fn null_in_a_list_is_refused() {
        let null = || Some(TextBatch { values: vec![None], ends: vec![1] });
        let batch = Batch { rows: 1, columns: std::array::from_fn(|_| null()) };
        let error = batch.row(0).unwrap_err();
        expect!["`sentences`: expected a list of strings, found a list with null in it"]
            .assert_eq(&error.to_string());
    }

    #[test]
    fn a_file_that_was_cut_is_refused() {
        let bytes = written(&bears(3), &EmptyFields::default()).unwrap();
        let cut = bytes[..bytes.len() - 9].to_vec();
        expect![[r#"
            error: bears.parquet: invalid Parquet file: Parquet error: Invalid Parquet file. Corrupt footer
            hint: the file was cut or changed; copy it again, or make it again
        "#]].assert_eq(&error_text(&parse(cut).unwrap_err()));
    }

    #[test]
    fn no_changed_byte_makes_the_reader_panic() {
        let bytes = written(&bears(2), &EmptyFields::default()).unwrap();
        let mut refused = 0;
        for at in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                refused += usize::from(parse(changed).is_err());
            }
        }
        assert!(refused > bytes.len(), "{refused} of {} changes were noticed", 3 * bytes.len());
    }

    #[test]
    fn many_rows_make_several_groups() {
        let set = bears(GROUP_ROWS + 3);
        let bytes = written(&set, &EmptyFields::default()).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let (read, _) = parse(bytes).unwrap();
        assert_eq!(read.all_ids(), set.all_ids());
        assert_eq!(read.n_sentences(), set.n_sentences());
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let mut disk = SmallDisk { inner: Vec::new(), room: 100 };
        let none = EmptyFields::default();
        let error = write(&bears(3), &none, &mut disk, Path::new("out.parquet")).unwrap_err();
        expect![[r#"
            error: out.parquet: cannot be written: no storage space
            hint: free some space on the disk of `out.parquet`, or choose another place
        "#]]
        .assert_eq(&error_text(&error));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_written_is_read_back((set, empty_fields) in sets()) {
            match written(&set, &empty_fields) {
                Ok(bytes) => {
                    let (read, warnings) = parse(bytes).unwrap();
                    prop_assert_eq!(spelt(&read), spelt(&set));
                    prop_assert_eq!(warnings.empty_fields, empty_fields);
                }
                Err(error) => prop_assert!(matches!(error, Error::Unwritable { .. }), "{}", error),
            }
        }
    }
}
