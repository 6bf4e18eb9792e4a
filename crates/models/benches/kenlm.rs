//! `kneser-ney` in comparison with KenLM, where `lmplz`, `build_binary` and `query` are on the path:
//! `cargo bench -p goldilocks-models --bench kenlm -- SET`, a set with running text.
//!
//! 1. A language model of the training books is estimated, in memory and on disk within 1 GB.
//! 2. All queries of the validation questions are scored as sentences, with every candidate filled in.
//! 3. The same questions are answered: only what a candidate can influence is scored.
//!
//! Ours and `query` have one thread, `lmplz` as many as it likes. They run in turn, so that other work on the
//! machine slows all of them equally, and the medians are printed.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use goldilocks_models::Training;
use ngram::{LargeText, Limits, Model, Options, SentenceScorer, Text, estimate};
use questions::{OpenOptions, QuestionSet, Split};

/// How often each program runs.
const TIMES: usize = 5;

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Run<'a> = (&'a str, Box<dyn Fn() -> Result<()> + 'a>);

fn main() -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "this is a program")]
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let Some(set) = arguments.next() else {
        println!("kenlm: needs a SET: cargo bench -p goldilocks-models --bench kenlm -- SET");
        return Ok(());
    };
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let (set, _) = QuestionSet::open(Path::new(&set), &OpenOptions::default())?;
    let folder = tempfile::tempdir()?;
    let files = Files::new(folder.path(), &set)?;
    let has_peer = files.lmplz().is_ok();
    println!("medians of {TIMES} runs in turn");

    let on_disk: Run<'_> = ("ours, on disk", Box::new(|| files.estimate_on_disk(folder.path())));
    let mut runs: Vec<Run<'_>> = vec![("ours", Box::new(|| files.estimate())), on_disk];
    if has_peer {
        runs.push(("lmplz", Box::new(|| files.lmplz())));
        finish(Command::new("build_binary").arg("probing").args([&files.arpa, &files.probing]))?;
    }
    compare("estimate", (files.n_words, "words"), &runs)?;

    let valid = set.of_split(Split::Valid);
    let (model, _) = goldilocks_models::from_language_model(Model::open(&files.ours)?);
    let answer = || {
        let scorer = model.clone().scorer(set.vocabulary());
        Ok(goldilocks_models::score_all(scorer, &set, &valid, &[], &mut |_, scores| {
            black_box(scores);
            Ok(())
        })?)
    };
    let mut runs: Vec<Run<'_>> =
        vec![("ours, sentences", Box::new(|| files.score())), ("ours, answers", Box::new(answer))];
    if has_peer {
        runs.push(("query, probing", Box::new(|| files.query())));
    }
    compare("score", (files.n_filled_words, "words"), &runs)?;
    compare("score", (valid.len(), "questions"), &runs)
}

struct Files {
    /// The running text of the training books.
    text: PathBuf,
    n_words: usize,
    /// The queries of the validation questions with each candidate.
    filled: PathBuf,
    n_filled_words: usize,
    ours: PathBuf,
    arpa: PathBuf,
    probing: PathBuf,
}

impl Files {
    fn new(folder: &Path, set: &QuestionSet) -> Result<Self> {
        let [text, filled, ours, arpa, probing] =
            ["text", "filled", "ours.bin", "ken.arpa", "ken.probing"].map(|name| folder.join(name));
        let training = Training::new(set, 1, &|_| ());
        let word = |&word| set.vocabulary().word(word);
        let line = |words: Vec<&str>| words.join(" ") + "\n";
        let sentences = training.train.books().flatten();
        let lines: String = sentences.map(|words| line(words.iter().map(word).collect())).collect();
        let n_words = lines.split_ascii_whitespace().count();
        fs::write(&text, lines)?;
        let mut lines = String::new();
        for example in training.valid.examples() {
            let question = example.question;
            for candidate in question.candidates {
                let mut words: Vec<&str> = question.query.iter().map(word).collect();
                words[question.blank] = word(candidate);
                lines += &line(words);
            }
        }
        let n_filled_words = lines.split_ascii_whitespace().count();
        fs::write(&filled, lines)?;
        Ok(Self { text, n_words, filled, n_filled_words, ours, arpa, probing })
    }

    fn estimate(&self) -> Result<()> {
        let mut text = Text::default();
        for line in fs::read_to_string(&self.text)?.lines() {
            text.push(line.split_ascii_whitespace())?;
        }
        let options = Options::default();
        let table = estimate(&text.sort(options.order)?, &options)?.table;
        Ok(Model::new(&table, false)?.write(&self.ours)?)
    }

    fn estimate_on_disk(&self, folder: &Path) -> Result<()> {
        let limits = Limits { memory: 1 << 30, folder, watch: &|_| true };
        let mut text = LargeText::new(&limits)?;
        for line in fs::read_to_string(&self.text)?.lines() {
            text.push(line.split_ascii_whitespace())?;
        }
        Ok(text.estimate(&Options::default(), false)?.model.write(&self.ours)?)
    }

    fn lmplz(&self) -> Result<()> {
        let order = Options::default().order.to_string();
        let mut command = Command::new("lmplz");
        // Without a limit it takes most of the machine's memory.
        command.args(["-o", &order, "-S", "1G", "--discount_fallback"]);
        finish(command.stdin(File::open(&self.text)?).stdout(File::create(&self.arpa)?))
    }

    fn score(&self) -> Result<()> {
        let model = Model::open(&self.ours)?;
        let mut scorer = SentenceScorer::new(&model);
        for line in fs::read_to_string(&self.filled)?.lines() {
            black_box(scorer.log_probs(line.split_ascii_whitespace()));
        }
        Ok(())
    }

    fn query(&self) -> Result<()> {
        let mut command = Command::new("query");
        command.args(["-v", "summary"]).arg(&self.probing).stdout(Stdio::null());
        finish(command.stdin(File::open(&self.filled)?))
    }
}

fn finish(command: &mut Command) -> Result<()> {
    let status = command.stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}

/// Runs all in turn and prints the median of each.
fn compare(stage: &str, (amount, unit): (usize, &str), runs: &[Run<'_>]) -> Result<()> {
    let mut seconds = vec![Vec::new(); runs.len()];
    for _ in 0..TIMES {
        for ((_, run), seconds) in runs.iter().zip(&mut seconds) {
            let started = Instant::now();
            run()?;
            seconds.push(started.elapsed().as_secs_f64());
        }
    }
    for ((name, _), seconds) in runs.iter().zip(&mut seconds) {
        seconds.sort_by(f64::total_cmp);
        let median = seconds[TIMES / 2];
        println!("{stage:10}{name:16}{median:>8.3} s{:>14.0} {unit}/s", amount as f64 / median);
    }
    Ok(())
}
