//! A Transformer in Hugging Face's layout → another folder in that layout, with its numbers in some format.

use std::fs;
use std::path::Path;

use base::files::write_folder;
use reader::SKETCHES;
use transformer::{Checkpoint, NumberFormat};

use super::{NOTE, source};
use crate::progress::during;
use crate::{Error, Reporter, Result};

/// Options of [`export()`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ExportOptions {
    /// How numbers are written.
    pub numbers: NumberFormat,
    /// Replace a checkpoint that is there.
    pub overwrite: bool,
}

/// Writes the network that a path names into a folder: with `f32` and `bf16` one that `transformers` loads, with `int8`
/// a quarter of the size, for this program.
///
/// # Errors
/// If there is no such network or it is damaged, or the folder is there and not to be replaced.
pub fn export(
    model: &Path,
    folder: &Path,
    options: &ExportOptions,
    reporter: &dyn Reporter,
) -> Result<()> {
    let ExportOptions { numbers, overwrite } = *options;
    let files = source(model).ok_or_else(|| Error::NotATransformer { path: model.to_owned() })?;
    if folder.exists() && !(overwrite && Checkpoint::is_at(folder)) {
        return Err(Error::Exists { path: folder.to_owned() });
    }
    let name = folder.display().to_string();
    during(reporter, "export", name, || {
        let mut written = transformer::export(files, numbers)?;
        for name in [NOTE, SKETCHES] {
            written.extend(files.optional(name)?.map(|bytes| (name, bytes.into_owned())));
        }
        let failed = |source| Error::Io { path: folder.to_owned(), source };
        write_folder(folder, failed, |inside| {
            written.iter().try_for_each(|(name, bytes)| {
                let path = inside.join(name);
                fs::write(&path, bytes).map_err(Error::io(path))
            })
        })
    })
}
