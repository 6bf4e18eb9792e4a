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
        Ok(self.encoded(text, true)?.0)
    }

    /// Splits texts that begin alike. What they share is split once, where the first text's tokens are the same for
    /// its end alone as for the whole.
    pub fn of_all(&self, texts: &[impl AsRef<str>]) -> Result<Vec<Vec<u32>>> {
        let Some((first, others)) = texts.split_first() else { return Ok(Vec::new()) };
        let first = first.as_ref();
        let (tokens, ends) = self.encoded(first, true)?;
        let cut = others.iter().map(|other| n_shared(first, other.as_ref())).min();
        let cut = cut.and_then(|n_shared| word_before(first, n_shared));
        let known = cut.map(|cut| (cut, ends.iter().take_while(|&&end| end <= cut).count()));
        let known = match known {
            Some((cut, n)) if self.encoded(&first[cut..], false)?.0 == tokens[n..] => {
                Some((cut, n))
            }
            _ => None,
        };
        let others = others.iter().map(|other| match known {
            None => self.of(other.as_ref()),
            Some((cut, n)) => {
                let (rest, _) = self.encoded(&other.as_ref()[cut..], false)?;
                Ok([&tokens[..n], &rest].concat())
            }
        });
        let others = others.collect::<Result<Vec<_>>>()?;
        Ok([tokens].into_iter().chain(others).collect())
    }

    /// The tokens of a text, and the byte at which each ends.
    pub fn encoded(&self, text: &str, is_whole: bool) -> Result<(Vec<u32>, Vec<usize>)> {
        let encoding = self
            .tokenizer
            .encode(text, is_whole)
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
            None => {
                let ends = encoding.get_offsets()[..ids.len()].iter().map(|(_, end)| *end);
                Ok((ids.to_vec(), ends.collect()))
            }
        }
    }
}

/// How many bytes two texts begin with.
fn n_shared(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

/// Where the space before a word is, some words before a place.
fn word_before(text: &str, place: usize) -> Option<usize> {
    const WORDS: usize = 4;
    let before = &text.as_bytes()[..text.floor_char_boundary(place)];
    let is_start = |&at: &usize| before[at] == b' ' && before[at - 1] != b' ';
    (1..before.len()).rev().filter(is_start).nth(WORDS)
}
