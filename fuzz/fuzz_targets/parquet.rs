//! Parquet: any bytes → an error, or a set that is the same after writing and reading.
//!
//! The reader catches the panics of the Parquet library, so the hook that would end the run at any panic
//! is replaced; one that leaves the reader still ends it.

#![no_main]

use std::path::Path;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use questions::{OpenOptions, compact, parquet};

fuzz_target!(init: std::panic::set_hook(Box::new(|_| {})), |input: &[u8]| {
    let (path, options) = (Path::new("fuzz.parquet"), OpenOptions::default());
    if let Ok((set, warnings)) = parquet::read(Bytes::copy_from_slice(input), path, &options) {
        let mut output = Vec::new();
        parquet::write(&set, &warnings.empty_fields, &mut output, path).expect("what was read is written");
        let (again, warnings_again) =
            parquet::read(Bytes::from(output), path, &options).expect("what was written is read");
        assert_eq!(
            compact::encode(&again, &warnings_again.empty_fields),
            compact::encode(&set, &warnings.empty_fields)
        );
    }
});
