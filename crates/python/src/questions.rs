//! Question sets in Python: built, opened, selected from, written, pickled.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use goldilocks::books::TextBook;
use goldilocks::questions::arrow::{Batches, Layout};
use goldilocks::questions::{
    Counts, Format, QuestionSet, Rules, Split, SplitFile, SplitShares, WordClass, WriteOptions,
    compact,
};
use goldilocks::report::paper::CBT_QUESTIONS;
use goldilocks::{BuildOptions, Error, Reporter, SetOptions, sets};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::{exception, unknown};
use crate::options::SelectionArgs;
use crate::question::Question;
use crate::state::{self, Files};
use crate::work::Work;

/// The questions of a set, or some of them.
#[pyclass(frozen, module = "goldilocks_cbt._native")]
pub struct QuestionList {
    set: Arc<QuestionSet>,
    /// None: all, in their order.
    indices: Option<Arc<[usize]>>,
    /// What the builder of the set recorded.
    manifest: Arc<toml::Table>,
    /// Where the set was read from.
    path: Option<PathBuf>,
    /// A set of these questions alone.
    own: OnceLock<Arc<QuestionSet>>,
    has_ids: Arc<OnceLock<()>>,
}

impl QuestionList {
    /// All questions of a set.
    pub fn new(set: QuestionSet, manifest: toml::Table, path: Option<PathBuf>) -> Self {
        Self {
            set: Arc::new(set),
            indices: None,
            manifest: Arc::new(manifest),
            path,
            own: OnceLock::new(),
            has_ids: Arc::default(),
        }
    }

    /// Some of the questions.
    fn of(&self, indices: Vec<usize>) -> Self {
        Self {
            set: self.set.clone(),
            indices: Some(indices.into()),
            manifest: self.manifest.clone(),
            path: self.path.clone(),
            own: OnceLock::new(),
            has_ids: self.has_ids.clone(),
        }
    }

    fn index(&self, place: usize) -> Option<usize> {
        match &self.indices {
            Some(indices) => indices.get(place).copied(),
            None => (place < self.set.len()).then_some(place),
        }
    }

    fn all(&self) -> impl Iterator<Item = usize> {
        (0..self.__len__()).filter_map(|place| self.index(place))
    }

    /// A set of these questions alone, for stages that work on whole sets.
    pub fn own(&self, py: Python<'_>) -> PyResult<Arc<QuestionSet>> {
        let Some(indices) = self.indices.clone() else { return Ok(self.set.clone()) };
        if let Some(own) = self.own.get() {
            return Ok(own.clone());
        }
        let set = self.set.clone();
        let select = move |_: &dyn Reporter| match set.select(&indices) {
            Ok(own) => Ok(Arc::new(own)),
            Err(error) => {
                Err(Error::InvalidOption { what: "questions", message: error.to_string() })
            }
        };
        let own = Work::brief().run(py, select)?;
        Ok(self.own.get_or_init(|| own).clone())
    }

    /// The set with its ids computed: they take a while for many questions, and threads.
    pub fn with_ids(&self, py: Python<'_>, work: &Work) -> PyResult<Arc<QuestionSet>> {
        if self.has_ids.get().is_none() {
            let set = self.set.clone();
            work.run(py, move |_| {
                if !set.is_empty() {
                    set.id(0);
                }
                Ok(())
            })?;
            let _ = self.has_ids.set(());
        }
        Ok(self.set.clone())
    }

    /// Where the set was read from.
    pub fn path(&self) -> Option<&PathBuf> {
        self.path.as_ref()
    }
}

#[pymethods]
impl QuestionList {
    fn __len__(&self) -> usize {
        self.indices.as_ref().map_or(self.set.len(), |indices| indices.len())
    }

    /// The question at a place.
    fn question(&self, py: Python<'_>, place: usize) -> PyResult<Question> {
        let index = self.index(place).ok_or_else(|| PyIndexError::new_err("no such question"))?;
        let set = self.with_ids(py, &Work::brief())?;
        Ok(Question::of(set, index))
    }

    /// The questions at some places.
    fn select(&self, places: Vec<usize>) -> PyResult<Self> {
        let index = |place| self.index(place);
        let indices: Option<Vec<usize>> = places.into_iter().map(index).collect();
        Ok(self.of(indices.ok_or_else(|| PyIndexError::new_err("no such question"))?))
    }

