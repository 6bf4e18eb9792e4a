//! The program as a person runs it: whole commands, whole outputs.

mod fetch;
mod run;
