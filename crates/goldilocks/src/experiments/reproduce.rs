//! Build → train → answer → evaluate → report, for a table of the paper.
//!
//! ```text
//! DIR/questions, models, predictions, explanations    see `engine`
//! DIR/report/                                         index.html and the tables
//! DIR/manifest.toml                                   what was run, when, by which version
//! ```
//!
//! Every stage writes next to its goal and renames, and is skipped when its goal was made from the same inputs: a run
//! that was killed resumes where it stopped and ends with the same bytes.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ::report::{Provenance, Report, Row, Source, TableKind};
use models::DeviceChoice;
use questions::{QuestionSet, Split};
use serde::Serialize;

use super::engine::{Engine, write_file};
use super::estimate::in_order_of_time;
use super::loaded::LoadedModels;
use super::{Combination, Embedded, Experiment, PlannedRow};
use crate::progress::check_cancelled;
use crate::sets::{self, SetOptions};
use crate::{
    BuildOptions, Error, ErrorKind, Event, NewsOptions, Program, Reporter, Result, build,
    build_news,
};

/// What [`reproduce`] runs, and on what.
#[derive(Clone, Debug)]
pub struct ReproduceOptions {
    /// The questions to answer and, unless there are others, to learn from; none: those that are embedded.
    pub questions: Option<PathBuf>,
    /// Questions to learn from in place of those of `questions`.
    pub train_on: Option<PathBuf>,
    /// The rows to make, by name; none: all.
    pub only: Vec<String>,
    /// Rows to leave out.
    pub skip: Vec<String>,
    /// Whether malformed questions of CNN QA are skipped and counted.
    pub skip_bad: bool,
    /// The first seed of every random choice.
    pub seed: u64,
    /// Where networks learn and answer.
    pub device: DeviceChoice,
    /// Whether results of other versions of the code are accepted; the report names them.
    pub any_version: bool,
    /// The program that manifests and the report name.
    pub program: Program,
    /// The date that they name.
    pub date: String,
    /// The command that makes the same report, for its notes.
    pub command: String,
}

/// What came of a reproduction.
#[derive(Debug)]
pub struct Reproduced {
    /// The tables as text.
    pub text: String,
    /// Where the questions come from.
    pub source: Source,
    /// The rows that were to be made and are not there, because the work was cancelled.
    pub left: Vec<String>,
}

/// Runs what an experiment needs, in a folder that holds nothing else, cheap rows first, and writes its report there.
///
/// The report has every row of the experiment whose results are there, those of earlier runs too. It is also written
/// when the work is cancelled, or a row fails, after the first row.
///
/// # Errors
/// If the questions can't be read, a row fails, or the folder holds results of something else.
pub fn reproduce(
    experiment: &Experiment,
    folder: &Path,
    options: &ReproduceOptions,
    reporter: &dyn Reporter,
) -> Result<Reproduced> {
    let plan = experiment.plan(options.questions.is_none())?;
    let wanted = options.wanted(&plan)?;
    claim(folder)?;
    let (trained, data, source) = options.learnt_from(folder, experiment.embedded, reporter)?;
    let answered = options.answered(reporter)?;
    let (set, source) =
        answered.as_ref().map_or((&trained, source), |(set, _, source)| (set, *source));
    let tables = tables(experiment, set);
    let engine = Engine {
        folder: folder.to_owned(),
        trained: &trained,
        set,
        anonymised: Default::default(),
        fingerprints: Default::default(),
        loaded: LoadedModels::new(options.device, reporter),
        made: RefCell::default(),
        data,
        answering: answered.as_ref().map(|(_, hash, _)| hash.clone()),
        splits: shown_splits(experiment, &tables),
        combined: combined(experiment, &plan),
        figure_2: experiment.figure_2,
        options,
        reporter,
    };
    let made = make_all(&engine, &wanted, reporter);
    let done: Vec<&PlannedRow> = plan.iter().filter(|row| engine.is_done(row)).collect();
    let made = match made {
        Err(error) if done.is_empty() => return Err(error),
        made => made,
    };
    let set_name = options.set_name(experiment.embedded);
    let report = Report {
        title: format!("{} on {set_name}", experiment.title),
        set_name,
        beside_paper: false,
        tables,
        statistics: experiment.statistics,
        rows: rows(&engine, experiment, &done)?,
        set,
        provenance: Provenance {
            source,
            data_hash: engine.data(),
            version: options.program.to_string(),
            date: options.date.clone(),
            commands: vec![options.command.clone()],
        },
    };
    ::report::write(&report, &folder.join("report"), true)?;
    write_manifest(&engine, experiment)?;
    let is_left = |row: &&&PlannedRow| !done.iter().any(|done| done.name == row.name);
    let left = wanted.iter().filter(is_left).map(|row| row.name.clone()).collect();
    match made {
        Err(error) if error.kind() != ErrorKind::Interrupted => Err(error),
        _ => Ok(Reproduced { text: ::report::text(&report, reporter.width())?, source, left }),
    }
}