    /// The questions of some splits and classes.
    fn filter(&self, py: Python<'_>, which: SelectionArgs) -> PyResult<Self> {
        let (splits, classes) = (which.splits(py)?, which.classes(py)?);
        let is_meant = |index: &usize| {
            let example = self.set.example(*index);
            (splits.is_empty() || example.split.is_some_and(|split| splits.contains(&split)))
                && (classes.is_empty() || example.class.is_some_and(|c| classes.contains(&c)))
        };
        Ok(self.of(self.all().filter(is_meant).collect()))
    }

    /// How many questions of each split and class there are.
    fn counts(&self) -> Vec<(Option<&'static str>, Option<&'static str>, usize)> {
        let mut counts: BTreeMap<(Option<Split>, Option<WordClass>), usize> = BTreeMap::new();
        for index in self.all() {
            let example = self.set.example(index);
            *counts.entry((example.split, example.class)).or_default() += 1;
        }
        let named = |((split, class), n): ((Option<Split>, Option<WordClass>), usize)| {
            (split.map(Split::code), class.map(WordClass::code), n)
        };
        counts.into_iter().map(named).collect()
    }

    /// The names of the books with their splits.
    fn books(&self) -> Vec<(String, Option<&'static str>)> {
        let book = |book: &goldilocks::questions::BookText| {
            (book.name.clone(), book.split.map(Split::code))
        };
        self.set.books().iter().map(book).collect()
    }

    /// The place of the question with an id.
    fn find(&self, py: Python<'_>, id: String) -> PyResult<Option<usize>> {
        let set = self.with_ids(py, &Work::brief())?;
        let found = Work::brief().run(py, move |_| {
            let splits = Split::ALL.map(Some).into_iter().chain([None]);
            Ok(splits.filter_map(|split| set.find(split, &id)).next())
        })?;
        Ok(found.and_then(|found| self.all().position(|index| index == found)))
    }

    /// 16 digits that identify the content.
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        let set = self.own(py)?;
        Work::brief().run(py, move |_| Ok(set.fingerprint()))
    }

    /// A stream of Arrow record batches.
    fn arrow<'py>(
        &self,
        py: Python<'py>,
        layout: &str,
        work: Work,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let Some(layout) = Layout::from_code(layout) else {
            return unknown(py, "layout", layout, &Layout::ALL.map(Layout::code));
        };
        let set = self.with_ids(py, &work)?;
        crate::arrow::capsule(py, Batches::new(set, self.indices.clone(), layout))
    }

    /// Writes the questions: in which form, and whether that may replace what is there.
    fn write(
        &self,
        py: Python<'_>,
        output: PathBuf,
        how: (Option<String>, bool),
        work: Work,
    ) -> PyResult<()> {
        let (format, overwrite) = (how.0.as_deref(), how.1);
        let format = match format.map(|name| (name, Format::from_code(name))) {
            Some((name, None)) => {
                return unknown(py, "format", name, &Format::ALL.map(Format::code));
            }
            Some((_, Some(format))) => Ok(format),
            None => Format::of_output(&output),
        };
        let format = format.map_err(|error| exception(py, error.into()))?;
        let (set, manifest) = (self.own(py)?, (*self.manifest).clone());
        work.run(py, move |_| {
            let options = WriteOptions { overwrite, manifest, ..WriteOptions::default() };
            Ok(set.write(&output, format, &options)?)
        })
    }

    /// All that a pickle needs.
    fn state(&self, py: Python<'_>) -> PyResult<Files> {
        let (set, manifest) = (self.own(py)?, (*self.manifest).clone());
        Work::brief().run(py, move |_| {
            let options = WriteOptions { manifest, ..WriteOptions::default() };
            state::written(|folder| Ok(compact::write(&set, folder, &options)?))
        })
    }

    /// The questions of a pickle.
    #[staticmethod]
    fn of_state(py: Python<'_>, files: Files) -> PyResult<Self> {
        Work::brief().run(py, move |reporter| {
            state::read(&files, |folder| {
                let set = sets::open(folder, &SetOptions::default(), &[], reporter)?;
                Ok(Self::new(set, compact::read_manifest(folder)?.extra, None))
            })
        })
    }
}

