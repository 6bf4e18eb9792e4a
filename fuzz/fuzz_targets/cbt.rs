//! CBT text: any bytes → an error, or a set that is written back byte for byte.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use questions::{OpenOptions, cbt};

fuzz_target!(|input: &[u8]| {
    let path = Path::new("fuzz.txt");
    if let Ok((set, warnings)) = cbt::read(input, path, &OpenOptions::default()) {
        let all: Vec<usize> = (0..set.len()).collect();
        let mut output = Vec::new();
        cbt::write(&set, &warnings.empty_fields, &all, &mut output, path)
            .expect("what was read is written");
        // Only the empty line after the last question may be missing from the input.
        assert!(output == input || output.strip_suffix(b"\n") == Some(input));
    }
});
