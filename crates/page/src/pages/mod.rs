//! The pages, one file a group: a request → what a template shows.

pub mod enter;
pub mod explore;
pub mod own;
pub mod research;
pub mod test;
