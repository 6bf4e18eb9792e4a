//! Files that several workers may write at the same moment: each under a name of its own first, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use base::hash::hex;
use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// The ending of a file that is not complete.
pub const PARTIAL: &str = ".partial";

/// Passes bytes on and hashes them: what the disk holds in the end must be what was meant.
struct Hashing<W> {
    inner: W,
    hash: Sha256,
    n_bytes: u64,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.hash.update(&bytes[..n]);
        self.n_bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Writes a file through `contents`, in place of one that is there; returns its SHA-256 and its length.
pub fn write(
    path: &Path,
    contents: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>,
) -> Result<(String, u64)> {
    let failed = || Error::io(path);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(PARTIAL);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The system takes away what the person does not want to give, as for any other file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let partial = builder.tempfile_in(folder).map_err(failed())?;
    let written = fill(partial.as_file(), path, contents)?;
    partial.as_file().sync_all().map_err(failed())?;
    partial.persist(path).map_err(|error| failed()(error.error))?;
    if cfg!(unix) {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed())?;
    }
    Ok(written)
}

fn fill(
    file: &File,
    path: &Path,
    contents: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>,
) -> Result<(String, u64)> {
    let (inner, hash) = (BufWriter::with_capacity(1 << 20, file), Sha256::new());
    let mut writer = Hashing { inner, hash, n_bytes: 0 };
    contents(&mut writer)?;
    writer.flush().map_err(Error::io(path))?;
    Ok((hex(&writer.hash.finalize()), writer.n_bytes))
}

/// Writes a text file in one step, so that none is ever half-written.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    write(path, |out| out.write_all(text.as_bytes()).map_err(Error::io(path))).map(drop)
}

/// Removes what workers that were killed left in a folder.
pub fn remove_partial(folder: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(Error::io(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') && name.ends_with(PARTIAL) {
            fs::remove_file(&path).map_err(Error::io(&path))?;
        }
    }
    Ok(())
}
