//! [`Pieces`]: text → numbers of pieces, by byte-pair encoding that was trained on text.
//!
//! The file is a `tokenizer.json` as the crate `tokenizers` writes it, so others read it as it is. A text begins
//! with the document piece, and its first word is split as any other: as if a space stood before it.

use std::path::Path;

use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::processors::template::TemplateProcessing;
use tokenizers::{AddedToken, Tokenizer, TokenizerBuilder};

use crate::{Error, Result};

/// How the piece is written that begins a document.
pub const DOCUMENT: &str = "<|document|>";
/// Its number.
pub const DOCUMENT_ID: u16 = 0;

/// A trained tokenizer.
pub struct Pieces {
    tokenizer: Tokenizer,
}

impl Pieces {
    /// Trains a tokenizer with at most some number of pieces.
    ///
    /// # Errors
    /// If the tokenizer's own code fails.
    pub fn train<'a>(texts: impl Iterator<Item = &'a str> + Send, n: usize) -> Result<Self> {
        let bytes = ByteLevel::new(true, true, true);
        let mut trainer = BpeTrainer::builder()
            .vocab_size(n)
            .show_progress(false)
            .min_frequency(2)
            .special_tokens(vec![AddedToken::from(DOCUMENT, true)])
            .initial_alphabet(ByteLevel::alphabet().into_iter().collect())
            .build();
        let mut tokenizer = TokenizerBuilder::new()
            .with_model(BPE::default())
            .with_normalizer(None::<tokenizers::NormalizerWrapper>)
            .with_pre_tokenizer(Some(bytes))
            .with_post_processor(None::<TemplateProcessing>)
            .with_decoder(Some(bytes))
            .build()
            .map_err(Error::tokenizer)?;
        tokenizer.train(&mut trainer, texts).map_err(Error::tokenizer)?;
        let template = TemplateProcessing::builder()
            .try_single(format!("{DOCUMENT} $A"))
            .map_err(Error::tokenizer)?
            .special_tokens(vec![(DOCUMENT, u32::from(DOCUMENT_ID))])
            .build()
            .map_err(Error::tokenizer)?;
        tokenizer.with_post_processor(Some(template));
        let text = tokenizer.to_string(true).map_err(Error::tokenizer)?;
        Self::from_text(&text)
    }

    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// If it is none of ours: without the document piece, or with more pieces than 16 bits count.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
        Self::from_text(&text).map_err(|error| Error::damaged(path, error))
    }

    fn from_text(text: &str) -> Result<Self> {
        let tokenizer = Tokenizer::from_bytes(text).map_err(Error::tokenizer)?;
        let (found, n) = (tokenizer.token_to_id(DOCUMENT), tokenizer.get_vocab_size(true));
        if found != Some(u32::from(DOCUMENT_ID)) {
            let reason = format!("expected `{DOCUMENT}` with the number {DOCUMENT_ID}");
            return Err(Error::tokenizer(reason));
        }
        if n > usize::from(u16::MAX) {
            return Err(Error::tokenizer(format!(
                "expected at most {} pieces, found {n}",
                u16::MAX
            )));
        }
        Ok(Self { tokenizer })
    }

    /// The text of `tokenizer.json`.
    ///
    /// # Errors
    /// If the tokenizer's own code fails.
    pub fn to_text(&self) -> Result<String> {
        self.tokenizer.to_string(false).map_err(Error::tokenizer)
    }

    /// How many pieces there are.
    pub fn len(&self) -> usize {
        self.tokenizer.get_vocab_size(true)
    }

    /// Whether there are none, which can't be.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Splits a text, without a document piece before it.
    ///
    /// # Errors
    /// If the tokenizer's own code fails.
    pub fn split(&self, text: &str) -> Result<Vec<u16>> {
        let split = self.tokenizer.encode_fast(text, false).map_err(Error::tokenizer)?;
        Ok(split.get_ids().iter().map(|&id| id as u16).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trained() -> Pieces {
        let texts = corpus::tales::TALES.iter().map(|tale| tale.text);
        Pieces::train(texts, 500).unwrap()
    }

    #[test]
    fn what_is_trained_twice_is_the_same_and_comes_back_from_its_file() {
        let pieces = trained();
        let text = pieces.to_text().unwrap();
        assert_eq!(text, trained().to_text().unwrap());
        assert_eq!(pieces.len(), 500);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        std::fs::write(&path, &text).unwrap();
        let read = Pieces::read(&path).unwrap();
        let sentence = "The bear’s porridge, said she; \"was it yours?\"";
        assert_eq!(read.split(sentence).unwrap(), pieces.split(sentence).unwrap());
    }

    #[test]
    fn a_text_in_two_parts_has_the_pieces_of_the_whole() {
        let pieces = trained();
        let whole = pieces.split("The bear slept. \"Who is there?\" he asked.").unwrap();
        let parts = ["The bear slept.", " \"Who is there?\" he asked."];
        let parts: Vec<u16> = parts.iter().flat_map(|part| pieces.split(part).unwrap()).collect();
        assert_eq!(whole, parts);
    }

    #[test]
    fn another_tokenizer_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        std::fs::write(&path, trained().to_text().unwrap().replace(DOCUMENT, "<s>")).unwrap();
        let error = Pieces::read(&path).err().unwrap();
        assert!(error.to_string().contains("expected `<|document|>` with the number 0"), "{error}");
    }
}
