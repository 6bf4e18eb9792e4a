//! [`Error`]: the one error of the library, with its [kind](ErrorKind) for programs and a [`Remedy`] for people.

use std::io;
use std::path::PathBuf;

use base::Remedy;

/// The result of a stage.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a stage can run into. The errors of the crates below are passed on as they are.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    /// A book could not be read or tagged.
    #[error(transparent)]
    Corpus(#[from] corpus::Error),
    /// A question set could not be read, built or written.
    #[error(transparent)]
    Questions(#[from] questions::Error),
    /// An n-gram model could not be read, estimated or written.
    #[error(transparent)]
    Ngram(#[from] ngram::Error),
    /// A device failed, or weights could not be read.
    #[error(transparent)]
    Numerics(#[from] numerics::Error),
    /// A model could not be trained, loaded, saved or asked.
    #[error(transparent)]
    Models(#[from] models::Error),
    /// Language models on servers.
    #[cfg(feature = "servers")]
    #[error(transparent)]
    Servers(#[from] servers::Error),
    /// Transformers in Hugging Face's layout.
    #[cfg(feature = "transformer")]
    #[error(transparent)]
    Transformer(#[from] transformer::Error),
    /// A reader could not be trained.
    #[cfg(feature = "transformer")]
    #[error(transparent)]
    Reader(#[from] reader::Error),
    /// Predictions could not be read, or do not fit the set.
    #[error(transparent)]
    Evaluation(#[from] evaluation::Error),
    /// A report could not be laid out or written.
    #[error(transparent)]
    Report(#[from] ::report::Error),
    /// The page and its studies.
    #[cfg(feature = "page")]
    #[error(transparent)]
    Page(#[from] page::Error),
    #[error("{}: already exists", path.display())]
    Exists { path: PathBuf },
    #[error("no book is left: {n_books} of {n_books} left out")]
    NoReadableBook { n_books: usize },
    #[error(
        "no question could be built from {n_articles} article{}: no entity (`@entity0`) of a lead sentence also occurs in the rest of its article",
        if *n_articles == 1 { "" } else { "s" }
    )]
    NoNewsQuestions { n_articles: usize },
    #[error("{}: holds a question set or a model, not a reproduction", path.display())]
    NotAReproduction { path: PathBuf },
    #[error("{}: is named twice: expected each question set once", path.display())]
    NamedTwice { path: PathBuf },
    #[error("{}: question {id} is in {} too: expected each question in one set", second.display(), first.display())]
    OverlappingSets { first: PathBuf, second: PathBuf, id: String },
    #[error("{what}: {message}")]
    InvalidOption { what: &'static str, message: String },
    #[error("unknown table `{name}`")]
    UnknownExperiment { name: String, known: Vec<&'static str> },
    #[error("no row is named `{name}`")]
    UnknownRow { name: String, known: Vec<String> },
    #[error("{}: {message}", path.display())]
    Experiment { path: PathBuf, message: String },
    #[error("{}: predictions were produced from different inputs ({what}: expected `{expected}`, found `{found}`) and there is no model to regenerate them", path.display())]
    ForeignResults { path: PathBuf, what: String, expected: String, found: String },
    #[error("{}: the model was trained by other code: expected {expected}, found {found}", path.display())]
    OtherCode { path: PathBuf, expected: String, found: String },
    #[error("{}: has the answers of another run ({what}: expected `{expected}`, found `{found}`)", path.display())]
    OtherServer { path: PathBuf, what: String, expected: String, found: String },
    #[error("{}: is of another plan: expected `{expected}`, found `{found}`", path.display())]
    OtherPlan { path: PathBuf, expected: String, found: String },
    #[error("{}: was planned by another version: expected {expected}, found {found}", path.display())]
    OtherProgram { path: PathBuf, expected: String, found: String },
    #[error("{}: has changed since it was planned: expected {expected} bytes, found {found}", path.display())]
    ChangedBook { path: PathBuf, expected: u64, found: u64 },
    #[error("{}: is not the book that the questions were built from", path.display())]
    OtherBook { path: PathBuf },
    #[error("{}: invalid plan: {message}", path.display())]
    CorruptPlan { path: PathBuf, message: String },
    #[error("{}: {} of {of} shards {} not built: {}", path.display(), missing.len(), if missing.len() == 1 { "is" } else { "are" }, first(missing))]
    ShardsMissing { path: PathBuf, missing: Vec<usize>, of: usize, remedy: Remedy },
    #[error("{}: its shards are not merged", path.display())]
    NotMerged { path: PathBuf },
    #[error("{}: no predictions of shards in it", path.display())]
    NoPredictions { path: PathBuf },
    #[error("{}: is missing: expected the predictions of {of} shards", path.display())]
    PredictionsMissing { path: PathBuf, of: usize },
    #[error("{}: corrupt: {message}", path.display())]
    Corrupt { path: PathBuf, message: String },
    #[error("{}: no question `{asked}`: expected {expected}", path.display())]
    NoQuestion { path: PathBuf, asked: String, expected: String },
    #[error("{}: no tagged books in it", path.display())]
    NoTaggedBooks { path: PathBuf },
    #[error("{}: `{model}` has no language model in it", path.display())]
    NoLanguageModel { path: PathBuf, model: String },
    #[error("{}: not a Transformer: it has no `config.json`", path.display())]
    NotATransformer { path: PathBuf },
    #[error("no trial succeeded: {error}")]
    NoTrialSucceeded { error: String },
    /// What a [`crate::ScoreFunction`] failed with.
    #[error(transparent)]
    Scorer(Box<dyn std::error::Error + Send + Sync>),
    /// What is wrong with the scores of a [`crate::ScoreFunction`].
    #[error(transparent)]
    WrongScores(models::Error),
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("interrupted")]
    Interrupted,
}

/// What kind of failure it is, for programs that react to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file or folder that does not exist.
    NotFound,
    /// The name of a model, table or question that does not exist.
    UnknownName,
    /// Input that is malformed, or that does not fit together.
    InvalidInput,
    /// An output that would be overwritten.
    Exists,
    /// The file system refused.
    Io,
    /// A GPU is missing or failed.
    Device,
    /// The work was cancelled.
    Interrupted,
}

impl Error {
    /// Names the file of a failed file operation, for `map_err`.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// The kind of failure.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Exists { .. }
            | Self::Questions(questions::Error::Exists { .. })
            | Self::Models(models::Error::Exists { .. })
            | Self::Report(::report::Error::Exists { .. }) => ErrorKind::Exists,
            Self::Interrupted | Self::Models(models::Error::Interrupted) => ErrorKind::Interrupted,
            Self::Models(models::Error::Device(_)) | Self::Numerics(_) => ErrorKind::Device,
            #[cfg(feature = "transformer")]
            Self::Reader(reader::Error::Neural(neural::Error::Device(_))) => ErrorKind::Device,
            #[cfg(feature = "transformer")]
            Self::Reader(reader::Error::Interrupted) => ErrorKind::Interrupted,
            #[cfg(feature = "transformer")]
            Self::Reader(reader::Error::Corpus(corpus::Error::Missing { .. })) => {
                ErrorKind::NotFound
            }
            Self::Corpus(corpus::Error::Missing { .. })
            | Self::Questions(questions::Error::Missing { .. })
            | Self::Models(models::Error::NoModel { .. }) => ErrorKind::NotFound,
            Self::Models(models::Error::UnknownModel { .. })
            | Self::UnknownExperiment { .. }
            | Self::UnknownRow { .. }
            | Self::NoQuestion { .. } => ErrorKind::UnknownName,
            other => other.io_cause().map_or(ErrorKind::InvalidInput, |cause| match cause.kind() {
                io::ErrorKind::NotFound => ErrorKind::NotFound,
                io::ErrorKind::AlreadyExists => ErrorKind::Exists,
                _ => ErrorKind::Io,
            }),
        }
    }

    fn io_cause(&self) -> Option<&io::Error> {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(self);
        while let Some(error) = cause {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            cause = error.source();
        }
        None
    }

    /// What can be done about it, if that is known.
    #[expect(clippy::too_many_lines, reason = "one arm per error")]
    pub fn hint(&self) -> Option<Remedy> {
        let advice = |text: &'static str| Some(Remedy::advice(text));
        match self {
            Self::Corpus(error) => error.remedy(),
            Self::Questions(error) => error.remedy(),
            Self::Ngram(error) => error.remedy(),
            Self::Numerics(error) => error.remedy(),
            Self::Models(error) => error.remedy(),
            #[cfg(feature = "servers")]
            Self::Servers(error) => error.remedy(),
            #[cfg(feature = "transformer")]
            Self::Transformer(error) => error.remedy(),
            #[cfg(feature = "transformer")]
            Self::Reader(error) => error.remedy(),
            Self::Evaluation(error) => error.remedy(),
            Self::Report(error) => error.remedy(),
            #[cfg(feature = "page")]
            Self::Page(error) => error.remedy(),
            Self::Exists { .. } | Self::OtherServer { .. } | Self::OtherPlan { .. } => {
                Some(Remedy::Overwrite)
            }
            Self::OtherProgram { .. } => {
                advice("use the version that made the plan on every machine, or plan again")
            }
            Self::ChangedBook { .. } | Self::CorruptPlan { .. } => advice("plan again"),
            Self::OtherBook { .. } => advice("bring the book back, or plan and build again"),
            Self::ShardsMissing { remedy, .. } => Some(remedy.clone()),
            Self::NotMerged { path } => Some(Remedy::MergeShards { folder: path.clone() }),
            Self::NoPredictions { .. } | Self::PredictionsMissing { .. } => {
                advice("answer all shards of the set, or name single files")
            }
            Self::NoReadableBook { .. } => Some(Remedy::InspectBooks),
            Self::NoNewsQuestions { .. } => Some(Remedy::AskMoreSentences),
            Self::NotAReproduction { .. } => Some(Remedy::ChooseNewFolder),
            Self::NamedTwice { .. } | Self::OverlappingSets { .. } => {
                advice("leave one of them out")
            }
            Self::UnknownExperiment { known, .. } => {
                Some(Remedy::Advice(format!("the tables are `{}`", known.join("`, `")).into()))
            }
            Self::UnknownRow { name, known } => {
                let meant = base::nearest(name, known.iter().map(String::as_str));
                Some(meant.map_or_else(
                    || Remedy::Advice(format!("the rows are `{}`", known.join("`, `")).into()),
                    |name| Remedy::DidYouMean { name: name.to_owned() },
                ))
            }
            Self::Experiment { .. } => Some(Remedy::ReadExperiments),
            Self::ForeignResults { what, .. } if what == "code" => {
                Some(Remedy::AcceptOtherCode { may_retrain: false })
            }
            Self::ForeignResults { .. } => {
                advice("bring the right results, or remove these to make them here")
            }
            Self::OtherCode { .. } => Some(Remedy::AcceptOtherCode { may_retrain: true }),
            Self::Corrupt { .. } => advice("remove it, and it will be made again"),
            Self::NoQuestion { .. } => Some(Remedy::ChangeSelection),
            Self::NoTaggedBooks { .. } => Some(Remedy::TagBooks),
            Self::NoLanguageModel { .. } => Some(Remedy::MakeLanguageModel),
            Self::NotATransformer { .. } => {
                advice("expected `reader-small`, or a folder in Hugging Face's layout")
            }
            Self::WrongScores(_) => {
                advice("return one list per question, and in it one finite number per candidate")
            }
            Self::Io { source, .. } => Some(Remedy::advice(about_file(source.kind()))),
            Self::InvalidOption { .. }
            | Self::NoTrialSucceeded { .. }
            | Self::Scorer(_)
            | Self::Interrupted => None,
        }
    }
}

/// The first few numbers of a list.
fn first(numbers: &[usize]) -> String {
    const MOST: usize = 10;
    let shown: Vec<String> = numbers.iter().take(MOST).map(usize::to_string).collect();
    shown.join(", ") + if numbers.len() > MOST { ", …" } else { "" }
}

/// What to do about a file that can't be read or written.
fn about_file(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "check the spelling of the name",
        io::ErrorKind::InvalidData => "check that it is the right file: expected text in UTF-8",
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            "there is a file where a folder is needed: choose another place"
        }
        io::ErrorKind::IsADirectory => "name a file, not a folder",
        io::ErrorKind::StorageFull => "free some space on the disk, or choose another place",
        _ => "check the place and its permissions",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_a_kind_a_remedy_and_a_cause() {
        let missing = Error::io("tale.txt")(io::ErrorKind::NotFound.into());
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        assert!(std::error::Error::source(&missing).is_some());
        let exists = Error::Exists { path: "out".into() };
        assert_eq!((exists.kind(), exists.hint()), (ErrorKind::Exists, Some(Remedy::Overwrite)));
        let exists = questions::Error::Exists { path: "out".into() };
        assert_eq!(Error::from(exists).kind(), ErrorKind::Exists);
        let unknown = models::find("word-distanc").err().map(Error::from).unwrap();
        assert_eq!(unknown.kind(), ErrorKind::UnknownName);
        let path = std::path::Path::new("nowhere");
        let set = questions::QuestionSet::open(path, &questions::OpenOptions::default());
        assert_eq!(set.err().map(Error::from).unwrap().kind(), ErrorKind::NotFound);
        let full = Error::io("tale.txt")(io::ErrorKind::StorageFull.into());
        assert_eq!(
            (full.kind(), Error::Interrupted.kind()),
            (ErrorKind::Io, ErrorKind::Interrupted)
        );
    }
}
