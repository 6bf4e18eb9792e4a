//! What can go wrong with a network.

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The device on which a network lives.
    #[error(transparent)]
    Device(#[from] numerics::Error),
    /// Weights that lack a table.
    #[error("no table `{name}` among the weights")]
    NoTable {
        /// Its name.
        name: String,
    },
    /// Weights of another network.
    #[error(
        "table `{name}` has another shape: expected {} × {}, found {} × {}",
        expected[0], expected[1], found[0], found[1]
    )]
    OtherShape {
        /// Its name.
        name: String,
        /// Rows and columns of the network.
        expected: [usize; 2],
        /// Rows and columns of the table.
        found: [usize; 2],
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Device(error) => error.hint(),
            Self::NoTable { .. } | Self::OtherShape { .. } => Some(
                "were these weights trained with other settings? train the model again".to_owned(),
            ),
        }
    }
}
