//! [`Checkpoint`]: a folder in Hugging Face's layout, loaded.

use std::path::Path;
use std::sync::Arc;

use crate::config::Config;
use crate::tensors::Tensors;
use crate::tokens::Tokens;
use crate::weights::Weights;
use crate::{Architecture, Files, Reader, Result};

pub(crate) const CONFIG: &str = "config.json";
pub(crate) const TOKENIZER: &str = "tokenizer.json";

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
    /// Those of [`Self::read`].
    pub fn open(folder: &Path) -> Result<Self> {
        Self::read(Files::Folder(folder))
    }

    /// Reads the files of a checkpoint.
    ///
    /// # Errors
    /// If a file is missing or damaged, the network is not one that is known here, the files do not fit
    /// together, or there is too little memory.
    pub fn read(files: Files<'_>) -> Result<Self> {
        let text = files.text(CONFIG)?;
        let config = Config::read(&files.path(CONFIG), &text)?;
        let tokenizer = files.read(TOKENIZER)?;
        let tokens = Tokens::read(&files.path(TOKENIZER), &tokenizer, config.n_tokens)?;
        let tensors = Tensors::read(files, |name| Weights::is_wanted(&config, name))?;
        let hashes = Hashes {
            config: base::hash::sha256(text.as_bytes()),
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

    /// Splits a text, and says at which byte each token ends.
    ///
    /// # Errors
    /// If the tokenizer can't.
    pub fn tokens_with_ends(&self, text: &str) -> Result<(Vec<u32>, Vec<usize>)> {
        self.tokens.encoded(text, true)
    }

    /// Splits texts that begin alike, which costs little more than one of them.
    ///
    /// # Errors
    /// If the tokenizer can't.
    pub fn tokens_of_all(&self, texts: &[impl AsRef<str>]) -> Result<Vec<Vec<u32>>> {
        self.tokens.of_all(texts)
    }

    /// Starts reading, with a memory of its own: one reader per thread.
    pub fn reader(self: &Arc<Self>) -> Reader {
        Reader::new(self.clone())
    }
}
