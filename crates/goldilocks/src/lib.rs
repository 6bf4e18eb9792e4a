//! The Goldilocks Principle as a library: books → questions → answers → figures.
//!
//! The stages are crates of their own and are re-exported here: [`corpus`], [`questions`], [`models`],
//! [`evaluation`] and [`report`]. This one adds the program: command line, progress, files.
//!
//! Questions from a text of one's own, answered by a model:
//!
//! ```
//! use goldilocks::models::{Settings, Training, find};
//!
//! let tale = goldilocks::corpus::tales::TALES[0].text;
//! let set = goldilocks::books::ask("candle_hall", tale, 1)?;
//! let entry = find("word-distance")?;
//! let model = (entry.train)(&Settings::from_text(entry, ["max_penalty=5"])?, &Training::new(&set, 1, &|_| ()))?;
//! let question = set.example(0).question;
//! let scores = model.score(&question);
//! for (candidate, score) in question.candidates.iter().zip(&scores) {
//!     println!("{score:6.1}  {}", question.word(*candidate));
//! }
//! assert_eq!(scores.len(), 10);
//! # anyhow::Ok(())
//! ```

pub mod books;
pub mod cli;
pub mod commands;
pub mod date;
pub mod device;
pub mod display;
pub mod experiment;
pub mod failure;
mod made_from;
pub mod progress;
pub mod reproduction;
pub mod sets;

pub use {corpus, evaluation, models, page, questions, report};

/// The README's Rust is compiled and run with the other documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
