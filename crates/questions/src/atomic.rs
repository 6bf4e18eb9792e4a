//! Files and folders that appear whole or not at all: written beside their place, then renamed.

use std::fs::{self, File, Permissions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile, TempDir};

use crate::error::{Error, Result};

/// Writes a file through `contents`. If that fails, nothing is left behind and what was there stays.
///
/// # Errors
/// [`Error::Exists`] unless `overwrite`; [`Error::Write`]; whatever `contents` gives.
pub fn write_file(
    path: &Path,
    overwrite: bool,
    contents: impl FnOnce(&mut BufWriter<&File>) -> Result<()>,
) -> Result<()> {
    let failed = |cause| Error::Write { path: path.to_owned(), cause };
    let exists = || Error::Exists { path: path.to_owned() };
    if !overwrite && path.exists() {
        return Err(exists());
    }
    let temporary: NamedTempFile = builder(0o666).tempfile_in(parent(path)).map_err(failed)?;
    let mut writer = BufWriter::with_capacity(1 << 20, temporary.as_file());
    contents(&mut writer)?;
    writer.flush().map_err(failed)?;
    drop(writer);
    temporary.as_file().sync_all().map_err(failed)?;
    if overwrite {
        temporary.persist(path).map_err(|error| failed(error.error))?;
    } else {
        temporary.persist_noclobber(path).map_err(|error| match error.error.kind() {
            std::io::ErrorKind::AlreadyExists => exists(),
            _ => failed(error.error),
        })?;
    }
    Ok(())
}

/// Writes a folder through `contents`, which gets the folder to fill. If that fails, nothing is left
/// behind and what was there stays. An empty folder may be there; one that holds anything is replaced
/// only if `overwrite`, and only if `is_ours` says of every name in it that it is part of such a folder.
///
/// # Errors
/// [`Error::Exists`], [`Error::ForeignFolder`], [`Error::Write`]; whatever `contents` gives.
pub fn write_folder(
    path: &Path,
    overwrite: bool,
    is_ours: impl Fn(&str) -> bool,
    contents: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let failed = |cause| Error::Write { path: path.to_owned(), cause };
    let names = names(path)?;
    if let (false, Some(_)) = (overwrite, names.first()) {
        return Err(Error::Exists { path: path.to_owned() });
    }
    if let Some(entry) = names.into_iter().find(|name| !is_ours(name)) {
        return Err(Error::ForeignFolder { path: path.to_owned(), entry });
    }
    let new: TempDir = builder(0o777).tempdir_in(parent(path)).map_err(failed)?;
    contents(new.path())?;
    let old: TempDir = builder(0o777).tempdir_in(parent(path)).map_err(failed)?;
    let set_aside = old.path().join("old");
    if path.exists() {
        fs::rename(path, &set_aside).map_err(failed)?;
    }
    if let Err(cause) = fs::rename(new.path(), path) {
        // Best effort: the first failure is the one to tell of.
        let _ = fs::rename(&set_aside, path);
        return Err(failed(cause));
    }
    Ok(())
}

/// The names in a folder; none if it is not there.
fn names(path: &Path) -> Result<Vec<String>> {
    if path.is_file() {
        return Err(Error::Exists { path: path.to_owned() });
    }
    if !path.exists() {
        return Ok(Vec::new());
    }
    let failed = |cause| Error::Read { path: path.to_owned(), cause };
    let entries = fs::read_dir(path).map_err(failed)?;
    let name = |entry: std::io::Result<fs::DirEntry>| {
        Ok(entry.map_err(failed)?.file_name().to_string_lossy().into_owned())
    };
    entries.map(name).collect()
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Temporary files are private by default; these become the user's own, as any other file would be.
fn builder(mode: u32) -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".goldilocks-");
    #[cfg(unix)]
    builder.permissions(<Permissions as std::os::unix::fs::PermissionsExt>::from_mode(mode));
    builder
}
