//! The program as a person runs it: whole commands, whole outputs.

mod bad_input;
mod fetch;
mod pipeline;
mod readme;
mod run;
