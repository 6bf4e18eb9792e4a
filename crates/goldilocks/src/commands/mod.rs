//! The commands, one file each: what was typed → the library crates → what is printed.

pub mod fetch;

use std::fmt::Arguments;
use std::io::Write;

use anyhow::Result;

/// Writes to stdout; a closed pipe is an error here, which `main` takes for success.
pub fn print(text: Arguments<'_>) -> Result<()> {
    Ok(std::io::stdout().lock().write_fmt(text)?)
}
