//! [`Files`]: the files of a checkpoint, in a folder or in memory → their bytes.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Where the files of a checkpoint are.
#[derive(Clone, Copy, Debug)]
pub enum Files<'a> {
    /// In a folder.
    Folder(&'a Path),
    /// In memory: what they are called together, and each by its name.
    Memory(&'a str, &'a [(&'a str, &'a [u8])]),
}

impl<'a> Files<'a> {
    /// Where all of them are, for messages.
    pub(crate) fn place(self) -> &'a Path {
        match self {
            Self::Folder(folder) => folder,
            Self::Memory(name, _) => Path::new(name),
        }
    }

    pub(crate) fn path(self, name: &str) -> PathBuf {
        self.place().join(name)
    }

    pub(crate) fn has(self, name: &str) -> bool {
        match self {
            Self::Folder(folder) => folder.join(name).exists(),
            Self::Memory(_, files) => files.iter().any(|(known, _)| *known == name),
        }
    }

    /// The bytes of a file.
    pub(crate) fn read(self, name: &str) -> Result<Cow<'a, [u8]>> {
        let path = self.path(name);
        let failed = |reason| Error::unreadable(&path, reason);
        match self {
            Self::Folder(_) => {
                let mut file = File::open(&path).map_err(failed)?;
                let len = file.metadata().map_err(failed)?.len();
                let mut bytes = reserved(&path, usize::try_from(len).unwrap_or(usize::MAX))?;
                file.read_to_end(&mut bytes).map_err(failed)?;
                Ok(Cow::Owned(bytes))
            }
            Self::Memory(_, files) => match files.iter().find(|(known, _)| *known == name) {
                Some((_, bytes)) => Ok(Cow::Borrowed(bytes)),
                None => Err(failed(std::io::ErrorKind::NotFound.into())),
            },
        }
    }

    /// The bytes of a file that need not be there.
    ///
    /// # Errors
    /// If it is there and can't be read.
    pub fn optional(self, name: &str) -> Result<Option<Cow<'a, [u8]>>> {
        if self.has(name) { self.read(name).map(Some) } else { Ok(None) }
    }

    /// The text of a file.
    pub(crate) fn text(self, name: &str) -> Result<String> {
        let damaged = |_| Error::Damaged { path: self.path(name), reason: "not UTF-8".to_owned() };
        String::from_utf8(self.read(name)?.into_owned()).map_err(damaged)
    }
}

/// Memory for so many numbers of a file, or an error that says how much it is.
pub(crate) fn reserved<T>(path: &Path, n: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(n).map_err(|_| Error::TooLarge {
        path: path.to_owned(),
        bytes: n.saturating_mul(size_of::<T>()),
    })?;
    Ok(values)
}
