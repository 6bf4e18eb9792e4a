//! What the argument MODEL of a command names.

use std::path::PathBuf;

use goldilocks::server::ServerAddress;

/// A model to answer with.
#[derive(Clone, Debug)]
pub enum ModelArgument {
    /// A folder that `train` wrote.
    Folder(PathBuf),
    /// A server with a language model.
    Server(ServerAddress),
}

impl ModelArgument {
    /// Parses the argument, for clap.
    pub fn parse(text: &str) -> goldilocks::Result<Self> {
        if ServerAddress::is_address(text) {
            Ok(Self::Server(ServerAddress::parse(text)?))
        } else {
            Ok(Self::Folder(text.into()))
        }
    }
}
