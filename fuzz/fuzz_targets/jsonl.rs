//! JSON lines: any bytes → an error, or a set that is the same after writing and reading.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use questions::{OpenOptions, compact, jsonl};

fuzz_target!(|input: &[u8]| {
    let (path, options) = (Path::new("fuzz.jsonl"), OpenOptions::default());
    if let Ok((set, warnings)) = jsonl::read(input, path, &options) {
        let mut output = Vec::new();
        jsonl::write(&set, &warnings.empty_fields, &mut output, path).expect("what was read is written");
        let (again, warnings_again) =
            jsonl::read(&output[..], path, &options).expect("what was written is read");
        assert_eq!(
            compact::encode(&again, &warnings_again.empty_fields),
            compact::encode(&set, &warnings.empty_fields)
        );
    }
});
