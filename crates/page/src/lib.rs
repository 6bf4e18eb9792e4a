//! A local page on which people explore questions, see what models looked at (Figure 2), and take the test as
//! the paper's annotators did (§4.5).
//!
//! ```text
//! sets, models, predictions ──Catalogue──▶ ┐
//! studies in a SQLite file ───Store────▶ ┴ Site ──router──▶ pages ──server──▶ browsers
//! ```
//!
//! Pages are rendered here, by templates that are part of the program; a little script adds keys, and taking
//! the test works without it. Nothing is asked of any other machine.

mod catalogue;
#[cfg(test)]
mod client;
mod error;
mod excerpt;
mod filter;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod hostile_input;
pub mod keys;
mod own;
mod pages;
#[cfg(test)]
mod security;
mod server;
mod site;
mod store;
pub mod study;
mod view;
#[cfg(test)]
mod walkthrough;

pub use catalogue::{Catalogue, NewAnswerer};
pub use error::{Error, Result};
pub use server::{Limits, serve};
pub use site::{Site, router};
pub use store::Store;
