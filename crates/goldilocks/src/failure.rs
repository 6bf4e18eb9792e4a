//! Errors that a person sees: what is wrong and where, then what to do about it.

use std::io::ErrorKind;
use std::path::PathBuf;

/// What a command can run into beyond the errors of the library crates.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An output that would be overwritten.
    #[error("{}: exists already", path.display())]
    OutputExists {
        /// The output.
        path: PathBuf,
    },
    /// Every book was left out.
    #[error("no book is left: {n_books} of {n_books} left out")]
    NoGoodBook {
        /// How many there were.
        n_books: usize,
    },
    /// Not one entity of the articles can be asked for.
    #[error(
        "no question could be built from {n_articles} article{}: no `@entity0` of a lead sentence stands in the rest too",
        if *n_articles == 1 { "" } else { "s" }
    )]
    NoNewsQuestions {
        /// How many there were.
        n_articles: usize,
    },
    /// A folder that `reproduce` leaves alone.
    #[error("{}: holds a question set or a model, not a reproduction", path.display())]
    NoReproduction {
        /// The folder.
        path: PathBuf,
    },
    /// A question set that is named again.
    #[error("{}: is named twice: expected each question set once", path.display())]
    NamedTwice {
        /// The set.
        path: PathBuf,
    },
    /// A setting that is not one.
    #[error("{what}: {message}")]
    Setting {
        /// What kind of setting.
        what: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// A table that the paper does not have.
    #[error("unknown table `{name}`")]
    UnknownTable {
        /// As typed.
        name: String,
    },
    /// An experiment's file that says something else than what to run.
    #[error("{}: {message}", path.display())]
    Experiment {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// Results from elsewhere that are not those of the row.
    #[error("{}: other results than the row's, and no model here to make them again: {what}: expected `{expected}`, found `{found}`", path.display())]
    Brought {
        /// The predictions.
        path: PathBuf,
        /// What differs: `data`, `seed`, `version`, a setting.
        what: String,
        /// As the row has it.
        expected: String,
        /// As the results have it.
        found: String,
    },
    /// A model of another version, which may have taken long to train.
    #[error("{}: a model of another version: expected `{expected}`, found `{found}`", path.display())]
    OtherVersion {
        /// The model's folder.
        path: PathBuf,
        /// This program's version.
        expected: String,
        /// The version that trained it.
        found: String,
    },
    /// A file of ours that can't be understood.
    #[error("{}: damaged: {message}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A question that the set does not have.
    #[error("{}: no question `{asked}`: expected {expected}", path.display())]
    NoQuestion {
        /// The set.
        path: PathBuf,
        /// As typed.
        asked: String,
        /// What there is.
        expected: String,
    },
    /// A folder without tagged books.
    #[error("{}: no tagged books in it", path.display())]
    NoTaggedBooks {
        /// The folder.
        path: PathBuf,
    },
    /// A model of another kind where a language model is needed.
    #[error("{}: `{model}` has no language model in it", path.display())]
    NoLanguageModel {
        /// The model's folder.
        path: PathBuf,
        /// Its kind.
        model: String,
    },
    /// A file that can't be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A download whose bytes are not the published ones.
    #[error("{url}: wrong checksum: expected {expected}, found {found}")]
    Checksum {
        /// Where it came from.
        url: String,
        /// The pinned SHA-256.
        expected: String,
        /// The SHA-256 of what came.
        found: String,
    },
    /// A server that does not give the file.
    #[error("{url}: {reason}")]
    Download {
        /// What was asked for.
        url: String,
        /// The server's or the network's answer.
        reason: String,
    },
    /// An archive that tries to write outside its folder, or holds links.
    #[error("{}: entry `{entry}` is not a plain file or folder below the archive's own", archive.display())]
    UnsafeArchive {
        /// The archive.
        archive: PathBuf,
        /// The entry's path.
        entry: String,
    },
}

impl Failure {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::OutputExists { .. } => {
                Some("choose another `-o`, or add `--force` to replace it".to_owned())
            }
            Self::NoGoodBook { .. } => {
                Some("are these whole books, as .txt or .epub? `goldilocks tag BOOK` shows one".to_owned())
            }
            Self::NoNewsQuestions { .. } => Some("`--leads N` asks about more sentences".to_owned()),
            Self::NoReproduction { .. } => Some("choose another `-o`".to_owned()),
            Self::NamedTwice { .. } => Some("leave one of them out".to_owned()),
            Self::UnknownTable { .. } => {
                let names: Vec<&str> = crate::experiment::names().collect();
                Some(format!("the tables are `{}`", names.join("`, `")))
            }
            Self::Experiment { .. } => {
                Some("the repository's `experiments/` folder shows how one is written".to_owned())
            }
            Self::Brought { what, .. } if what == "version" => {
                Some("`--any-version` takes results of other versions as they are".to_owned())
            }
            Self::Brought { .. } => {
                Some("bring the right results, or remove these to make them here".to_owned())
            }
            Self::OtherVersion { .. } => Some(
                "`--any-version` takes models of other versions as they are; to train anew, remove the folder".to_owned(),
            ),
            Self::Damaged { .. } => Some("remove it: it is made again".to_owned()),
            Self::NoQuestion { .. } => {
                Some("`--on` and `--class` choose the questions that are counted".to_owned())
            }
            Self::NoTaggedBooks { .. } => {
                Some("`goldilocks tag BOOK > FILE` writes a book in the right form".to_owned())
            }
            Self::NoLanguageModel { .. } => Some(
                "`train kneser-ney`, `lm estimate` and `lm import` make models that have one".to_owned(),
            ),
            Self::Setting { .. } => None,
            Self::File { source, .. } => Some(about_file(source.kind()).to_owned()),
            Self::Checksum { .. } => Some(
                "the download was removed; try again, or name another mirror with `--from URL`"
                    .to_owned(),
            ),
            Self::Download { .. } => Some(
                "what has arrived is kept: the same command goes on from there; `--from URL` names another mirror"
                    .to_owned(),
            ),
            Self::UnsafeArchive { .. } => {
                Some("nothing was unpacked; don't use this archive".to_owned())
            }
        }
    }

    /// For `map_err` on file operations: names the file.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}

