//! [`Checkpoint`]: a folder in Hugging Face's layout, loaded.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::config::Config;
use crate::tensors::Tensors;
use crate::tokens::Tokens;
use crate::weights::Weights;
use crate::{Architecture, Error, Reader, Result};

const CONFIG: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";

/// A network with its tokenizer.
pub struct Checkpoint {
    pub(crate) config: Config,
    pub(crate) weights: Weights,
    tokens: Tokens,
    hashes: Hashes,
}

/// The identity of a checkpoint, whatever its folder is called: SHA-256 of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// The hash of `config.json`.
    pub config: String,
    /// The hash of `tokenizer.json`.
    pub tokenizer: String,
    /// The hash of all files with weights, in the order of their names.
    pub weights: String,
}

impl Checkpoint {
    /// Returns whether a folder looks like a checkpoint.
    pub fn is_at(folder: &Path) -> bool {
        folder.join(CONFIG).is_file()
    }

    /// Reads a folder.
    ///
    /// # Errors
    /// If a file is missing or damaged, the network is not one that is known here, or the files do not fit
    /// together.
    pub fn open(folder: &Path) -> Result<Self> {
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read(&path).map_err(|reason| Error::unreadable(&path, reason))
        };
        let path = folder.join(CONFIG);
        let config = read(CONFIG)?;
        let text = std::str::from_utf8(&config)
            .map_err(|_| Error::Damaged { path: path.clone(), reason: "not UTF-8".to_owned() })?;
        let hash = base::hash::sha256(&config);
        let config = Config::read(&path, text)?;
        let tokenizer = read(TOKENIZER)?;
        let tokens = Tokens::read(&folder.join(TOKENIZER), &tokenizer, config.n_tokens)?;
        let tensors = Tensors::read(folder, |name| Weights::is_wanted(&config, name))?;
        let hashes = Hashes {
            config: hash,
            tokenizer: base::hash::sha256(&tokenizer),
            weights: tensors.hash.clone(),
        };
        let weights = Weights::take(&config, tensors)?;
        Ok(Self { config, weights, tokens, hashes })
    }

    /// The family of the network.
    pub fn architecture(&self) -> Architecture {
        self.config.architecture
    }

    /// The hashes of its files, which identify it.
    pub fn hashes(&self) -> &Hashes {
        &self.hashes
    }

    /// The most tokens of a text.
    pub fn n_positions(&self) -> usize {
        self.config.n_positions
    }

    /// Splits a text into the model's own tokens.
    ///
    /// # Errors
    /// If the tokenizer can't.
    pub fn tokens(&self, text: &str) -> Result<Vec<u32>> {
        self.tokens.of(text)
    }

    /// Starts reading, with a memory of its own: one reader per thread.
    pub fn reader(self: &Arc<Self>) -> Reader {
        Reader::new(self.clone())
    }
}
