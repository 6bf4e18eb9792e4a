//! `goldilocks bench`: how fast the stages are here, as ratios to a peer where there is one.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use cpu_time::ProcessTime;
use goldilocks::Error;
use goldilocks::books::sources;
use goldilocks::corpus::{self, Tagger};
use goldilocks::models::{self, MODELS, Settings, Training};
use goldilocks::questions::{
    Builder, Counts, Format, OpenOptions, QuestionSet, Rules, Split, WriteOptions,
};
use rayon::prelude::*;
use serde::Serialize;

use super::thousands;
use crate::progress::Progress;

/// How often each stage is run; the fastest run counts, since others had company on the machine.
const TIMES: usize = 3;

/// The most questions of each class that are read and answered, for training, validation and test.
const SAMPLE: [usize; Split::ALL.len()] = [5_000, 0, 0];

/// Options of `bench`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// .txt, .html and .epub files, or folders of them [default: the embedded tales]
    #[arg(value_name = "BOOK")]
    books: Vec<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// A stage as it was measured.
#[derive(Serialize)]
struct Measured {
    stage: String,
    #[serde(flatten)]
    took: Took,
    amount: usize,
    unit: &'static str,
    peer: Option<Peer>,
}

/// The times of the fastest run.
#[derive(Clone, Copy, Serialize)]
struct Took {
    seconds: f64,
    /// Of all cores together: on a busy machine it says more.
    processor_seconds: f64,
}

#[derive(Serialize)]
struct Peer {
    name: &'static str,
    per_second: f64,
}

/// Stanford's pipeline (tokenise, split, pos, lemma, ner) with 108 books on two cores. It is not measured
/// here: it needs Java and its models.
const CORENLP: Peer = Peer { name: "CoreNLP 3.5.2, measured elsewhere", per_second: 4_000.0 };

/// Measures every stage on the books and prints the table.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let bar = progress.spinner("bench", "reading");
    let sources = sources(&options.books)?;
    let texts: Vec<(String, String)> = sources
        .iter()
        .map(|source| Ok((source.name(), source.text(false)?.0)))
        .collect::<Result<_>>()?;
    let mut measured = Vec::new();
    bar.set_message("tokenise + tag");
    measured.push(tokenise_and_tag(&texts));
    bar.set_message("build");
    let (built, _) = build(&texts, Counts::All)?;
    measured.push(built);
    let (_, set) = build(&texts, Counts::per_split(SAMPLE))?;
    let folder = tempfile::tempdir()?;
    for (format, name) in [(Format::Cbt, "cbt.txt"), (Format::Compact, "compact")] {
        bar.set_message(name);
        measured.push(read(&set, format, &folder.path().join(name))?);
    }
    bar.set_message("answer");
    measured.extend(answer(&set)?);
    bar.finish_and_clear();
    if options.json {
        return super::print(format_args!("{}\n", serde_json::to_string_pretty(&measured)?));
    }
    let head = format!("{:30}{:>12}{:>14}{:>25}\n", "", "clock", "processor", "by the clock");
    super::print(format_args!("{head}{}", measured.iter().map(line).collect::<String>()))
}

fn line(measured: &Measured) -> String {
    let Took { seconds, processor_seconds } = measured.took;
    let rate = measured.amount as f64 / seconds;
    let ratio = measured
        .peer
        .as_ref()
        .map_or(String::new(), |peer| format!("   {:.1} × {}", rate / peer.per_second, peer.name));
    let rate = format!("{} {}/s", thousands(rate as usize), measured.unit);
    let stage = &measured.stage;
    format!("{stage:30}{seconds:>10.3} s{processor_seconds:>12.3} s{rate:>25}{ratio}\n")
}

