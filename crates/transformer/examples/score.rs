//! Scores questions with a checkpoint: `score FOLDER TASKS THREADS [SCORES]`.
//!
//! TASKS are lines of `goldilocks convert --to lm-eval`. Prints one list of scores per question, and at the end the
//! seconds that all of them took, without loading. SCORES is a file for the scores of all tokens after the first
//! thousand characters of the first question, as `f32`. `tests/compare` compares all this with `transformers`.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "an example is a program")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use goldilocks_transformer::{Checkpoint, Reader};
use serde::Deserialize;

#[derive(Deserialize)]
struct Task {
    prefix: String,
    endings: Vec<String>,
}

fn scores(reader: &mut Reader, task: &Task) -> Result<Vec<f64>, goldilocks_transformer::Error> {
    let text = |ending: &String| reader.checkpoint().tokens(&(task.prefix.clone() + ending));
    let texts = task.endings.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    let least = texts.iter().map(Vec::len).min().unwrap_or(1) - 1;
    let is_shared = |place: &usize| texts.iter().all(|text| text[*place] == texts[0][*place]);
    let n_shared = (0..least).take_while(is_shared).count();
    let rests: Vec<&[u32]> = texts.iter().map(|text| &text[n_shared..]).collect();
    reader.forget();
    reader.continuations(&texts[0][..n_shared], &rests)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, tasks, n_threads, rest @ ..] = &arguments[..] else {
        return Err("expected FOLDER TASKS THREADS [SCORES]".into());
    };
    let tasks = fs::read_to_string(tasks)?;
    let tasks: Vec<Task> = tasks.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let checkpoint = Arc::new(Checkpoint::open(Path::new(folder))?);
    if let (Some(path), Some(task)) = (rest.first(), tasks.first()) {
        let text: String = task.prefix.chars().take(1000).collect();
        let scores = checkpoint.reader().scores(&checkpoint.tokens(&text)?)?;
        let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
        fs::write(path, bytes)?;
    }
    let started = Instant::now();
    let per_thread = tasks.len().div_ceil(n_threads.parse::<usize>()?.max(1)).max(1);
    let lists = thread::scope(|scope| {
        let parts = tasks.chunks(per_thread).map(|part| {
            let mut reader = checkpoint.reader();
            scope.spawn(move || {
                part.iter().map(|task| scores(&mut reader, task)).collect::<Result<Vec<_>, _>>()
            })
        });
        let parts: Vec<_> = parts.collect();
        parts.into_iter().map(|part| part.join().expect("it does not panic")).collect::<Vec<_>>()
    });
    let seconds = started.elapsed().as_secs_f64();
    for list in lists {
        list?.iter().for_each(|scores| println!("{}", serde_json::json!(scores)));
    }
    println!("{seconds}");
    Ok(())
}
