//! Plain text: any bytes → an error, or a tale within the text, its tokens and a tag for each of the first ones.

#![no_main]

use std::path::Path;

use corpus::{Tagger, gutenberg, text_of, tokenise};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = text_of(input.to_vec(), Path::new("fuzz.txt")) {
        let tale = gutenberg::cut(&text);
        assert!(tale.len() <= text.len());
        let mut sentences = tokenise(&tale);
        assert!(sentences.iter().all(|sentence| !sentence.is_empty()));
        sentences.truncate(3);
        let lengths: Vec<usize> = sentences.iter().map(Vec::len).collect();
        let tagged = Tagger::shipped().tag(sentences);
        assert_eq!(tagged.iter().map(Vec::len).collect::<Vec<_>>(), lengths);
    }
});
