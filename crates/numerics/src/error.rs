//! What can go wrong with weights on disk and with devices.

use std::io;
use std::path::PathBuf;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that can't be read or written.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says; part of the message, so not a source of its own.
        reason: io::Error,
    },
    /// A file that can't be what was written.
    #[error("{}: damaged weights: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No such device can be used here.
    #[error("no GPU can be used: {reason}")]
    NoDevice {
        /// Why not.
        reason: String,
    },
    /// An array is too large for what is left of a device's memory.
    #[error("{device}: out of memory: {needed} MB more are needed{}", left(*free))]
    OutOfMemory {
        /// The device.
        device: String,
        /// Megabytes that were asked for.
        needed: usize,
        /// Megabytes that were left, where that is known.
        free: Option<usize>,
    },
    /// A device that does not answer any more, or gave up an operation.
    #[error("{device}: lost: {reason}")]
    DeviceLost {
        /// The device.
        device: String,
        /// What it said.
        reason: String,
    },
}

fn left(free: Option<usize>) -> String {
    free.map_or(String::new(), |free| format!(", {free} MB are free"))
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoDevice { .. } => Some(
                "`--device cpu` needs none; a GPU needs NVIDIA's driver and the CUDA libraries cuBLAS and NVRTC where \
                 programs are looked for (LD_LIBRARY_PATH)"
                    .to_owned(),
            ),
            Self::OutOfMemory { free, .. } => {
                // The processor does not know how much is free.
                let other = if free.is_some() { "`--device cpu`" } else { "fewer `--threads`" };
                Some(format!(
                    "{other}; or train with less at a time (`streams` and `steps`, or `batch` and `run`) or a smaller `dim`"
                ))
            }
            Self::DeviceLost { .. } => Some(
                "run the same command again: a training goes on from its last checkpoint; `--device cpu` does without the GPU"
                    .to_owned(),
            ),
            Self::File { .. } | Self::Damaged { .. } => None,
        }
    }
}
