//! A set and further books → a reader of our own: a Transformer that learnt from running text, then from questions.

use std::fs;
use std::path::{Path, PathBuf};

use ::report::thousands;
use base::files::write_folder;
use models::{DeviceChoice, Setting, Settings};
use questions::QuestionSet;
use reader::{Budget, Compute, Config, Prepared, Sources};
use serde::Serialize;

use crate::{Error, Event, Program, Reporter, Result};

/// The name of the model on the command line.
pub const READER: &str = "reader";

/// What can be set about a reader; the defaults are those of the small one that ships with the program.
pub const READER_SETTINGS: &[Setting] = &[
    Setting::whole("pieces", "8000", 300..=65_000)
        .doc("Pieces of words that the tokenizer learns."),
    Setting::whole("layers", "8", 1..=96).doc("Blocks of the network."),
    Setting::whole("width", "256", 8..=2048).doc("Numbers of a hidden state."),
    Setting::whole("heads", "4", 1..=128).doc("Heads of attention."),
    Setting::whole("head_dim", "64", 2..=128).doc("Numbers of a query, a key or a value; even."),
    Setting::whole("feed_forward", "704", 1..=65_536).doc("Hidden numbers of a block."),
    Setting::whole("length", "1024", 16..=4096)
        .doc("Pieces in a row of running text, and of the longest text that it reads."),
    Setting::whole("rows", "64", 1..=4096).doc("Rows of a step."),
    Setting::whole("steps", "auto", 1..=100_000_000)
        .or("auto")
        .doc("Steps of pretraining; `auto`: as many as fit into `minutes`."),
    Setting::real("minutes", "7", 0.0..=1e6).doc(
        "Minutes of pretraining, where there is no number of steps; the speed is measured once.",
    ),
    Setting::real("learning_rate", "0.002", 0.0..=1.0).doc("Of Muon, which follows the matrices."),
    Setting::real("adam_rate", "0.75", 0.0..=100.0)
        .doc("The rate of AdamW, which follows embedding and norms, in terms of Muon's."),
    Setting::real("decay", "0.1", 0.0..=10.0).doc("How fast parameters decay, times their rate."),
    Setting::whole("warm_up", "150", 0..=1_000_000).doc("Steps in which the rate grows from 0."),
    Setting::real("constant", "0.4", 0.0..=0.999)
        .doc("The share of steps after which the rate falls, in a straight line to a fiftieth."),
    Setting::real("dropout", "0.05", 0.0..=0.9).doc("The probability that a number is dropped."),
    Setting::real("own_from", "0.6", 0.0..=1.0)
        .doc("The share of steps after which some rows are from the set's own books alone."),
    Setting::real("own", "0.094", 0.0..=1.0).doc("The share of such rows."),
    Setting::whole("tune_steps", "300", 0..=1_000_000)
        .doc("Steps of fine-tuning on the questions; 0: none."),
    Setting::whole("tune_rows", "16", 1..=4096).doc("Rows of such a step."),
    Setting::whole("tune_length", "3072", 64..=4096).doc("Pieces in such a row."),
    Setting::real("tune_rate", "0.0002", 0.0..=1.0).doc("The rate of Muon in fine-tuning."),
    Setting::real("tune_scale", "1", 0.0..=100.0)
        .doc("What sums of ln p are multiplied by before the softmax over candidates."),
    Setting::real("tune_verbs", "0.6", 0.0..=1.0).doc("The share of verb questions to learn from."),
    Setting::real("tune_prepositions", "0.35", 0.0..=1.0)
        .doc("The share of preposition questions to learn from."),
    Setting::whole("valid", "2000", 0..=1_000_000)
        .doc("Validation questions of each class that are answered at the end; 0: none."),
];

/// How [`train_reader()`] trains.
#[derive(Clone, Debug)]
pub struct ReaderOptions {
    /// The settings, checked.
    pub settings: Settings,
    /// Seed of every random choice.
    pub seed: u64,
    /// The device to learn on.
    pub device: DeviceChoice,
    /// Further books: files, folders, and lists of files (`.list`).
    pub text: Vec<PathBuf>,
    /// Leave out further books that share text with held-out ones, instead of an error.
    pub skip_leaks: bool,
    /// Minutes after which a run stops, to be resumed; 0: when everything is prepared.
    pub stop_after: Option<f64>,
    /// Minutes from one checkpoint to the next.
    pub save_every: f64,
    /// Replace a folder that is there.
    pub overwrite: bool,
    /// The program that the note of the folder names.
    pub program: Program,
}

