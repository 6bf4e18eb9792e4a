//! [`Cloze`]: a text with a blank and what may fill it, as a network is asked about it (§4.4).

/// A text with a blank. Words are one token or several, and so are candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cloze {
    /// What a network may attend to apart from the text; networks that only read have it before the text
    /// instead.
    pub context: Vec<u32>,
    /// The tokens before the blank; there is at least the end of sentence that precedes every text.
    pub before: Vec<u32>,
    /// The tokens of each candidate; at least one.
    pub candidates: Vec<Vec<u32>>,
    /// The tokens after the blank, up to the end of sentence.
    pub after: Vec<u32>,
}

impl Cloze {
    /// Each candidate followed by the rest of the text.
    pub fn completions(&self) -> impl Iterator<Item = Vec<u32>> {
        self.candidates.iter().map(|candidate| [&candidate[..], &self.after[..]].concat())
    }
}
