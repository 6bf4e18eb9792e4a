//! `goldilocks reproduce [TABLE]`: build → train → answer → evaluate → report, for a table of the paper.
//!
//! ```text
//! DIR/questions/            the embedded tales, where no SET is named
//! DIR/models/NAME/          one a row
//! DIR/predictions/NAME.*    its answers, and what they were made from
//! DIR/report/               index.html and the tables
//! DIR/manifest.toml         what was run, when, by which version
//! ```
//!
//! Every stage writes beside its goal and renames, and is skipped when its goal was made from the same
//! inputs: a run that was killed goes on where it stopped and ends with the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use evaluation::{Predictions, QuestionIndex};
use questions::{QuestionSet, Split};
use report::{Provenance, Report, Row, Run, Source};
use serde::{Deserialize, Serialize};

use super::answer::{self, Answering};
use super::build::build_tales;
use super::train::Job;
use super::{counted, print};
use crate::cli::VERSION;
use crate::date::today;
use crate::experiment::{Experiment, Planned};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::sets::{self, Origin};

/// Options of `reproduce`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A table of the paper: table-1, table-2, validation, cnn, ablation, anonymised, windows, goldilocks
    #[arg(default_value = "table-2", conflicts_with = "experiment")]
    table: String,
    /// A question set: folder or file [default: the embedded tales]
    #[arg(long, value_name = "SET")]
    data: Option<PathBuf>,
    /// Folder for everything that is made [default: reproduction/TABLE]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// A table of one's own, as a TOML file
    #[arg(long, value_name = "FILE")]
    experiment: Option<PathBuf>,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::seed())]
    seed: u64,
}

/// What a file was made from; a stage whose goal has the same is skipped.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct MadeFrom {
    version: String,
    data: String,
    on: Vec<Split>,
    seed: u64,
    model: String,
    settings: BTreeMap<String, String>,
}

/// A run in its folder.
struct Reproduction<'a> {
    folder: PathBuf,
    set: &'a QuestionSet,
    data: String,
    on: Vec<Split>,
    seed: u64,
    progress: Progress,
}

/// Runs what the table needs and prints it.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    let started = Instant::now();
    let (name, experiment) = match &options.experiment {
        Some(path) => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (stem, Experiment::read(path)?)
        }
        None => (options.table.clone(), Experiment::named(&options.table)?),
    };
    let folder = options.output.clone().unwrap_or_else(|| Path::new("reproduction").join(&name));
    let plan = experiment.plan(options.data.is_none())?;
    let is_other = questions::compact::read_manifest(&folder).is_ok();
    if is_other || folder.join("model.toml").exists() {
        return Err(Failure::NoReproduction { path: folder }.into());
    }
    fs::create_dir_all(&folder).map_err(Failure::file(&folder))?;
    let data = options.data.as_ref().map(|path| path.display().to_string());
    progress.note(format_args!(
        "The Goldilocks Principle: {}, on {}, seed {}\n",
        experiment.title,
        data.as_deref().unwrap_or("the embedded tales"),
        options.seed,
    ));
    let (set, data, source) = options.questions(&folder, progress)?;
    let (on, seed) = (experiment.on.clone(), options.seed);
    let reproduction = Reproduction { folder: folder.clone(), set: &set, data, on, seed, progress };
    let mut n_made = 0;
    for (place, row) in plan.iter().enumerate() {
        let row_started = Instant::now();
        if reproduction.make(row)? {
            n_made += 1;
            let place = format!("{}/{}", place + 1, plan.len());
            stage(progress, "model", &format!("{place:5}  {}", row.name), row_started);
        }
    }
    if n_made == 0 && !plan.is_empty() {
        progress.note(format_args!("  Nothing had changed since the last run."));
    }

    let files = reproduction.read(&plan)?;
    let report = reproduction.report(&experiment, &files, source, options)?;
    report::write(&report, &folder.join("report"), true)?;
    reproduction.write_manifest(&experiment)?;
    progress.note(format_args!(""));
    print(format_args!("{}", report::text(&report)?))?;
    if source == Source::Tales {
        progress.note(format_args!(
            "\nSmall tales, wide intervals. The real questions: `goldilocks fetch cbt`, then `reproduce \
             --data SET`."
        ));
    }
    progress.note(format_args!(
        "\n{}  pictures, pairs of models, the questions that all miss\nDone in {:.1} s.",
        folder.join("report/index.html").display(),
        started.elapsed().as_secs_f64(),
    ));
    Ok(())
}

/// A line about a stage that is over, with the time that it took.
fn stage(progress: Progress, name: &str, what: &str, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    progress.note(format_args!("  {name:8}{what:48}{seconds:6.1} s"));
}

impl Options {
    /// The questions, the hash that stands for them, and where they come from.
    fn questions(
        &self,
        folder: &Path,
        progress: Progress,
    ) -> Result<(QuestionSet, String, Source)> {
        let started = Instant::now();
        let (verb, set, source, path) = match &self.data {
            Some(path) => {
                let set = sets::open(path, &Origin::default(), &[], progress)?;
                let source = sets::source(path, &set);
                ("read", set, source, path.clone())
            }
            None => {
                let path = folder.join("questions");
                match built_before(&path, self.seed) {
                    Some(set) => ("read", set, Source::Tales, path),
                    None => {
                        ("build", build_tales(&path, self.seed, progress)?, Source::Tales, path)
                    }
                }
            }
        };
        let hash = sets::hash(&path)?;
        let n_books = counted(set.books().len(), "book");
        stage(
            progress,
            verb,
            &format!("{} from {n_books}", counted(set.len(), "question")),
            started,
        );
        Ok((set, hash, source))
    }
}

