//! A language model's file: any bytes → an error, or a model that scores without a panic.
//! The checksums stop changed bytes, so that the input is also given the right ones.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use ngram::Model;
use sha2::{Digest, Sha256};

const HEADER: usize = 128;

fn try_all(bytes: Vec<u8>) {
    if let Ok(model) = Model::from_bytes(bytes, Path::new("ngrams.bin")) {
        model.log_probs(["the", "bear", "ate", "the", "soup", "and", "slept"]);
        let _ = model.to_table();
    }
}

fuzz_target!(|input: &[u8]| {
    try_all(input.to_vec());
    if input.len() < HEADER {
        return;
    }
    let mut bytes = input.to_vec();
    bytes[..16].copy_from_slice(b"goldilocks-ngram");
    bytes[16..20].copy_from_slice(&1u32.to_le_bytes());
    let body = Sha256::digest(&bytes[HEADER..]);
    let body = if input.len() == HEADER { Sha256::digest([]) } else { Sha256::digest(&body[..16]) };
    bytes[96..112].copy_from_slice(&body[..16]);
    let header = Sha256::digest(&bytes[..112]);
    bytes[112..HEADER].copy_from_slice(&header[..16]);
    try_all(bytes);
});
