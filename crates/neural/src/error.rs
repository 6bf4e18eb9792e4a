//! What can go wrong with a network.

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The device on which a network lives.
    #[error(transparent)]
    Device(#[from] numerics::Error),
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Device(error) => error.hint(),
        }
    }
}
