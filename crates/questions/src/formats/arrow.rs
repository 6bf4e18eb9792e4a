//! A question set → Arrow record batches with the columns of [`crate::jsonl`], for whatever reads Arrow.
//!
//! Neighbouring contexts overlap, so most sentences belong to many contexts. A [`Layout`] says how often they are
//! repeated: as plain lists once per context, as views or as dictionaries once per batch.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, ListArray, ListViewArray, PrimitiveArray, RecordBatch,
    RecordBatchReader, StringArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use base::WordId;

use crate::sentences::union;
use crate::{QuestionId, QuestionSet};

/// Questions per batch: 25 MB of text where contexts have 20 sentences and are plain lists.
pub const BATCH_ROWS: usize = 10_000;

/// How the column `sentences` holds contexts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// `list<string>`, which every reader takes.
    #[default]
    Lists,
    /// `list_view<string>`: a range of the sentences of the batch. The smallest; not every reader takes it.
    Views,
    /// `list<dictionary<int32, string>>`: numbers of sentences of the batch.
    Dictionaries,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Self; 3] = [Self::Lists, Self::Views, Self::Dictionaries];

    /// `list`, `view` or `dictionary`.
    pub fn code(self) -> &'static str {
        ["list", "view", "dictionary"][self as usize]
    }

    /// The layout of a code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.code() == code)
    }

    /// The layout that a column of this type has.
    pub fn of_type(data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::ListView(_) => Some(Self::Views),
            DataType::List(item) => match item.data_type() {
                DataType::Dictionary(..) => Some(Self::Dictionaries),
                _ => Some(Self::Lists),
            },
            _ => None,
        }
    }

    fn item(self) -> FieldRef {
        let of_numbers = || DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into());
        let data_type = if self == Self::Dictionaries { of_numbers() } else { DataType::Utf8 };
        Arc::new(Field::new_list_field(data_type, true))
    }

    fn data_type(self) -> DataType {
        if self == Self::Views {
            DataType::ListView(self.item())
        } else {
            DataType::List(self.item())
        }
    }
}

/// The columns in their order.
pub fn schema(layout: Layout) -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    Arc::new(Schema::new(vec![
        Field::new("sentences", layout.data_type(), true),
        text("question"),
        text("answer"),
        Field::new("options", DataType::List(Layout::Lists.item()), true),
        text("id"),
        text("class"),
        text("split"),
        text("book"),
    ]))
}

/// The questions of a set, a batch at a time.
pub struct Batches {
    set: Arc<QuestionSet>,
    indices: Option<Arc<[usize]>>,
    layout: Layout,
    schema: SchemaRef,
    n_done: usize,
}

impl Batches {
    /// The questions at some indices of a set, or all of them. Ids are computed by the first batch unless the set has
    /// them already.
    pub fn new(set: Arc<QuestionSet>, indices: Option<Arc<[usize]>>, layout: Layout) -> Self {
        Self { set, indices, layout, schema: schema(layout), n_done: 0 }
    }

    /// The indices of the next questions.
    fn next_rows(&self) -> Vec<usize> {
        let n_rows = self.indices.as_ref().map_or(self.set.len(), |indices| indices.len());
        let rows = self.n_done..n_rows.min(self.n_done + BATCH_ROWS);
        self.indices
            .as_ref()
            .map_or_else(|| rows.clone().collect(), |all| all[rows.clone()].to_vec())
    }

    fn batch(&self, rows: &[usize]) -> Result<RecordBatch, ArrowError> {
        let set = &*self.set;
        let vocabulary = set.vocabulary();
        let mut questions = Texts::default();
        let mut options = Texts::default();
        let mut option_ends = Ends::default();
        let [mut answers, mut ids, mut classes, mut splits, mut books] =
            [(); 5].map(|()| Texts::default());
        for &row in rows {
            let example = set.example(row);
            questions.push_words(set, example.question.query)?;
            let mut candidates = example.question.candidates.iter();
            candidates.try_for_each(|&word| options.push(vocabulary.word(word)))?;
            option_ends.push(options.len())?;
            let answer = example.answer.map(|answer| example.question.candidates[answer]);
            answers.push_some(answer.map(|word| vocabulary.word(word)))?;
            ids.push_id(set.id(row))?;
            classes.push_some(example.class.map(|class| class.code()))?;
            splits.push_some(example.split.map(|split| split.code()))?;
            books.push_some(example.book)?;
        }
        let options = ListArray::try_new(
            Layout::Lists.item(),
            option_ends.finish(),
            Arc::new(options.finish()?),
            None,
        )?;
        let columns: Vec<ArrayRef> = vec![
            self.sentences(rows)?,
            Arc::new(questions.finish()?),
            Arc::new(answers.finish()?),
            Arc::new(options),
            Arc::new(ids.finish()?),
            Arc::new(classes.finish()?),
            Arc::new(splits.finish()?),
            Arc::new(books.finish()?),
        ];
        RecordBatch::try_new(self.schema.clone(), columns)
    }

