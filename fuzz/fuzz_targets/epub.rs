//! An .epub file: any archive → an error, or text. Changed bytes seldom leave an archive whole, so that the input is
//! also taken for the chapter and the package of one.

#![no_main]

use std::io::{Cursor, Write};
use std::path::Path;

use corpus::BookFile;
use libfuzzer_sys::fuzz_target;
use zip::write::{SimpleFileOptions, ZipWriter};

const CONTAINER: &[u8] = b"<container><rootfiles><rootfile full-path='a.opf'\
    media-type='application/oebps-package+xml'/></rootfiles></container>";
const PACKAGE: &[u8] = b"<package version='3.0'><metadata/><manifest>\
    <item id='a' href='a.xhtml' media-type='application/xhtml+xml'/></manifest>\
    <spine><itemref idref='a'/></spine></package>";

fn archive(package: &[u8], chapter: &[u8]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, contents) in
        [("META-INF/container.xml", CONTAINER), ("a.opf", package), ("a.xhtml", chapter)]
    {
        let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        archive.start_file(name, stored).expect("a new name");
        archive.write_all(contents).expect("memory takes it");
    }
    archive.finish().expect("memory takes it").into_inner()
}

fuzz_target!(|input: &[u8]| {
    let path = Path::new("fuzz.epub");
    let _ = BookFile::from_bytes(input, path);
    let _ = BookFile::from_bytes(&archive(input, b"<p>A bear.</p>"), path);
    if let Ok(book) = BookFile::from_bytes(&archive(PACKAGE, input), path) {
        assert!(!book.text.contains("\n\n\n"));
    }
});
