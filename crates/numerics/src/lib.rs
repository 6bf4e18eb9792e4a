//! Numbers without words: tables of embeddings, what is computed on them, and how they are kept.
//!
//! ```text
//! Table ──dot, axpy──▶ loss and Gradients of a mini-batch's parts ──apply──▶ Table ──weights──▶ safetensors
//! ```
//!
//! Everything here gives the same bytes for any number of threads and on any x86-64 machine: sums have a
//! fixed order, no multiplication is fused with an addition, and `exp` and `ln` are computed by `libm` or
//! here, never by the system's library. Products of dense matrices ([`multiply`]), and so the networks on a
//! [`device`], keep the first promise only, and a GPU neither.

pub mod check;
pub mod device;
mod error;
mod exponential;
mod pages;
mod prefetch;
mod product;
mod real;
mod table;
mod updates;
mod vector;
pub mod weights;

pub use error::{Error, Result};
pub use exponential::Exponential;
pub use product::{Matrix, multiply};
pub use real::Real;
pub use table::Table;
pub use updates::{Gradient, Update, apply, apply_adagrad};
pub use vector::{axpy, dot};
