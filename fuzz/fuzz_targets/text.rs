//! Plain text and HTML: any bytes → an error, or a tale within the text, its tokens and a tag for each of the first ones.

#![no_main]

use std::path::Path;

use corpus::{BookFile, Tagger, gutenberg, tokenise, tokenise_paragraphs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = BookFile::from_bytes(input, Path::new("fuzz.html"));
    if let Ok(BookFile { text, .. }) = BookFile::from_bytes(input, Path::new("fuzz.txt")) {
        let tale = gutenberg::cut(&text);
        assert!(tale.len() <= text.len());
        assert!(tokenise_paragraphs(&tale).iter().all(|sentence| !sentence.is_empty()));
        let mut sentences = tokenise(&tale);
        assert!(sentences.iter().all(|sentence| !sentence.is_empty()));
        sentences.truncate(3);
        let lengths: Vec<usize> = sentences.iter().map(Vec::len).collect();
        let tagged = Tagger::shipped().tag(sentences);
        assert_eq!(tagged.iter().map(Vec::len).collect::<Vec<_>>(), lengths);
    }
});
