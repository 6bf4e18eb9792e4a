//! Books → which of them are in which shard: all that workers need to know of each other's books.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use corpus::Tagger;
use corpus::tales::TALES;
use questions::{Counts, Rules, Split, hash_split, shards};
use serde::{Deserialize, Serialize};

use super::files;
use super::survey::{Survey, survey};
use crate::books::Source;
use crate::build::warn_of_shared_text;
use crate::{BuildOptions, Error, Program, Reporter, Result};

/// The file of a plan.
pub const PLAN: &str = "plan.toml";
/// Its table of books.
const BOOKS: &str = "plan.jsonl";
const FORMAT: u32 = 1;

/// Options of [`plan()`].
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// The books and how they are read. Bad ones are left out before splits are drawn, if they are to be skipped; what
    /// is more than `counts` is dropped when the shards are merged.
    pub build: BuildOptions,
    /// Whether the split of each book follows from its name and the seed alone.
    pub splits_by_hash: bool,
    /// The most bytes of books in a shard; a larger book has a shard of its own.
    pub shard_bytes: u64,
}

/// A book of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedBook {
    /// The shard that it is in.
    pub shard: usize,
    /// The split of the book.
    pub split: Split,
    /// The name of the book, unique in the plan.
    pub name: String,
    /// Its file; none for an embedded tale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The length of the file.
    pub bytes: u64,
}

/// The content of `plan.toml`.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: u32,
    /// Version and commit: other code might give other bytes.
    program: String,
    /// What identifies the weights of the tagger, for the same reason.
    #[serde(default)]
    tagger: String,
    seed: u64,
    as_released: bool,
    tagged: bool,
    shards: usize,
    shard_bytes: u64,
    /// The SHA-256 of the table of books.
    books: String,
    #[serde(default, skip_serializing_if = "is_all")]
    counts: Counts,
    rules: Rules,
}

fn is_all(counts: &Counts) -> bool {
    *counts == Counts::All
}

/// A set in shards that is to be built.
#[derive(Debug)]
pub struct Plan {
    folder: PathBuf,
    hash: String,
    header: Header,
    books: Vec<PlannedBook>,
    shards: Vec<Shard>,
}

/// A shard of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of the shard, from 0.
    pub number: usize,
    /// The split of its books.
    pub split: Split,
    /// Its file, below the set's folder.
    pub file: String,
    books: Range<usize>,
}

/// Plans a set in shards in a folder, which may hold the same plan already.
///
/// # Errors
/// If a book can't be found, two have one name, there is none, or another plan is there and not to be replaced.
pub fn plan(
    options: &PlanOptions,
    folder: &Path,
    overwrite: bool,
    program: &Program,
    reporter: &dyn Reporter,
) -> Result<Plan> {
    if !options.build.texts.is_empty() {
        let message = "expected books in files, which workers can read".to_owned();
        return Err(Error::InvalidOption { what: "plan", message });
    }
    let books = options.books(reporter)?;
    let table_path = folder.join(BOOKS);
    let mut table = Vec::new();
    for book in &books {
        // A path may be no UTF-8, which JSON can't hold.
        let written = serde_json::to_writer(&mut table, book).map_err(std::io::Error::from);
        written.map_err(Error::io(book.path.clone().unwrap_or_default()))?;
        table.push(b'\n');
    }
    let BuildOptions { seed, as_released, tagged, rules, counts, .. } = &options.build;
    let header = Header {
        format: FORMAT,
        program: program.to_string(),
        tagger: Tagger::fingerprint().to_owned(),
        seed: *seed,
        as_released: *as_released,
        tagged: *tagged,
        shards: books.last().map_or(0, |book| book.shard + 1),
        shard_bytes: options.shard_bytes,
        books: base::hash::sha256(&table),
        counts: *counts,
        rules: rules.clone(),
    };
    let text = toml::to_string(&header).expect("every field has a form in TOML");
    let path = folder.join(PLAN);
    let is_same = fs::read_to_string(&path).is_ok_and(|there| there == text);
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    let may_replace = overwrite && path.is_file();
    if !(is_same || is_empty || may_replace) {
        return Err(Error::Exists { path: folder.to_owned() });
    }
    files::write(&table_path, |out| out.write_all(&table).map_err(Error::io(&table_path)))?;
    files::write_text(&path, &text)?;
    Ok(Plan::new(folder, &text, header, books))
}