/// Makes the folder, unless it holds something else.
fn claim(folder: &Path) -> Result<()> {
    let is_other = questions::compact::read_manifest(folder).is_ok();
    if is_other || folder.join("model.toml").exists() {
        return Err(Error::NotAReproduction { path: folder.to_owned() });
    }
    fs::create_dir_all(folder).map_err(Error::io(folder))
}

/// What is trained for rows that combinations are of.
fn combined(experiment: &Experiment, plan: &[PlannedRow]) -> BTreeSet<String> {
    let names = experiment.combinations().iter().flat_map(|combination| &combination.of);
    let rows = names.flat_map(|name| plan.iter().filter(move |row| row.name == *name));
    rows.map(|row| row.trained_as.clone()).collect()
}

/// The rows of the report: those that are done, then combinations of them.
fn rows<'s>(
    engine: &'s Engine<'_>,
    experiment: &Experiment,
    done: &[&PlannedRow],
) -> Result<Vec<Row<'s>>> {
    let mut rows = Vec::new();
    for row in done {
        let (name, label) = match &row.beyond {
            Some(label) => (row.name.clone(), label.clone()),
            None => {
                let name = row.origin.model();
                (name.to_owned(), report::paper::label(name).unwrap_or(name).to_owned())
            }
        };
        rows.push(Row {
            name,
            paper_row: row.paper_row.clone(),
            label,
            settings: row.changed.clone(),
            differs: row.differs.clone(),
            runs: engine.runs(row)?,
            explained: if experiment.figure_2 { engine.explained(row)? } else { Vec::new() },
            training: engine.training_curve(row)?,
        });
    }
    for combination in experiment.combinations() {
        let Combination { name, label, of, .. } = combination;
        let member = |name: &String| done.iter().copied().find(|row| row.name == *name);
        let Some(members) = of.iter().map(member).collect::<Option<Vec<&PlannedRow>>>() else {
            continue;
        };
        rows.push(Row {
            name: name.clone(),
            paper_row: None,
            label: label.clone(),
            settings: Vec::new(),
            differs: None,
            runs: engine.combined_runs(combination, &members)?,
            explained: Vec::new(),
            training: Vec::new(),
        });
    }
    Ok(rows)
}

