//! To come.

pub mod cli;
pub mod commands;
pub mod failure;
pub mod progress;
