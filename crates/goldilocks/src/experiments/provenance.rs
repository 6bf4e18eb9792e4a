//! Whether results on disk were made from what a row is made from.

use models::{Mismatch, Provenance, Settings};
use questions::Split;

use crate::AnswerProvenance;

/// A model's settings if nobody sets any.
fn defaults(model: &str) -> Vec<(String, String)> {
    let settings = models::find(model).and_then(|method| Settings::from_text(method, []));
    let texts = |settings: Settings| settings.texts().map(|(k, v)| (k.to_owned(), v)).collect();
    settings.map(texts).unwrap_or_default()
}

/// The first thing in which the provenance of a model differs from what is expected, the code last: only results that
/// are the same but for the code can be accepted. With `any_version`, other code is not a difference.
pub fn of_model(expected: &Provenance, found: &Provenance, any_version: bool) -> Option<Mismatch> {
    let mut same_code = found.clone();
    same_code.program.code.clone_from(&expected.program.code);
    if any_version {
        // A version that did not have a setting did what is its default now.
        for (key, default) in defaults(&expected.model) {
            same_code.settings.entry(key).or_insert(default);
        }
        return expected.first_mismatch(&same_code);
    }
    expected.first_mismatch(&same_code).or_else(|| expected.first_mismatch(found))
}

/// The first thing in which the provenance of predictions differs from what is expected.
pub fn of_answers(
    expected: &AnswerProvenance,
    found: &AnswerProvenance,
    any_version: bool,
) -> Option<Mismatch> {
    // No split is all of them; more than are asked for do no harm.
    let all =
        |splits: &[Split]| if splits.is_empty() { Split::ALL.to_vec() } else { splits.to_vec() };
    let asked = all(&expected.splits);
    let splits = |answers: &AnswerProvenance| {
        let mut splits = all(&answers.splits);
        splits.retain(|split| asked.contains(split));
        splits.sort_unstable();
        splits.into_iter().map(Split::code).collect::<Vec<_>>().join(", ")
    };
    let sample = |answers: &AnswerProvenance| {
        answers.sample.map_or("all".to_owned(), |n| format!("{n} a class"))
    };
    let fields = [
        ("questions to answer", expected.questions.clone(), found.questions.clone()),
        ("splits", splits(expected), splits(found)),
        ("controls", expected.controls.join(", "), found.controls.join(", ")),
        ("sample", sample(expected), sample(found)),
    ];
    let differs = |(_, expected, found): &(_, String, String)| expected != found;
    let mismatch = |(what, expected, found): (&str, _, _)| {
        let what = what.to_owned();
        Mismatch { what, expected, found }
    };
    let of_model = || of_model(&expected.model, &found.model, any_version);
    fields.into_iter().find(differs).map(mismatch).or_else(of_model)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provenance(max_penalty: &str) -> Provenance {
        let method = models::find("word-distance").unwrap();
        let setting = format!("max_penalty={max_penalty}");
        Provenance::new(&Settings::from_text(method, [setting.as_str()]).unwrap(), "d", 1)
    }

    #[test]
    fn what_an_older_version_could_not_set_is_the_default() {
        let mut older = provenance("5");
        older.settings.clear();
        older.program.code.push('0');
        let differs = |max_penalty, any_version| {
            let expected = provenance(max_penalty);
            of_model(&expected, &older, any_version).map(|mismatch| mismatch.what)
        };
        assert_eq!(differs("5", true), None);
        assert_eq!(differs("3", true).as_deref(), Some("max_penalty"));
        assert_eq!(differs("5", false).as_deref(), Some("max_penalty"));
    }

    #[test]
    fn no_split_is_all_of_them_and_more_than_are_asked_for_do_no_harm() {
        let answers = |splits: &[Split]| AnswerProvenance {
            questions: "q".to_owned(),
            splits: splits.to_vec(),
            controls: Vec::new(),
            seed: "1".to_owned(),
            sample: None,
            model: provenance("5"),
        };
        let differs = |expected: &[Split], found: &[Split]| {
            of_answers(&answers(expected), &answers(found), false).map(|m| (m.expected, m.found))
        };
        let some = [Split::Test, Split::Valid];
        assert_eq!(differs(&some, &[]), None);
        assert_eq!(differs(&[], &Split::ALL), None);
        assert_eq!(differs(&[Split::Test], &some), None);
        let (expected, found) = differs(&[], &some).unwrap();
        assert_eq!((expected.as_str(), found.as_str()), ("train, valid, test", "valid, test"));
        assert!(differs(&some, &[Split::Test]).is_some());
    }

    #[test]
    fn code_is_the_last_difference() {
        let mut other = provenance("5");
        other.program.code.push('0');
        let what = |other: &Provenance| of_model(&provenance("5"), other, false).map(|m| m.what);
        assert_eq!(what(&other).as_deref(), Some("code"));
        other.seed = 2;
        assert_eq!(what(&other).as_deref(), Some("seed"));
    }
}