/// Trains and answers what every row still needs: first what does not learn by epochs, then what takes the shortest.
fn make_all(engine: &Engine<'_>, wanted: &[&PlannedRow], reporter: &dyn Reporter) -> Result<()> {
    let (learners, cheap): (Vec<&PlannedRow>, Vec<&PlannedRow>) =
        wanted.iter().copied().partition(|row| row.origin.learner().is_some());
    let (mut n_made, mut number, total) = (0, 0, wanted.len());
    let mut make = |row: &PlannedRow, seconds, rest| -> Result<()> {
        check_cancelled(reporter)?;
        number += 1;
        let name = row.name.clone();
        if !engine.to_train(row).is_empty() {
            let name = name.clone();
            reporter.report(Event::RowBegins { number, total, name, seconds, rest });
        }
        if engine.make(row)? {
            n_made += 1;
            reporter.report(Event::RowDone { number, total, name });
        }
        Ok(())
    };
    for row in cheap {
        make(row, None, 0.0)?;
    }
    let estimated = in_order_of_time(engine, learners, reporter)?;
    let mut rest: f64 = estimated.iter().filter_map(|(_, seconds)| *seconds).sum();
    for (row, seconds) in estimated {
        rest -= seconds.unwrap_or(0.0);
        make(row, seconds, rest.max(0.0))?;
    }
    if n_made == 0 && total > 0 {
        reporter.report(Event::UpToDate);
    }
    Ok(())
}

impl ReproduceOptions {
    /// The rows that are asked for.
    fn wanted<'p>(&self, plan: &'p [PlannedRow]) -> Result<Vec<&'p PlannedRow>> {
        let is_unknown = |name: &&String| !plan.iter().any(|row| row.name == **name);
        if let Some(name) = self.only.iter().chain(&self.skip).find(is_unknown) {
            let known = plan.iter().map(|row| row.name.clone()).collect();
            return Err(Error::UnknownRow { name: name.clone(), known });
        }
        let is_wanted = |row: &&PlannedRow| {
            (self.only.is_empty() || self.only.contains(&row.name))
                && !self.skip.contains(&row.name)
        };
        Ok(plan.iter().filter(is_wanted).collect())
    }

    /// What the answered questions are called in titles.
    fn set_name(&self, embedded: Embedded) -> String {
        match (&self.questions, embedded) {
            (Some(path), _) => sets::name(path),
            (None, Embedded::Tales) => "the tales".to_owned(),
            (None, Embedded::News) => "the embedded articles".to_owned(),
        }
    }

    /// The questions to learn from, the fingerprint that identifies them, and where they come from.
    fn learnt_from(
        &self,
        folder: &Path,
        embedded: Embedded,
        reporter: &dyn Reporter,
    ) -> Result<(QuestionSet, String, Source)> {
        let (is_built, set, source) = match self.train_on.as_ref().or(self.questions.as_ref()) {
            Some(path) => {
                let set = sets::open(path, &SetOptions::all(self.skip_bad), &[], reporter)?;
                let source = sets::source(path, &set);
                (false, set, source)
            }
            None => {
                let path = folder.join("questions");
                let source = match embedded {
                    Embedded::Tales => Source::Tales,
                    Embedded::News => Source::News,
                };
                match self.built_before(&path) {
                    Some(set) => (false, set, source),
                    None => (true, self.build_embedded(&path, embedded, reporter)?, source),
                }
            }
        };
        let fingerprint = set.fingerprint();
        reporter.report(Event::QuestionsReady {
            is_built,
            n_questions: set.len(),
            n_texts: set.books().len(),
            is_news: matches!(source, Source::News),
        });
        Ok((set, fingerprint, source))
    }

    /// The questions to answer, if they are others than those to learn from.
    fn answered(&self, reporter: &dyn Reporter) -> Result<Option<(QuestionSet, String, Source)>> {
        let (Some(path), Some(_)) = (&self.questions, &self.train_on) else { return Ok(None) };
        let options = SetOptions::all(self.skip_bad);
        let set = sets::open(path, &options, &[Split::Valid, Split::Test], reporter)?;
        let source = sets::source(path, &set);
        let fingerprint = set.fingerprint();
        Ok(Some((set, fingerprint, source)))
    }

    /// The tales or the news as an earlier run of this version built them.
    fn built_before(&self, folder: &Path) -> Option<QuestionSet> {
        let manifest = questions::compact::read_manifest(folder).ok()?.extra;
        let same = manifest.get("version")?.as_str()? == self.program.to_string()
            && manifest.get("seed")?.as_integer()? == i64::try_from(self.seed).ok()?;
        same.then(|| QuestionSet::open(folder, &questions::OpenOptions::default()).ok())?
            .map(|(set, _)| set)
    }

    fn build_embedded(
        &self,
        folder: &Path,
        embedded: Embedded,
        reporter: &dyn Reporter,
    ) -> Result<QuestionSet> {
        let seed = self.seed;
        match embedded {
            Embedded::Tales => {
                let built = build(&BuildOptions { seed, ..BuildOptions::default() }, reporter)?;
                built.write(folder, true, &self.program, reporter)?;
                Ok(built.set)
            }
            Embedded::News => {
                let built = build_news(&NewsOptions::embedded(seed), reporter)?;
                built.write(folder, true, &self.program, reporter)?;
                Ok(built.set)
            }
        }
    }
}

