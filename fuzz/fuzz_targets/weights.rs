//! A tagger's weights: any bytes → an error, or a tagger that tags and is the same after writing and reading.
//! The checksum stops changed bytes, so that the input is also packed as the body of a file with the right one.

#![no_main]

use corpus::Tagger;
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};

fn file(body: &[u8]) -> Vec<u8> {
    let packed = zstd::bulk::compress(body, 1).expect("packing in memory can't fail");
    let length = (body.len() as u32).to_le_bytes();
    let checksum = Sha256::digest(&packed);
    [&b"goldi-tagger"[..], &1u32.to_le_bytes(), &length, &checksum[..16], &packed].concat()
}

fuzz_target!(|input: &[u8]| {
    let _ = Tagger::from_bytes(input);
    if let Ok(tagger) = Tagger::from_bytes(&file(input)) {
        let sentence = ["The", "bear", "'s", "3", "bowls", "."].map(String::from).to_vec();
        assert_eq!(tagger.tag(vec![sentence])[0].len(), 6);
        let bytes = tagger.to_bytes();
        let again = Tagger::from_bytes(&bytes).expect("what was written is read");
        assert_eq!(again.to_bytes(), bytes);
    }
});
