//! Questions → a trained model, and its folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use models::{DeviceChoice, Manifest, Model, Provenance, Settings, Training};
use questions::QuestionSet;

use crate::progress::{ModelReporter, during};
use crate::{Error, Program, Reporter, Result};

/// How [`train()`] trains: the same options on the same data give the same model.
#[derive(Clone, Debug)]
pub struct TrainOptions {
    /// Which model, with which settings.
    pub settings: Settings,
    /// Seed of every random choice.
    pub seed: u64,
    /// The device on which networks are trained.
    pub device: DeviceChoice,
    /// What identifies the questions in the model's manifest: the fingerprint of [`crate::sets::LEARNT_FROM`].
    pub data: String,
    /// The program that the manifest names.
    pub program: Program,
}

impl TrainOptions {
    /// A model by its name, with settings as `KEY=VALUE`; seed 1, on the processor.
    ///
    /// # Errors
    /// A model or setting that does not exist, or a value out of range.
    pub fn new<'a>(model: &str, settings: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let settings = Settings::from_text(models::find(model)?, settings)?;
        let (data, program) = (String::new(), Program::default());
        Ok(Self { settings, seed: 1, device: DeviceChoice::Cpu, data, program })
    }
}

/// A trained model with all that its manifest records.
pub struct TrainedModel {
    /// What was learnt, ready to answer.
    pub model: Arc<dyn Model>,
    /// Its settings, and where it comes from.
    pub manifest: Manifest,
}

impl TrainedModel {
    /// Saves the model's folder.
    ///
    /// # Errors
    /// If the folder is there and not to be replaced, or can't be written.
    pub fn save(&self, folder: &Path, overwrite: bool) -> Result<()> {
        Ok(models::save(&*self.model, &self.manifest, folder, overwrite)?)
    }
}

/// Trains on the training split of a set; settings that are left to the model are chosen on its validation split.
///
/// # Errors
/// If there is nothing to learn from, training diverges, or a device fails.
pub fn train(
    set: &QuestionSet,
    options: &TrainOptions,
    reporter: &dyn Reporter,
) -> Result<TrainedModel> {
    train_with_checkpoints(set, options, None, reporter)
}

/// Trains, saves, and returns the model. A training that was stopped resumes from the checkpoints that it left next to the folder.
///
/// # Errors
/// As [`train()`]; or if the folder can't be written.
pub fn train_to(
    folder: &Path,
    overwrite: bool,
    set: &QuestionSet,
    options: &TrainOptions,
    reporter: &dyn Reporter,
) -> Result<TrainedModel> {
    let checkpoints = checkpoints_of(folder);
    let trained = train_with_checkpoints(set, options, checkpoints.as_deref(), reporter)?;
    trained.save(folder, overwrite)?;
    if let Some(path) = checkpoints.filter(|path| path.exists()) {
        fs::remove_dir_all(&path).map_err(Error::io(path))?;
    }
    Ok(trained)
}

fn train_with_checkpoints(
    set: &QuestionSet,
    options: &TrainOptions,
    checkpoints: Option<&Path>,
    reporter: &dyn Reporter,
) -> Result<TrainedModel> {
    let TrainOptions { settings, seed, device, data, program } = options;
    let name = settings.model();
    let report = ModelReporter::new(name, reporter);
    let entry = models::find(name)?;
    let mut training = Training::new(set, *seed, &report);
    training.device = *device;
    training.checkpoints = checkpoints.filter(|_| entry.trains_by_epochs);
    let model = during(reporter, "train", name, || (entry.train)(settings, &training))?;
    // A device that did not compute as the processor does belongs to where a model comes from.
    let device = report.gpu().map(|name| ("device".to_owned(), name.to_owned()));
    let mut provenance = Provenance::new(settings, data.clone(), *seed);
    provenance.program = Program { code: provenance.program.code, ..program.clone() };
    let mut manifest = Manifest::new(provenance);
    manifest.notes.extend(device);
    Ok(TrainedModel { model, manifest })
}

/// Loads a trained model from its folder, for a device; with the feature `transformer`, also a Transformer in Hugging
/// Face's layout, and with the feature `reader-small` the reader of that name, where no folder is called so.
///
/// # Errors
/// If there is no model, or the device that was asked for can't be used.
pub fn load_model(
    folder: &Path,
    device: DeviceChoice,
    reporter: &dyn Reporter,
) -> Result<(Arc<dyn Model>, Manifest)> {
    #[cfg(feature = "transformer")]
    if let Some(loaded) = crate::checkpoint::load(folder, device, reporter) {
        return loaded;
    }
    let report = ModelReporter::new(folder.display().to_string(), reporter);
    Ok(models::load_on(folder, device, &report)?)
}

/// Where a training that is stopped leaves what it has learnt: next to the model that it would have become.
pub(crate) fn checkpoints_of(folder: &Path) -> Option<PathBuf> {
    let name = folder.file_name()?.to_string_lossy();
    Some(folder.with_file_name(format!(".{name}.checkpoints")))
}
