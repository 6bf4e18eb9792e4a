//! What can go wrong with weights on disk and with devices.

use std::io;
use std::path::PathBuf;

use base::Remedy;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A device or a file of weights failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    /// A file that can't be read or written.
    #[error("{}: {reason}", path.display())]
    File { path: PathBuf, reason: io::Error },
    /// A file that is not what was written.
    #[error("{}: damaged weights: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
    /// There is no GPU, or it can't be used.
    #[error("no GPU can be used: {reason}")]
    NoDevice { reason: String },
    /// An array is too large for what is left of a device's memory; sizes are in megabytes.
    #[error("{device}: out of memory: {needed} MB more are needed{}", free_memory(*free))]
    OutOfMemory { device: String, needed: usize, free: Option<usize> },
    /// A device that no longer responds, or gave up an operation.
    #[error("{device}: lost: {reason}")]
    DeviceLost { device: String, reason: String },
}

fn free_memory(free: Option<usize>) -> String {
    free.map_or(String::new(), |free| format!(", {free} MB are free"))
}

impl Error {
    /// What can be done about it.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::NoDevice { .. } => Some(Remedy::InstallCuda),
            // The CPU does not report how much is free.
            Self::OutOfMemory { free, .. } => {
                Some(Remedy::UseLessMemory { is_gpu: free.is_some() })
            }
            Self::DeviceLost { .. } => Some(Remedy::ResumeOnCpu),
            Self::File { .. } | Self::Damaged { .. } => None,
        }
    }
}
