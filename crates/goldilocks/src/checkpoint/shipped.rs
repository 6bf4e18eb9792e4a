//! The reader that ships with the program, where it was built with it (feature `reader-small`).

use std::path::Path;

use transformer::Files;

/// What it is called wherever a model is named.
pub const READER_SMALL: &str = "reader-small";

/// Its files, if this is its name.
#[cfg(feature = "reader-small")]
pub(super) fn files(name: &Path) -> Option<Files<'static>> {
    let is_here = name == Path::new(READER_SMALL) && !reader_small::FILES.is_empty();
    is_here.then_some(Files::Memory(READER_SMALL, reader_small::FILES))
}

/// Its files: there are none.
#[cfg(not(feature = "reader-small"))]
pub(super) fn files(_: &Path) -> Option<Files<'static>> {
    None
}
