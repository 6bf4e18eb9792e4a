//! Predictions → Arrow record batches with the columns of the [predictions file](crate::predictions).

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use base::{Split, WordClass};

use crate::Predictions;

/// Predictions per batch.
const BATCH_ROWS: usize = 10_000;

/// The columns in their order.
pub fn schema() -> SchemaRef {
    let field = |name: &str, data_type| Field::new(name, data_type, true);
    let list = |item| DataType::List(Arc::new(Field::new_list_field(item, true)));
    Arc::new(Schema::new(vec![
        field("id", DataType::Utf8),
        field("class", DataType::Utf8),
        field("split", DataType::Utf8),
        field("book", DataType::Utf8),
        field("candidates", list(DataType::Utf8)),
        field("scores", list(DataType::Float64)),
        field("answer", DataType::Utf8),
        field("predicted", DataType::Utf8),
    ]))
}

/// Predictions in their order, a batch at a time.
pub struct Batches {
    predictions: Arc<Predictions>,
    schema: SchemaRef,
    n_done: usize,
}

impl Batches {
    /// The batches of all predictions.
    pub fn new(predictions: Arc<Predictions>) -> Self {
        Self { predictions, schema: schema(), n_done: 0 }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let all = &self.predictions.predictions;
        let rows = &all[self.n_done..all.len().min(self.n_done + BATCH_ROWS)];
        if rows.is_empty() {
            return None;
        }
        self.n_done += rows.len();
        let [mut ids, mut classes, mut splits, mut books, mut answers, mut predicted] =
            [(); 6].map(|()| StringBuilder::new());
        let mut candidates = ListBuilder::new(StringBuilder::new());
        let mut scores = ListBuilder::new(Float64Builder::new());
        for row in rows {
            ids.append_value(&row.id);
            classes.append_option(row.class.map(WordClass::code));
            splits.append_option(row.split.map(Split::code));
            books.append_option(row.book.as_deref());
            row.candidates.iter().for_each(|word| candidates.values().append_value(word));
            candidates.append(true);
            scores.values().append_slice(&row.scores);
            scores.append(true);
            answers.append_option(row.answer.map(|answer| &row.candidates[answer]));
            predicted.append_value(&row.candidates[row.predicted]);
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(ids.finish()),
            Arc::new(classes.finish()),
            Arc::new(splits.finish()),
            Arc::new(books.finish()),
            Arc::new(candidates.finish()),
            Arc::new(scores.finish()),
            Arc::new(answers.finish()),
            Arc::new(predicted.finish()),
        ];
        Some(RecordBatch::try_new(self.schema.clone(), columns))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;

    use super::*;
    use crate::testing::{pointing_at, predictions};

    #[test]
    fn rows_say_what_the_predictions_say() {
        let all = Arc::new(predictions("model", BATCH_ROWS + 3, |i| pointing_at(i % 10)));
        let batches: Vec<RecordBatch> = Batches::new(all.clone()).map(Result::unwrap).collect();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [BATCH_ROWS, 3]);
        let (row, last) = (all.iter().last().unwrap(), &batches[1]);
        let text =
            |name: &str| last.column_by_name(name).unwrap().as_string::<i32>().value(2).to_owned();
        assert_eq!(text("id"), row.id);
        assert_eq!(text("predicted"), row.candidates[row.predicted]);
        assert_eq!(row.answer.map(|answer| row.candidates[answer].clone()), Some(text("answer")));
        assert_eq!(row.class.map(WordClass::code), Some(&*text("class")));
        assert_eq!(row.split.map(Split::code), Some(&*text("split")));
        let book = last.column_by_name("book").unwrap();
        assert_eq!(row.book.is_none(), book.is_null(2));
        let scores = last.column_by_name("scores").unwrap().as_list::<i32>().value(2);
        assert_eq!(scores.as_primitive::<Float64Type>().values().to_vec(), row.scores);
        let candidates = last.column_by_name("candidates").unwrap().as_list::<i32>().value(2);
        assert!(candidates.as_string::<i32>().iter().flatten().eq(&row.candidates));
    }
}
