//! The ids of a Parquet file: read by themselves, and replaced without touching the other columns.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use zstd::bulk::Compressor;

use super::chunk::{Chunk, ZSTD_LEVEL};
use super::write::cause;
use super::{TextReader, sound};
use crate::error::{Error, Result};

/// The column of ids.
const ID: &str = "id";

/// Calls `visit` with the id of every row of a file, in order.
///
/// # Errors
/// [`Error::Read`], [`Error::Parquet`], or [`Error::Column`] for a file without ids.
pub fn read_ids(path: &Path, mut visit: impl FnMut(&str)) -> Result<()> {
    let unsound =
        |error: ParquetError| Error::Parquet { path: path.to_owned(), reason: error.to_string() };
    let read = || {
        let (_, file) = open(path)?;
        let column = id_column(&file, path)?;
        for group in 0..file.metadata().num_row_groups() {
            let group = file.get_row_group(group).map_err(unsound)?;
            let mut reader = TextReader::new(&*group, column).map_err(unsound)?;
            loop {
                let batch = reader.next_batch().map_err(unsound)?;
                if batch.ends.is_empty() {
                    break;
                }
                for row in 0..batch.ends.len() {
                    let id = batch.values(row).first().and_then(|id| id.as_ref());
                    let id = id.and_then(|id| std::str::from_utf8(id.data()).ok());
                    visit(id.ok_or_else(|| no_id(path, "a row without one"))?);
                }
            }
        }
        Ok(())
    };
    sound(path, read)
}

/// Writes the rows of a file with other ids: one for each row.
///
/// # Errors
/// Those of [`read_ids`], and [`Error::Write`].
pub fn with_ids(path: &Path, ids: &[String], output: &mut (impl Write + Send)) -> Result<()> {
    let failed = |error| Error::Write { path: path.to_owned(), cause: cause(error) };
    let (input, file) = open(path)?;
    let column = id_column(&file, path)?;
    let metadata = file.metadata();
    let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
    let write = || {
        let mut writer = SerializedFileWriter::new(output, schema, std::sync::Arc::default())?;
        let mut compressor = Compressor::new(ZSTD_LEVEL)?;
        let mut ids = ids.iter();
        for group in metadata.row_groups() {
            let n_rows = usize::try_from(group.num_rows()).unwrap_or(0);
            let mut out = writer.next_row_group()?;
            for (index, chunk) in group.columns().iter().enumerate() {
                if index == column {
                    let mut replaced = Chunk::plain();
                    ids.by_ref().take(n_rows).for_each(|id| replaced.push(Some(id)));
                    let (bytes, close) =
                        replaced.encode(&chunk.column_descr_ptr(), &mut compressor)?;
                    out.append_column(&bytes, close)?;
                } else {
                    let close = ColumnCloseResult {
                        bytes_written: chunk.compressed_size().unsigned_abs(),
                        rows_written: n_rows as u64,
                        metadata: chunk.clone(),
                        bloom_filter: None,
                        column_index: None,
                        offset_index: None,
                    };
                    out.append_column(&input, close)?;
                }
            }
            out.close()?;
        }
        writer.close().map(drop)
    };
    write().map_err(failed)
}

fn open(path: &Path) -> Result<(File, SerializedFileReader<File>)> {
    let failed = |cause| Error::Read { path: path.to_owned(), cause };
    let input = File::open(path).map_err(failed)?;
    let file = SerializedFileReader::new(input.try_clone().map_err(failed)?);
    let unsound =
        |error: ParquetError| Error::Parquet { path: path.to_owned(), reason: error.to_string() };
    Ok((input, file.map_err(unsound)?))
}

fn id_column(file: &SerializedFileReader<File>, path: &Path) -> Result<usize> {
    let schema = file.metadata().file_metadata().schema_descr();
    let is_id = |&index: &usize| schema.column(index).path().string() == ID;
    (0..schema.num_columns()).find(is_id).ok_or_else(|| no_id(path, "no such column"))
}

fn no_id(path: &Path, found: &str) -> Error {
    let (path, found) = (path.to_owned(), found.to_owned());
    Error::Column { path, column: ID, expected: "an id in every row", found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::bears;
    use crate::{OpenOptions, QuestionSet, WriteOptions};

    #[test]
    fn ids_are_replaced_and_all_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let [path, changed] = ["a.parquet", "b.parquet"].map(|name| folder.path().join(name));
        let set = bears(10_003);
        set.write(&path, crate::Format::Parquet, &WriteOptions::default()).unwrap();
        let mut found = Vec::new();
        read_ids(&path, |id| found.push(id.to_owned())).unwrap();
        assert_eq!(found, set.all_ids());

        let others: Vec<String> = (0..set.len()).map(|n| format!("id {n}")).collect();
        let mut bytes = Vec::new();
        with_ids(&path, &others, &mut bytes).unwrap();
        std::fs::write(&changed, bytes).unwrap();
        let mut replaced = Vec::new();
        read_ids(&changed, |id| replaced.push(id.to_owned())).unwrap();
        assert_eq!(replaced, others);
        let open = |path| QuestionSet::open(path, &OpenOptions::default()).unwrap().0.fingerprint();
        assert_eq!(open(&changed), open(&path));

        // The first ids again: the same bytes as at first.
        let mut bytes = Vec::new();
        with_ids(&changed, &found, &mut bytes).unwrap();
        assert!(bytes == std::fs::read(&path).unwrap());
    }
}
