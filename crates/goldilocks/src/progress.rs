//! What a stage reports while it works: [`Event`]s, to any closure that listens.

use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

use ::report::thousands;
use base::{Split, WordClass};

use crate::{Error, Result};

/// Listens to a stage; any closure over [`Event`]s does.
///
/// A type of one's own can also stop the work: [`Self::is_cancelled`] is asked between books, mini-batches of a
/// training, batches of answers, trials and rows.
pub trait Reporter: Sync {
    /// Receives an event, from any thread.
    fn report(&self, event: Event);

    /// Returns whether the stage should stop with [`Error::Interrupted`].
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Reads a clock, in seconds from any start, for the speeds in events: the library has none of its own.
    fn seconds(&self) -> Option<f64> {
        None
    }

    /// How wide the lines of printed tables may be, in characters.
    fn width(&self) -> usize {
        100
    }
}

impl<F: Fn(Event) + Sync> Reporter for F {
    fn report(&self, event: Event) {
        self(event);
    }
}

/// Passes on what a model reports.
pub(crate) struct ModelReporter<'a> {
    reporter: &'a dyn Reporter,
    model: String,
    gpu: OnceLock<String>,
}

impl<'a> ModelReporter<'a> {
    /// Reports under a model's name.
    pub fn new(model: impl Into<String>, reporter: &'a dyn Reporter) -> Self {
        Self { reporter, model: model.into(), gpu: OnceLock::new() }
    }

    /// The GPU that the model named, if it did.
    pub fn gpu(&self) -> Option<&str> {
        self.gpu.get().map(String::as_str)
    }
}

impl models::Reporter for ModelReporter<'_> {
    fn report(&self, event: models::Event) {
        if let models::Event::OnGpu(name) = &event {
            self.gpu.get_or_init(|| name.clone());
        }
        self.reporter.report(Event::Training { model: self.model.clone(), event });
    }

    fn is_cancelled(&self) -> bool {
        self.reporter.is_cancelled()
    }

    fn seconds(&self) -> Option<f64> {
        self.reporter.seconds()
    }
}

/// Fails where the work was cancelled.
pub(crate) fn check_cancelled(reporter: &dyn Reporter) -> Result<()> {
    if reporter.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
}

/// Reports a piece of work from its begin to its end.
pub(crate) fn during<T>(
    reporter: &dyn Reporter,
    stage: &'static str,
    what: impl Into<String>,
    work: impl FnOnce() -> T,
) -> T {
    reporter.report(Event::Begin { stage, what: what.into(), steps: None });
    let result = work();
    reporter.report(Event::End);
    result
}

/// Something that happens while a stage works. Pieces of work nest: an `End` is that of the last `Begin`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A piece of work begins: `build`, `read`, `write`, `train`, `answer`, `tune`, …
    Begin {
        /// Its name, one word.
        stage: &'static str,
        /// What it works on.
        what: String,
        /// How many steps it has, if that is known.
        steps: Option<usize>,
    },
    /// Steps of it are done.
    Step {
        /// How many steps were done since the last report.
        n: usize,
        /// The book, trial or other thing that was worked on.
        what: Option<String>,
    },
    /// The stage that began last has ended.
    End,
    /// A model reports from its training, or from being loaded.
    Training {
        /// The name of the method.
        model: String,
        /// The event of the training.
        event: models::Event,
    },
    /// The questions of a reproduction are at hand.
    QuestionsReady {
        /// Whether they were built just now.
        is_built: bool,
        /// How many there are.
        n_questions: usize,
        /// How many books, or articles, they come from.
        n_texts: usize,
        /// Whether those are news articles.
        is_news: bool,
    },
    /// How long rows of a reproduction will take, estimated from a short trial of each on this machine.
    Estimated {
        /// Their names, in the order in which they are made, and seconds.
        rows: Vec<(String, f64)>,
    },
    /// A row of a reproduction begins.
    RowBegins {
        /// Its number, from 1, in the order in which rows are made.
        number: usize,
        /// How many rows there are.
        total: usize,
        /// What the experiment calls it.
        name: String,
        /// How long it will take, in seconds, if that was estimated.
        seconds: Option<f64>,
        /// How long the rows after it will take, as far as that was estimated.
        rest: f64,
    },
    /// A row of a reproduction was trained and answered.
    RowDone {
        /// Its number, from 1.
        number: usize,
        /// How many rows there are.
        total: usize,
        /// What the experiment calls it.
        name: String,
    },
    /// Every row of a reproduction was there already.
    UpToDate,
    /// The work continues, but not as one might expect.
    Warning(Warning),
}

