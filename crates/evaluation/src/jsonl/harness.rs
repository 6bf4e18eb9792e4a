//! Lines of lm-evaluation-harness, `samples_….jsonl`, for the tasks that [`questions::Format::LmEval`] writes.
//!
//! `doc` is the question as it was exported; `filtered_resps` has the log-probability of each ending, as a text, and
//! whether it is what the model would generate: `[["-41.11", "False"], …]`.

use base::{Split, WordClass};
use serde_json::{Map, Value};

use super::{Fields, ParsedLine, SEED_OF_UNPREDICTED, wrong_type};
use crate::predictions::choose;
use crate::{LineError, Prediction};

pub(super) fn parse(line: &Map<String, Value>) -> Result<ParsedLine, LineError> {
    let doc = match line.get("doc") {
        Some(Value::Object(doc)) => doc.clone(),
        other => {
            return Err(wrong_type(
                "doc",
                "the question as it was exported",
                other.unwrap_or(&Value::Null),
            ));
        }
    };
    let mut doc = doc;
    if let Some(options) = doc.get("options").cloned() {
        doc.insert("candidates".to_owned(), options);
    }
    let doc = Fields(doc);
    let id = doc.text("id")?.ok_or(LineError::MissingKey { key: "id" })?.to_owned();
    let candidates = doc.candidates()?;
    let scores = scores(line.get("filtered_resps").unwrap_or(&Value::Null))?;
    if scores.windows(2).all(|pair| pair[0] == pair[1]) {
        return Err(LineError::EqualScores);
    }
    let prediction = Prediction {
        class: doc.code("class", "`NE`, `CN`, `V`, `P` or null", WordClass::from_code)?,
        split: doc.code("split", "`train`, `valid`, `test` or null", Split::from_code)?,
        book: None,
        answer: doc.candidate("answer", &candidates)?,
        predicted: choose(&scores, &id, SEED_OF_UNPREDICTED),
        id,
        candidates,
        scores,
    };
    Ok(ParsedLine { prediction, model: None, annotator: None, seconds: None })
}

fn scores(value: &Value) -> Result<Vec<f64>, LineError> {
    const EXPECTED: &str = "a list of log-probabilities";
    let list = value.as_array().ok_or_else(|| wrong_type("filtered_resps", EXPECTED, value))?;
    let score = |entry: &Value| {
        let first = entry.get(0).unwrap_or(entry);
        let number = first.as_f64().or_else(|| first.as_str()?.trim().parse().ok());
        number.ok_or_else(|| wrong_type("filtered_resps", EXPECTED, first))
    };
    list.iter().map(score).collect()
}

#[cfg(test)]
mod tests {
    use crate::Predictions;

    fn line(resps: &str) -> String {
        let doc = r#"{"id":"3f","class":"V","split":"valid","prefix":"He","endings":[" ran."," saw."],"options":["ran","saw"],"answer":"saw","label":1}"#;
        format!(r#"{{"doc_id":0,"doc":{doc},"target":"1","filtered_resps":{resps},"acc":1.0}}"#)
    }

    #[test]
    fn samples_of_the_harness_are_predictions() {
        let text = line(r#"[["-41.5","False"],["-40.25","True"]]"#);
        let predictions = Predictions::from_text("samples.jsonl", &text).unwrap();
        let row = predictions.iter().next().unwrap();
        assert_eq!(
            (row.scores.as_slice(), row.answer, row.predicted),
            (&[-41.5, -40.25][..], Some(1), 1)
        );
    }

    #[test]
    fn a_run_at_chance_is_refused() {
        let error = Predictions::from_text(
            "samples.jsonl",
            &line("[[\"0.0\",\"False\"],[\"0.0\",\"False\"]]"),
        );
        let expected = "samples.jsonl:1: `filtered_resps`: the scores of all candidates are equal";
        assert_eq!(error.unwrap_err().to_string(), expected);
        let short = Predictions::from_text("samples.jsonl", &line("[[\"-1.0\",\"False\"]]"));
        assert!(short.is_err());
    }

    #[test]
    fn a_choice_needs_no_scores() {
        let text = r#"{"id":"1","candidates":["door","lamp"],"predicted":"lamp"}"#;
        let predictions = Predictions::from_text("chat.jsonl", text).unwrap();
        let row = predictions.iter().next().unwrap();
        assert_eq!((row.scores.as_slice(), row.predicted), (&[0.0, 1.0][..], 1));
    }
}
