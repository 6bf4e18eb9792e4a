//! Reading and writing question sets, against a plain line reader over the same bytes.
//!
//! `cargo bench -p questions` prints bytes per second of the CBT text for every form, so that the lines can
//! be divided by one another.

use std::fmt::Write;
use std::io::BufRead;
use std::path::Path;

use divan::Bencher;
use divan::counter::BytesCount;
use goldilocks_questions::{EmptyFields, OpenOptions, QuestionSet, cbt, compact, jsonl};

const QUESTIONS: usize = 4_000;
const CONTEXT: usize = 20;

fn main() {
    divan::main();
}

/// CBT text as a book gives it: the context moves by a sentence every other question.
fn text() -> String {
    let sentence = |number: usize| {
        let word = |index: usize| (number * 7 + index * index * 13) % (300 + index * 97);
        (0..22).map(|index| format!("word{}", word(index))).collect::<Vec<_>>().join(" ")
    };
    let mut text = String::new();
    for question in 0..QUESTIONS {
        let first = question / 2;
        for index in 0..CONTEXT {
            writeln!(text, "{} {}", index + 1, sentence(first + index)).expect("a string grows");
        }
        let query = sentence(first + CONTEXT);
        let (answer, rest) = query.split_once(' ').expect("a sentence has many words");
        let candidates: Vec<String> = (0..9).map(|index| format!("candidate{index}")).collect();
        let number = CONTEXT + 1;
        let candidates = candidates.join("|");
        writeln!(text, "{number} XXXXX {rest}\t{answer}\t\t{answer}|{candidates}\n")
            .expect("a string grows");
    }
    text
}

fn set(text: &str) -> QuestionSet {
    let options = OpenOptions::default();
    cbt::read(text.as_bytes(), Path::new("bench.txt"), &options).expect("the text is CBT").0
}

/// The peer: what a reader does that keeps every word of every line.
#[divan::bench]
fn plain_lines(bencher: Bencher) {
    let text = text();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let words = |line: String| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        text.as_bytes().lines().map(|line| words(line.expect("UTF-8"))).collect::<Vec<_>>()
    });
}

#[divan::bench]
fn read_cbt(bencher: Bencher) {
    let text = text();
    bencher.counter(BytesCount::of_str(&text)).bench(|| set(&text));
}

#[divan::bench]
fn read_jsonl(bencher: Bencher) {
    let text = text();
    let mut lines = Vec::new();
    jsonl::write(&set(&text), &EmptyFields::default(), &mut lines, Path::new("bench.jsonl"))
        .expect("a vector grows");
    let options = OpenOptions::default();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| jsonl::read(&lines[..], Path::new("bench.jsonl"), &options));
}

#[divan::bench]
fn read_compact(bencher: Bencher) {
    let text = text();
    let contents = compact::encode(&set(&text), &EmptyFields::default());
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| compact::decode(&contents[0], &contents[1], Some(&contents[2])));
}

#[divan::bench]
fn write_cbt(bencher: Bencher) {
    let text = text();
    let (set, all) = (set(&text), (0..QUESTIONS).collect::<Vec<_>>());
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut output = Vec::with_capacity(text.len());
        cbt::write(&set, &EmptyFields::default(), &all, &mut output, Path::new("bench.txt"))
            .map(|()| output)
    });
}

/// `.question` files of CNN QA in their folder: each has an article of its own.
#[divan::bench]
fn read_question_files(bencher: Bencher) {
    let folder = tempfile::tempdir().expect("a folder for the files");
    let mut bytes = 0;
    for number in 0..QUESTIONS {
        let word = |index: usize| match index % 10 {
            0 => format!("@entity{}", (number + index / 10 * index) % 30),
            9 => ".".to_owned(),
            _ => format!("word{}", (number * 7 + index * index * 13) % (50 + index * 97)),
        };
        let article = (0..760).map(word).collect::<Vec<_>>().join(" ");
        let map: Vec<String> = (0..30).map(|entity| format!("@entity{entity}:Name: of")).collect();
        let (answer, map) = (number % 30, map.join("\n"));
        let text = format!(
            "http://news.example/{number}\n\n{article}\n\n@placeholder wins\n\n@entity{answer}\n\n{map}"
        );
        bytes += text.len();
        let path = folder.path().join(format!("{number}.question"));
        std::fs::write(path, text).expect("the file is written");
    }
    let options = OpenOptions::default();
    bencher.counter(BytesCount::new(bytes)).bench(|| QuestionSet::open(folder.path(), &options));
}
