//! The foundation of every other crate of goldilocks; it knows neither books nor models.
//!
//! | need | here |
//! | --- | --- |
//! | words ↔ numbers | [`Vocabulary`], [`WordId`] |
//! | which questions? | [`Split`], [`WordClass`], [`Selection`] |
//! | outputs that appear whole or not at all | [`files`] |
//! | random numbers that depend on the seed and on nothing else | [`seeds`] |
//! | hashes as text | [`hash`] |
//! | how much of a point scores earn, figures by class | [`credit()`], [`ByClass`] |
//! | the name that somebody may have meant | [`nearest()`] |
//! | what to do about an error | [`Remedy`] |

mod by_class;
mod credit;
pub mod files;
pub mod hash;
mod nearest;
mod remedy;
pub mod seeds;
mod selection;
mod vocabulary;

pub use by_class::ByClass;
pub use credit::credit;
pub use nearest::nearest;
pub use remedy::Remedy;
pub use selection::{Selection, Split, WordClass};
pub use vocabulary::{Vocabulary, WordId};
