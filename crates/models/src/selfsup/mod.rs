//! Memory networks with self-supervision (§3.3, Appendix E).

pub(crate) mod all_targets;
pub(crate) mod loss;
pub(crate) mod methods;
pub(crate) mod settings;
pub(crate) mod support;
pub(crate) mod text_targets;
pub(crate) mod training;
pub(crate) mod window_memory;