    /// The column of contexts.
    fn sentences(&self, rows: &[usize]) -> Result<ArrayRef, ArrowError> {
        let (set, item) = (&*self.set, self.layout.item());
        let contexts: Vec<Range<usize>> = rows.iter().map(|&row| set.context(row)).collect();
        let kept = KeptSentences::of(&contexts);
        let mut texts = Texts::default();
        for sentence in kept.ranges.iter().cloned().flatten() {
            texts.push_words(set, set.sentence(sentence))?;
        }
        let places = contexts.iter().map(|context| kept.place(context));
        match self.layout {
            Layout::Views => {
                let starts: ScalarBuffer<i32> = places.map(|place| place.start as i32).collect();
                let sizes = contexts.iter().map(|context| context.len() as i32).collect();
                let texts = Arc::new(texts.finish()?);
                Ok(Arc::new(ListViewArray::try_new(item, starts, sizes, texts, None)?))
            }
            Layout::Lists => {
                let (mut repeated, mut ends) = (Texts::default(), Ends::default());
                for place in places {
                    repeated.push_range(&texts, place)?;
                    ends.push(repeated.len())?;
                }
                let repeated = Arc::new(repeated.finish()?);
                Ok(Arc::new(ListArray::try_new(item, ends.finish(), repeated, None)?))
            }
            Layout::Dictionaries => {
                let (mut numbers, mut ends) = (Vec::new(), Ends::default());
                for place in places {
                    numbers.extend(place.map(|sentence| sentence as i32));
                    ends.push(numbers.len())?;
                }
                let numbers = PrimitiveArray::<Int32Type>::from(numbers);
                let numbers = DictionaryArray::try_new(numbers, Arc::new(texts.finish()?))?;
                Ok(Arc::new(ListArray::try_new(item, ends.finish(), Arc::new(numbers), None)?))
            }
        }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut rows = self.next_rows();
        if rows.is_empty() {
            return None;
        }
        let mut batch = self.batch(&rows);
        // Offsets have 32 bits: of long texts fewer questions fit into a batch.
        while rows.len() > 1 && matches!(batch, Err(ArrowError::OffsetOverflowError(_))) {
            rows.truncate(rows.len() / 2);
            batch = self.batch(&rows);
        }
        self.n_done += rows.len();
        Some(batch)
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// The sentences that some contexts have, each once, in the order of the set.
struct KeptSentences {
    /// Disjoint, in order.
    ranges: Vec<Range<usize>>,
    /// How many sentences come before each of them.
    starts: Vec<usize>,
}

impl KeptSentences {
    fn of(contexts: &[Range<usize>]) -> Self {
        let ranges = union(contexts);
        let starts = ranges.iter().scan(0, |n_before, range| {
            *n_before += range.len();
            Some(*n_before - range.len())
        });
        let starts = starts.collect();
        Self { ranges, starts }
    }

    /// Where the sentences of a context are among them.
    fn place(&self, context: &Range<usize>) -> Range<usize> {
        let range = self.ranges.partition_point(|range| range.start <= context.start) - 1;
        let start = self.starts[range] + context.start - self.ranges[range].start;
        start..start + context.len()
    }
}

/// Ends of lists: offsets of 32 bits.
struct Ends(Vec<i32>);

impl Default for Ends {
    fn default() -> Self {
        Self(vec![0])
    }
}

impl Ends {
    fn push(&mut self, end: usize) -> Result<(), ArrowError> {
        self.0.push(i32::try_from(end).map_err(|_| ArrowError::OffsetOverflowError(end))?);
        Ok(())
    }

    fn finish(mut self) -> OffsetBuffer<i32> {
        self.0.shrink_to_fit();
        OffsetBuffer::new(self.0.into())
    }
}

/// A column of texts under construction.
#[derive(Default)]
struct Texts {
    text: String,
    ends: Ends,
    is_null: Vec<bool>,
}

impl Texts {
    fn len(&self) -> usize {
        self.ends.0.len() - 1
    }

    fn push(&mut self, text: &str) -> Result<(), ArrowError> {
        self.text.push_str(text);
        self.ends.push(self.text.len())
    }

    fn push_id(&mut self, id: QuestionId) -> Result<(), ArrowError> {
        let _ = write!(self.text, "{id}");
        self.ends.push(self.text.len())
    }

    fn push_words(&mut self, set: &QuestionSet, words: &[WordId]) -> Result<(), ArrowError> {
        for (index, &word) in words.iter().enumerate() {
            if index > 0 {
                self.text.push(' ');
            }
            self.text.push_str(set.vocabulary().word(word));
        }
        self.ends.push(self.text.len())
    }

    fn push_some(&mut self, text: Option<&str>) -> Result<(), ArrowError> {
        if text.is_none() || !self.is_null.is_empty() {
            self.is_null.resize(self.len(), false);
            self.is_null.push(text.is_none());
        }
        self.push(text.unwrap_or_default())
    }

    /// Appends some texts of another column.
    fn push_range(&mut self, other: &Self, range: Range<usize>) -> Result<(), ArrowError> {
        let ends = &other.ends.0[range.start..=range.end];
        let (before, first) = (self.text.len(), ends[0] as usize);
        self.text.push_str(&other.text[first..ends[ends.len() - 1] as usize]);
        ends[1..].iter().try_for_each(|&end| self.ends.push(before + end as usize - first))
    }

    fn finish(mut self) -> Result<StringArray, ArrowError> {
        self.text.shrink_to_fit();
        let nulls = (!self.is_null.is_empty())
            .then(|| NullBuffer::from_iter(self.is_null.iter().map(|is_null| !is_null)));
        StringArray::try_new(self.ends.finish(), Buffer::from_vec(self.text.into_bytes()), nulls)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use proptest::prelude::*;

    use super::*;
    use crate::EmptyFields;
    use crate::fixtures::{bears, sets};
    use crate::formats::jsonl::Row;

    fn texts(array: &dyn Array) -> Vec<Option<String>> {
        let Some(numbers) = array.as_dictionary_opt::<Int32Type>() else {
            return array.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect();
        };
        let texts: &StringArray = numbers.values().as_string();
        let text = |&number: &i32| Some(texts.value(number as usize).to_owned());
        numbers.keys().values().iter().map(text).collect()
    }

    /// The lists of a column, whatever its layout.
    fn lists(array: &ArrayRef) -> Vec<Vec<String>> {
        let list = |row: usize| match array.as_list_view_opt::<i32>() {
            Some(views) => texts(&views.value(row)),
            None => texts(&array.as_list::<i32>().value(row)),
        };
        (0..array.len()).map(|row| list(row).into_iter().flatten().collect()).collect()
    }

    fn batches(set: &QuestionSet, indices: Option<&[usize]>, layout: Layout) -> Vec<RecordBatch> {
        let set = Arc::new(set.clone());
        Batches::new(set, indices.map(Arc::from), layout).map(Result::unwrap).collect()
    }

    /// What the columns of a row say, next to the row of a JSON or Parquet file.
    fn check(set: &QuestionSet, indices: &[usize], batch: &RecordBatch) {
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let text = |name: &str| texts(column(name));
        for (row, &index) in indices.iter().enumerate() {
            // A word with a space in it is written to no file.
            let Ok(expected) =
                Row::of(set, &EmptyFields::default(), index, set.id(index).to_string())
            else {
                continue;
            };
            let owned =
                |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
            assert_eq!(lists(column("sentences"))[row], expected.sentences);
            assert_eq!(lists(column("options"))[row], expected.options);
            assert_eq!(text("question")[row].as_deref(), Some(&*expected.question));
            assert_eq!(text("answer")[row], owned(&expected.answer));
            assert_eq!(text("id")[row], Some(expected.id));
            assert_eq!(text("class")[row], owned(&expected.class));
            assert_eq!(text("split")[row], owned(&expected.split));
            assert_eq!(text("book")[row], owned(&expected.book));
        }
    }

    proptest! {
        #[test]
        fn rows_are_those_of_files_in_every_layout((set, _) in sets(), picks in prop::collection::vec(any::<prop::sample::Index>(), 1..6)) {
            let some: Vec<usize> = picks.iter().map(|pick| pick.index(set.len())).collect();
            let all: Vec<usize> = (0..set.len()).collect();
            for layout in Layout::ALL {
                check(&set, &all, &batches(&set, None, layout)[0]);
                check(&set, &some, &batches(&set, Some(&some), layout)[0]);
            }
        }
    }

    #[test]
    fn batches_have_ten_thousand_rows_and_views_hold_a_sentence_once() {
        let set = bears(1);
        let many = vec![0; 2 * BATCH_ROWS + 5];
        for layout in Layout::ALL {
            let batches = batches(&set, Some(&many), layout);
            let n_rows: Vec<usize> = batches.iter().map(RecordBatch::num_rows).collect();
            assert_eq!(n_rows, [BATCH_ROWS, BATCH_ROWS, 5]);
            assert_eq!(Layout::of_type(batches[0].schema().field(0).data_type()), Some(layout));
            assert_eq!(Layout::from_code(layout.code()), Some(layout));
        }
        let views = batches(&set, Some(&many), Layout::Views);
        assert_eq!(views[0].column(0).as_list_view::<i32>().values().len(), set.context(0).len());
        assert!(batches(&set, Some(&[]), Layout::Lists).is_empty());
    }
}
