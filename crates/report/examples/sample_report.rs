//! A report of simulated answers: shows what the page looks like, and how a [`Report`] is put together.
//!
//! ```console
//! $ cargo run -p goldilocks-report --example sample_report -- DIR [rebuilt|tales|cnn|full|goldilocks]
//! ```
//!
//! The stories are put together from stock phrases; the models answer right as often as the paper's
//! did, give or take a little.

use std::path::PathBuf;

use evaluation::{Prediction, Predictions, check_against};
use goldilocks_report::paper::TableKind;
use goldilocks_report::{Provenance, Report, Row, Run, Source};
use questions::{BLANK, BookText, NewQuestion, QuestionSet, Split, WordClass};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const NAMES: [&str; 12] = [
    "Mira", "Tobias", "Hanna", "Wendel", "Ottilie", "Brock", "Linnet", "Jasper", "Sorrel", "Pip",
    "Agnes", "Corin",
];
const NOUNS: [&str; 12] = [
    "lantern", "kettle", "bridge", "apple", "letter", "stove", "ribbon", "ladder", "basket",
    "window", "drum", "boat",
];
const VERBS: [&str; 12] = [
    "carried", "found", "hid", "dropped", "mended", "painted", "lost", "borrowed", "wanted",
    "took", "left", "showed",
];
const PREPOSITIONS: [&str; 11] =
    ["in", "under", "behind", "near", "by", "above", "with", "from", "beside", "into", "over"];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[expect(clippy::disallowed_methods, reason = "an example is a program")]
fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "sample-report".to_owned()));
    let variant = arguments.next().unwrap_or_else(|| "rebuilt".to_owned());
    let (n, source, tables) = match variant.as_str() {
        "tales" => (40, Source::Tales, vec![TableKind::Table2]),
        "cnn" => (900, Source::Rebuilt, vec![TableKind::Cnn, TableKind::Ablation]),
        "goldilocks" => (500, Source::Rebuilt, vec![TableKind::Goldilocks]),
        "full" => (2_500, Source::Rebuilt, vec![TableKind::Table2, TableKind::Validation]),
        _ => (600, Source::Rebuilt, vec![TableKind::Table2, TableKind::Validation]),
    };
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let set = stories(&mut rng, n, tables[0] != TableKind::Cnn);
    let report = Report {
        title: "Simulated results".to_owned(),
        set_name: "simulated stories".to_owned(),
        beside_paper: false,
        rows: match tables[0] {
            TableKind::Goldilocks => curve(&set, &mut rng)?,
            kind => rows(&set, kind, &mut rng)?,
        },
        tables,
        statistics: true,
        set: &set,
        provenance: Provenance {
            source,
            data_hash: "0123456789abcdef".to_owned(),
            version: "0.1.0 (0000000)".to_owned(),
            date: "2026-01-01".to_owned(),
            commands: vec![format!(
                "cargo run -p goldilocks-report --example sample_report -- {} {variant}",
                folder.display()
            )],
        },
    };
    std::io::Write::write_all(
        &mut std::io::stdout(),
        goldilocks_report::text(&report, 100)?.as_bytes(),
    )?;
    goldilocks_report::write(&report, &folder, true)?;
    Ok(())
}

/// Ten books of stock phrases; n questions a class and split.
fn stories(rng: &mut impl Rng, n: usize, has_classes: bool) -> QuestionSet {
    let mut set = QuestionSet::default();
    let splits = [(Split::Train, 3), (Split::Valid, 2), (Split::Test, 5)];
    for (split, n_books) in splits {
        for number in 0..n_books {
            let first = set.n_sentences();
            for _ in 0..n / 2 + 25 {
                let words = sentence(rng).map(|word| set.intern(word));
                set.push_sentence(words);
            }
            let name =
                format!("A_Writer___The_{}_of_{}.txt", title(NOUNS[number]), NAMES[number + 3]);
            let sentences = first..set.n_sentences();
            set.push_book(BookText { name, split: Some(split), sentences });
        }
        if split == Split::Train {
            continue;
        }
        for class in WordClass::ALL {
            let class = has_classes.then_some(class);
            for _ in 0..n {
                ask(&mut set, rng, split, class);
            }
        }
    }
    set
}