impl ReaderOptions {
    /// Settings as `KEY=VALUE`; seed 1, on the processor, without further books.
    ///
    /// # Errors
    /// A setting that does not exist, or a value out of range.
    pub fn new<'a>(settings: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let sources = [reader::SOURCES, neural::SOURCES, numerics::SOURCES].concat();
        let mut code = base::hash::sha256(sources.as_bytes());
        code.truncate(16);
        Ok(Self {
            settings: Settings::of(READER, code, READER_SETTINGS, settings)?,
            seed: 1,
            device: DeviceChoice::Cpu,
            text: Vec::new(),
            skip_leaks: false,
            stop_after: None,
            save_every: 5.0,
            overwrite: false,
            program: Program::default(),
        })
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderRun {
    /// The reader is in its folder.
    Done,
    /// The time is up: the same call goes on.
    Stopped,
}

/// The note in a reader's folder: what it was made of.
#[derive(Serialize)]
struct Note {
    version: String,
    commit: Option<String>,
    dirty: bool,
    code: String,
    seed: u64,
    device: String,
    steps: u64,
    set: String,
    books: [usize; 3],
    pieces_of_text: [usize; 3],
    left_out: Vec<String>,
    valid: Option<reader::Accuracy>,
    settings: toml::Table,
}

/// Trains a reader and writes its folder: Hugging Face's layout, a note, and the curve of the training. A training that
/// was stopped resumes from what it left next to the folder; for that the set is not needed.
///
/// # Errors
/// If the folder is there, a book can't be read or shares text with a held-out one, or the device fails.
pub fn train_reader(
    folder: &Path,
    set: Option<&QuestionSet>,
    options: &ReaderOptions,
    reporter: &dyn Reporter,
) -> Result<ReaderRun> {
    if folder.exists() && !options.overwrite {
        return Err(Error::Exists { path: folder.to_owned() });
    }
    let config: Config = options.settings.config();
    let working = crate::train::checkpoints_of(folder).ok_or_else(|| {
        Error::io(folder)(std::io::Error::other("an output needs a name of its own"))
    })?;
    let report = ReaderReporter(reporter);
    let prepared = match set {
        None => Prepared::open(&working)?,
        Some(set) => {
            let (further, leaves_out_leaks) = (books(&options.text)?, options.skip_leaks);
            let sources = Sources { set, further, leaves_out_leaks };
            reader::prepare(&working, &sources, &config, options.seed, &report)?
        }
    };
    let n_pieces = prepared.index.parts.iter().sum();
    report.note(format!("{} pieces of text, {}", thousands(n_pieces), working.display()));
    if options.stop_after == Some(0.0) {
        return Ok(ReaderRun::Stopped);
    }
    let compute = open(options.device, &report)?;
    let budget = Budget { stop_after: options.stop_after, save_every: options.save_every };
    let place = reader::Place { folder: &working, compute: &compute, budget, reporter: &report };
    let trained = match reader::train(&prepared, &config, options.seed, place)? {
        reader::Outcome::Done(trained) => trained,
        reader::Outcome::Stopped { step, steps } => {
            let of = steps.map(|steps| format!(" of {}", thousands(steps as usize)));
            let of = of.unwrap_or_default();
            report.note(format!("stopped at step {}{of}", thousands(step as usize)));
            return Ok(ReaderRun::Stopped);
        }
    };
    write(folder, &config, options, &prepared, (&compute, &trained))?;
    fs::remove_dir_all(&working).map_err(Error::io(&working))?;
    Ok(ReaderRun::Done)
}

/// Writes the folder of a trained reader.
fn write(
    folder: &Path,
    config: &Config,
    options: &ReaderOptions,
    prepared: &Prepared,
    (compute, trained): (&Compute, &reader::Trained),
) -> Result<()> {
    let index = &prepared.index;
    let note = Note {
        version: options.program.version.clone(),
        commit: options.program.commit.clone(),
        dirty: options.program.dirty,
        code: options.settings.code().to_owned(),
        seed: options.seed,
        device: compute.gpu().unwrap_or("CPU").to_owned(),
        steps: trained.steps,
        set: index.set.clone(),
        books: index.books,
        pieces_of_text: index.parts,
        left_out: index.left_out.clone(),
        valid: trained.valid.clone(),
        settings: options.settings.values().clone(),
    };
    let note = toml::to_string(&note).expect("every field has a form in TOML");
    let curve: String = trained
        .curve
        .iter()
        .map(|point| serde_json::to_string(point).expect("numbers have a form in JSON") + "\n")
        .collect();
    let failed = |source| Error::Io { path: folder.to_owned(), source };
    write_folder(folder, failed, |inside| {
        reader::export(inside, &trained.weights, &prepared.pieces, config)?;
        crate::write_file(&inside.join("reader.toml"), &note)?;
        if !prepared.sketches.is_empty() {
            let path = inside.join(reader::SKETCHES);
            fs::write(&path, &prepared.sketches).map_err(Error::io(&path))?;
        }
        crate::write_file(&inside.join("curve.jsonl"), &curve)
    })
}

fn open(device: DeviceChoice, report: &ReaderReporter<'_>) -> Result<Compute> {
    let compute = match device {
        DeviceChoice::Cpu => Compute::cpu(),
        DeviceChoice::Cuda => Compute::cuda()?,
        DeviceChoice::Auto => Compute::cuda().unwrap_or_else(|error| {
            report.note(error.to_string());
            Compute::cpu()
        }),
    };
    report.note(format!("on {}", compute.gpu().unwrap_or("the processor")));
    Ok(compute)
}

/// The files of further books: those named, those of folders, and those that lists name, one a line, relative to the
/// list.
fn books(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(corpus::books_in(path)?);
        } else if path.extension().is_some_and(|ending| ending == "list") {
            let text = fs::read_to_string(path).map_err(Error::io(path))?;
            let lines = text.lines().map(str::trim);
            let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
            files.extend(lines.map(|line| path.parent().unwrap_or(Path::new("")).join(line)));
        } else {
            files.push(path.clone());
        }
    }
    match files.iter().find(|path| !path.is_file()) {
        Some(path) => Err(Error::io(path)(std::io::ErrorKind::NotFound.into())),
        None => Ok(files),
    }
}

