//! [`Tokens`]: a text → the numbers of its tokens, by the model's own `tokenizer.json`.

use std::path::{Path, PathBuf};

use tokenizers::Tokenizer;

use crate::{Error, Result};

/// A tokenizer that fits a model.
pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    path: PathBuf,
    /// How many tokens the model has.
    n_tokens: usize,
}

impl Tokens {
    /// Reads a tokenizer for a model with a number of tokens.
    pub fn read(path: &Path, bytes: &[u8], n_tokens: usize) -> Result<Self> {
        let damaged = |reason: String| Error::Damaged { path: path.to_owned(), reason };
        let mut tokenizer =
            Tokenizer::from_bytes(bytes).map_err(|error| damaged(error.to_string()))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| damaged(error.to_string()))?;
        let known = tokenizer.get_vocab(true);
        let misfit = |reason| Err(Error::OtherTokenizer { path: path.to_owned(), reason });
        match known.iter().max_by_key(|(_, number)| **number) {
            None => misfit("it has no tokens".to_owned()),
            Some((text, &number)) if number as usize >= n_tokens => {
                misfit(format!("`{text}` has the number {number}, the model has {n_tokens} tokens"))
            }
            // Models pad the number of tokens, but not by this much.
            Some(_) if known.len() * 2 < n_tokens => {
                misfit(format!("it has {} tokens, the model has {n_tokens}", known.len()))
            }
            Some(_) => Ok(Self { tokenizer, path: path.to_owned(), n_tokens }),
        }
    }

    /// Splits a text. Special tokens that the tokenizer adds before a text are kept, those after it are dropped.
    pub fn of(&self, text: &str) -> Result<Vec<u32>> {
        let encoding = self
            .tokenizer
            .encode_fast(text, true)
            .map_err(|error| Error::Text { reason: error.to_string() })?;
        let special = encoding.get_special_tokens_mask();
        let n_behind = special.iter().rev().take_while(|&&mark| mark == 1).count();
        let ids = encoding.get_ids();
        let ids = &ids[..ids.len() - n_behind];
        // What is put before a text need not be in the vocabulary.
        match ids.iter().find(|&&id| id as usize >= self.n_tokens) {
            Some(id) => Err(Error::OtherTokenizer {
                path: self.path.clone(),
                reason: format!("it gives the number {id}, the model has {} tokens", self.n_tokens),
            }),
            None => Ok(ids.to_vec()),
        }
    }
}
