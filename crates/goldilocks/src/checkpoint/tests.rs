//! Tiny networks with random weights answer questions.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use models::{DeviceChoice, Model};
use numerics::device::Cpu;
use numerics::testing::{cpu_lost_after, cpu_with_memory};
use questions::{Control, FilledQuestion, TextForm};
use reader::Compute;
use transformer::{Checkpoint, NumberFormat};

use super::device::DeviceModel;
use super::model::CheckpointModel;

use crate::answer::questions_of;
use crate::{
    AnswerOptions, Event, ExportOptions, Warning, answer, export, load_model, questions_from_text,
};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../transformer/tests/golden").join(name)
}

fn few(n: usize) -> AnswerOptions {
    AnswerOptions { sample: Some(n), ..AnswerOptions::default() }
}

#[test]
fn scores_differ_as_the_log_probs_of_whole_texts_do() {
    let set = questions_from_text("tale", corpus::tales::TALES[0].text, 1).unwrap();
    let (model, manifest) = load_model(&folder("llama"), DeviceChoice::Auto, &|_| ()).unwrap();
    assert_eq!(manifest.provenance.model, "llama");
    assert_eq!(manifest.provenance.settings.len(), 3);
    let checkpoint = Arc::new(Checkpoint::open(&folder("llama")).unwrap());
    let mut reader = checkpoint.reader();
    // Short enough for the tiny network.
    let controls = vec![Control::LastSentences(3)];
    let options = AnswerOptions { controls, ..few(1) };
    let predictions = answer(&model, &set, &options, &|_| ()).unwrap();
    assert_eq!(predictions.len(), 4);
    for ((index, id), row) in questions_of(&set, &options).iter().zip(&predictions) {
        assert_eq!(*id, row.id);
        let mut buffers = Vec::new();
        let question = set.example(*index).question;
        let question = Control::apply_all(&options.controls, question, &mut buffers);
        let texts = FilledQuestion::new(&question, TextForm::Plain, 0).texts;
        let whole: Vec<f64> = texts
            .iter()
            .map(|text| checkpoint.tokens(text).unwrap())
            .map(|tokens| reader.continuations(&tokens[..1], &[&tokens[1..]]).unwrap()[0])
            .collect();
        for (score, log_prob) in row.scores.iter().zip(&whole) {
            let (score, log_prob) = (score - row.scores[0], log_prob - whole[0]);
            assert!((score - log_prob).abs() < 1e-2, "{score} {log_prob}");
        }
    }
}

#[test]
fn threads_and_neighbours_do_not_change_scores_and_cut_contexts_are_counted() {
    let set = questions_from_text("tale", corpus::tales::TALES[0].text, 1).unwrap();
    let (model, _) = load_model(&folder("qwen3"), DeviceChoice::Cpu, &|_| ()).unwrap();
    let warnings = Mutex::new(Vec::new());
    let listen = |event| {
        if let Event::Warning(warning) = event {
            warnings.lock().unwrap().push(warning);
        }
    };
    let answers = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| answer(&model, &set, &few(6), &listen).unwrap())
    };
    let (one, four) = (answers(1), answers(4));
    assert_eq!(one, four);
    assert!(one.iter().all(|row| row.scores.windows(2).any(|pair| pair[0] != pair[1])));
    // Twenty sentences in pieces that are hardly more than letters do not fit into 1,024 positions.
    let warnings = warnings.into_inner().unwrap();
    let [Warning::ContextsCut { contexts, sentences }, second] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert!((1..=one.len()).contains(contexts) && sentences > contexts);
    assert_eq!(second.to_string(), warnings[0].to_string());
}

#[test]
fn what_a_file_of_it_does_not_allow_is_refused() {
    let refused = |path: &Path, device| load_model(path, device, &|_| ()).err().unwrap();
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("config.json"), "{\"model_type\":\"gpt2\"}").unwrap();
    let error = refused(other.path(), DeviceChoice::Auto);
    assert!(error.to_string().contains("the architecture is `gpt2`"), "{error}");
}

/// On the processor's device: then only the device differs on a GPU.
fn on_device(
    path: &Path,
    device: Cpu<f32>,
    falls_back: bool,
) -> models::Result<(Arc<dyn Model>, Arc<dyn Model>)> {
    let checkpoint = Arc::new(Checkpoint::open(path).unwrap());
    let cpu =
        Arc::new(CheckpointModel { checkpoint, cut: Mutex::default(), books: Default::default() });
    let model = DeviceModel::new(cpu.clone(), &Compute::Cpu(device), falls_back)?;
    Ok((cpu, Arc::new(model)))
}