/// Passes on what a reader reports.
struct ReaderReporter<'a>(&'a dyn Reporter);

impl ReaderReporter<'_> {
    fn note(&self, text: String) {
        let event = models::Event::Note(text);
        self.0.report(Event::Training { model: READER.to_owned(), event });
    }
}

impl reader::Reporter for ReaderReporter<'_> {
    fn report(&self, event: reader::Event) {
        match event {
            reader::Event::Stage { what } | reader::Event::Note(what) => self.note(what),
            reader::Event::Progress(progress) => {
                let reader::Progress { phase, step, steps, loss, per_second, left } = progress;
                let of = steps.map(|steps| format!("/{}", thousands(steps as usize)));
                let mut text = format!("{phase} {}", thousands(step as usize));
                text += &of.unwrap_or_default();
                text += &format!("  loss {loss:.3}");
                if let Some(rate) = per_second {
                    text += &format!("  {} pieces/s", thousands(rate as usize));
                }
                if let Some(left) = left {
                    text += &format!("  {:.1} min left", left / 60.0);
                }
                self.note(text);
            }
            _ => {}
        }
    }

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    fn seconds(&self) -> Option<f64> {
        self.0.seconds()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use corpus::Tagger;
    use corpus::tales::TALES;
    use questions::{Builder, Counts, Rules, Split};

    use super::*;
    use crate::train::checkpoints_of;
    use crate::{AnswerOptions, answer, load_model};

    const SETTINGS: [&str; 14] = [
        "pieces=500",
        "layers=2",
        "width=32",
        "heads=2",
        "head_dim=16",
        "feed_forward=48",
        "length=128",
        "rows=3",
        "steps=24",
        "warm_up=5",
        "learning_rate=0.02",
        "tune_length=1024",
        "tune_rows=1",
        "valid=15",
    ];

    fn options<'a>(more: impl IntoIterator<Item = &'a str>) -> ReaderOptions {
        ReaderOptions::new(SETTINGS.into_iter().chain(more)).unwrap()
    }

    /// Questions of tales: the first one is held out, the others are learnt from.
    fn set(n: usize) -> QuestionSet {
        let tagger = Tagger::shipped();
        let known = |word: &str| tagger.knows(word);
        let builder = Builder::new(Rules::default(), 1, &known).unwrap();
        let books = TALES[..n].iter().enumerate().map(|(number, tale)| {
            let (name, sentences) = (tale.name.to_owned(), corpus::tokenise(tale.text));
            let book = corpus::Book { name, sentences: tagger.tag(sentences) };
            let split = if number == 0 { Split::Valid } else { Split::Train };
            builder.questions_of(Path::new(tale.name), &book, split).unwrap()
        });
        builder.finish(books.collect(), Counts::All).unwrap().set
    }

    fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|it| (it.file_name().to_string_lossy().into_owned(), fs::read(it.path()).unwrap()))
            .collect();
        files.sort();
        files
    }

    /// Is cancelled after some steps, which it counts by asking.
    struct Impatient(AtomicUsize);

    impl Reporter for Impatient {
        fn report(&self, _: Event) {}

        fn is_cancelled(&self) -> bool {
            self.0.fetch_sub(1, Ordering::Relaxed) == 0
        }
    }

    #[test]
    fn a_reader_learns_and_resumes_to_the_same_bytes() {
        let (set, place) = (set(4), tempfile::tempdir().unwrap());
        let options = options(["tune_steps=4", "tune_rate=0.01"]);
        let [whole, parts] = ["whole", "parts"].map(|name| place.path().join(name));
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let done = one.install(|| train_reader(&whole, Some(&set), &options, &|_| ()));
        assert_eq!(done.unwrap(), ReaderRun::Done);
        let mut n_stops = 0;
        // In the middle of pretraining, and of fine-tuning; what was prepared is enough to resume.
        for (set, steps) in [(Some(&set), 12), (None, 11)] {
            let stops = Impatient(AtomicUsize::new(steps));
            let run = train_reader(&parts, set, &options, &stops).unwrap();
            n_stops += usize::from(run == ReaderRun::Stopped);
            assert!(!parts.exists());
        }
        assert_eq!(n_stops, 2);
        assert_eq!(train_reader(&parts, None, &options, &|_| ()).unwrap(), ReaderRun::Done);
        assert_eq!(bytes(&whole), bytes(&parts));
        let curve = fs::read_to_string(whole.join("curve.jsonl")).unwrap();
        let losses: Vec<f64> = curve
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|point| point["valid"].as_f64().unwrap())
            .collect();
        assert!(losses[losses.len() - 1] < losses[0] - 0.5, "{losses:?}");
        let note = fs::read_to_string(whole.join("reader.toml")).unwrap();
        let note: toml::Table = note.parse().unwrap();
        let counts = |place: usize| -> i64 {
            let valid = note["valid"].as_table().unwrap().values();
            valid.map(|counts| counts[place].as_integer().unwrap()).sum()
        };
        // By chance it would be a tenth.
        assert!(counts(0) * 100 > 15 * counts(1), "{} of {}", counts(0), counts(1));
        let (model, _) = load_model(&whole, DeviceChoice::Cpu, &|_| ()).unwrap();
        let few = AnswerOptions { sample: Some(2), ..AnswerOptions::default() };
        let answered = AnswerOptions { splits: vec![Split::Valid], ..few };
        assert_eq!(answer(&model, &set, &answered, &|_| ()).unwrap().len(), 8);
        check_known_books(&whole, &set, &answered);
    }

    /// A reader knows what it has learnt from, and so does a copy of it.
    fn check_known_books(whole: &Path, set: &QuestionSet, of_valid: &AnswerOptions) {
        let copy = whole.with_file_name("copy");
        crate::export(whole, &copy, &Default::default(), &|_| ()).unwrap();
        let of_train = AnswerOptions { splits: vec![Split::Train], ..of_valid.clone() };
        for folder in [whole, &copy] {
            let (model, _) = load_model(folder, DeviceChoice::Cpu, &|_| ()).unwrap();
            let warnings = |options: &AnswerOptions| {
                let heard = std::sync::Mutex::new(Vec::new());
                let listen = |event| {
                    if let Event::Warning(warning @ crate::Warning::KnownBooks { .. }) = event {
                        heard.lock().unwrap().push(warning.to_string());
                    }
                };
                let few = AnswerOptions { sample: Some(1), ..options.clone() };
                answer(&model, set, &few, &listen).unwrap();
                heard.into_inner().unwrap()
            };
            assert!(warnings(of_valid).is_empty());
            let names: Vec<String> =
                TALES[1..4].iter().map(|tale| format!("`{}`", tale.name)).collect();
            let expected = format!(
                "the model was trained on text of {}: its answers there say little about other books",
                names.join(", ")
            );
            assert_eq!(warnings(&of_train), [expected]);
        }
        fs::write(whole.join(reader::SKETCHES), [0; 100]).unwrap();
        let Err(error) = load_model(whole, DeviceChoice::Cpu, &|_| ()) else { panic!() };
        let expected = "expected 64 bytes for each book, found 100 in all";
        assert!(error.to_string().contains(expected), "{error}");
    }

    #[test]
    fn a_further_book_that_shares_text_with_a_held_out_one_is_refused_or_left_out() {
        let (set, place) = (set(4), tempfile::tempdir().unwrap());
        let [leak, other, list] =
            ["leak.txt", "other.txt", "books.list"].map(|name| place.path().join(name));
        fs::write(&leak, TALES[0].text).unwrap();
        fs::write(&other, TALES[9].text).unwrap();
        fs::write(&list, "# two books\nother.txt\n\nleak.txt\n").unwrap();
        let output = place.path().join("reader");
        let prepare = ReaderOptions { stop_after: Some(0.0), ..options([]) };
        let refused = ReaderOptions { text: vec![list], ..prepare };
        let error = train_reader(&output, Some(&set), &refused, &|_| ()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "1 of the further books share text with the set's validation or test books: leak"
        );
        assert_eq!(error.hint(), Some(base::Remedy::LeaveOutLeaks));
        let skipped = ReaderOptions { skip_leaks: true, ..refused };
        let run = train_reader(&output, Some(&set), &skipped, &|_| ()).unwrap();
        assert_eq!(run, ReaderRun::Stopped);
        let prepared = Prepared::open(&checkpoints_of(&output).unwrap()).unwrap();
        assert_eq!(
            (prepared.index.books, prepared.index.left_out),
            ([1, 3, 1], vec!["leak".into()])
        );
    }

    #[test]
    fn what_can_not_be_resumed_or_read_is_named() {
        let (set, place) = (set(4), tempfile::tempdir().unwrap());
        let output = place.path().join("reader");
        let train = |set: Option<&QuestionSet>, options: &ReaderOptions| {
            train_reader(&output, set, options, &|_| ()).unwrap_err().to_string()
        };
        let missing = ReaderOptions { text: vec![place.path().join("no.txt")], ..options([]) };
        assert!(train(Some(&set), &missing).contains("no.txt: "));
        let list = place.path().join("books.list");
        fs::write(&list, "# the second is not there\nbooks.list\n\nfar/no.txt\n").unwrap();
        let missing = ReaderOptions { text: vec![list], ..options([]) };
        assert!(train(Some(&set), &missing).contains("far/no.txt: "));
        assert!(!checkpoints_of(&output).unwrap().exists());
        assert!(train(None, &options([])).contains("no training to resume"));
        let prepare = ReaderOptions { stop_after: Some(0.0), ..options([]) };
        train_reader(&output, Some(&set), &prepare, &|_| ()).unwrap();
        let other = options(["pieces=600"]);
        let expected = "another number of `pieces`: expected 600, found 500";
        assert!(
            train(None, &other).ends_with(expected) && train(Some(&set), &other).contains(expected)
        );
        assert!(train(None, &options(["steps=auto"])).contains("needs a clock"));
        let text = checkpoints_of(&output).unwrap().join("text.u16");
        fs::write(&text, "cut off").unwrap();
        assert!(train(None, &options([])).contains("text.u16: damaged: expected the hash"));
        fs::create_dir(&output).unwrap();
        assert!(train(None, &options([])).ends_with("reader: already exists"));
        let unknown = ReaderOptions::new(["layer=2"]).unwrap_err();
        assert_eq!(unknown.to_string(), "unknown setting `layer` of `reader`");
    }
}
