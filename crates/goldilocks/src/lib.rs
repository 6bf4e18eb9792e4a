//! The Goldilocks Principle as a library: books → questions → answers → figures.
//!
//! Every stage is a function with a plain options struct; nothing here prints, reads the environment or asks the
//! clock. Stages report what they do to a [`Reporter`], for which any closure over [`Event`]s will do, and fail with
//! one [`Error`].
//!
//! | stage | function |
//! | --- | --- |
//! | books, or news articles, → questions | [`build()`], [`build_news()`], [`questions_from_text`] |
//! | books → a set in shards, on any number of machines | [`scale::plan()`], [`scale::build_shard`], [`scale::merge()`] |
//! | question files ⇄ each other | [`sets::open`], [`convert()`] |
//! | what is in a set | [`stats()`], [`stats_of_shards`] |
//! | questions → a trained model | [`train()`], [`tune()`] |
//! | a model and questions → predictions | [`answer()`], [`answer_by()`], [`explain()`] |
//! | a language model on a server and questions → predictions | `server::LanguageModel`, with the feature `servers` |
//! | a Transformer in Hugging Face's layout and questions → predictions | [`load_model`] and [`answer()`], with the feature `transformer` |
//! | predictions → figures | [`evaluate()`], [`compare()`], [`combine()`], [`report()`] |
//! | a book → its questions, answered and reported | [`try_book()`] |
//! | all of it, for a table of the paper | [`experiments::reproduce`] |
//! | a book → tagged words | [`tag()`] |
//! | language models by themselves | [`lm`] |
//!
//! The crates below are re-exported: [`corpus`], [`questions`], [`ngram`], [`models`], [`evaluation`], [`mod@report`]
//! and the others.
//!
//! Questions from a text of one's own, answered by a model:
//!
//! ```
//! use goldilocks::{AnswerOptions, TrainOptions, answer, questions_from_text, train};
//!
//! let tale = goldilocks::corpus::tales::TALES[0].text;
//! let set = questions_from_text("candle_hall", tale, 1)?;
//! let trained = train(&set, &TrainOptions::new("word-distance", ["max_penalty=5"])?, &|_| ())?;
//! let predictions = answer(&trained.model, &set, &AnswerOptions::default(), &|_| ())?;
//! for (candidate, score) in predictions[0].candidates.iter().zip(&predictions[0].scores) {
//!     println!("{score:6.1}  {candidate}");
//! }
//! assert_eq!(predictions[0].scores.len(), 10);
//! # Ok::<(), goldilocks::Error>(())
//! ```

mod answer;
pub mod books;
mod build;
mod build_news;
#[cfg(feature = "transformer")]
pub mod checkpoint;
mod combine;
mod compare;
mod convert;
mod error;
mod evaluate;
pub mod experiments;
mod explain;
pub mod lm;
#[cfg(feature = "page")]
mod pages;
mod progress;
mod reporting;
pub mod scale;
#[cfg(feature = "servers")]
pub mod server;
pub mod sets;
mod stats;
mod tag;
mod train;
#[cfg(feature = "transformer")]
mod train_reader;
mod tune;

pub use answer::{
    AnswerFile, AnswerOptions, AnswerProvenance, ScoreFunction, answer, answer_by, answered_by,
};
pub use books::{TextBook, questions_from_text};
pub use build::{Build, BuildOptions, BuiltBook, build};
pub use build_news::{DEFAULT_LEADS, NewsBuild, NewsOptions, build_news};
#[cfg(feature = "transformer")]
pub use checkpoint::{ExportOptions, export};
pub use combine::{
    Combination, CombineOptions, FittedWeights, combine, combine_by_class, combine_predictions,
};
pub use compare::compare;
pub use convert::{ConvertOptions, convert};
pub use error::{Error, ErrorKind, Result};
pub use evaluate::evaluate;
pub use experiments::write_file;
pub use explain::{explain, find_question, hits_and_misses, question_number};
pub use models::Program;
#[cfg(feature = "page")]
pub use pages::{CatalogueOptions, catalogue};
pub use progress::{Event, Reporter, Warning};
pub use reporting::{ReportInputs, ReportOptions, ReportRow, Tried, TryOptions, report, try_book};
pub use sets::SetOptions;
pub use stats::{LEAST_SHARE, SetStatistics, stats, stats_of_shards};
pub use tag::{tag, train_tagger};
pub use train::{TrainOptions, TrainedModel, load_model, train, train_to};
#[cfg(feature = "transformer")]
pub use train_reader::{READER, READER_SETTINGS, ReaderOptions, ReaderRun, train_reader};
pub use tune::{Trial, TrialOutcome, TuneOptions, Tuning, tune};

pub use ::report;
#[cfg(feature = "page")]
pub use page;
#[cfg(feature = "transformer")]
pub use reader;
#[cfg(feature = "servers")]
pub use servers;
#[cfg(feature = "transformer")]
pub use transformer;
pub use {base, corpus, evaluation, models, neural, ngram, numerics, questions};

/// The Rust of the guide to the library is compiled and run with the other documentation.
#[cfg(doctest)]
#[doc = include_str!("../library.md")]
struct Library;