impl PlanOptions {
    /// The books in the order of the set, with their shards.
    fn books(&self, reporter: &dyn Reporter) -> Result<Vec<PlannedBook>> {
        let sources = self.build.sources()?;
        let (sources, splits) = self.splits(sources, reporter)?;
        let mut books = Vec::new();
        for (source, split) in sources.iter().zip(splits) {
            let path = match source {
                Source::File(path) | Source::NamedFile { path, .. } | Source::Tagged(path) => {
                    Some(std::path::absolute(path).map_err(Error::io(path))?)
                }
                Source::Tale(_) | Source::Text(_) => None,
            };
            let bytes = n_bytes(source)?;
            books.push(PlannedBook { shard: 0, split, name: source.name(), path, bytes });
        }
        books.sort_by(|a, b| (a.split, &a.name).cmp(&(b.split, &b.name)));
        let mut names: Vec<&str> = books.iter().map(|book| book.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = twice[0].to_owned();
            return Err(Error::Questions(questions::Error::SameName { name }));
        }
        if books.is_empty() {
            return Err(Error::NoReadableBook { n_books: 0 });
        }
        self.cut(&mut books);
        Ok(books)
    }

    /// Numbers the shards: runs of books of one split.
    fn cut(&self, books: &mut [PlannedBook]) {
        let (mut shard, mut room) = (0, self.shard_bytes);
        for at in 0..books.len() {
            let begins_split = at > 0 && books[at - 1].split != books[at].split;
            if begins_split || (room < books[at].bytes && room < self.shard_bytes) {
                (shard, room) = (shard + 1, self.shard_bytes);
            }
            room = room.saturating_sub(books[at].bytes);
            books[at].shard = shard;
        }
    }

    /// The books and their splits. Their text is read where splits are drawn, because near-copies belong in one split,
    /// and where bad books are to be left out; else the names are enough.
    fn splits(
        &self,
        sources: Vec<Source>,
        reporter: &dyn Reporter,
    ) -> Result<(Vec<Source>, Vec<Split>)> {
        let build = &self.build;
        let hashed = |sources: &[Source]| -> Vec<Split> {
            sources.iter().map(|book| hash_split(&book.name(), build.seed)).collect()
        };
        // A book without a split is an error before the work.
        let given = build.given_splits(&sources)?;
        let is_drawn = given.is_none() && !self.splits_by_hash;
        if !(is_drawn || build.skip_bad) {
            let splits = given.filter(|_| !self.splits_by_hash);
            let splits = splits.unwrap_or_else(|| hashed(&sources));
            return Ok((sources, splits));
        }
        let bytes: Vec<u64> = sources.iter().map(n_bytes).collect::<Result<_>>()?;
        let Survey { sources, authors, copies } =
            survey(build, sources, bytes.iter().sum(), reporter)?;
        let names: Vec<String> = sources.iter().map(Source::name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let splits = match (self.splits_by_hash, given) {
            (true, _) => hashed(&sources),
            (false, Some(_)) => build.given_splits(&sources)?.unwrap_or_default(),
            (false, None) => build.draw(&names, &authors, &copies, reporter),
        };
        warn_of_shared_text(&names, &splits, &copies, reporter);
        Ok((sources, splits))
    }
}

fn n_bytes(source: &Source) -> Result<u64> {
    match source {
        Source::File(path) | Source::NamedFile { path, .. } | Source::Tagged(path) => {
            Ok(fs::metadata(path).map_err(Error::io(path))?.len())
        }
        Source::Tale(tale) => Ok(tale.text.len() as u64),
        Source::Text(book) => Ok(book.text.len() as u64),
    }
}

impl Plan {
    fn new(folder: &Path, text: &str, header: Header, books: Vec<PlannedBook>) -> Self {
        let mut shards: Vec<Shard> = Vec::new();
        for (index, book) in books.iter().enumerate() {
            match shards.last_mut().filter(|shard| shard.number == book.shard) {
                Some(shard) => shard.books.end = index + 1,
                None => shards.push(Shard {
                    number: book.shard,
                    split: book.split,
                    file: String::new(),
                    books: index..index + 1,
                }),
            }
        }
        for of_split in shards.chunk_by_mut(|a, b| a.split == b.split) {
            let of = of_split.len();
            for (number, shard) in of_split.iter_mut().enumerate() {
                shard.file =
                    format!("{}/{}", shards::FOLDER, shards::name(shard.split, number, of));
            }
        }
        let hash = base::hash::sha256(text.as_bytes());
        Self { folder: folder.to_owned(), hash, header, books, shards }
    }