/// The tales as an earlier run of this version built them.
fn built_before(folder: &Path, seed: u64) -> Option<QuestionSet> {
    let manifest = questions::compact::read_manifest(folder).ok()?;
    let same = manifest.get("version")?.as_str()? == VERSION
        && manifest.get("seed")?.as_integer()? == i64::try_from(seed).ok()?;
    same.then(|| QuestionSet::open(folder, &questions::OpenOptions::default()).ok())?
        .map(|(set, _)| set)
}

impl Reproduction<'_> {
    fn predictions(&self, row: &Planned) -> PathBuf {
        self.folder.join("predictions").join(format!("{}.jsonl", row.name))
    }

    /// Trains and answers unless that was done before; tells whether there was something to do.
    fn make(&self, row: &Planned) -> Result<bool> {
        let made_from = MadeFrom {
            version: VERSION.to_owned(),
            data: self.data.clone(),
            on: self.on.clone(),
            seed: self.seed,
            model: row.entry.name.to_owned(),
            settings: row.settings.texts().map(|(k, v)| (k.to_owned(), v)).collect(),
        };
        let output = self.predictions(row);
        let note = output.with_extension("toml");
        let earlier = fs::read_to_string(&note).ok();
        let earlier = earlier.and_then(|text| toml::from_str::<MadeFrom>(&text).ok());
        if earlier.as_ref() == Some(&made_from) && output.exists() {
            return Ok(false);
        }
        let model = self.train(row)?;
        let answering = Answering { controls: Vec::new(), seed: self.seed };
        let predictions = answering.answer(&*model, self.set, &self.on, self.progress)?;
        let parent = output.parent().expect("predictions have a folder");
        fs::create_dir_all(parent).map_err(Failure::file(parent))?;
        // The note comes last: answers without it are made again.
        answer::write(&output, predictions)?;
        write_file(&note, &toml::to_string(&made_from)?)?;
        Ok(true)
    }

    fn train(&self, row: &Planned) -> Result<Box<dyn models::Model>> {
        let folder = self.folder.join("models").join(&row.name);
        let job = Job { settings: &row.settings, seed: self.seed, data: &self.data };
        if let Ok((model, manifest)) = models::load(&folder)
            && manifest.model == row.entry.name
            && manifest.settings == *row.settings.values()
            && manifest.provenance == job.provenance()
        {
            return Ok(model);
        }
        job.train(self.set, &folder, true, self.progress)?;
        Ok(models::load(&folder)?.0)
    }

    fn read<'p>(&self, plan: &'p [Planned]) -> Result<Vec<(&'p Planned, Predictions)>> {
        let read = |row: &'p Planned| Ok((row, Predictions::read(&self.predictions(row))?));
        plan.iter().map(read).collect()
    }

    fn report<'r>(
        &'r self,
        experiment: &Experiment,
        files: &[(&Planned, Predictions)],
        source: Source,
        options: &Options,
    ) -> Result<Report<'r>> {
        let all: Vec<Predictions> = files.iter().map(|(_, file)| file.clone()).collect();
        let index = QuestionIndex::new(self.set, &all);
        let row = |(row, file): &(&Planned, Predictions)| -> Result<Row<'r>> {
            Ok(Row {
                name: row.entry.name.to_owned(),
                label: row.entry.row.to_owned(),
                settings: row.changed.clone(),
                runs: vec![Run { seed: self.seed, predictions: index.check(file)? }],
            })
        };
        let data =
            options.data.as_ref().map_or(String::new(), |d| format!(" --data {}", d.display()));
        let table = options
            .experiment
            .as_ref()
            .map_or(options.table.clone(), |path| format!("--experiment {}", path.display()));
        Ok(Report {
            title: format!("The Goldilocks Principle: {}", experiment.title),
            tables: experiment.kinds(),
            statistics: experiment.statistics,
            rows: files.iter().map(row).collect::<Result<_>>()?,
            set: self.set,
            provenance: Provenance {
                source,
                data_hash: self.data.clone(),
                version: VERSION.to_owned(),
                date: today(),
                commands: vec![format!("goldilocks reproduce {table}{data} --seed {}", self.seed)],
            },
        })
    }

    fn write_manifest(&self, experiment: &Experiment) -> Result<()> {
        let mut manifest = toml::Table::new();
        manifest.insert("title".into(), experiment.title.clone().into());
        manifest.insert("version".into(), VERSION.into());
        manifest.insert("date".into(), today().into());
        manifest.insert("seed".into(), i64::try_from(self.seed)?.into());
        manifest.insert("data".into(), self.data.clone().into());
        write_file(&self.folder.join("manifest.toml"), &toml::to_string(&manifest)?)
    }
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    let failed = |cause| questions::Error::Write { path: path.to_owned(), cause };
    Ok(questions::write_file(path, true, |out| out.write_all(text.as_bytes()).map_err(failed))?)
}
