//! Transformers in Hugging Face's layout: a folder, or the reader that ships, and questions → scores, as a [`Model`].
//!
//! ```text
//! folder, `reader-small` ──source──▶ files ──load──▶ CheckpointModel, DeviceModel ──▶ scores, what it looked at
//!                                      └──export──▶ a folder with its numbers in another format
//! ```

mod device;
mod export;
mod model;
mod perplexity;
mod shipped;
#[cfg(test)]
mod tests;
mod texts;

use std::path::Path;
use std::sync::{Arc, Mutex};

use models::{DeviceChoice, Event, Manifest, Model, Program, Provenance};
use questions::KnownBooks;
use reader::{Compute, SKETCHES};
use serde::Serialize;
use transformer::{Checkpoint, Files, Hashes};

use self::device::DeviceModel;
use self::model::CheckpointModel;
use crate::lm::Perplexity;
use crate::progress::{ModelReporter, during};
use crate::{AnswerProvenance, Reporter, Result};

pub use export::{ExportOptions, export};
pub use shipped::READER_SMALL;

/// The note in the folder of a reader of ours.
const NOTE: &str = "reader.toml";

/// Returns whether a path names such a model, and not one that was trained on questions alone.
pub fn is_at(path: &Path) -> bool {
    source(path).is_some()
}

/// The files of a folder, or of the reader that ships where no folder has its name.
fn source(path: &Path) -> Option<Files<'_>> {
    if path.exists() {
        let is_ours = path.join("model.toml").exists();
        return (Checkpoint::is_at(path) && !is_ours).then_some(Files::Folder(path));
    }
    shipped::files(path)
}

/// Loads a network if the path names one.
///
/// # Errors
/// [`crate::Error::Transformer`] if the folder is damaged or the network is not a known one; [`crate::Error::Models`]
/// if a GPU is asked for and there is none, or it has too little memory.
pub(crate) fn load(
    path: &Path,
    device: DeviceChoice,
    reporter: &dyn Reporter,
) -> Option<Result<(Arc<dyn Model>, Manifest)>> {
    let files = source(path)?;
    Some(load_files(path, files, device, reporter))
}

fn load_files(
    path: &Path,
    files: Files<'_>,
    device: DeviceChoice,
    reporter: &dyn Reporter,
) -> Result<(Arc<dyn Model>, Manifest)> {
    let name = path.display().to_string();
    let checkpoint = during(reporter, "read", name.clone(), || Checkpoint::read(files))?;
    let manifest = Manifest::new(provenance(files, &checkpoint));
    let books = known_books(path, files)?;
    let cpu = CheckpointModel { checkpoint: Arc::new(checkpoint), cut: Mutex::default(), books };
    let model = placed(Arc::new(cpu), device, &ModelReporter::new(name, reporter))?;
    Ok((model, manifest))
}

/// The books that a reader of ours has learnt from; none for other networks.
fn known_books(path: &Path, files: Files<'_>) -> Result<KnownBooks> {
    let Some(bytes) = files.optional(SKETCHES)? else { return Ok(KnownBooks::default()) };
    KnownBooks::from_bytes(&bytes).ok_or_else(|| {
        let reason = format!("expected 64 bytes for each book, found {} in all", bytes.len());
        transformer::Error::Damaged { path: path.join(SKETCHES), reason }.into()
    })
}

/// A network on the device that is chosen.
fn placed(
    cpu: Arc<CheckpointModel>,
    device: DeviceChoice,
    reporter: &dyn models::Reporter,
) -> Result<Arc<dyn Model>> {
    if device == DeviceChoice::Cpu {
        return Ok(cpu);
    }
    let falls_back = device == DeviceChoice::Auto;
    let on_gpu = || {
        let compute = Compute::cuda().map_err(device::ours)?;
        compute.gpu().into_iter().for_each(|name| reporter.report(Event::OnGpu(name.to_owned())));
        DeviceModel::new(cpu.clone(), &compute, falls_back)
    };
    match on_gpu() {
        Ok(model) => Ok(Arc::new(model)),
        // Nobody has asked for a GPU.
        Err(models::Error::Device(numerics::Error::NoDevice { .. })) if falls_back => Ok(cpu),
        Err(models::Error::Device(reason)) if falls_back => {
            reporter.report(Event::OnProcessor(reason.to_string()));
            Ok(cpu)
        }
        Err(error) => Err(error.into()),
    }
}

/// How well a network predicts a text, if the path names one.
pub(crate) fn perplexity(path: &Path, text: &Path) -> Option<Result<Perplexity>> {
    source(path).map(|files| perplexity::perplexity(files, text))
}

/// The files of a checkpoint take the place of settings, data and seed.
fn provenance(files: Files<'_>, checkpoint: &Checkpoint) -> Provenance {
    let sources = [transformer::SOURCES, numerics::SOURCES, neural::SOURCES, reader::SOURCES];
    let mut code = base::hash::sha256(sources.concat().as_bytes());
    code.truncate(16);
    let model = match files {
        Files::Memory(name, _) => name.to_owned(),
        Files::Folder(folder) if folder.join(NOTE).exists() => "reader".to_owned(),
        Files::Folder(_) => checkpoint.architecture().to_string(),
    };
    let Hashes { config, tokenizer, weights } = checkpoint.hashes().clone();
    let hashes = [("config", config), ("tokenizer", tokenizer), ("weights", weights)];
    Provenance {
        model,
        data: String::new(),
        seed: 0,
        program: Program::new(code),
        settings: hashes.map(|(name, hash)| (name.to_owned(), hash)).into(),
    }
}

/// Writes what predictions were made from next to them: `some.jsonl` has `some.toml`.
///
/// # Errors
/// If the file can't be written.
pub fn write_note(predictions: &Path, answers: &[AnswerProvenance]) -> Result<()> {
    #[derive(Serialize)]
    struct Note<'a> {
        answers: &'a [AnswerProvenance],
    }
    let text = toml::to_string(&Note { answers }).expect("every field has a form in TOML");
    crate::write_file(&predictions.with_extension("toml"), &text)
}
