//! The first sentences of a report: what was found, in words, with its intervals.

use evaluation::{Accuracy, MatchedPredictions, Predictions, compare};
use questions::Split;

use crate::charts::Curve;
use crate::details::{BOOTSTRAP_SEED, first_run, of_splits};
use crate::number::{self, class_in_words};
use crate::paper::PublishedColumn;
use crate::tables::{Table, TableRow, agreement};
use crate::{Error, Report};

/// A lead with a smaller p is more than chance would give.
const LEVEL: f64 = 0.05;

/// What the first table shows: the finding itself, then what qualifies it.
///
/// # Errors
/// [`Error::Evaluation`] where two models disagree about a question.
pub fn finding(
    report: &Report<'_>,
    table: &Table,
    curve: Option<&Curve>,
) -> Result<Vec<String>, Error> {
    let mut sentences = match curve {
        Some(curve) => curve.finding(),
        None => best_models(report, table)?,
    };
    sentences.extend(agreement(table));
    Ok(sentences)
}

/// The best model of a column, and the next.
struct Leader<'t> {
    column: &'static PublishedColumn,
    row: &'t TableRow,
    accuracy: Accuracy,
    next: Option<(&'t TableRow, Accuracy)>,
}

fn best_models(report: &Report<'_>, table: &Table) -> Result<Vec<String>, Error> {
    let leaders: Vec<Leader<'_>> =
        (0..table.columns().len()).filter_map(|column| Leader::of(table, column)).collect();
    if leaders.is_empty() {
        return Ok(vec!["No model has been run yet.".to_owned()]);
    }
    let mut sentences = vec![headline(&leaders)];
    sentences.extend(leads(report, &leaders)?);
    Ok(sentences)
}

impl<'t> Leader<'t> {
    fn of(table: &'t Table, column: usize) -> Option<Self> {
        let ours = |row: &'t TableRow| Some((row, row.cells[column].ours?));
        let models = table.rows.iter().filter(|row| !row.is_people).filter_map(ours);
        let mut models: Vec<(&TableRow, Accuracy)> = models.collect();
        // A stable sort: of equals the first row of the table leads.
        models.sort_by(|(_, a), (_, b)| b.accuracy.total_cmp(&a.accuracy));
        let mut models = models.into_iter();
        let (row, accuracy) = models.next()?;
        Some(Self { column: &table.columns()[column], row, accuracy, next: models.next() })
    }

    /// `names`, or the split of a column without a class.
    fn subject(&self) -> &'static str {
        match (self.column.class, self.column.split) {
            (Some(class), _) => class_in_words(class),
            (None, Split::Valid) => "the validation questions",
            (None, _) => "the test questions",
        }
    }
}

/// The row within a sentence.
fn name(row: &TableRow) -> String {
    row.phrase.map_or_else(|| format!("“{}”", row.label), str::to_owned)
}

