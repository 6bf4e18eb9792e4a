//! Tiny checkpoints with random weights give the figures that `transformers` gave (`tests/golden/make`),
//! however a text is divided among passes.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use goldilocks_transformer::{Branch, Checkpoint, Error, Files, NumberFormat, Reader, export};
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
fn branches_that_leave_a_text_at_several_places_are_worth_what_each_is_alone() {
    for name in ["llama", "qwen3"] {
        let mut reader = reader(name);
        let text = reader.checkpoint().tokens(&"The bear ate. ".repeat(50)).unwrap();
        let rests: [&[u32]; 4] = [&[5, 6, 7], &[9], &[6, 6, 6, 6, 6], &[11, 12]];
        // On both sides of what is read in one pass, twice at the same place, and not in order.
        let places = [300, text.len(), 513, 300];
        let branches: Vec<Branch<'_>> =
            places.iter().zip(rests).map(|(&after, tokens)| Branch { after, tokens }).collect();
        let together = reader.branches(&text, &branches).unwrap();
        for (branch, found) in branches.iter().zip(together) {
            reader.forget();
            let alone = reader.continuations(&text[..branch.after], &[branch.tokens]).unwrap()[0];
            assert!((alone - found).abs() < 1e-4 * alone.abs(), "{name}: {alone} {found}");
        }
        assert!(reader.branches(&text, &[]).unwrap().is_empty());
        let nothing_before = [Branch { after: 0, tokens: &[1] }];
        assert!(matches!(reader.branches(&text, &nothing_before), Err(Error::NothingShared)));
    }
}

#[test]
fn the_attention_of_a_token_is_shared_out_among_those_up_to_it() {
    for name in ["llama", "qwen3"] {
        let mut reader = reader(name);
        let text = reader.checkpoint().tokens(&"The bear ate. ".repeat(50)).unwrap();
        let attention = reader.attention(&text).unwrap();
        assert_eq!(attention.len(), text.len());
        assert!(attention.iter().all(|&weight| (0.0..=1.0).contains(&weight)));
        assert!((attention.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        // What is known already is not read again, and changes nothing.
        let again = reader.attention(&text).unwrap();
        assert!(attention.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-6));
    }
}

#[test]
fn texts_that_begin_alike_have_the_tokens_that_each_has_alone() {
    let tale =
        "The bear ate his soup. \"Who is there?\" said the bear, and ate on, for it was cold.";
    let texts = ["the fox", "a hen", "", " ", "x", "the bear's\n\n ears"]
        .map(|word| format!("{tale} Then came {word} and said that she was hungry."));
    let early = ["The bear", "A bear"].map(str::to_owned);
    for name in ["llama", "qwen3"] {
        let reader = reader(name);
        for texts in [&texts[..], &early, &texts[..1], &[]] {
            let together = reader.checkpoint().tokens_of_all(texts).unwrap();
            assert_eq!(together.len(), texts.len());
            for (text, found) in texts.iter().zip(together) {
                assert_eq!(found, reader.checkpoint().tokens(text).unwrap(), "{name}: {text}");
            }
        }
    }
}

#[test]
fn what_is_exported_gives_the_same_scores_and_in_eight_bits_almost() {
    for name in ["llama", "qwen3"] {
        let source = folder(name);
        let (tokens, logits) = expected(name);
        let spread = logits.iter().fold(0.0, |largest: f32, logit| largest.max(logit.abs()));
        for (format, tolerance) in [
            (NumberFormat::F32, 1e-4),
            // The weights of both fit into sixteen bits, one of them exactly.
            (NumberFormat::Bf16, 0.02 * spread),
            (NumberFormat::Int8, 0.05 * spread),
            (NumberFormat::Int6, 0.2 * spread),
        ] {
            let written = export(Files::Folder(&source), format).unwrap();
            let files: Vec<(&str, &[u8])> =
                written.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
            let read = Checkpoint::read(Files::Memory("copy", &files)).unwrap();
            assert_eq!(read.tokens(SENTENCES).unwrap(), tokens);
            let scores = Arc::new(read).reader().scores(&tokens).unwrap();
            let differences = scores.iter().zip(&logits).map(|(a, b)| (a - b).abs());
            let mean = differences.sum::<f32>() / logits.len() as f32;
            assert!(mean < tolerance, "{name} {format:?}: {mean} of {spread}");
            // The same again from the copy: a row's scale does not change.
            let again = export(Files::Memory("copy", &files), format).unwrap();
            assert_eq!(again, written, "{name} {format:?}");
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