/// The fastest of several runs.
fn fastest<T>(mut work: impl FnMut() -> T) -> (Took, T) {
    let mut time = || {
        let (started, processor) = (Instant::now(), ProcessTime::now());
        let made = work();
        let seconds = started.elapsed().as_secs_f64();
        (Took { seconds, processor_seconds: processor.elapsed().as_secs_f64() }, made)
    };
    let mut best = time();
    for _ in 1..TIMES {
        let next = time();
        best = if next.0.seconds < best.0.seconds { next } else { best };
    }
    best
}

fn tokenise_and_tag(texts: &[(String, String)]) -> Measured {
    let tagger = Tagger::shipped();
    let (took, amount) = fastest(|| {
        let tagged = texts.iter().map(|(_, text)| tagger.tag(corpus::tokenise(text)));
        tagged.map(|sentences| sentences.iter().map(Vec::len).sum::<usize>()).sum()
    });
    let stage = "tokenise + tag, one core".to_owned();
    Measured { stage, took, amount, unit: "tokens", peer: Some(CORENLP) }
}

fn build(texts: &[(String, String)], counts: Counts) -> Result<(Measured, QuestionSet)> {
    let tagger = Tagger::shipped();
    let known = |word: &str| tagger.knows(word);
    let builder = Builder::new(Rules::default(), 1, &known)?;
    let (took, set) = fastest(|| -> Result<QuestionSet> {
        let read = |(name, text): &(String, String)| {
            let sentences = tagger.tag(corpus::tokenise_paragraphs(text));
            let book = corpus::Book { name: name.clone(), sentences };
            builder.questions_of(Path::new(name), &book, Split::Train)
        };
        let books: Vec<_> = texts.par_iter().map(read).collect::<Result<_, _>>()?;
        Ok(builder.finish(books, counts)?.set)
    });
    let set = set?;
    let stage = "text to questions, all cores".to_owned();
    Ok((Measured { stage, took, amount: set.len(), unit: "questions", peer: None }, set))
}

/// Writes the questions in a form and reads them again, compared with a plain reader.
fn read(set: &QuestionSet, format: Format, path: &Path) -> Result<Measured> {
    set.write(path, format, &WriteOptions::overwrite(true))?;
    let options = OpenOptions { split: Some(Split::Train), ..OpenOptions::default() };
    let (took, opened) = fastest(|| QuestionSet::open(path, &options));
    let amount = opened?.0.len();
    let peer = match format {
        Format::Cbt => {
            let files = if path.is_dir() { files_in(path)? } else { vec![path.to_owned()] };
            let (took, read) = fastest(|| files.iter().try_for_each(|file| plain_reader(file)));
            read.map_err(Error::io(path))?;
            Some(Peer { name: "a plain reader of words", per_second: amount as f64 / took.seconds })
        }
        _ => None,
    };
    let stage = format!("read, {} form", format.code());
    Ok(Measured { stage, took, amount, unit: "questions", peer })
}

/// What one would write first: each line as a list of its words.
fn plain_reader(file: &Path) -> std::io::Result<()> {
    for line in BufReader::new(File::open(file)?).lines() {
        let words: Vec<String> = line?.split(' ').map(str::to_owned).collect();
        black_box(words);
    }
    Ok(())
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Error::io(folder))?;
    Ok(entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect())
}

fn answer(set: &QuestionSet) -> Result<Vec<Measured>> {
    let places: Vec<usize> = (0..set.len()).collect();
    let measure = |entry: &models::Method| {
        let settings = Settings::from_text(entry, [])?;
        let model = (entry.train)(&settings, &Training::new(set, 1, &|_| ()))?;
        let mut amount = 0;
        let (took, done) = fastest(|| {
            amount = 0;
            let scorer = model.clone().scorer(set.vocabulary());
            models::score_all(scorer, set, &places, &[], &mut |_, scores| {
                amount += scores.len();
                Ok(())
            })
        });
        done?;
        let stage = format!("answer, {}", entry.name);
        Ok(Measured { stage, took, amount, unit: "questions", peer: None })
    };
    MODELS.iter().filter(|entry| !entry.trains_by_epochs).map(measure).collect()
}
