//! Opening question sets and predictions, with their warnings reported.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use ::report::Source;
use base::Selection;
use evaluation::{Predictions, QuestionIndex};
use questions::shards::ShardFile;
use questions::{EmptyFields, OpenOptions, QuestionSet, Split, WordClass};
use sha2::{Digest, Sha256};

use crate::progress::during;
use crate::{Error, Event, Reporter, Result, Warning};

/// Which questions of a set are wanted, and what its files do not say.
#[derive(Clone, Debug, Default)]
pub struct SetOptions {
    /// Splits to work on; empty: all.
    pub splits: Vec<Split>,
    /// Class to work on; none: all.
    pub class: Option<WordClass>,
    /// The split of questions that do not state theirs.
    pub default_split: Option<Split>,
    /// The class of questions that do not state theirs.
    pub default_class: Option<WordClass>,
    /// Whether malformed questions of CNN QA are skipped and counted.
    pub skip_bad: bool,
}

impl SetOptions {
    /// All questions, malformed ones skipped or not.
    pub fn all(skip_bad: bool) -> Self {
        Self { skip_bad, ..Self::default() }
    }

    /// The questions that figures are wanted for.
    pub fn selection(&self) -> Selection {
        Selection { splits: self.splits.clone(), class: self.class }
    }

    fn open_options(&self, splits: &[Split]) -> OpenOptions {
        OpenOptions {
            class: self.default_class,
            split: self.default_split,
            only: (!splits.is_empty()).then(|| splits.to_vec()),
            only_class: None,
            skip_bad: self.skip_bad,
        }
    }
}

/// Opens the questions of a set that are to be worked on; `splits` are those to read, all if there are none.
pub fn open(
    path: &Path,
    options: &SetOptions,
    splits: &[Split],
    reporter: &dyn Reporter,
) -> Result<QuestionSet> {
    Ok(open_with_empty_fields(path, options, splits, reporter)?.0)
}

/// Opens a set together with what it takes to write its files again byte for byte.
pub(crate) fn open_with_empty_fields(
    path: &Path,
    options: &SetOptions,
    splits: &[Split],
    reporter: &dyn Reporter,
) -> Result<(QuestionSet, EmptyFields)> {
    read(path, &OpenOptions { only_class: options.class, ..options.open_options(splits) }, reporter)
}

/// Opens a set that was answered, with questions of all classes: [`SetOptions::selection`] selects among them.
pub fn open_answered(
    path: &Path,
    options: &SetOptions,
    splits: &[Split],
    reporter: &dyn Reporter,
) -> Result<QuestionSet> {
    Ok(read(path, &options.open_options(splits), reporter)?.0)
}

/// Opens a shard of a set by itself, the questions of the class that is wanted.
pub(crate) fn open_shard(
    shard: &ShardFile,
    options: &SetOptions,
    reporter: &dyn Reporter,
) -> Result<QuestionSet> {
    let options = OpenOptions { only_class: options.class, ..options.open_options(&[]) };
    let open = || shard.open(&options);
    Ok(read_by(&shard.path, open, reporter)?.0)
}

fn read(
    path: &Path,
    options: &OpenOptions,
    reporter: &dyn Reporter,
) -> Result<(QuestionSet, EmptyFields)> {
    read_by(path, || QuestionSet::open(path, options), reporter)
}

fn read_by(
    path: &Path,
    open: impl FnOnce() -> questions::Result<(QuestionSet, questions::Warnings)>,
    reporter: &dyn Reporter,
) -> Result<(QuestionSet, EmptyFields)> {
    let (set, warnings) = during(reporter, "read", path.display().to_string(), open)?;
    for message in warnings.sentences() {
        let path = path.to_owned();
        reporter.report(Event::Warning(Warning::Input { path, message }));
    }
    Ok((set, warnings.empty_fields))
}

