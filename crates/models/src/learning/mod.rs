//! What every learner uses: the training loop, checkpoints, weights on disk.

pub(crate) mod checkpoint;
pub(crate) mod epochs;
pub(crate) mod options;
pub(crate) mod sampling;
pub(crate) mod softmax;
pub(crate) mod weights_file;
