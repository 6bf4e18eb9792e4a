//! One book → its questions, answered by methods that need no training and by readers, and a report of it all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::report::{ExplainedQuestion, Source, TableKind};
use base::Selection;
use corpus::detokenise;
use corpus::tales::TALES;
use evaluation::Predictions;
use models::{DeviceChoice, Model, Settings, Training};
use questions::{BLANK_WORD, Counts, QuestionSet, Split, WordClass};

use super::{ReportInputs, ReportRow};
use crate::{
    AnswerOptions, BuildOptions, Error, Program, Reporter, Result, TextBook, answer, build,
    hits_and_misses, load_model,
};

/// The methods that answer from the question alone, with the settings that they would learn elsewhere.
const WITHOUT_TRAINING: [(&str, &[&str]); 3] = [
    ("max-frequency-context", &[]),
    ("sliding-window", &[]),
    ("word-distance", &["max_penalty=5"]),
];

/// Options of [`try_book()`].
#[derive(Clone, Debug)]
pub struct TryOptions {
    /// A .txt, .html or .epub file; none: an embedded tale.
    pub book: Option<PathBuf>,
    /// Further models that answer: what [`load_model`] takes.
    pub models: Vec<PathBuf>,
    /// At most this many questions of each class, drawn by the seed.
    pub sample: usize,
    /// Seed of every random choice.
    pub seed: u64,
    /// The program that the report names.
    pub program: Program,
    /// The date that the report names.
    pub date: String,
    /// The command that makes the same report.
    pub command: String,
}

impl Default for TryOptions {
    fn default() -> Self {
        Self {
            book: None,
            models: Vec::new(),
            sample: 300,
            seed: 1,
            program: Program::default(),
            date: String::new(),
            command: String::new(),
        }
    }
}

impl TryOptions {
    /// What the book is called.
    pub fn name(&self) -> String {
        match &self.book {
            Some(path) => crate::sets::name(path),
            None => crate::sets::name(Path::new(TALES[0].name)),
        }
    }
}

/// What came of a book.
pub struct Tried {
    /// The questions that were asked.
    pub set: QuestionSet,
    /// Each model's answers.
    pub answers: Vec<Predictions>,
    /// A question of each class that a further model got wrong.
    pub mistakes: Vec<ExplainedQuestion>,
    /// The report's tables as text.
    pub tables: String,
}

/// Builds questions from a book, answers them, and writes a report into a folder.
///
/// # Errors
/// If the folder is there and not to be replaced, the book can't be read or has too few sentences, or a model fails.
pub fn try_book(
    options: &TryOptions,
    folder: &Path,
    overwrite: bool,
    reporter: &dyn Reporter,
) -> Result<Tried> {
    if folder.exists() && !overwrite {
        return Err(Error::Exists { path: folder.to_owned() });
    }
    // Before the work of the others.
    let named = options.models.iter().map(|path| load_model(path, DeviceChoice::Cpu, reporter));
    let named = named.collect::<Result<Vec<_>>>()?;
    let set = questions_of(options, reporter)?;
    let mut models: Vec<(String, Arc<dyn Model>)> = Vec::new();
    for (name, settings) in WITHOUT_TRAINING {
        let method = models::find(name)?;
        let settings = Settings::from_text(method, settings.iter().copied())?;
        let training = Training::new(&set, options.seed, &|_| ());
        models.push((name.to_owned(), (method.train)(&settings, &training)?));
    }
    let n_simple = models.len();
    models.extend(named.into_iter().map(|(model, from)| (from.provenance.model, model)));
    let answering = AnswerOptions { seed: options.seed, ..AnswerOptions::default() };
    let (mut rows, mut explained) = (Vec::new(), Vec::new());
    for (number, (name, model)) in models.iter().enumerate() {
        let predictions = answer(model, &set, &answering, reporter)?;
        if number >= n_simple {
            explained.extend(hits_and_misses(name, model, &set, &predictions, options.seed)?);
        }
        let predictions = Predictions::new(name.clone(), predictions)?.by_model(Some(name.clone()));
        rows.push(ReportRow { name: name.clone(), label: None, predictions });
    }
    let inputs = ReportInputs {
        rows,
        set: &set,
        set_name: options.name(),
        beside_paper: false,
        source: if options.book.is_some() { Source::Other } else { Source::Tales },
        selection: Selection::split(Split::Test),
        tables: vec![TableKind::Table2],
        explained,
        seed: options.seed,
        program: options.program.clone(),
        date: options.date.clone(),
        command: options.command.clone(),
    };
    let tables = inputs.write(folder, overwrite, reporter)?;
    let ReportInputs { rows, explained, .. } = inputs;
    let is_wrong = |question: &ExplainedQuestion| question.answer != Some(question.predicted);
    let mistakes = explained.into_iter().filter(is_wrong).collect();
    let answers = rows.into_iter().map(|row| row.predictions).collect();
    Ok(Tried { set, answers, mistakes, tables })
}

/// The questions of the book, as the test split of a set.
fn questions_of(options: &TryOptions, reporter: &dyn Reporter) -> Result<QuestionSet> {
    let tale = || TextBook { name: options.name(), text: TALES[0].text.into() };
    // All questions of one book are for test.
    let of_split = |split| match split {
        Split::Test => [options.sample; WordClass::ALL.len()],
        _ => [0; WordClass::ALL.len()],
    };
    let building = BuildOptions {
        books: options.book.iter().cloned().collect(),
        texts: if options.book.is_some() { Vec::new() } else { vec![tale()] },
        counts: Counts::AtMost(Split::ALL.map(of_split)),
        seed: options.seed,
        ..BuildOptions::default()
    };
    Ok(build(&building, reporter)?.set)
}

impl Tried {
    /// The mistakes in words: the query with its gap, what was chosen, and the answer.
    pub fn mistakes_in_words(&self) -> String {
        let in_words = |question: &ExplainedQuestion| {
            let query: Vec<&str> = question
                .query
                .iter()
                .map(|word| if word == BLANK_WORD { "[     ]" } else { word })
                .collect();
            let class = question.class.map_or("", WordClass::label);
            let chosen = &question.candidates[question.predicted];
            let answer = question.answer.map_or("unknown", |answer| &question.candidates[answer]);
            let query = detokenise::text(&query);
            format!("{class}: {query}\n    chose {chosen}, the answer is {answer}\n")
        };
        self.mistakes.iter().map(in_words).collect()
    }
}
