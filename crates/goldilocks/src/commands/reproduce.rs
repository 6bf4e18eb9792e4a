//! `goldilocks reproduce [TABLE]`: build → train → answer → evaluate → report, for a table of the paper.
//!
//! ```text
//! DIR/questions, models, predictions, explanations    see `crate::reproduction`
//! DIR/report/                                         index.html and the tables
//! DIR/manifest.toml                                   what was run, when, by which version
//! ```
//!
//! Every stage writes beside its goal and renames, and is skipped when its goal was made from the same
//! inputs: a run that was killed goes on where it stopped and ends with the same bytes.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use questions::{QuestionSet, Split};
use report::{Provenance, Report, Row, Source, TableKind};

use super::build::build_tales;
use super::build_news::build_embedded;
use super::{counted, print};
use crate::cli::VERSION;
use crate::date::today;
use crate::device::DeviceOption;
use crate::experiment::{Combination, Embedded, Experiment, Planned};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::reproduction::{Reproduction, write_file};
use crate::sets::{self, Origin};

/// Options of `reproduce`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A table of the paper: table-1, table-2, validation, cnn, ablation, anonymised, windows, goldilocks, variants
    #[arg(default_value = "table-2", conflicts_with = "experiment")]
    table: String,
    /// A question set: folder or file [default: the embedded tales; for cnn and ablation, the embedded news]
    #[arg(long, value_name = "SET")]
    data: Option<PathBuf>,
    /// Questions to answer in place of those of --data, which are then for training and choosing alone
    #[arg(long, value_name = "SET", requires = "data")]
    answer: Option<PathBuf>,
    /// Folder for everything that is made [default: reproduction/TABLE]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// A table of one's own, as a TOML file
    #[arg(long, value_name = "FILE")]
    experiment: Option<PathBuf>,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::seed())]
    seed: u64,
    #[command(flatten)]
    device: DeviceOption,
    /// Leave out bad questions of CNN QA, counted, instead of stopping at the first
    #[arg(long)]
    skip_bad: bool,
    /// Take results that other versions of the program made as they are; the report names them
    #[arg(long)]
    any_version: bool,
}

/// Runs what the table needs and prints it.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    let started = Instant::now();
    let (name, experiment) = options.experiment()?;
    let plan = experiment.plan(options.data.is_none())?;
    let folder = options.folder(&name)?;
    let data = options.data.as_ref().map(|path| path.display().to_string());
    progress.note(format_args!(
        "The Goldilocks Principle: {}, on {}, seed {}\n",
        experiment.title,
        data.as_deref().unwrap_or(match experiment.embedded {
            Embedded::Tales => "the embedded tales",
            Embedded::News => "the embedded news",
        }),
        options.seed,
    ));
    let (trained, data, source) = options.questions(&folder, experiment.embedded, progress)?;
    let answered = options.answered(progress)?;
    let (set, source) =
        answered.as_ref().map_or((&trained, source), |(set, _, source)| (set, *source));
    let answering = answered.as_ref().map(|(_, hash, _)| hash.clone());
    let kinds = kinds(&experiment, set);
    let reproduction = Reproduction {
        folder: folder.clone(),
        trained: &trained,
        set,
        anonymised: OnceCell::new(),
        data,
        answering,
        on: splits(&experiment, &kinds),
        combined: combined(&experiment, &plan),
        seed: options.seed,
        device: options.device.device,
        any_version: options.any_version,
        figure_2: experiment.figure_2,
        progress,
    };
    make_all(&reproduction, &plan)?;
    let report = Report {
        title: format!("The Goldilocks Principle: {}", experiment.title),
        tables: kinds,
        statistics: experiment.statistics,
        rows: rows(&reproduction, &experiment, &plan)?,
        set,
        provenance: options.provenance(source, reproduction.data()),
    };
    report::write(&report, &folder.join("report"), true)?;
    write_manifest(&reproduction, &experiment)?;
    progress.note(format_args!(""));
    print(format_args!("{}", report::text(&report)?))?;
    say_where(&folder, source, started, progress);
    Ok(())
}

