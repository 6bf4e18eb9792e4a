//! A tagged book: any text → an error, or a book that is the same after writing and reading.

#![no_main]

use std::path::Path;

use corpus::Book;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let path = Path::new("fuzz.txt");
    if let Ok(book) = Book::from_tagged(input, path) {
        let again = Book::from_tagged(&book.to_tagged(), path).expect("what was written is read");
        assert_eq!(again, book);
    }
});
