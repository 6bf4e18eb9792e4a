//! `-` as standard input and standard output, for libraries that read and write files.
//!
//! What comes in is copied to a temporary file, once; what goes out is written to one and then copied. Messages that
//! name such a file say `-`.

use std::fmt::Arguments;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use anyhow::Result;
use goldilocks::Error;
use tempfile::TempDir;

use crate::failure::CliError;
use crate::progress::Progress;

/// The folder of temporary files, if there are any, and whether standard input was read.
static SPOOL: Mutex<Option<Spool>> = Mutex::new(None);

struct Spool {
    folder: TempDir,
    is_read: bool,
}

fn spool() -> Result<MutexGuard<'static, Option<Spool>>> {
    let mut spool = SPOOL.lock().expect("nobody panics with the spool in hand");
    if spool.is_none() {
        *spool = Some(Spool { folder: tempfile::tempdir()?, is_read: false });
    }
    Ok(spool)
}

/// Removes the temporary files, before the program ends.
pub fn clean_up() {
    // Another thread may be copying: what it leaves is in the system's folder for such files.
    if let Ok(mut spool) = SPOOL.try_lock() {
        spool.take();
    }
}

/// Puts `-` in place of temporary files in a message.
pub fn named(text: String) -> String {
    let Ok(spool) = SPOOL.try_lock() else { return text };
    let Some(spool) = spool.as_ref() else { return text };
    let folder = spool.folder.path().display().to_string();
    let Some(start) = text.find(&folder) else { return text };
    let end = text[start + folder.len()..].find([':', ' ', ',', '\n', '`']);
    let end = end.map_or(text.len(), |end| start + folder.len() + end);
    format!("{}-{}", &text[..start], &text[end..])
}

/// Puts `-` in place of a temporary file that results are named after.
pub fn rename(name: &mut String) {
    *name = named(std::mem::take(name));
}

/// Returns whether a path is `-`.
pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The file to read in place of an argument: itself, or what standard input holds if it is `-`. The ending is that of
/// the format which is expected there.
pub fn input(path: &Path, ending: &str) -> Result<PathBuf> {
    if !is_dash(path) {
        return Ok(path.to_owned());
    }
    let mut spool = spool()?;
    let spool = spool.as_mut().expect("it was made");
    if std::mem::replace(&mut spool.is_read, true) {
        let message = "standard input can be read once".to_owned();
        return Err(CliError::Setting { what: "`-`", message }.into());
    }
    let copy = spool.folder.path().join(format!("stdin.{ending}"));
    let mut file = File::create(&copy).map_err(Error::io(&copy))?;
    io::copy(&mut io::stdin().lock(), &mut file).map_err(Error::io(Path::new("-")))?;
    Ok(copy)
}

/// The same for several arguments.
pub fn inputs(paths: &[PathBuf], ending: &str) -> Result<Vec<PathBuf>> {
    paths.iter().map(|path| input(path, ending)).collect()
}

/// The same for an argument that may be missing.
pub fn optional_input(path: Option<&PathBuf>, ending: &str) -> Result<Option<PathBuf>> {
    path.map(|path| input(path, ending)).transpose()
}

/// A file to write in place of an argument.
pub struct Output {
    path: PathBuf,
    is_dash: bool,
}

impl Output {
    /// The argument itself, or a temporary file if it is `-`.
    pub fn new(path: &Path, ending: &str) -> Result<Self> {
        let is_dash = is_dash(path);
        let path = if is_dash {
            let spool = spool()?;
            spool.as_ref().expect("it was made").folder.path().join(format!("stdout.{ending}"))
        } else {
            path.to_owned()
        };
        Ok(Self { path, is_dash })
    }

    /// The path to write to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        if self.is_dash { "standard output".to_owned() } else { self.path.display().to_string() }
    }

    /// Prints what was done, apart from what goes to standard output, and copies that.
    pub fn finish(self, progress: &Progress, summary: Arguments<'_>) -> Result<()> {
        if self.is_dash {
            progress.write(summary);
            let mut file = File::open(&self.path).map_err(Error::io(&self.path))?;
            io::copy(&mut file, &mut io::stdout().lock())?;
            Ok(fs::remove_file(&self.path).map_err(Error::io(&self.path))?)
        } else {
            progress.summary(summary)
        }
    }
}