/// What is trained for rows that combinations are of.
fn combined(experiment: &Experiment, plan: &[Planned]) -> BTreeSet<String> {
    let names = experiment.combinations().iter().flat_map(|combination| &combination.of);
    let rows = names.flat_map(|name| plan.iter().filter(move |row| row.name == *name));
    rows.map(|row| row.trained_as.clone()).collect()
}

/// The rows of the report, combinations last.
fn rows<'s>(
    reproduction: &'s Reproduction<'_>,
    experiment: &Experiment,
    plan: &[Planned],
) -> Result<Vec<Row<'s>>> {
    let mut rows = Vec::new();
    for row in plan {
        let (name, label) = match &row.beyond {
            Some(label) => (row.name.clone(), label.clone()),
            None => (row.entry.name.to_owned(), row.entry.row.to_owned()),
        };
        rows.push(Row {
            name,
            label,
            settings: row.changed.clone(),
            runs: reproduction.runs(row)?,
            looked: if experiment.figure_2 { reproduction.looked(row)? } else { Vec::new() },
        });
    }
    for Combination { name, label, of } in experiment.combinations() {
        let members: Vec<&Planned> =
            of.iter().flat_map(|name| plan.iter().find(|row| row.name == *name)).collect();
        rows.push(Row {
            name: name.clone(),
            label: label.clone(),
            settings: Vec::new(),
            runs: reproduction.combined_runs(name, &members)?,
            looked: Vec::new(),
        });
    }
    Ok(rows)
}

/// Trains and answers what every row still needs.
fn make_all(reproduction: &Reproduction<'_>, plan: &[Planned]) -> Result<()> {
    let progress = reproduction.progress;
    let mut n_made = 0;
    for (place, row) in plan.iter().enumerate() {
        let started = Instant::now();
        if reproduction.make(row)? {
            n_made += 1;
            let place = format!("{}/{}", place + 1, plan.len());
            stage(progress, "model", &format!("{place:5}  {}", row.name), started);
        }
    }
    if n_made == 0 && !plan.is_empty() {
        progress.note(format_args!("  Nothing had changed since the last run."));
    }
    Ok(())
}

/// The last lines: where the report is.
fn say_where(folder: &Path, source: Source, started: Instant, progress: Progress) {
    let real = match source {
        Source::Tales => {
            "Small tales, wide intervals. The real questions: `goldilocks fetch cbt`, then `reproduce --data SET`."
        }
        Source::News => {
            "Few articles, wide intervals. Real questions of CNN QA, or articles: `reproduce --data SET`."
        }
        _ => "",
    };
    if !real.is_empty() {
        progress.note(format_args!("\n{real}"));
    }
    progress.note(format_args!(
        "\n{}  pictures, pairs of models, the questions that all miss\nDone in {:.1} s.",
        folder.join("report/index.html").display(),
        started.elapsed().as_secs_f64(),
    ));
}

/// A line about a stage that is over, with the time that it took.
fn stage(progress: Progress, name: &str, what: &str, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    progress.note(format_args!("  {name:8}{what:48}{seconds:6.1} s"));
}

impl Options {
    /// What is to be run, and its name.
    fn experiment(&self) -> Result<(String, Experiment)> {
        let Some(path) = &self.experiment else {
            return Ok((self.table.clone(), Experiment::named(&self.table)?));
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((stem, Experiment::read(path)?))
    }

    /// The folder for everything that is made, which holds nothing else.
    fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.output.clone().unwrap_or_else(|| Path::new("reproduction").join(name));
        let is_other = questions::compact::read_manifest(&folder).is_ok();
        if is_other || folder.join("model.toml").exists() {
            return Err(Failure::NoReproduction { path: folder }.into());
        }
        fs::create_dir_all(&folder).map_err(Failure::file(&folder))?;
        Ok(folder)
    }

