//! To come.

pub mod books;
pub mod cli;
pub mod commands;
pub mod date;
pub mod experiment;
pub mod failure;
pub mod progress;
pub mod sets;
