//! An ARPA file: any bytes → an error, or a language model that scores and is the same after writing and reading.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use ngram::{Model, Table};

fuzz_target!(|input: &[u8]| {
    if let Ok(table) = Table::from_arpa(input, Path::new("m.arpa")) {
        let model = Model::new(&table, false).unwrap();
        model.log_probs(["the", "bear", "slept"]);
        let again = model.to_table().expect("what was written is read");
        assert_eq!(again.levels(), table.levels());
        Model::new(&table, true).unwrap();
    }
});
