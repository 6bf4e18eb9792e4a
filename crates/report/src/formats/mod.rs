//! A printed table as text, Markdown, LaTeX and CSV, one file per format.

pub mod csv;
pub mod latex;
pub mod markdown;
pub mod text;

pub use text::wrap;
