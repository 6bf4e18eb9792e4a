//! `goldilocks explain MODELDIR SET --question N|ID`: what a model looked at before it answered (Figure 2).

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use evaluation::Prediction;
use models::{Explanation, Look, Model};
use questions::{Example, QuestionSet, Split, WordClass};
use report::{Looked, Window};
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::sets::{self, Origin};

/// Options of `explain`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// A folder that `goldilocks train` wrote
    #[arg(value_name = "MODELDIR")]
    model: PathBuf,
    /// A question set: folder or file
    set: PathBuf,
    /// The question: its number, from 1, or its id; in a folder numbers count its validation questions [--on]
    #[arg(long, value_name = "N|ID")]
    question: String,
    #[command(flatten)]
    origin: Origin,
    /// Draw it too, as a page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Draw it too, as a picture
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// For programs
    #[arg(long)]
    json: bool,
    /// Seed of draws between equal scores
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::seed())]
    seed: u64,
    /// Replace the drawings if they are there
    #[arg(long)]
    force: bool,
}

/// Finds the question, asks the model, prints and draws.
pub fn run(options: &Options, progress: Progress) -> Result<()> {
    let (model, _) = models::load(&options.model)?;
    let number = options.number();
    let on = match &options.origin.on[..] {
        [] if options.set.is_dir() && number.is_some() => &[Split::Valid],
        on => on,
    };
    let set = sets::open(&options.set, &options.origin, on, progress)?;
    let place = match number {
        Some(number) => options.numbered(&set, number)?,
        None => options.identified(&set)?,
    };
    let looked = look(&*model, &set, place, options.seed);
    for (path, drawing) in
        [(&options.html, Looked::html as fn(&Looked) -> String), (&options.svg, Looked::svg)]
    {
        if let Some(path) = path {
            write(path, &drawing(&looked), options.force)?;
        }
    }
    match options.json {
        true => super::print(format_args!("{}\n", serde_json::to_string_pretty(&looked)?)),
        false => super::print(format_args!("{}", looked.text())),
    }
}

fn write(path: &Path, text: &str, overwrite: bool) -> Result<()> {
    if path.exists() && !overwrite {
        return Err(Failure::OutputExists { path: path.to_owned() }.into());
    }
    let failed = |cause| questions::Error::Write { path: path.to_owned(), cause };
    Ok(questions::write_file(path, overwrite, |out| {
        out.write_all(text.as_bytes()).map_err(failed)
    })?)
}

impl Options {
    /// The question's number; an id has 16 digits or more, and some are decimal.
    fn number(&self) -> Option<usize> {
        self.question.parse().ok().filter(|_| self.question.len() < 16)
    }

    fn numbered(&self, set: &QuestionSet, number: usize) -> Result<usize> {
        let Origin { class, on, .. } = &self.origin;
        let is_counted = |&place: &usize| {
            let fits_class =
                class.is_none_or(|class| set.example(place).class.is_none_or(|c| c == class));
            fits_class
                && (on.is_empty()
                    || set.example(place).split.is_none_or(|split| on.contains(&split)))
        };
        let places: Vec<usize> = (0..set.len()).filter(is_counted).collect();
        let place = number.checked_sub(1).and_then(|place| places.get(place));
        let expected = || format!("a number from 1 to {}", super::thousands(places.len()));
        place.copied().ok_or_else(|| self.no_question(expected()))
    }

    fn identified(&self, set: &QuestionSet) -> Result<usize> {
        // The short splits first: every id is a hash over its context.
        let splits = [Some(Split::Valid), Some(Split::Test), None, Some(Split::Train)];
        let mut ids = splits.into_iter().flat_map(|split| set.ids(split));
        let found = ids.find(|(_, id)| *id == self.question).map(|(place, _)| place);
        found
            .ok_or_else(|| self.no_question("an id of the set's questions, or a number".to_owned()))
    }

    fn no_question(&self, expected: String) -> anyhow::Error {
        let (path, asked) = (self.set.clone(), self.question.clone());
        Failure::NoQuestion { path, asked, expected }.into()
    }
}

/// What a model looked at in one question of a set.
fn look(model: &dyn Model, set: &QuestionSet, place: usize, seed: u64) -> Looked {
    let example = set.example(place);
    let reader = model.reader(set.vocabulary());
    let scores = reader.score(&example.question).into_iter().map(f64::from).collect();
    let prediction = Prediction::of(&example, example.question.id(), scores, seed);
    looked(&example, &prediction, reader.explain(&example.question))
}

/// For each class the question that a model has right, and the one that it has wrong, whose id comes first when
/// hashed with the seed, with what the model looked at; nothing for a model that does not tell.
pub fn hits_and_misses(
    model: &dyn Model,
    set: &QuestionSet,
    predictions: &[Prediction],
    seed: u64,
) -> Vec<Looked> {
    let hash = |prediction: &&Prediction| {
        Sha256::new().chain_update(seed.to_le_bytes()).chain_update(&prediction.id).finalize()
    };
    let classes = WordClass::ALL.map(Some).into_iter().chain([None]);
    let kinds = classes.flat_map(|class| [(class, true), (class, false)]);
    let chosen = kinds.filter_map(|(class, is_right)| {
        let is_kind = |p: &&Prediction| p.class == class && p.is_right() == Some(is_right);
        predictions.iter().filter(is_kind).min_by_key(hash)
    });
    let reader = model.reader(set.vocabulary());
    let look = |prediction: &Prediction| {
        let mut ids = set.ids(prediction.split).into_iter();
        let (place, _) = ids.find(|(_, id)| *id == prediction.id)?;
        let example = set.example(place);
        let explanation = reader.explain(&example.question);
        (!explanation.looks.is_empty()).then(|| looked(&example, prediction, explanation))
    };
    chosen.filter_map(look).collect()
}

fn looked(example: &Example<'_>, prediction: &Prediction, explanation: Explanation) -> Looked {
    let question = &example.question;
    let texts = |words: &[base::WordId]| -> Vec<String> {
        words.iter().map(|&word| question.word(word).to_owned()).collect()
    };
    let window = |look: Look| Window {
        words: look.words,
        candidate: look.candidate,
        mention: look.instance,
        weight: f64::from(look.weight),
        score: look.score.map(f64::from),
        is_supporting: look.is_supporting,
    };
    Looked {
        id: prediction.id.clone(),
        class: prediction.class,
        split: prediction.split,
        book: prediction.book.clone(),
        context: question.context.iter().map(|sentence| texts(sentence)).collect(),
        query: texts(question.query),
        query_window: explanation.query,
        candidates: prediction.candidates.clone(),
        scores: prediction.scores.clone(),
        answer: prediction.answer,
        predicted: prediction.predicted,
        windows: explanation.looks.into_iter().map(window).collect(),
    }
}
