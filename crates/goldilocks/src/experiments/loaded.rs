//! [`LoadedModels`]: models that are there and only answer, each read once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use models::{DeviceChoice, Model, Provenance};

use crate::{Reporter, Result, load_model};

/// A model with what it was made from.
type LoadedModel = (Arc<dyn Model>, Provenance);

/// The models that have been read, by their paths.
pub struct LoadedModels<'a> {
    device: DeviceChoice,
    reporter: &'a dyn Reporter,
    read: RefCell<BTreeMap<PathBuf, LoadedModel>>,
}

impl<'a> LoadedModels<'a> {
    /// None is read yet.
    pub fn new(device: DeviceChoice, reporter: &'a dyn Reporter) -> Self {
        Self { device, reporter, read: RefCell::default() }
    }

    /// The model at a path.
    pub fn load(&self, path: &Path) -> Result<LoadedModel> {
        if let Some(loaded) = self.read.borrow().get(path) {
            return Ok(loaded.clone());
        }
        let (model, manifest) = load_model(path, self.device, self.reporter)?;
        let loaded = (model, manifest.provenance);
        self.read.borrow_mut().insert(path.to_owned(), loaded.clone());
        Ok(loaded)
    }
}
