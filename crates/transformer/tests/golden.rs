//! Tiny checkpoints with random weights give the figures that `transformers` gave (`tests/golden/make`),
//! however a text is divided among passes.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use goldilocks_transformer::{Checkpoint, Error, Reader};
use safetensors::SafeTensors;

const SENTENCES: &str = "\"Who is there?\" said the bear, and ate his soup.";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn reader(name: &str) -> Reader {
    Arc::new(Checkpoint::open(&folder(name)).unwrap()).reader()
}

/// The tokens and scores that `transformers` computed.
fn expected(name: &str) -> (Vec<u32>, Vec<f32>) {
    let bytes = std::fs::read(folder(name).join("expected.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let tokens = tensors.tensor("tokens").unwrap();
    let tokens = tokens.data().as_chunks::<8>().0.iter();
    let logits = tensors.tensor("logits").unwrap();
    let logits = logits.data().as_chunks::<4>().0.iter();
    (
        tokens.map(|&bytes| i64::from_le_bytes(bytes) as u32).collect(),
        logits.map(|&bytes| f32::from_le_bytes(bytes)).collect(),
    )
}

#[test]
fn scores_are_those_of_transformers() {
    for name in ["llama", "qwen3"] {
        let mut reader = reader(name);
        let (tokens, logits) = expected(name);
        assert_eq!(reader.checkpoint().tokens(SENTENCES).unwrap(), tokens, "{name}");
        assert_eq!(reader.checkpoint().architecture().to_string(), name);
        let scores = reader.scores(&tokens).unwrap();
        assert_eq!(scores.len(), logits.len());
        let differences = scores.iter().zip(&logits).map(|(a, b)| (a - b).abs());
        let largest = differences.fold(0.0, f32::max);
        assert!(largest < 1e-4, "{name}: {largest}");
    }
}

/// Σ ln p of the tokens from one on, from the scores of a whole text.
fn log_prob(scores: &[f32], n_tokens: usize, tokens: &[u32], first: usize) -> f64 {
    let of = |place: usize| {
        let row = &scores[(place - 1) * n_tokens..][..n_tokens];
        let sum: f64 = row.iter().map(|&score| f64::from(score).exp()).sum();
        f64::from(row[tokens[place] as usize]) - sum.ln()
    };
    (first..tokens.len()).map(of).sum()
}

#[test]
fn continuations_are_worth_what_whole_texts_are() {
    for (name, n_tokens) in [("llama", 272), ("qwen3", 270)] {
        let mut reader = reader(name);
        // Longer than a block of attention, and than what is read in one pass.
        let shared = "The bear ate. ".repeat(60);
        let shared = reader.checkpoint().tokens(&shared).unwrap();
        assert!((520..900).contains(&shared.len()), "{}", shared.len());
        let rests = [" Who is there?", " So", "!", " the fox said that he was not at all hungry."];
        let rests: Vec<Vec<u32>> = rests
            .iter()
            .map(|rest| {
                let tokens = reader.checkpoint().tokens(rest).unwrap();
                tokens.into_iter().filter(|&token| token != 0).collect()
            })
            .collect();
        let rests: Vec<&[u32]> = rests.iter().map(Vec::as_slice).collect();
        let whole: Vec<f64> = rests
            .iter()
            .map(|rest| {
                let tokens = [&shared, *rest].concat();
                let scores = reader.scores(&tokens).unwrap();
                log_prob(&scores, n_tokens, &tokens, shared.len())
            })
            .collect();
        let near = |found: &[f64]| {
            found
                .iter()
                .zip(&whole)
                .all(|(found, whole)| (found - whole).abs() < 1e-4 * whole.abs())
        };
        reader.forget();
        let first = reader.continuations(&shared, &rests).unwrap();
        assert!(near(&first), "{name}: {first:?} {whole:?}");
        // What is known already, and what has another end, is read from where it differs.
        assert!(near(&reader.continuations(&shared, &rests).unwrap()));
        reader.continuations(&shared[..300], &rests[..1]).unwrap();
        reader.continuations(&[&shared[..310], &[5, 6, 7]].concat(), &rests[..1]).unwrap();
        assert!(near(&reader.continuations(&shared, &rests).unwrap()));
        reader.forget();
        assert_eq!(reader.continuations(&shared, &rests).unwrap(), first, "the same bits");
        // Alone or together with others.
        for (rest, whole) in rests.iter().zip(&whole) {
            let alone = reader.continuations(&shared, &[*rest]).unwrap()[0];
            assert!((alone - whole).abs() < 1e-4 * whole.abs());
        }
    }
}

#[test]
fn what_has_no_probability_is_an_error() {
    let mut reader = reader("qwen3");
    assert!(matches!(reader.continuations(&[], &[&[1]]), Err(Error::NothingShared)));
    let error = reader.continuations(&[1; 1000], &[&[2; 24], &[3; 25]]).unwrap_err();
    assert_eq!(error.to_string(), "the text is too long: it has 1025 tokens, the model reads 1024");
    assert!(reader.continuations(&[1; 1000], &[&[2; 24]]).unwrap()[0].is_finite());
}
