//! Errors that a person sees: what is wrong and where, then what to do about it.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::builder::Styles;
use clap::builder::styling::{AnsiColor, Style};

use crate::remedy::worded;
use crate::stdio;
use crate::terminal;

/// What a command can run into beyond the errors of the library.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// An option whose value does not fit.
    #[error("{what}: {message}")]
    Setting { what: &'static str, message: String },
    /// A download whose bytes are not the published ones.
    #[error("{url}: wrong checksum: expected {expected}, found {found}")]
    Checksum { url: String, expected: String, found: String },
    /// A server that does not give the file.
    #[error("{url}: {reason}")]
    Download { url: String, reason: String },
    /// An archive that tries to write outside its folder, or holds links.
    #[error("{}: entry `{entry}` is not a plain file or folder below the archive's own", archive.display())]
    UnsafeArchive { archive: PathBuf, entry: String },
}

impl CliError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Setting { .. } => None,
            Self::Checksum { .. } => Some(
                "the download was removed; try again, or name another mirror with `--from URL`",
            ),
            Self::Download { .. } => {
                Some("run the same command again to resume; `--from URL` names another mirror")
            }
            Self::UnsafeArchive { .. } => Some("nothing was unpacked; don't use this archive"),
        }
    }
}

/// Prints `warning: …` to stderr.
pub fn warn(text: std::fmt::Arguments<'_>) {
    let style = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    anstream::eprintln!("{style}warning:{style:#} {}", fitted("warning:", text.to_string()));
}

/// A message of one line after its label, wrapped where a terminal shows it.
fn fitted(label: &str, text: String) -> String {
    let text = stdio::named(text);
    if text.contains('\n') || !std::io::stderr().is_terminal() {
        return text;
    }
    let indent = label.len() + 1;
    terminal::hanging("", &text, indent, terminal::width()).trim().to_owned()
}

/// The hint of the first error in the chain that has one.
fn hint(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| match cause.downcast_ref::<CliError>() {
        Some(failure) => failure.hint().map(str::to_owned),
        None => cause.downcast_ref::<goldilocks::Error>()?.hint().map(|remedy| worded(&remedy)),
    })
}

/// The error and its causes, each once: many messages end in their cause already.
fn message(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    // As other messages have it.
    text.replace("cannot be read: No such", "No such").replace(NOT_FOUND, "no such file or folder")
}

/// How Unix says that there is no file.
const NOT_FOUND: &str = "No such file or directory (os error 2)";

/// Prints `error: …` and, where there is a way out, `hint: …`, in the colours of the argument parser's errors: none
/// where stderr is not a terminal, or `NO_COLOR` is set.
pub fn show(error: &anyhow::Error) {
    let styles = Styles::styled();
    let (error_style, hint_style) = (styles.get_error(), styles.get_valid());
    anstream::eprintln!("{error_style}error:{error_style:#} {}", fitted("error:", message(error)));
    if let Some(hint) = hint(error) {
        anstream::eprintln!("{hint_style}hint:{hint_style:#} {}", fitted("hint:", hint));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_printed_once() {
        let refused = || std::io::Error::other("the disk sulks");
        let file = goldilocks::Error::Io { path: "tale.txt".into(), source: refused() };
        assert_eq!(message(&file.into()), "tale.txt: the disk sulks");
        let error = anyhow::Error::from(refused()).context("tale.txt: cannot be read");
        assert_eq!(message(&error), "tale.txt: cannot be read: the disk sulks");
    }
}
