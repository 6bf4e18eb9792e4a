//! What networks read: running text, in windows of streams or in runs, and texts with a blank.

mod cloze;
mod contexts;
mod runs;
mod streams;

pub use cloze::Cloze;
pub use contexts::Contexts;
pub use runs::Runs;
pub use streams::{Streams, Text};