/// What questions are built from, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct BuildArgs {
    paths: Vec<PathBuf>,
    texts: Vec<(String, String)>,
    tagged: bool,
    like: Option<String>,
    counts: Option<String>,
    rules: String,
    splits_file: Option<PathBuf>,
    splits: Option<Vec<(String, String)>>,
    /// The shares of books drawn for validation and for test.
    shares: (f64, f64),
    by_author: bool,
    seed: u64,
    skip_bad: bool,
}

impl BuildArgs {
    /// For the library.
    pub fn options(self, py: Python<'_>) -> PyResult<BuildOptions> {
        for (what, name) in [("like", &self.like), ("counts", &self.counts)] {
            if let Some(name) = name.as_ref().filter(|name| *name != "cbt") {
                return unknown(py, what, name, &["cbt"]);
            }
        }
        let base = if self.like.is_some() { Rules::released() } else { Rules::default() };
        let invalid = |what, message: String| exception(py, Error::InvalidOption { what, message });
        let table: toml::Table = serde_json::from_str(&self.rules)
            .map_err(|error| invalid("rules", error.to_string()))?;
        let rules = base.with(&table).map_err(|error| exception(py, error.into()))?;
        let named = |(book, split): (String, String)| match Split::from_code(&split) {
            Some(split) => Ok((book, split)),
            None => unknown(py, "split", &split, &Split::ALL.map(Split::code)),
        };
        let splits = match (self.splits_file, self.splits) {
            (Some(path), _) => {
                Some(SplitFile::read(&path).map_err(|error| exception(py, error.into()))?)
            }
            (None, Some(splits)) => {
                let splits: Vec<_> = splits.into_iter().map(named).collect::<PyResult<_>>()?;
                Some(SplitFile::of_books("splits".as_ref(), splits))
            }
            (None, None) => None,
        };
        let (valid, test) = self.shares;
        let is_share = |share: f64| (0.0..1.0).contains(&share);
        if !(is_share(valid) && is_share(test) && is_share(valid + test)) {
            let message = format!(
                "expected shares of at least 0 and less than 1 together, found {valid} and {test}"
            );
            return Err(invalid("valid and test", message));
        }
        let text = |(name, text): (String, String)| TextBook { name, text: text.into() };
        Ok(BuildOptions {
            books: self.paths,
            texts: self.texts.into_iter().map(text).collect(),
            tagged: self.tagged,
            rules,
            counts: if self.counts.is_some() { Counts::AtMost(CBT_QUESTIONS) } else { Counts::All },
            splits,
            shares: SplitShares { valid, test },
            by_author: self.by_author,
            seed: self.seed,
            as_released: self.like.is_some(),
            skip_bad: self.skip_bad,
        })
    }
}

/// Builds questions from books.
#[pyfunction]
pub fn build(py: Python<'_>, building: BuildArgs, work: Work) -> PyResult<QuestionList> {
    let options = building.options(py)?;
    work.run(py, move |reporter| {
        let built = goldilocks::build(&options, reporter)?;
        // Tables and pickles of them need the ids; the program computes them when it writes the set.
        if !built.set.is_empty() {
            built.set.id(0);
        }
        let manifest = built.manifest(&cli::program());
        Ok(QuestionList::new(built.set, manifest, None))
    })
}

/// Opens a question set of any form.
#[pyfunction]
pub fn open_set(
    py: Python<'_>,
    path: PathBuf,
    which: SelectionArgs,
    skip_bad: bool,
    work: Work,
) -> PyResult<QuestionList> {
    let (splits, classes) = (which.splits(py)?, which.classes(py)?);
    let open = move |reporter: &dyn Reporter| {
        let class = classes.first().copied().filter(|_| classes.len() == 1);
        let options = SetOptions { class, ..SetOptions::all(skip_bad) };
        let set = sets::open(&path, &options, &splits, reporter)?;
        let manifest = match path.join(compact::MANIFEST).is_file() {
            true => compact::read_manifest(&path)?.extra,
            false => toml::Table::new(),
        };
        Ok(QuestionList::new(set, manifest, Some(path)))
    };
    work.run(py, open)
}
