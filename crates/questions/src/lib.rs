//! The Children's Book Test (§2): cloze questions from books, and the files that hold them.
//!
//! Everything before a [`Question`] makes questions; everything after it reads them. A [`Question`]
//! holds neither the answer nor the word class, so no model can look at them; an [`Example`] holds both.

mod build;
mod error;
mod explanation;
mod filled;
#[cfg(test)]
mod fixtures;
pub mod formats;
mod id;
mod inspect;
pub mod news;
mod question;
mod remedies;
mod sentences;
mod set;
mod transform;

pub use base::{Selection, Split, WordClass};
pub use build::{
    Blank, BookQuestions, BuildOutput, Builder, CandidateOrder, Complement, Counts, FillUp,
    NEAR_COPY, NearCopy, RepeatedWords, Rules, Sampler, Shortfall, SplitFile, SplitShares,
    draw_splits, draw_splits_of_groups, hash_split, near_copies, near_copies_of,
};
pub use error::{Error, LineError, Location, Result};
pub use explanation::{Explanation, Span};
pub use filled::{FilledQuestion, TextForm, shared_prefix};
#[cfg(feature = "arrow")]
pub use formats::arrow;
pub use formats::base128::DecodeError;
pub use formats::empty_fields::EmptyFields;
pub use formats::open::{OpenOptions, Warnings};
pub use formats::output::write_file;
pub use formats::running_text::BOOK_TITLE;
pub use formats::write::{Format, WriteOptions};
pub use formats::{cbt, cnn, compact, jsonl, parquet, shards};
pub use id::{ParseIdError, QuestionId};
pub use inspect::{
    BookSketch, CandidateFaults, DuplicateKind, Duplicates, HeldOut, KnownBooks, Leaks, Overlap,
    PairCounts, PartialStatistics, RepeatCounts, SplitStatistics, Statistics, Totals,
    candidate_faults, count_repeats, count_shared, duplicates, n_shared, ngrams_of_text, overlaps,
    question_hashes,
};
pub use question::{Example, Question};
pub use sentences::{Iter, SentenceBuffer, Sentences};
pub use set::{BLANK, BLANK_WORD, BookText, NewQuestion, QuestionSet};
pub use transform::{Anonymiser, Control, anonymise};
