//! The questions that no model has right.

use evaluation::MatchedPredictions;
use evaluation::breakdown::{MissedQuestion, missed_by_all};

use super::first_run;
use crate::tables::Table;
use crate::{Error, Report};

/// The questions that every model misses, and the models, by their labels.
#[derive(Debug)]
pub struct MissedByAll<'t, 'a> {
    /// Labels of the rows that have answered.
    pub models: Vec<&'t str>,
    /// The questions of the table's splits.
    pub questions: Vec<MissedQuestion<'a>>,
}

/// The questions of a table's splits that no model has right; models that answer other questions than
/// the first are left out.
///
/// # Errors
/// [`Error::Evaluation`] where two models disagree about a question.
pub fn missed<'t, 'a>(report: &Report<'a>, table: &'t Table) -> Result<MissedByAll<'t, 'a>, Error> {
    let mut models: Vec<(&'t str, &MatchedPredictions<'a>)> = Vec::new();
    for (row, place) in super::models(table) {
        let checked = first_run(report, place);
        let first = models.first().map_or(checked, |(_, first)| *first);
        match missed_by_all(&[first, checked]) {
            Ok(_) => models.push((&row.label, checked)),
            Err(evaluation::Error::OtherQuestions { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let (models, checked): (Vec<_>, Vec<_>) = models.into_iter().unzip();
    let mut questions = missed_by_all(&checked)?;
    let is_shown = |split| table.columns().iter().any(|column| column.split == split);
    questions.retain(|missed| missed.example.split.is_none_or(is_shown));
    Ok(MissedByAll { models, questions })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::paper::TableKind;

    #[test]
    fn only_what_no_model_has_right_is_missed() {
        let (set, half) = (fixture::set(), fixture::set_of(1, questions::Split::Test));
        let mut report = fixture::report(&set);
        // It answers a part of the questions, so it can't be asked about the rest.
        report.rows.push(fixture::row(&half, "half", |_| true));
        let table = Table::of(&report, TableKind::Anonymised).unwrap();
        let missed = missed(&report, &table).unwrap();
        assert_eq!(missed.models.len(), 3);
        let questions: Vec<_> =
            missed.questions.iter().map(|question| question.id.clone()).collect();
        assert_eq!(questions, [set.example(3).question.id().to_string()]);
        assert_eq!(missed.questions[0].predicted, [fixture::HOSTILE; 3]);
    }
}