/// Grouped heads of keys, stretched positions, outputs of their own, and another ε: all that devices do not know.
#[test]
fn a_device_gives_the_scores_of_the_processor() {
    let set = questions_from_text("tale", corpus::tales::TALES[0].text, 1).unwrap();
    let place = tempfile::tempdir().unwrap();
    for (name, epsilon) in
        [("llama", "1e-06"), ("qwen3", "1e-06"), ("llama", "0.01"), ("qwen3", "0.01")]
    {
        let path = place.path().join(format!("{name}-{epsilon}"));
        std::fs::create_dir(&path).unwrap();
        for file in std::fs::read_dir(folder(name)).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), path.join(file.file_name())).unwrap();
        }
        let config = std::fs::read_to_string(path.join("config.json")).unwrap();
        let config = config
            .replace("\"rms_norm_eps\": 1e-06", &format!("\"rms_norm_eps\": {epsilon}"))
            .replace("\"max_position_embeddings\": 1024", "\"max_position_embeddings\": 160");
        std::fs::write(path.join("config.json"), config).unwrap();
        let (cpu, device) = on_device(&path, Cpu::default(), false).unwrap();
        // Questions about the same sentences, some of which are cut.
        let controls = vec![Control::LastSentences(3)];
        let options = AnswerOptions { controls, ..few(6) };
        let [expected, found] =
            [&cpu, &device].map(|model| answer(model, &set, &options, &|_| ()).unwrap());
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(expected.id, found.id);
            for (a, b) in expected.scores.iter().zip(&found.scores) {
                assert!((a - b).abs() < 1e-4, "{name}, {epsilon}: {a} {b}");
            }
        }
        assert!(cpu.cut_contexts().contexts > 0, "{name}");
    }
}

#[test]
fn the_processor_takes_over_where_a_device_is_lost_and_too_little_memory_is_an_error() {
    let set = questions_from_text("tale", corpus::tales::TALES[0].text, 1).unwrap();
    let options = AnswerOptions { controls: vec![Control::LastSentences(2)], ..few(1) };
    let path = folder("qwen3");
    let (cpu, lost) = on_device(&path, cpu_lost_after(60), true).unwrap();
    let warnings = Mutex::new(Vec::new());
    let listen = |event| {
        if let Event::Warning(warning) = event {
            warnings.lock().unwrap().push(warning);
        }
    };
    let found = answer(&lost, &set, &options, &listen).unwrap();
    assert_eq!(found, answer(&cpu, &set, &options, &|_| ()).unwrap());
    assert!(matches!(warnings.lock().unwrap()[..], [Warning::DeviceFailed { .. }]));
    let (_, lost) = on_device(&path, cpu_lost_after(60), false).unwrap();
    assert!(answer(&lost, &set, &options, &|_| ()).is_err());
    let error = on_device(&path, cpu_with_memory(10_000), true).err().unwrap();
    assert!(error.to_string().starts_with("CPU: out of memory: "), "{error}");
    assert!(error.remedy().is_some());
}

#[test]
fn what_a_network_looked_at_are_the_mentions_of_the_candidates() {
    let set = questions_from_text("tale", corpus::tales::TALES[0].text, 1).unwrap();
    // Of sentences that fit, and of more.
    for control in [Control::LastSentences(8), Control::LastSentences(20)] {
        let (model, _) = load_model(&folder("qwen3"), DeviceChoice::Cpu, &|_| ()).unwrap();
        let mut scorer = model.scorer(set.vocabulary());
        let mut buffer = Vec::new();
        let question = Control::apply_all(&[control], set.example(0).question, &mut buffer);
        let explanation = scorer.explain(&question).unwrap();
        let words = question.context.words();
        let n = words.iter().filter(|word| question.candidates.contains(word)).count();
        assert_eq!(explanation.spans.len(), n);
        let mut sum = 0.0;
        for span in &explanation.spans {
            let (mention, candidate) = (span.mention.unwrap(), span.candidate.unwrap());
            assert_eq!(words[mention], question.candidates[candidate]);
            assert!(span.words.contains(&mention) && span.weight >= 0.0);
            sum += span.weight;
        }
        assert!(sum > 0.0 && sum < 1.0, "{sum}");
    }
}

#[test]
fn questions_about_a_passage_are_answered_together_and_written_in_the_order_of_the_set() {
    let set = questions_from_text("tale", corpus::tales::TALES[0].text, 1).unwrap();
    let (model, _) = load_model(&folder("qwen3"), DeviceChoice::Cpu, &|_| ()).unwrap();
    let options = AnswerOptions { controls: vec![Control::LastSentences(2)], ..few(5) };
    let predictions = answer(&model, &set, &options, &|_| ()).unwrap();
    let ids: Vec<String> = questions_of(&set, &options).into_iter().map(|(_, id)| id).collect();
    assert!(predictions.iter().map(|prediction| &prediction.id).eq(&ids));
}