/// What to do about a file that can't be read or written.
fn about_file(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "is the name spelled right? `ls` shows what is there",
        ErrorKind::InvalidData => "is it the right file? expected text in UTF-8",
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            "a file stands where a folder is needed: choose another place"
        }
        ErrorKind::IsADirectory => "name a file, not a folder",
        ErrorKind::StorageFull => "make room on the disk, or choose another place",
        _ => "is it the right place, and may you read and write there?",
    }
}

/// Prints `warning: …`.
#[expect(clippy::print_stderr, reason = "the one place where warnings reach the terminal")]
pub fn warn(text: std::fmt::Arguments<'_>) {
    eprintln!("warning: {text}");
}

/// The hint of the first error in the chain that has one.
fn hint(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let cause = Cause(cause);
        cause
            .hint(Failure::hint)
            .or_else(|| cause.hint(corpus::Error::hint))
            .or_else(|| cause.hint(questions::Error::hint))
            .or_else(|| cause.hint(models::Error::hint))
            .or_else(|| cause.hint(|error: &ngram::Error| Some(error.remedy()?.to_string())))
            .or_else(|| cause.hint(|error: &evaluation::Error| Some(error.remedy()?.to_string())))
            .or_else(|| cause.hint(report::Error::hint))
            .or_else(|| cause.hint(page::Error::hint))
    })
}

/// On Ctrl-C says what is kept and stops. Outputs are renamed into place when whole, so nothing else is needed.
#[expect(clippy::exit, clippy::print_stderr, reason = "the person has asked to stop")]
pub fn stop_kindly(kept: &'static str) -> anyhow::Result<()> {
    let stop = move || {
        eprintln!("\nstopped: {kept}");
        // 128 + SIGINT, as shells have it.
        std::process::exit(130)
    };
    Ok(ctrlc::set_handler(stop)?)
}

struct Cause<'a>(&'a (dyn std::error::Error + 'static));

impl Cause<'_> {
    fn hint<E: std::error::Error + 'static>(
        &self,
        hint: impl Fn(&E) -> Option<String>,
    ) -> Option<String> {
        self.0.downcast_ref::<E>().and_then(hint)
    }
}

/// The error and its causes, each said once: many messages end in their cause already.
fn message(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Prints `error: …` and, where there is a way out, `hint: …`.
#[expect(clippy::print_stderr, reason = "the one place where errors reach the terminal")]
pub fn show(error: &anyhow::Error) {
    eprintln!("error: {}", message(error));
    if let Some(hint) = hint(error) {
        eprintln!("hint: {hint}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        let refused = || std::io::Error::other("the disk sulks");
        let file = Failure::File { path: "tale.txt".into(), source: refused() };
        assert_eq!(message(&file.into()), "tale.txt: the disk sulks");
        let error = anyhow::Error::from(refused()).context("tale.txt: cannot be read");
        assert_eq!(message(&error), "tale.txt: cannot be read: the disk sulks");
    }
}
