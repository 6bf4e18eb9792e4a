//! Tokens with log-probabilities → the score of each candidate.

use std::ops::Range;

use questions::shared_prefix;

use crate::{Error, FilledQuestion, Result};

/// A token of a text as the server reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The token's id, or 0 if the server returns only its text.
    pub id: u64,
    /// Its text; with U+FFFD where it is a part of a character.
    pub text: String,
    /// ln p of the token after those before it; none for the first token and where it was not asked for.
    pub log_prob: Option<f64>,
}

/// The score of a text with a candidate in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CandidateScore {
    /// Σ ln p over the tokens after the shared ones: ln p(q₁…q_{k−1}, c, q_{k+1}…q_l) (§4.2) but for a constant.
    pub query: f64,
    /// Σ ln p over the tokens that overlap the candidate.
    pub candidate: f64,
    /// How many tokens `query` adds.
    pub n_tokens: usize,
}

/// The score of each candidate from the tokens of its text.
///
/// # Errors
/// If the texts share no token, or a token after the shared ones has no usable log-probability.
pub fn score_pieces(filled: &FilledQuestion, texts: &[Vec<Piece>]) -> Result<Vec<CandidateScore>> {
    // Two tokens with the same text differ if the server returns ids and the ids differ.
    let key = |piece: &Piece| {
        if piece.id == 0 { (0, piece.text.clone()) } else { (piece.id, String::new()) }
    };
    let keys: Vec<Vec<(u64, String)>> =
        texts.iter().map(|pieces| pieces.iter().map(key).collect()).collect();
    let n_shared = shared_prefix(&keys);
    if n_shared == 0 {
        return Err(Error::NothingShared);
    }
    let of_text = |((pieces, text), candidate): ((&Vec<Piece>, &String), &Range<usize>)| {
        let mut score =
            CandidateScore { query: 0.0, candidate: 0.0, n_tokens: pieces.len() - n_shared };
        for (piece, span) in pieces.iter().zip(spans(text, pieces)).skip(n_shared) {
            let log_prob = checked(piece)?;
            score.query += log_prob;
            if span.start < candidate.end && candidate.start < span.end {
                score.candidate += log_prob;
            }
        }
        Ok(score)
    };
    texts.iter().zip(&filled.texts).zip(&filled.candidates).map(of_text).collect()
}

/// The log-probability of a token: finite, and no mark for «too small», which servers write as −9999 or −3.4e38.
pub(crate) fn checked(piece: &Piece) -> Result<f64> {
    let is_usable = |log_prob: &f64| *log_prob > -9000.0 && *log_prob < 1e-3;
    piece.log_prob.filter(is_usable).ok_or_else(|| Error::NotALogProb {
        token: piece.text.clone(),
        found: piece.log_prob.map_or("missing".to_owned(), |log_prob| log_prob.to_string()),
    })
}

/// The bytes of each token in the text. A token that is a part of a character, or that is not in the text at all
/// (BOS), gets what is between its neighbours.
fn spans(text: &str, pieces: &[Piece]) -> Vec<Range<usize>> {
    const FAR: usize = 24;
    let mut spans: Vec<Range<usize>> = Vec::with_capacity(pieces.len());
    let mut place = 0;
    for piece in pieces {
        let window_end = text.ceil_char_boundary((place + piece.text.len() + FAR).min(text.len()));
        let window = &text[place.min(window_end)..window_end];
        let found = if piece.text.is_empty() || piece.text.contains('\u{fffd}') {
            None
        } else if window.starts_with(&piece.text) {
            Some(0)
        } else {
            // SentencePiece tokenisers put a space before the text.
            let trimmed = piece.text.trim_start();
            (!trimmed.is_empty() && window.starts_with(trimmed))
                .then_some(0)
                .or_else(|| window.find(&piece.text))
        };
        match found {
            Some(offset) => {
                let length = if window[offset..].starts_with(&piece.text) {
                    piece.text.len()
                } else {
                    piece.text.trim_start().len()
                };
                let start = place + offset;
                if offset > 0 {
                    // Tokens before this one that could not be placed end here.
                    spans
                        .iter_mut()
                        .rev()
                        .take_while(|span| span.start == place)
                        .for_each(|span| span.end = start);
                }
                spans.push(start..start + length);
                place = start + length;
            }
            None => spans.push(place..place),
        }
    }
    spans
}
