//! The reader that ships with the program, where it was built with it (feature `reader-small`).

use std::path::Path;

use transformer::Files;

/// What it is called wherever a model is named.
pub const READER_SMALL: &str = "reader-small";

/// Its files, if this is its name.
#[cfg(feature = "reader-small")]
pub(super) fn files(name: &Path) -> Option<Files<'static>> {
    let is_here = name == Path::new(READER_SMALL) && !reader_small::FILES.is_empty();
    is_here.then(|| Files::Memory(READER_SMALL, unpacked()))
}

/// Its files as they were before they were compressed: unpacked once, and kept.
#[cfg(feature = "reader-small")]
fn unpacked() -> &'static [(&'static str, &'static [u8])] {
    static UNPACKED: std::sync::LazyLock<Vec<(&str, &[u8])>> = std::sync::LazyLock::new(|| {
        let unpack = |&(name, bytes): &(&'static str, &'static [u8])| {
            let Some(name) = name.strip_suffix(".zst") else { return (name, bytes) };
            let whole = zstd::decode_all(bytes).expect("the files of the program are whole");
            (name, &*whole.leak())
        };
        reader_small::FILES.iter().map(unpack).collect()
    });
    &UNPACKED
}

/// Its files: there are none.
#[cfg(not(feature = "reader-small"))]
pub(super) fn files(_: &Path) -> Option<Files<'static>> {
    None
}
