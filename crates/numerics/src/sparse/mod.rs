//! What embedding models use: tables that are read and updated by rows.
//!
//! ```text
//! Table ──dot, axpy──▶ loss and a Gradient per part of a mini-batch ──apply──▶ Table
//! ```
//!
//! Sums have a fixed order, so everything here gives the same bytes on any x86-64 machine and for any number
//! of threads.

mod gradient;
pub(crate) mod pages;
mod prefetch;
mod table;
mod vector;

pub use gradient::{Gradient, Update, apply, apply_adagrad};
pub use table::Table;
pub use vector::{axpy, dot};