/// Reads predictions files, those for some questions. Where a set is given, checks them against it and fills in
/// what they leave out.
pub fn read_predictions(
    paths: &[PathBuf],
    questions: Option<&Path>,
    options: &SetOptions,
    selection: &Selection,
    reporter: &dyn Reporter,
) -> Result<Vec<Predictions>> {
    let read = |path: &PathBuf| Predictions::read(path);
    let files: Vec<Predictions> = paths.iter().map(read).collect::<Result<_, _>>()?;
    let open = |path| open_answered(path, options, &answered_splits(&files), reporter);
    let set = questions.map(open).transpose()?;
    select_predictions(files, set.as_ref(), selection)
}

/// Selects the predictions for some questions. Where a set is given, checks them against it and fills in what they
/// leave out.
pub fn select_predictions(
    files: Vec<Predictions>,
    set: Option<&QuestionSet>,
    selection: &Selection,
) -> Result<Vec<Predictions>> {
    let Some(set) = set else {
        let selected = files.into_iter().map(|file| file.select(selection));
        return Ok(selected.collect::<Result<_, _>>()?);
    };
    let index = QuestionIndex::new(set, &files).select(selection.clone());
    files.into_iter().map(|file| Ok(index.check(file)?.into_predictions())).collect()
}

/// The splits that were answered, so that others need not be read; none where a prediction does not say.
pub fn answered_splits(files: &[Predictions]) -> Vec<Split> {
    let splits = files.iter().flat_map(Predictions::splits).collect::<Option<BTreeSet<Split>>>();
    splits.unwrap_or_default().into_iter().collect()
}

/// The file that marks a folder as the released set, its checksum verified.
pub const RELEASED: &str = "released.toml";

/// Where questions come from, for the table that says so.
///
/// Questions without a class are like CNN QA's. They are the released ones if each of those to be answered is about
/// an article of cnn.com: all of them, by their number, or a sample.
pub fn source(path: &Path, set: &QuestionSet) -> Source {
    if (0..set.len()).all(|question| set.example(question).class.is_none()) {
        return source_of_news(path, set);
    }
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    if folder.join(RELEASED).exists() { Source::Released } else { source_of_books(set) }
}

/// Where questions come from that were built from books.
pub fn source_of_books(set: &QuestionSet) -> Source {
    let n_books = |split| set.books().iter().filter(|book| book.split == Some(split)).count();
    if Split::ALL.map(n_books) == [98, 5, 5] { Source::Rebuilt } else { Source::Other }
}

fn source_of_news(path: &Path, set: &QuestionSet) -> Source {
    use ::report::paper::{CNN_TEST_QUESTIONS, CNN_VALID_QUESTIONS};
    let answered: Vec<usize> =
        [Split::Valid, Split::Test].into_iter().flat_map(|split| set.of_split(split)).collect();
    let is_of_cnn = |&question: &usize| {
        set.book(question).is_some_and(|book| set.books()[book].name.contains("cnn.com"))
    };
    let is_made = || {
        let manifest = questions::compact::read_manifest(path).ok();
        manifest.and_then(|manifest| manifest.extra.get("like")?.as_str().map(|like| like == "cnn"))
    };
    if !answered.is_empty() && answered.iter().all(is_of_cnn) {
        let n = [Split::Valid, Split::Test].map(|split| set.of_split(split).len());
        let is_all = n == [CNN_VALID_QUESTIONS, CNN_TEST_QUESTIONS];
        if is_all { Source::Released } else { Source::Sample }
    } else if is_made() == Some(true) {
        Source::Made
    } else {
        Source::Other
    }
}

/// The splits that a learner reads: their [`QuestionSet::fingerprint_of`] is the data of a model.
pub const LEARNT_FROM: [Split; 2] = [Split::Train, Split::Valid];

/// The SHA-256 of a file, in hexadecimal digits.
pub fn sha256_of_file(path: &Path) -> Result<String> {
    let mut file = fs::File::open(path).map_err(Error::io(path))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n_bytes = file.read(&mut buffer).map_err(Error::io(path))?;
        if n_bytes == 0 {
            return Ok(base::hash::hex(&hash.finalize()));
        }
        hash.update(&buffer[..n_bytes]);
    }
}
/// What a set is called in titles: the last part of its path, without the ending of a file.
pub fn name(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let name = if path.is_dir() { whole.file_name() } else { whole.file_stem() };
    name.unwrap_or_default().to_string_lossy().into_owned()
}
