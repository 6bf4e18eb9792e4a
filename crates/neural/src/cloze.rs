//! [`Cloze`]: a text with a blank and the words that may fill it, as a network is asked about it (§4.4).

use crate::Result;

/// A text with a blank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cloze {
    /// What a network may look at beside the text; those that only read have it before the text instead.
    pub context: Vec<u32>,
    /// The words before the blank; there is at least the end of sentence that stands before every text.
    pub before: Vec<u32>,
    /// The words that may fill it.
    pub candidates: Vec<u32>,
    /// The words behind it, up to the end of sentence.
    pub after: Vec<u32>,
}

/// A network that fills blanks.
pub trait FillsBlanks: Send + Sync {
    /// For each text and candidate: ln of the probability of the candidate and of all words behind it, given
    /// those before.
    ///
    /// # Errors
    /// If the device fails.
    fn fill(&self, texts: &[Cloze]) -> Result<Vec<Vec<f64>>>;
}
