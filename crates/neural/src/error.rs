//! What can go wrong with a network.

use base::Remedy;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A device failed, or weights are not those of the network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    /// The device on which a network is.
    #[error(transparent)]
    Device(#[from] numerics::Error),
    /// A table that is missing.
    #[error("no table `{name}` among the weights")]
    NoTable { name: String },
    /// A table of another network.
    #[error(
        "table `{name}` has another shape: expected {} × {}, found {} × {}",
        expected[0], expected[1], found[0], found[1]
    )]
    OtherShape { name: String, expected: [usize; 2], found: [usize; 2] },
}

impl Error {
    /// What can be done about it.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Device(error) => error.remedy(),
            Self::NoTable { .. } | Self::OtherShape { .. } => {
                Some(Remedy::Train { model: None, folder: None })
            }
        }
    }
}