/// What a person should know about a result.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are what the sentence of the variant names")]
pub enum Warning {
    /// A file of questions or articles is odd, or part of it was skipped.
    Input { path: PathBuf, message: String },
    /// A book was left out, because of this error.
    BookSkipped { error: String },
    /// A shard was not built, because of this error of a book.
    ShardSkipped { number: usize, error: String },
    /// How many books were left out.
    BooksSkipped { n: usize, of: usize },
    /// A book that hardly looks like English prose: the shares of known words and of sentences with a verb.
    NotProse { book: String, known_words: f64, with_verb: f64 },
    /// Books of which no author is known, where books of one author stay together.
    NoAuthor { n: usize, of: usize },
    /// Books that share much text, in different splits; the pair that shares most, and how many pairs there are.
    SharedText { n_pairs: usize, book: (String, Split), other: (String, Split), share: f64 },
    /// Fewer questions than were wanted.
    Shortfall { split: Split, class: WordClass, found: usize, wanted: usize },
    /// A text was too small to estimate the discounts of n-grams of a length.
    Discounts { path: PathBuf, length: usize, reason: String, taken: [f64; 3] },
    /// A model is trained again, since what it was made from has changed.
    Retraining { path: PathBuf, what: String, expected: String, found: String },
    /// A model is trained again, since its folder can't be read.
    UnreadableModel { error: String },
    /// What is asked about are books that the model has learnt from; `None` for a book without a name.
    KnownBooks { books: Vec<Option<String>> },
    /// A device failed; the processor does the rest.
    DeviceFailed { error: String },
    /// Contexts were too long for the model and lost sentences from their start.
    ContextsCut { contexts: usize, sentences: usize },
}

/// A number of things.
fn counted(n: usize, name: &str) -> String {
    format!("{} {name}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// The warning of books that a model has learnt from.
fn known_books(books: &[Option<String>]) -> String {
    const NAMED: usize = 5;
    let names: Vec<String> =
        books.iter().flatten().map(|name| format!("`{name}`")).take(NAMED).collect();
    let what = match (names.join(", "), books.len()) {
        (names, _) if names.is_empty() => "these questions".to_owned(),
        (names, n) if n > NAMED => format!("{names}, … ({} books)", thousands(n)),
        (names, _) => names,
    };
    format!(
        "the model was trained on text of {what}: its answers there say little about other books"
    )
}

impl fmt::Display for Warning {
    #[expect(clippy::too_many_lines, reason = "one arm per warning")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input { path, message } => write!(f, "{}: {message}", path.display()),
            Self::BookSkipped { error } => write!(f, "left out: {error}"),
            Self::ShardSkipped { number, error } => {
                write!(f, "shard {number} is not built: {error}")
            }
            Self::BooksSkipped { n, of } => {
                let books = if *of == 1 { "book" } else { "books" };
                write!(f, "{} of {} {books} left out", thousands(*n), thousands(*of))
            }
            Self::NotProse { book, known_words, with_verb } => write!(
                f,
                "{book}: hardly English prose, and the questions may mean little: {:.0} % of its words are known, and \
                 {:.0} % of its sentences have a verb (108 children's books: at least 97 % and 81 %)",
                100.0 * known_words,
                100.0 * with_verb,
            ),
            Self::NoAuthor { n, of } => write!(
                f,
                "no author is known of {} of {} books: each counts as the only book of its author. Authors are read from \
                 names such as Author___Title.txt, from .epub files and from `Author:` in the header",
                thousands(*n),
                thousands(*of)
            ),
            Self::SharedText { n_pairs, book, other, share } => {
                let pairs = match n_pairs {
                    1 => "two books in different splits share text".to_owned(),
                    n => format!("{} pairs of books in different splits share text", thousands(*n)),
                };
                let [book, other] =
                    [book, other].map(|(name, split)| format!("`{name}` ({})", split.code()));
                write!(
                    f,
                    "{pairs}: {:.0} % of {book} is in {other}; the leak report lists all",
                    100.0 * share
                )
            }
            Self::Shortfall { split, class, found, wanted } => write!(
                f,
                "{} {}: {} questions, fewer than the {} that were wanted: all of them are kept",
                split.code(),
                class.code(),
                thousands(*found),
                thousands(*wanted),
            ),
            Self::Discounts { path, length, reason, taken: [d1, d2, d3] } => write!(
                f,
                "{}: the text is too small to estimate the discounts of {length}-grams ({reason}): {d1}, {d2} and {d3} are taken",
                path.display()
            ),
            Self::Retraining { path, what, expected, found } => {
                write!(f, "{}: {what} changed ({found} → {expected}); retraining", path.display())
            }
            Self::UnreadableModel { error } => write!(f, "{error}; retraining"),
            Self::ContextsCut { contexts, sentences } => {
                let contexts = counted(*contexts, "context");
                let sentences = counted(*sentences, "sentence");
                write!(f, "too long for the model: {contexts}; {sentences} left out at their start")
            }
            Self::KnownBooks { books } => f.write_str(&known_books(books)),
            Self::DeviceFailed { error } => write!(f, "{error}; falling back to the CPU"),
        }
    }
}
