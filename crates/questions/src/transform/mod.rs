//! Questions → other questions: placeholders for names (Appendix D), controls.

mod anonymise;
mod control;

pub use anonymise::{Anonymiser, anonymise};
pub use control::Control;