/// The experiment's tables that are about the set's kind of questions, or all where none is: Appendix C is about
/// CNN QA, whose questions have no class.
fn tables(experiment: &Experiment, set: &QuestionSet) -> Vec<TableKind> {
    let has_classes = (0..set.len()).any(|index| set.example(index).class.is_some());
    let fits = |kind: &TableKind| kind.has_classes() == has_classes;
    let all = experiment.kinds();
    let fitting: Vec<TableKind> = all.iter().copied().filter(fits).collect();
    if fitting.is_empty() { all } else { fitting }
}

/// The splits that the tables show: no other is answered.
fn shown_splits(experiment: &Experiment, tables: &[TableKind]) -> Vec<Split> {
    let is_shown = |split: &Split| {
        let columns = tables.iter().flat_map(|kind| kind.published().columns);
        tables.is_empty() || columns.into_iter().any(|column| column.split == *split)
    };
    experiment.splits.iter().copied().filter(is_shown).collect()
}

fn write_manifest(engine: &Engine<'_>, experiment: &Experiment) -> Result<()> {
    #[derive(Serialize)]
    struct Manifest<'a> {
        data: String,
        date: &'a str,
        seed: u64,
        title: &'a str,
        version: String,
    }
    let ReproduceOptions { program, date, seed, .. } = engine.options;
    let manifest = Manifest {
        data: engine.data(),
        date,
        seed: *seed,
        title: &experiment.title,
        version: program.to_string(),
    };
    let text = toml::to_string(&manifest).expect("every field has a form in TOML");
    write_file(&engine.folder.join("manifest.toml"), &text)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    const EXPERIMENT: &str = "title = 'Small'\ntables = ['validation']\nsplits = ['valid']\n[[rows]]\n\
        model = 'memnn-window-selfsup'\nsettings = { dim = 2, epochs = 1 }\n\
        [[rows]]\nmodel = 'word-distance'\nsettings = { max_penalty = 5 }\n";

    /// Reproduces a small table; returns the rows that were made.
    fn run(folder: &Path, commit: &str, any_version: bool) -> Result<Vec<String>> {
        Ok(run_text(folder, EXPERIMENT, commit, any_version)?.0)
    }

    /// Reproduces a table; returns the rows that were made, and the report as text.
    fn run_text(
        folder: &Path,
        text: &str,
        commit: &str,
        any_version: bool,
    ) -> Result<(Vec<String>, String)> {
        let path = folder.join("small.toml");
        fs::write(&path, text).unwrap();
        let program = Program { commit: Some(commit.to_owned()), ..Program::default() };
        let options = ReproduceOptions {
            questions: None,
            train_on: None,
            only: Vec::new(),
            skip: Vec::new(),
            skip_bad: false,
            seed: 1,
            device: DeviceChoice::Cpu,
            any_version,
            program,
            date: "2016-05-02".to_owned(),
            command: String::new(),
        };
        let made = Mutex::new(Vec::new());
        let listen = |event| {
            if let Event::RowDone { name, .. } = event {
                made.lock().unwrap().push(name);
            }
        };
        let experiment = Experiment::read(&path)?;
        let reproduced = reproduce(&experiment, &folder.join("out"), &options, &listen)?;
        Ok((made.into_inner().unwrap(), reproduced.text))
    }

    /// Pretends that other code has made the results of a model.
    fn change_code(folder: &Path, model: &str) {
        let code = models::find(model).unwrap().code();
        for file in [format!("models/{model}/model.toml"), format!("predictions/{model}.toml")] {
            let path = folder.join("out").join(file);
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains(&code), "{text}");
            fs::write(&path, text.replace(&code, "0123456789abcdef")).unwrap();
        }
    }

    #[test]
    fn a_model_that_is_there_answers_a_sample_and_is_combined() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        let own = "title = 'Own'\ntables = ['validation']\nsplits = ['valid']\n[[rows]]\n\
                   model = 'word-distance'\nsettings = { max_penalty = 5 }\n";
        run_text(folder, own, "a", false).unwrap();
        let model = folder.join("out/models/word-distance");
        let text = format!(
            "{own}[[rows]]\nload = {model:?}\nname = 'there'\nlabel = 'There'\nsmall_sample = 3\n\
             [[combinations]]\nname = 'both'\nlabel = 'Both'\nof = ['there', 'word-distance']\n\
             by_class = true\n"
        );
        let (made, table) = run_text(folder, &text, "a", false).unwrap();
        assert_eq!(made, ["there"]);
        for label in ["There, 3 questions a class", "Both", "n = 207"] {
            assert!(table.contains(label), "{label}: {table}");
        }
        let answers = fs::read_to_string(folder.join("out/predictions/there.jsonl")).unwrap();
        assert_eq!(answers.lines().count(), 12);
        assert!(run_text(folder, &text, "a", false).unwrap().0.is_empty());
        // It may be of another version than the program that asks it.
        let alone = "title = 'Own'\ntables = ['validation']\nsplits = ['valid']\n";
        let alone = format!("{alone}[[rows]]\nload = {model:?}\nname = 'other'\nlabel = 'Other'\n");
        let (_, table) = run_text(folder, &alone, "b", false).unwrap();
        assert!(table.contains("Other") && !table.contains("other versions"), "{table}");
        // Another sample, then another model.
        let fewer = text.replace("small_sample = 3", "small_sample = 2");
        assert_eq!(run_text(folder, &fewer, "a", false).unwrap().0, ["there"]);
        let nearer = fewer.replace("max_penalty = 5", "max_penalty = 4");
        assert_eq!(run_text(folder, &nearer, "a", false).unwrap().0, ["word-distance", "there"]);
        fs::remove_dir_all(&model).unwrap();
        assert!(run_text(folder, &fewer, "a", false).is_err());
    }

    #[test]
    fn other_commits_change_nothing_and_other_code_of_a_learner_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let rows = ["word-distance", "memnn-window-selfsup"];
        assert_eq!(run(folder, "a", false).unwrap(), rows);
        // A change of documents or of the page is another commit, and the code of the models is the same.
        assert!(run(folder, "b-dirty", false).unwrap().is_empty());
        // What learns nothing is made again without asking.
        change_code(folder, "word-distance");
        assert_eq!(run(folder, "b", false).unwrap(), ["word-distance"]);
        change_code(folder, "memnn-window-selfsup");
        let error = run(folder, "b", false).unwrap_err();
        assert!(matches!(error, Error::OtherCode { .. }), "{error}");
        assert_eq!(error.hint(), Some(base::Remedy::AcceptOtherCode { may_retrain: true }));
        assert!(run(folder, "b", true).unwrap().is_empty());
        // Predictions alone can't be made again.
        fs::remove_dir_all(folder.join("out/models/memnn-window-selfsup")).unwrap();
        let error = run(folder, "b", false).unwrap_err();
        assert!(matches!(error, Error::ForeignResults { .. }), "{error}");
    }
}
