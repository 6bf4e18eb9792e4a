//! The networks: layers put together, and how they score texts with a blank.

mod chooser;
mod decoder;
mod lexical_cloze;
mod lexical_memory;
mod lstm_cloze;
mod lstm_lm;
mod lstm_scoring;

pub use chooser::{ChoiceBatch, Chooser, ChooserBuffers, ChooserConfig};
pub use decoder::{Batch, Decoder, DecoderBuffers, DecoderConfig};
pub use lexical_memory::{LexicalConfig, LexicalMemory};
pub use lstm_lm::{LstmConfig, LstmLm, Window};
