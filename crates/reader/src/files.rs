//! Arrays of 16-bit numbers and JSON in the working folder, written whole or not at all.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use base::files::write_file;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

/// Writes numbers, two bytes each; returns the hash of the file.
pub fn write_numbers(path: &Path, numbers: &[u16]) -> Result<String> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    write_bytes(path, &bytes)?;
    Ok(base::hash::sha256(&bytes))
}

/// Reads numbers whose hash is known.
pub fn read_numbers(path: &Path, expected: &str) -> Result<Vec<u16>> {
    let bytes = fs::read(path).map_err(Error::file(path))?;
    let found = base::hash::sha256(&bytes);
    if found != expected {
        let reason = format!("expected the hash {expected}, found {found}");
        return Err(Error::damaged(path, reason));
    }
    Ok(bytes.as_chunks::<2>().0.iter().map(|&bytes| u16::from_le_bytes(bytes)).collect())
}

/// Writes a text.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    write_bytes(path, text.as_bytes())
}

/// Writes bytes.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = Error::file(path);
    write_file(path, &failed, |file| file.write_all(bytes).map_err(&failed))
}

/// Writes a value as JSON.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::damaged(path, error))?;
    write_text(path, &(text + "\n"))
}

/// Reads a value from JSON.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).map_err(Error::file(path))?;
    serde_json::from_str(&text).map_err(|error| Error::damaged(path, error))
}
