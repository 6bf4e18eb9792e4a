//! The compact form: any two files → an error, or a set that is the same after writing and reading.
//! The first two bytes of the input are the length of the first file; ids are computed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use questions::compact::{decode, encode};

fuzz_target!(|input: &[u8]| {
    let Some((length, files)) = input.split_first_chunk::<2>() else { return };
    let length = usize::from(u16::from_le_bytes(*length)).min(files.len());
    let (text, questions) = files.split_at(length);
    if let Ok((set, empty_fields)) = decode(text, questions, None) {
        let contents = encode(&set, &empty_fields);
        let [text, questions, ids] = &contents;
        let (again, empty_fields) =
            decode(text, questions, Some(ids)).expect("what was written is read");
        assert_eq!(encode(&again, &empty_fields), contents);
    }
});
