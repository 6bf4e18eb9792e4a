//! A learner's weights: any bytes → an error, or tables that are the same after writing and reading.

#![no_main]

use libfuzzer_sys::fuzz_target;
use numerics::Table;
use numerics::weights::{Precision, from_bytes, write};

fuzz_target!(|input: &[u8]| {
    if let Ok(weights) = from_bytes(input) {
        let tables: Vec<(&str, &Table<f32>)> =
            weights.tables.iter().map(|(name, table)| (name.as_str(), table)).collect();
        let mut bytes = Vec::new();
        write(&mut bytes, &tables, Precision::F32, &weights.about).expect("memory takes all bytes");
        assert_eq!(from_bytes(&bytes), Ok(weights));
    }
});