    /// The questions, the hash that stands for them, and where they come from.
    fn questions(
        &self,
        folder: &Path,
        embedded: Embedded,
        progress: Progress,
    ) -> Result<(QuestionSet, String, Source)> {
        let started = Instant::now();
        let (verb, set, source, path) = match &self.data {
            Some(path) => {
                let set = sets::open(path, &self.origin(), &[], progress)?;
                let source = sets::source(path, &set);
                ("read", set, source, path.clone())
            }
            None => {
                let path = folder.join("questions");
                let source = match embedded {
                    Embedded::Tales => Source::Tales,
                    Embedded::News => Source::News,
                };
                match (built_before(&path, self.seed), embedded) {
                    (Some(set), _) => ("read", set, source, path),
                    (None, Embedded::Tales) => {
                        ("build", build_tales(&path, self.seed, progress)?, source, path)
                    }
                    (None, Embedded::News) => {
                        ("build", build_embedded(&path, self.seed, progress)?, source, path)
                    }
                }
            }
        };
        let hash = sets::hash(&path)?;
        let is_news = matches!(source, Source::News);
        let n_books = counted(set.books().len(), if is_news { "article" } else { "book" });
        stage(
            progress,
            verb,
            &format!("{} from {n_books}", counted(set.len(), "question")),
            started,
        );
        Ok((set, hash, source))
    }

    fn origin(&self) -> Origin {
        Origin { skip_bad: self.skip_bad, ..Origin::default() }
    }

    /// The questions to answer, if they are others than those to learn from.
    fn answered(&self, progress: Progress) -> Result<Option<(QuestionSet, String, Source)>> {
        let Some(path) = &self.answer else { return Ok(None) };
        let set = sets::open(path, &self.origin(), &[Split::Valid, Split::Test], progress)?;
        let source = sets::source(path, &set);
        Ok(Some((set, sets::hash(path)?, source)))
    }

    fn provenance(&self, source: Source, data: String) -> Provenance {
        let flag = |flag: &str, path: &Option<PathBuf>| {
            path.as_ref().map_or(String::new(), |path| format!(" --{flag} {}", path.display()))
        };
        let set = flag("data", &self.data) + &flag("answer", &self.answer);
        let table = match &self.experiment {
            Some(path) => format!("--experiment {}", path.display()),
            None => self.table.clone(),
        };
        Provenance {
            source,
            data_hash: data,
            version: VERSION.to_owned(),
            date: today(),
            commands: vec![format!("goldilocks reproduce {table}{set} --seed {}", self.seed)],
        }
    }
}

/// The tales or the news as an earlier run of this version built them.
fn built_before(folder: &Path, seed: u64) -> Option<QuestionSet> {
    let manifest = questions::compact::read_manifest(folder).ok()?;
    let same = manifest.get("version")?.as_str()? == VERSION
        && manifest.get("seed")?.as_integer()? == i64::try_from(seed).ok()?;
    same.then(|| QuestionSet::open(folder, &questions::OpenOptions::default()).ok())?
        .map(|(set, _)| set)
}

/// The experiment's tables that are about the set's kind of questions, or all where none is: Appendix C is about
/// CNN QA, whose questions have no class.
fn kinds(experiment: &Experiment, set: &QuestionSet) -> Vec<TableKind> {
    let has_classes = (0..set.len()).any(|index| set.example(index).class.is_some());
    let fits = |kind: &TableKind| kind.has_classes() == has_classes;
    let all = experiment.kinds();
    let fitting: Vec<TableKind> = all.iter().copied().filter(fits).collect();
    if fitting.is_empty() { all } else { fitting }
}

/// The splits that the tables show: no other is answered.
fn splits(experiment: &Experiment, kinds: &[TableKind]) -> Vec<Split> {
    let is_shown = |split: &Split| {
        let columns = kinds.iter().flat_map(|kind| kind.published().columns);
        kinds.is_empty() || columns.into_iter().any(|column| column.split == *split)
    };
    experiment.on.iter().copied().filter(is_shown).collect()
}

fn write_manifest(reproduction: &Reproduction<'_>, experiment: &Experiment) -> Result<()> {
    let mut manifest = toml::Table::new();
    manifest.insert("title".into(), experiment.title.clone().into());
    manifest.insert("version".into(), VERSION.into());
    manifest.insert("date".into(), today().into());
    manifest.insert("seed".into(), i64::try_from(reproduction.seed)?.into());
    manifest.insert("data".into(), reproduction.data().into());
    write_file(&reproduction.folder.join("manifest.toml"), &toml::to_string(&manifest)?)
}
