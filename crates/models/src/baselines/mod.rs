//! Methods that learn nothing (§4.1).

pub(crate) mod max_frequency;
pub(crate) mod sliding_window;
pub(crate) mod word_distance;
