//! CBT text: any bytes → an error, or a set that is written back byte for byte.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use questions::{OpenOptions, cbt};

fuzz_target!(|input: &[u8]| {
    if let Ok((set, _)) = cbt::read(input, Path::new("fuzz.txt"), &OpenOptions::default()) {
        let all: Vec<usize> = (0..set.len()).collect();
        let mut output = Vec::new();
        cbt::write(&set, &all, &mut output, Path::new("fuzz.txt"))
            .expect("what was read is written");
        // Only the empty line after the last question may be missing from the input.
        assert!(output == input || output.strip_suffix(b"\n") == Some(input));
    }
});