fn title(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

fn sentence(rng: &mut impl Rng) -> [&'static str; 11] {
    let [name, other] = [0; 2].map(|_| NAMES[rng.random_range(..NAMES.len())]);
    let [noun, place] = [0; 2].map(|_| NOUNS[rng.random_range(..NOUNS.len())]);
    let verb = VERBS[rng.random_range(..VERBS.len())];
    let preposition = PREPOSITIONS[rng.random_range(..PREPOSITIONS.len())];
    [name, verb, "the", noun, preposition, "the", place, ",", "said", other, "."]
}

fn ask(set: &mut QuestionSet, rng: &mut impl Rng, split: Split, class: Option<WordClass>) {
    let books: Vec<usize> =
        (0..set.books().len()).filter(|&book| set.books()[book].split == Some(split)).collect();
    let book = books[rng.random_range(..books.len())];
    let sentences = set.books()[book].sentences.clone();
    let query_at = rng.random_range(sentences.start + 20..sentences.end);
    let (place, words): (usize, &[&str]) = match class {
        None | Some(WordClass::NamedEntity) => (0, &NAMES),
        Some(WordClass::CommonNoun) => (3, &NOUNS),
        Some(WordClass::Verb) => (1, &VERBS),
        Some(WordClass::Preposition) => (4, &PREPOSITIONS),
    };
    let mut query = set.sentence(query_at).to_vec();
    let answer = std::mem::replace(&mut query[place], BLANK);
    let mut candidates = vec![answer];
    for word in words {
        let candidate = set.intern(word);
        if candidate != answer && candidates.len() < 10 {
            candidates.push(candidate);
        }
    }
    let place = rng.random_range(..candidates.len());
    candidates.swap(0, place);
    set.push(NewQuestion {
        context: query_at - 20..query_at,
        query: &query,
        candidates: &candidates,
        answer: Some(place),
        class,
        split: Some(split),
        book: Some(book),
    })
    .expect("a whole question");
}

/// A simulated run for each of the paper's rows but one, and one beyond the paper.
fn rows<'a>(set: &'a QuestionSet, kind: TableKind, rng: &mut impl Rng) -> Result<Vec<Row<'a>>> {
    let published = kind.published().rows.iter();
    let mut rows = Vec::new();
    for row in published.filter(|row| row.footnote.is_none() && row.id != "contextual-lstm") {
        let luck: f64 = rng.random_range(-0.03..0.03);
        let figures: Vec<f64> = row.figures.iter().map(|figure| figure + luck).collect();
        rows.push(Row {
            name: row.model().to_owned(),
            paper_row: Some(row.id.to_owned()),
            label: row.label().to_owned(),
            settings: Vec::new(),
            differs: None,
            runs: vec![simulated(set, &figures, 1, rng)?],
            explained: Vec::new(),
            training: Vec::new(),
        });
    }
    let mut beyond = rows.last().expect("the paper has rows").clone();
    beyond.name = "stack".to_owned();
    beyond.paper_row = None;
    beyond.label = "LSTMs + MemNNs, one weight each".to_owned();
    rows.push(beyond);
    Ok(rows)
}

/// Three simulated seeds for each size of a window, the best in the middle.
fn curve<'a>(set: &'a QuestionSet, rng: &mut impl Rng) -> Result<Vec<Row<'a>>> {
    let mut rows = Vec::new();
    let sizes = [1, 3, 5, 7, 9, 11, 15, 21, 31];
    let sized = sizes.map(|size| ("windows", size));
    for (encoding, cost) in [("positions", 0.0), ("bag", 0.06)] {
        let sentences = (encoding == "bag").then_some(("sentences", 5));
        for (unit, size) in sized.into_iter().chain(sentences) {
            let distance = f64::abs(f64::ln(size as f64 / 6.0));
            let loss = if unit == "sentences" { 0.25 } else { 0.08 * distance * distance + cost };
            let figures = [0.70, 0.64, 0.69, 0.70].map(|figure| figure - loss);
            let settings = [("encoding", encoding), ("unit", unit), ("window", &size.to_string())];
            let place = if unit == "sentences" { unit.to_owned() } else { size.to_string() };
            let seeds = 1..=3;
            rows.push(Row {
                name: "memnn-window-selfsup".to_owned(),
                paper_row: Some(format!("goldilocks/{encoding}/{place}")),
                label: String::new(),
                settings: settings.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec(),
                differs: None,
                runs: seeds.map(|s| simulated(set, &figures, s, rng)).collect::<Result<_>>()?,
                explained: Vec::new(),
                training: Vec::new(),
            });
        }
    }
    Ok(rows)
}

/// A run that is right as often as the figures of the classes say.
fn simulated<'a>(
    set: &'a QuestionSet,
    figures: &[f64],
    seed: u64,
    rng: &mut impl Rng,
) -> Result<Run<'a>> {
    let mut predictions = Vec::new();
    for split in [Split::Valid, Split::Test] {
        for (index, id) in set.ids(Some(split)) {
            let example = set.example(index);
            let accuracy = figures[example.class.map_or(0, |class| class as usize)];
            let mut scores: Vec<f64> =
                example.question.candidates.iter().map(|_| rng.random_range(0.0..1.0)).collect();
            let is_right = rng.random_bool(accuracy.clamp(0.0, 1.0));
            scores[example.answer.expect("all answers are known")] =
                if is_right { 2.0 } else { -1.0 };
            predictions.push(Prediction::of(&example, id, scores, seed));
        }
    }
    let predictions = Predictions::new("simulated.jsonl", predictions)?;
    let predictions = check_against(predictions, set)?;
    Ok(Run { seed, version: "0.1.0 (0000000)".to_owned(), predictions })
}
