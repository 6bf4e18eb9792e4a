//! The people of the rows «Humans» (§4.5): each person, the time of an answer, agreement on shared questions.

use evaluation::People;
use questions::Split;
use serde::Serialize;

use crate::number::{count, interval, share, weight};
use crate::{Error, Report};

/// The people of one row and split.
#[derive(Debug, Serialize)]
pub struct PeopleOfRow {
    /// The row's label and the split.
    pub title: String,
    /// How many answered how much, how fast, and how far they agree.
    pub sentences: Vec<String>,
    /// Each person: name, accuracy, interval, questions, median seconds.
    pub persons: Vec<[String; 5]>,
}

/// The people of all rows that people answered, in the order of the rows.
///
/// # Errors
/// [`Error::Evaluation`] where no answer of a split is known.
pub fn people(report: &Report<'_>) -> Result<Vec<PeopleOfRow>, Error> {
    let mut all = Vec::new();
    for row in &report.rows {
        for run in &row.runs {
            if run.predictions.predictions().people().is_empty() {
                continue;
            }
            for results in evaluation::evaluate(run.predictions.predictions())? {
                let split = results.split.map_or("unknown split", Split::code);
                let title = format!("{}, {split}", row.label);
                all.extend(results.people.map(|people| of_row(title, &people)));
            }
        }
    }
    Ok(all)
}

fn of_row(title: String, people: &People) -> PeopleOfRow {
    let mut sentences = vec![format!(
        "{} answers by {}; the median time of an answer is {:.1} s.",
        count(people.answers),
        if people.persons.len() == 1 {
            "one person".to_owned()
        } else {
            format!("{} people", people.persons.len())
        },
        people.median_seconds,
    )];
    sentences.extend(people.agreement.map(|agreement| {
        let [kappa, low, high] = [agreement.kappa, agreement.low, agreement.high].map(weight);
        format!(
            "Of {} pairs of answers to {} shared questions {} agree: free-marginal κ is {kappa} ({low} to {high}).",
            count(agreement.pairs),
            count(agreement.questions),
            share(agreement.share),
        )
    }));
    let persons = people.persons.iter().filter_map(|person| {
        let accuracy = person.accuracy?;
        Some([
            person.annotator.clone(),
            share(accuracy.accuracy),
            interval(&accuracy),
            count(accuracy.n),
            format!("{:.1}", person.median_seconds),
        ])
    });
    PeopleOfRow { title, sentences, persons: persons.collect() }
}

#[cfg(test)]
mod tests {
    use evaluation::{HumanAnswer, Predictions, check_against};

    use super::*;
    use crate::fixture;

    #[test]
    fn people_are_told_of_and_models_are_not() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        assert!(people(&report).unwrap().is_empty());
        let answer = |who: &str, n: usize, seconds| {
            HumanAnswer::new(who, seconds, &set.example(n), set.example(n).answer.unwrap())
        };
        let answers = vec![answer("Wren", 0, 3.0), answer("Finch", 0, 5.0)];
        let predictions = Predictions::of_people("humans-query.jsonl", answers).unwrap();
        let mut row = fixture::row(&set, "humans-query", |_| true);
        row.runs[0].predictions = check_against(predictions, &set).unwrap();
        report.rows.push(row);
        let found = people(&report).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].sentences,
            [
                "2 answers by 2 people; the median time of an answer is 4.0 s.",
                "Of 1 pairs of answers to 1 shared questions 1.000 agree: free-marginal κ is 1.00 (1.00 to 1.00).",
            ]
        );
        // One right answer: Wilson's interval of 1 of 1 is .207 to 1.
        assert_eq!(found[0].persons[0], ["Finch", "1.000", ".207–1.000", "1", "5.0"]);
    }
}
