//! News articles → questions like those of CNN QA (§5.1).

mod articles;
mod cloze;

pub use articles::{NEWS, NewsArticle, allocate};
pub use cloze::NewsBuilder;
