//! The pages, one file per group: a request → what a template shows.

pub mod attention;
pub mod enter;
pub mod home;
pub mod list;
pub mod own;
pub mod practice;
pub mod question;
pub mod research;
pub mod test;
