//! [`Program`]: which program made a result.

use std::fmt;

/// The program that makes a result, as manifests name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The release.
    pub version: String,
    /// The commit, if it is known, with `-dirty` after it where the sources had changed since.
    pub commit: Option<String>,
}

impl Default for Program {
    fn default() -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), commit: None }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.commit {
            Some(commit) => write!(f, "{} ({commit})", self.version),
            None => f.write_str(&self.version),
        }
    }
}
