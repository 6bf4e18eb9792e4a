//! Tasks of lm-evaluation-harness: one per class, and a group of them.
//!
//! ```text
//! goldilocks_cbt.yaml            the group
//! goldilocks_cbt_NE.yaml, …      a task per class
//! goldilocks_cbt_NE.jsonl, …     its questions: id, class, split, prefix, endings, options, answer, label
//! ```
//!
//! The harness adds the log-probabilities of an ending after the prefix, so a choice is scored by the whole query.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use base::WordClass;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::filled::{FilledQuestion, TextForm};
use crate::formats::output::write_file;
use crate::{QuestionSet, Split};

/// A question as the harness reads it.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    class: &'static str,
    split: Option<&'static str>,
    /// Context, and query up to the blank, without a space at its end.
    prefix: &'a str,
    /// Candidate and rest of the query, one per candidate.
    endings: Vec<&'a str>,
    options: Vec<&'a str>,
    answer: &'a str,
    label: usize,
}

/// Returns whether a file is one of those that are written here.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with("goldilocks_cbt") && (name.ends_with(".yaml") || name.ends_with(".jsonl"))
}

/// Fills the folder `inside`, which is to become `output`. Training questions are left out where there are others.
pub(crate) fn write(set: &QuestionSet, inside: &Path, output: &Path) -> Result<()> {
    let splits: Vec<Option<Split>> = [Some(Split::Valid), Some(Split::Test), None].into();
    let mut ids: Vec<(usize, String)> =
        splits.into_iter().flat_map(|split| set.ids(split)).collect();
    if ids.is_empty() {
        ids = set.ids(Some(Split::Train));
    }
    let mut tasks = Vec::new();
    for class in WordClass::ALL {
        let of_class: Vec<&(usize, String)> =
            ids.iter().filter(|(index, _)| set.example(*index).class == Some(class)).collect();
        if of_class.is_empty() {
            continue;
        }
        let task = format!("goldilocks_cbt_{}", class.code());
        let path = output.join(format!("{task}.jsonl"));
        write_file(&inside.join(format!("{task}.jsonl")), false, |file| {
            of_class.iter().try_for_each(|(index, id)| {
                let line = line(set, *index, id, class, &path)?;
                writeln!(file, "{line}").map_err(|cause| Error::Write { path: path.clone(), cause })
            })
        })?;
        // The harness looks for data in the folder that it is started in, so the path is the one that was asked for.
        let data = serde_json::Value::String(path.display().to_string());
        let text = format!(
            "task: {task}\ndataset_path: json\ndataset_kwargs:\n  data_files:\n    test: {data}\n\
             output_type: multiple_choice\ntest_split: test\ndoc_to_text: \"{{{{prefix}}}}\"\n\
             doc_to_choice: \"{{{{endings}}}}\"\ndoc_to_target: label\ntarget_delimiter: \"\"\nmetric_list:\n  \
             - metric: acc\n    aggregation: mean\n    higher_is_better: true\nmetadata:\n  version: 1.0\n"
        );
        write_text(inside, output, &format!("{task}.yaml"), &text)?;
        tasks.push(task);
    }
    let mut group = String::from("group: goldilocks_cbt\ntask:\n");
    for task in &tasks {
        let _ = writeln!(group, "  - {task}");
    }
    group += "aggregate_metric_list:\n  - metric: acc\n    aggregation: mean\n    weight_by_size: true\n\
              metadata:\n  version: 1.0\n";
    write_text(inside, output, "goldilocks_cbt.yaml", &group)
}

fn write_text(inside: &Path, output: &Path, name: &str, text: &str) -> Result<()> {
    let path = output.join(name);
    write_file(&inside.join(name), false, |file| {
        file.write_all(text.as_bytes()).map_err(|cause| Error::Write { path, cause })
    })
}

fn line(
    set: &QuestionSet,
    index: usize,
    id: &str,
    class: WordClass,
    path: &Path,
) -> Result<String> {
    let example = set.example(index);
    let label = example.answer.ok_or_else(|| Error::NoOrigin {
        path: path.to_owned(),
        what: format!("question {id}"),
        missing: "answer",
    })?;
    let filled = FilledQuestion::new(&example.question, TextForm::Plain, 0);
    let n_shared = filled.shared_bytes();
    let options: Vec<&str> =
        example.question.candidates.iter().map(|&word| example.question.word(word)).collect();
    let line = Line {
        id,
        class: class.code(),
        split: example.split.map(Split::code),
        prefix: &filled.texts[0][..n_shared],
        endings: filled.texts.iter().map(|text| &text[n_shared..]).collect(),
        answer: options[label],
        options,
        label,
    };
    Ok(serde_json::to_string(&line).expect("texts and numbers can be written"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::fixtures::{push_book, push_question};
    use crate::{Format, QuestionSet, Split, WordClass, WriteOptions};

    #[test]
    fn a_task_has_its_questions_with_endings_that_differ_from_the_candidate_on() {
        let mut set = QuestionSet::default();
        let hen = push_book(&mut set, "Hen", Split::Test, "`` Hen , '' said Owl .\nThe fox ran .");
        push_question(&mut set, hen, WordClass::Verb, "He XXXXX away , too . | ran saw");
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("tasks");
        set.write(&output, Format::LmEval, &WriteOptions::default()).unwrap();
        let read = |name: &str| fs::read_to_string(output.join(name)).unwrap();
        let line = read("goldilocks_cbt_V.jsonl");
        let texts = r#""prefix":"\"Hen,\" said Owl. The fox ran. He","endings":[" ran away, too."," saw away, too."],"options":["ran","saw"]"#;
        assert!(line.contains(texts), "{line}");
        assert!(read("goldilocks_cbt_V.yaml").contains("doc_to_choice: \"{{endings}}\""));
        assert!(
            read("goldilocks_cbt.yaml")
                .starts_with("group: goldilocks_cbt\ntask:\n  - goldilocks_cbt_V\n")
        );
        assert!(!output.join("goldilocks_cbt_NE.yaml").exists());
    }
}