/// `The window memory answers names best, .529 (.486–.571), and verbs, .690 (…); word distance answers …`
fn headline(leaders: &[Leader<'_>]) -> String {
    let is_alone = leaders.iter().all(|leader| leader.next.is_none());
    let mut parts: Vec<(String, Vec<&Leader<'_>>)> = Vec::new();
    for leader in leaders {
        match parts.iter_mut().find(|(_, of)| std::ptr::eq(of[0].row, leader.row)) {
            Some((_, of)) => of.push(leader),
            None => parts.push((name(leader.row), vec![leader])),
        }
    }
    let part = |(name, of): &(String, Vec<&Leader<'_>>)| {
        let figures: Vec<String> = of
            .iter()
            .enumerate()
            .map(|(index, leader)| {
                let best = if index == 0 && !is_alone { " best" } else { "" };
                format!("{}{best}, {}", leader.subject(), figure(&leader.accuracy))
            })
            .collect();
        format!("{name} answers {}", listed(&figures))
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    capitalised(&format!("{}.", parts.join("; ")))
}

/// Which leads are more than chance would give, and which are not.
fn leads(report: &Report<'_>, leaders: &[Leader<'_>]) -> Result<Vec<String>, Error> {
    let (mut clear, mut unclear) = (Vec::new(), Vec::new());
    for leader in leaders {
        let Some((next, accuracy)) = &leader.next else { continue };
        let text =
            format!("{} ({}, {})", leader.subject(), name(next), number::share(accuracy.accuracy));
        match p_value(report, leader, next)? {
            Some(p) if p < LEVEL => clear.push(text),
            Some(_) => unclear.push(text),
            None => {}
        }
    }
    let mut sentences = Vec::new();
    if !clear.is_empty() {
        sentences.push(format!(
            "Significantly ahead of the next model (McNemar, p < .05): {}.",
            listed(&clear)
        ));
    }
    if !unclear.is_empty() {
        sentences.push(format!("Not significantly ahead of the next model: {}.", listed(&unclear)));
    }
    Ok(sentences)
}

/// McNemar's p of the two best models of a column, after Holm's correction over the classes; none where they answered
/// different questions.
fn p_value(
    report: &Report<'_>,
    leader: &Leader<'_>,
    next: &TableRow,
) -> Result<Option<f64>, Error> {
    let (Some(first), Some(second)) = (leader.row.ours, next.ours) else { return Ok(None) };
    let of = |run: &MatchedPredictions<'_>| -> Result<Option<Predictions>, Error> {
        of_splits(run, &[leader.column.split])
    };
    let [first, second] = [first, second].map(|row| of(first_run(report, row)));
    let (Some(first), Some(second)) = (first?, second?) else { return Ok(None) };
    match compare(&first, &second, BOOTSTRAP_SEED) {
        Ok(comparisons) => {
            let paired = comparisons.first().and_then(|c| c.classes.get(leader.column.class));
            Ok(paired.map(|paired| paired.p_holm.unwrap_or(paired.p)))
        }
        Err(evaluation::Error::OtherQuestions { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn figure(accuracy: &Accuracy) -> String {
    format!("{} ({})", number::share(accuracy.accuracy), number::interval(accuracy))
}

/// `a`, `a and b`, `a, b and c`; with commas inside, `a, and b`.
fn listed(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + characters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::TableKind;
    use crate::{Source, fixture};

    fn sentences(report: &Report<'_>) -> Vec<String> {
        let table = Table::of(report, TableKind::Table2).unwrap();
        finding(report, &table, None).unwrap()
    }

    #[test]
    fn the_best_model_of_each_class_is_named_with_its_interval() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        report.provenance.source = Source::Tales;
        let sentences = sentences(&report);
        assert_eq!(
            sentences[0],
            "The window memory with self-supervision answers names best, 1.000 (.342–1.000), common nouns, 1.000 \
             (.342–1.000), and verbs, 1.000 (.342–1.000); the window memory answers prepositions best, .500 (.095–.905)."
        );
        // Two questions per class prove nothing.
        assert_eq!(
            sentences[1],
            "Not significantly ahead of the next model: names (the window memory, .500), common nouns (the window memory, \
             .500), verbs (the window memory, .500), and prepositions (the window memory with self-supervision, .500)."
        );
        assert_eq!(sentences.len(), 2, "nothing is said of the paper: {sentences:?}");
    }

    #[test]
    fn one_model_is_not_called_the_best() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        report.rows = vec![fixture::row(&set, "mine", |_| true)];
        let sentences = sentences(&report);
        assert!(sentences[0].starts_with("“mine” answers names, 1.000 (.342–1.000), common"));
        assert_eq!(sentences.len(), 1);
    }

    #[test]
    fn figures_are_compared_with_the_papers_on_its_questions() {
        let set = fixture::set();
        let report = fixture::report(&set);
        let last = sentences(&report).pop().unwrap();
        assert_eq!(
            last,
            "4 of 4 figures by the paper’s recipe do not differ significantly from the paper’s; 0 are higher, 0 lower. \
             4 of 4 figures of marked rows do not differ significantly from the paper’s; 0 are higher, 0 lower."
        );
    }

    #[test]
    fn without_a_model_nothing_is_claimed() {
        let set = fixture::set();
        let report = Report { rows: Vec::new(), beside_paper: true, ..fixture::report(&set) };
        assert_eq!(sentences(&report), ["No model has been run yet."]);
    }
}
