//! `goldilocks train MODEL`: questions → a model folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::Result;
use models::{DeviceChoice, Event, Settings, Training};
use questions::{QuestionSet, Split};

use crate::cli::VERSION;
use crate::device::DeviceOption;
use crate::display::Display;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::sets::{self, Origin};

/// Options of `train`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A name that `goldilocks models` lists
    model: String,
    /// A question set: folder or file
    #[arg(long, value_name = "SET")]
    data: PathBuf,
    /// Folder to write the model into
    #[arg(short, long, value_name = "MODELDIR")]
    output: PathBuf,
    /// Change a setting; `goldilocks models MODEL` lists them
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::seed())]
    seed: u64,
    #[command(flatten)]
    device: DeviceOption,
    /// Leave out bad questions of CNN QA, counted, instead of stopping at the first
    #[arg(long)]
    skip_bad: bool,
    /// Replace the model if it is there
    #[arg(long)]
    force: bool,
}

/// Trains on the training split, tunes on the validation split, saves. The same command goes on where a
/// stopped one was.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    let entry = models::find(&options.model)?;
    let settings = Settings::from_text(entry, options.settings.iter().map(String::as_str))?;
    models::check_place(&options.output, options.force)?;
    let origin = Origin { skip_bad: options.skip_bad, ..Origin::default() };
    let open = |splits: &[Split]| sets::open(&options.data, &origin, splits, progress);
    // A set that is all test will do for a model that learns nothing; any other says what it lacks.
    let set = open(&[Split::Train, Split::Valid]).or_else(|error| match error.downcast_ref() {
        Some(questions::Error::Empty { .. }) => open(&[]),
        _ => Err(error),
    })?;
    let data = sets::hash(&options.data)?;
    let device = options.device.device;
    let job = Job { settings: &settings, seed: options.seed, data: &data, device };
    job.train(&set, &options.output, options.force, progress)?;
    super::print(format_args!("{}\n", options.output.display()))
}

/// A training to be done: the same job gives the same model.
pub struct Job<'a> {
    /// Which model, how.
    pub settings: &'a Settings,
    /// Seed of every random choice.
    pub seed: u64,
    /// Hash of the question set.
    pub data: &'a str,
    /// Where networks learn.
    pub device: DeviceChoice,
}

impl Job<'_> {
    /// What the model's manifest says of where it comes from; a device that did not compute it as the processor does
    /// belongs to that.
    fn provenance(&self, device: Option<&String>) -> BTreeMap<String, String> {
        let seed = self.seed.to_string();
        let entries = [("version", VERSION), ("data", self.data), ("seed", &seed)];
        let device = device.map(|name| ("device", name.as_str()));
        let entries = entries.into_iter().chain(device);
        entries.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    /// Trains and saves.
    pub fn train(
        &self,
        set: &QuestionSet,
        folder: &Path,
        overwrite: bool,
        progress: Progress,
    ) -> Result<()> {
        let bar = progress.spinner("train", self.settings.model());
        let display = Display::new(self.settings.model(), &bar, progress);
        let device = OnceLock::new();
        let report = |event| {
            if let Event::OnGpu(name) = &event {
                device.get_or_init(|| name.clone());
            }
            display.show(event);
        };
        let entry = models::find(self.settings.model())?;
        let checkpoints = checkpoints_of(folder);
        let mut training = Training::new(set, self.seed, &report);
        training.device = self.device;
        training.checkpoints = checkpoints.as_deref().filter(|_| entry.learns);
        let model = (entry.train)(self.settings, &training)?;
        bar.finish_and_clear();
        models::save(&*model, self.settings, self.provenance(device.get()), folder, overwrite)?;
        if let Some(path) = training.checkpoints.filter(|path| path.exists()) {
            fs::remove_dir_all(path).map_err(Failure::file(path))?;
        }
        Ok(())
    }
}

/// Where a training that is stopped leaves what it has learnt: beside the model that it would have become.
fn checkpoints_of(folder: &Path) -> Option<PathBuf> {
    let name = folder.file_name()?.to_string_lossy();
    Some(folder.with_file_name(format!(".{name}.checkpoints")))
}
