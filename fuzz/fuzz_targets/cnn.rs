//! CNN QA: any bytes → an error, or questions that are the same after writing and reading them as JSON lines.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use questions::cnn::{read_file, read_lines};
use questions::news::{NewsArticle, NewsBuilder, assign_splits};
use questions::{EmptyFields, OpenOptions, QuestionSet, jsonl};

fuzz_target!(|input: &[u8]| {
    let skipping = OpenOptions { skip_bad: true, ..OpenOptions::default() };
    if let Ok((set, _)) = read_file(input, Path::new("fuzz.question"), &OpenOptions::default()) {
        check(&set);
    }
    if let Ok((set, _)) = read_lines(input, Path::new("fuzz.jsonl"), &skipping) {
        check(&set);
    }
    if let Ok((mut articles, _)) = NewsArticle::read(input, Path::new("fuzz.jsonl"), true) {
        assign_splits(&mut articles, 1);
        let mut builder = NewsBuilder::new(1, 2);
        for article in &articles {
            builder.push(article).expect("a short text is not too long");
        }
        check(&builder.finish());
    }
});

/// Sentences hold no space inside a word, so all forms can hold them.
fn check(set: &QuestionSet) {
    let (path, mut output) = (Path::new("out.jsonl"), Vec::new());
    jsonl::write(set, &EmptyFields::default(), &mut output, path).expect("what was read is written");
    let (again, _) =
        jsonl::read(&output[..], path, &OpenOptions::default()).expect("what was written is read");
    assert_eq!(again.all_ids(), set.all_ids());
}
