//! The program as a person runs it: whole commands, whole outputs.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod bad_input;
mod browser;
mod checkpoint;
mod connections;
mod documents;
mod fetch;
mod help;
mod inside;
mod killed;
mod lm;
mod news;
mod paper_map;
mod pipeline;
mod readme;
mod reproducing;
mod reproduction;
mod run;
mod serving;
mod shards;
mod sources;
mod streams;
mod studies;
mod try_book;
mod webdriver;