#[test]
fn an_exported_copy_answers_as_the_original_and_no_folder_is_lost() {
    let set = questions_from_text("tale", corpus::tales::TALES[0].text, 1).unwrap();
    let place = tempfile::tempdir().unwrap();
    let copy = place.path().join("copy");
    let exported = |numbers, overwrite| {
        export(&folder("qwen3"), &copy, &ExportOptions { numbers, overwrite }, &|_| ())
    };
    exported(NumberFormat::F32, false).unwrap();
    let options = AnswerOptions { controls: vec![Control::LastSentences(2)], ..few(1) };
    let scores = |path: &Path| {
        let (model, _) = load_model(path, DeviceChoice::Cpu, &|_| ()).unwrap();
        let predictions = answer(&model, &set, &options, &|_| ()).unwrap();
        predictions.into_iter().map(|prediction| prediction.scores).collect::<Vec<_>>()
    };
    assert_eq!(scores(&copy), scores(&folder("qwen3")));
    let error = exported(NumberFormat::Int8, false).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Exists);
    exported(NumberFormat::Int8, true).unwrap();
    let largest = std::fs::metadata(copy.join("model.safetensors")).unwrap().len();
    assert!(largest < 40_000, "{largest}");
    // What is not of this kind is never replaced, and nothing is made of what is not.
    let other = place.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("diary.txt"), "kept").unwrap();
    let options = ExportOptions { overwrite: true, ..ExportOptions::default() };
    let error = export(&copy, &other, &options, &|_| ()).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Exists);
    assert_eq!(std::fs::read_to_string(other.join("diary.txt")).unwrap(), "kept");
    let error = export(&other, &place.path().join("new"), &options, &|_| ()).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::InvalidInput);
    assert!(!place.path().join("new").exists());
}

#[test]
fn the_perplexity_of_a_text_is_that_of_its_tokens_however_long_it_is() {
    let place = tempfile::tempdir().unwrap();
    let text = place.path().join("text.txt");
    let measured = |lines: &str| {
        std::fs::write(&text, lines).unwrap();
        crate::lm::perplexity(&folder("llama"), &text)
    };
    let found = measured("The bear ate .\n_BOOK_TITLE_ : x\n\nHe slept .\n").unwrap();
    let checkpoint = Arc::new(Checkpoint::open(&folder("llama")).unwrap());
    let tokens = checkpoint.tokens("The bear ate. He slept.").unwrap();
    let whole = checkpoint.reader().continuations(&tokens[..1], &[&tokens[1..]]).unwrap()[0];
    assert_eq!((found.words, found.sentences, found.tokens), (7, 2, Some(tokens.len() - 1)));
    assert!((found.log_prob - whole).abs() < 1e-3, "{} {whole}", found.log_prob);
    assert!((found.perplexity.ln() + whole / 9.0).abs() < 1e-3);
    // Several windows: every token is asked for once.
    let long = "The bear ate his soup , and the fox ran .\n".repeat(100);
    let n =
        checkpoint.tokens(&"The bear ate his soup, and the fox ran. ".repeat(100)).unwrap().len();
    assert!(n > 2 * checkpoint.n_positions());
    let found = measured(&long).unwrap();
    assert!(found.tokens.is_some_and(|found| found.abs_diff(n) < 3));
    assert!(found.perplexity.is_finite());
    assert!(matches!(measured("\n"), Err(crate::Error::Ngram(_))));
}

/// What `crates/reader-small/update` has put there.
#[cfg(feature = "reader-small")]
#[test]
fn reader_small_is_whole_says_what_it_learnt_from_and_reads_the_tales() {
    let bytes: usize = reader_small::FILES.iter().map(|(_, bytes)| bytes.len()).sum();
    assert!((1 << 20..7_000_000).contains(&bytes), "{bytes} bytes");
    let name = Path::new(super::READER_SMALL);
    let note = super::source(name).unwrap().optional(super::NOTE).unwrap().unwrap();
    let note: toml::Table = toml::from_str(std::str::from_utf8(&note).unwrap()).unwrap();
    for key in ["code", "seed", "steps", "set", "books", "valid", "settings"] {
        assert!(note.contains_key(key), "{key}");
    }
    let (model, manifest) = load_model(name, DeviceChoice::Cpu, &|_| ()).unwrap();
    assert_eq!(manifest.provenance.model, super::READER_SMALL);
    let set = questions_from_text("tale", corpus::tales::TALES[0].text, 1).unwrap();
    let n_books: i64 =
        note["books"].as_array().unwrap()[1..].iter().filter_map(|n| n.as_integer()).sum();
    let sketches = super::source(name).unwrap().optional(reader::SKETCHES).unwrap().unwrap();
    assert_eq!(sketches.len() as i64, 64 * n_books);
    let warned = AtomicBool::new(false);
    let listen = |event| {
        let is_warning = matches!(event, Event::Warning(Warning::KnownBooks { .. }));
        warned.fetch_or(is_warning, Ordering::Relaxed);
    };
    let predictions = answer(&model, &set, &few(10), &listen).unwrap();
    assert!(!warned.into_inner(), "no book has our tales");
    assert!(model.cut_contexts().contexts < predictions.len() / 4, "its pieces are words");
    let n_right = predictions.iter().filter(|row| row.is_right() == Some(true)).count();
    // Chance is 4 of 40.
    assert!(n_right > 20, "{n_right} of {}", predictions.len());
}