    /// Reads the plan of a set.
    ///
    /// # Errors
    /// If there is none, or it is not as it was written.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(PLAN);
        let corrupt =
            |path: &Path, message: String| Error::CorruptPlan { path: path.into(), message };
        let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
        let header: Header =
            toml::from_str(&text).map_err(|e| corrupt(&path, e.message().to_owned()))?;
        if header.format != FORMAT {
            let message = format!("format: expected {FORMAT}, found {}", header.format);
            return Err(corrupt(&path, message));
        }
        let path = folder.join(BOOKS);
        let table = fs::read(&path).map_err(Error::io(&path))?;
        if base::hash::sha256(&table) != header.books {
            return Err(corrupt(&path, "it is not the table of this plan".to_owned()));
        }
        let lines = table.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let books = lines.map(serde_json::from_slice).collect::<Result<Vec<_>, _>>();
        let books = books.map_err(|error| corrupt(&path, error.to_string()))?;
        let plan = Self::new(folder, &text, header, books);
        let is_numbered = (0..).zip(&plan.shards).all(|(number, shard)| shard.number == number);
        match is_numbered && plan.shards.len() == plan.header.shards {
            true => Ok(plan),
            false => Err(corrupt(&path, "its shards are not numbered in order".to_owned())),
        }
    }

    /// What identifies the plan: the SHA-256 of its file.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The folder of the set.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The shards in the order of the set.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// The books of a shard, in the order of the set.
    pub fn books(&self, shard: &Shard) -> &[PlannedBook] {
        &self.books[shard.books.clone()]
    }

    /// The place of the first book of a shard among all books.
    pub(super) fn first_book(&self, shard: &Shard) -> usize {
        shard.books.start
    }

    /// All books in the order of the set.
    pub fn all_books(&self) -> &[PlannedBook] {
        &self.books
    }

    /// Refuses a worker that is not of the program that made the plan, with the same weights of the tagger: its bytes
    /// might differ.
    pub(super) fn check_worker(&self, program: &Program) -> Result<()> {
        let version = |program: &str, tagger: &str| format!("{program} with tagger {tagger}");
        let expected = version(&self.header.program, &self.header.tagger);
        let found = version(&program.to_string(), Tagger::fingerprint());
        match expected == found {
            true => Ok(()),
            false => Err(Error::OtherProgram { path: self.folder.clone(), expected, found }),
        }
    }

    /// How many questions of each class and split are kept when the shards are merged.
    pub(super) fn counts(&self) -> Counts {
        self.header.counts
    }

    /// How books become questions.
    pub(super) fn options(&self) -> BuildOptions {
        let Header { seed, as_released, tagged, ref rules, .. } = self.header;
        BuildOptions { seed, as_released, tagged, rules: rules.clone(), ..BuildOptions::default() }
    }

    /// Where the book is read from.
    pub(super) fn source(&self, book: &PlannedBook) -> Result<Source> {
        match &book.path {
            Some(path) if self.header.tagged => Ok(Source::Tagged(path.clone())),
            Some(path) => Ok(Source::NamedFile { path: path.clone(), name: book.name.clone() }),
            None => {
                let tales = TALES.iter().map(Source::Tale);
                tales.into_iter().find(|tale| tale.name() == book.name).ok_or_else(|| {
                    let message = format!("there is no tale `{}`", book.name);
                    Error::CorruptPlan { path: self.folder.join(BOOKS), message }
                })
            }
        }
    }
}
