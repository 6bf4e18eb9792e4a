//! Opening a SET that was named on the command line, with its warnings told and its hash for manifests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use base::Selection;
use evaluation::{Predictions, QuestionIndex};
use questions::{OpenOptions, QuestionSet, Split, WordClass};
use report::Source;
use sha2::{Digest, Sha256};

use crate::commands::fetch::sha256;
use crate::failure::{Failure, warn};
use crate::progress::Progress;

/// What a question file does not say of itself.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Origin {
    /// Class to work on; also the class of questions that do not tell theirs
    #[arg(long, value_name = "CLASS", value_parser = crate::commands::word_class)]
    pub class: Option<WordClass>,
    /// Splits to work on; also the split of questions that do not tell theirs
    #[arg(long, value_name = "SPLIT", value_delimiter = ',', value_parser = crate::commands::split)]
    pub on: Vec<Split>,
    /// Leave out bad questions of CNN QA, counted, instead of stopping at the first
    #[arg(long)]
    pub skip_bad: bool,
}

impl Origin {
    /// What figures are wanted for.
    pub fn only(&self) -> Selection {
        Selection { splits: self.on.clone(), class: self.class }
    }

    fn options(&self, splits: &[Split]) -> OpenOptions {
        OpenOptions {
            class: self.class,
            split: if let [split] = self.on[..] { Some(split) } else { None },
            only: (!splits.is_empty()).then(|| splits.to_vec()),
            only_class: None,
            skip_bad: self.skip_bad,
        }
    }
}

/// Opens the questions of a set that are to be worked on; `splits` are those to read, all if there are none.
pub fn open(
    path: &Path,
    origin: &Origin,
    splits: &[Split],
    progress: Progress,
) -> Result<QuestionSet> {
    read(path, &OpenOptions { only_class: origin.class, ..origin.options(splits) }, progress)
}

/// Opens a set that was answered, questions of all classes: what the predictions are not wanted for,
/// [`Origin::only`] tells.
pub fn open_answered(
    path: &Path,
    origin: &Origin,
    splits: &[Split],
    progress: Progress,
) -> Result<QuestionSet> {
    read(path, &origin.options(splits), progress)
}

fn read(path: &Path, options: &OpenOptions, progress: Progress) -> Result<QuestionSet> {
    let reading = progress.spinner("read", path.display().to_string());
    let (set, warnings) = QuestionSet::open(path, options)?;
    reading.finish_and_clear();
    for sentence in warnings.sentences() {
        warn(format_args!("{}: {sentence}", path.display()));
    }
    Ok(set)
}

/// Reads predictions files, those for some questions `only`, and, where a set is named, checks them against it
/// and fills in what they leave out.
pub fn predictions(
    paths: &[PathBuf],
    questions: Option<&Path>,
    origin: &Origin,
    only: &Selection,
    progress: Progress,
) -> Result<Vec<Predictions>> {
    let read = |path: &PathBuf| Predictions::read(path);
    let files: Vec<Predictions> = paths.iter().map(read).collect::<Result<_, _>>()?;
    let Some(path) = questions else {
        return Ok(files.into_iter().map(|file| file.select(only)).collect::<Result<_, _>>()?);
    };
    let set = open_answered(path, origin, &answered(&files), progress)?;
    let index = QuestionIndex::new(&set, &files).select(only.clone());
    files.into_iter().map(|file| Ok(index.check(file)?.into_predictions())).collect()
}

/// The splits that were answered, so that others need not be read; none where a prediction does not tell.
pub fn answered(files: &[Predictions]) -> Vec<Split> {
    let splits = files.iter().flat_map(Predictions::splits).collect::<Option<BTreeSet<Split>>>();
    splits.unwrap_or_default().into_iter().collect()
}

/// Left by `goldilocks fetch` beside files whose checksum was right.
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
    let n_books = |split| set.books().iter().filter(|book| book.split == Some(split)).count();
    if folder.join(RELEASED).exists() {
        Source::Released
    } else if Split::ALL.map(n_books) == [98, 5, 5] {
        Source::Rebuilt
    } else {
        Source::Other
    }
}

fn source_of_news(path: &Path, set: &QuestionSet) -> Source {
    use report::paper::{CNN_TEST_QUESTIONS, CNN_VALID_QUESTIONS};
    let answered: Vec<usize> =
        [Split::Valid, Split::Test].into_iter().flat_map(|split| set.of_split(split)).collect();
    let is_of_cnn = |&question: &usize| {
        set.book(question).is_some_and(|book| set.books()[book].name.contains("cnn.com"))
    };
    let is_made = || {
        let manifest = questions::compact::read_manifest(path).ok();
        manifest.and_then(|manifest| manifest.get("like")?.as_str().map(|like| like == "cnn"))
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

/// SHA-256 over the names and contents of a set's files: 16 hex digits that stand for the data.
///
/// A folder's files count as far as they are its own; of folders in it, `.question` files alone. A compact form's
/// manifest does not count: it says who made the set, and the same questions may be made twice.
pub fn hash(path: &Path) -> Result<String> {
    let mut files: Vec<PathBuf> = if path.is_dir() {
        let entries = fs::read_dir(path).map_err(Failure::file(path))?;
        let entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(Failure::file(path))?;
        let counts = |file: &PathBuf| file.is_file() && !file.ends_with("manifest.toml");
        let own: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).filter(counts).collect();
        own.into_iter().chain(questions::cnn::files(path)?).collect()
    } else {
        vec![path.to_owned()]
    };
    files.sort();
    files.dedup();
    let mut hash = Sha256::new();
    for file in files {
        // A `.question` file's folder tells its split.
        let within = file.strip_prefix(path).ok().filter(|within| !within.as_os_str().is_empty());
        let name = within.unwrap_or(Path::new(file.file_name().unwrap_or_default()));
        let name = name.to_string_lossy();
        hash.update(format!("{name} {}\n", sha256(&file)?));
    }
    Ok(hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect())
}
