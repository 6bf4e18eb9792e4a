//! News articles → questions like those of CNN QA (§5.1).

mod articles;
mod cloze;

pub use articles::{NEWS, NewsArticle, assign_splits};
pub use cloze::NewsBuilder;
