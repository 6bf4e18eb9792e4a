//! Questions → other questions: placeholders for names (Appendix D), controls, some of them.

mod anonymise;
mod control;
mod select;

pub use anonymise::{Anonymiser, anonymise};
pub use control::Control;
