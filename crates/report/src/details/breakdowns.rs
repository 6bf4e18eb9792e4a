//! Accuracy by book, by place of the answer in the context and by its frequency in the training text.

use std::collections::BTreeMap;
use std::fmt;

use evaluation::breakdown::{Breakdown, TrainingText, by_book, by_frequency, by_position};
use evaluation::{Accuracy, MatchedPredictions};
use questions::{Split, WordClass};

use super::{Section, first_run, models};
use crate::charts::{Axis, Chart, ChartRow, Mark, Panel, Series, Shape};
use crate::paper::PublishedColumn;
use crate::reading::book_title;
use crate::tables::{Cell, Grid, GridRow, Line, Table, TableRow, head};
use crate::{Report, number};

/// Accuracy by book, by place and by frequency of the answer, for the models that are best in some
/// column.
pub fn breakdowns(report: &Report<'_>, table: &Table) -> Vec<Section> {
    let is_best = |row: &TableRow| row.cells.iter().any(|cell| cell.is_best);
    let mut shown: Vec<LabelledModel<'_, '_>> = models(table)
        .filter(|(row, _)| is_best(row))
        .map(|(row, place)| LabelledModel { label: &row.label, checked: first_run(report, place) })
        .collect();
    shown.truncate(SHAPES.len());
    if shown.is_empty() {
        return Vec::new();
    }
    let about = Breakdowns { shown, columns: table.columns() };
    let training = TrainingText::of(report.set);
    let mut sections = vec![about.by_book(), about.by_position()];
    sections.extend(training.map(|training| about.by_frequency(&training)));
    sections
}

const SHAPES: [Shape; 4] = [Shape::Disc, Shape::Square, Shape::Triangle, Shape::Diamond];

/// How far back the answer last occurred, in bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    /// From one number of sentences to another.
    Sentences(usize, usize),
    /// More than the CBT's contexts have.
    Further,
    /// Not in the context.
    Nowhere,
}

/// The ends of the bins: sentence 1, 2, 3 to 4, 5 to 8, 9 to 20.
const DISTANCES: [usize; 6] = [0, 1, 2, 4, 8, 20];

impl Distance {
    fn of(distance: Option<usize>) -> Self {
        let Some(distance) = distance else { return Self::Nowhere };
        let bin = DISTANCES.windows(2).find(|ends| distance <= ends[1]);
        bin.map_or(Self::Further, |ends| Self::Sentences(ends[0] + 1, ends[1]))
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sentences(1, 1) => write!(f, "1 sentence back"),
            Self::Sentences(from, to) if from == to => write!(f, "{from} back"),
            Self::Sentences(from, to) => write!(f, "{from} to {to} back"),
            Self::Further => write!(f, "more than 20 back"),
            Self::Nowhere => write!(f, "not in the context"),
        }
    }
}

struct LabelledModel<'t, 'a> {
    label: &'t str,
    checked: &'t MatchedPredictions<'a>,
}

struct Breakdowns<'t, 'a> {
    shown: Vec<LabelledModel<'t, 'a>>,
    columns: &'static [PublishedColumn],
}

/// The heading, words and id of a breakdown.
struct Wording {
    id: &'static str,
    title: &'static str,
    text: &'static str,
    rows: &'static str,
}

impl Breakdowns<'_, '_> {
    fn by_book(&self) -> Section {
        let words = Wording {
            id: "books",
            title: "By book",
            text: "The models that are best in some column, book by book. A few books make a test: their \
                   spread is what to expect from other books.",
            rows: "Book",
        };
        self.section(
            words,
            |shown, split| by_book(shown.checked.predictions(), split),
            |book| book.as_deref().map_or("book not known".to_owned(), book_title),
        )
    }

    fn by_position(&self) -> Section {
        let words = Wording {
            id: "positions",
            title: "By place of the answer",
            text: "How far back in the context the answer last occurred. A model that only reads what is \
                   near falls off with the distance.",
            rows: "Last seen, sentences before the query",
        };
        self.section(
            words,
            |shown, split| by_position(shown.checked, split),
            |distance| Distance::of(*distance),
        )
    }

    fn by_frequency(&self, training: &TrainingText<'_>) -> Section {
        let words = Wording {
            id: "frequencies",
            title: "By frequency of the answer",
            text: "How often the answer occurs in the training books: whether rare words are harder.",
            rows: "Times in the training text",
        };
        self.section(
            words,
            |shown, split| by_frequency(shown.checked.predictions(), split, training),
            |frequency| *frequency,
        )
    }

    /// A section from a breakdown of each model and split; `bin` gives the row of a key.
    fn section<K: Ord, B: Ord + ToString>(
        &self,
        words: Wording,
        breakdown: impl Fn(&LabelledModel<'_, '_>, Option<Split>) -> Breakdown<K>,
        bin: impl Fn(&K) -> B,
    ) -> Section {
        let figures: Vec<Vec<Bins<B>>> = self
            .shown
            .iter()
            .map(|shown| {
                let bins =
                    |c: &PublishedColumn| pool(&breakdown(shown, Some(c.split)), c.class, &bin);
                self.columns.iter().map(bins).collect()
            })
            .collect();
        let mut bins: Vec<&B> = figures.iter().flatten().flat_map(Bins::keys).collect();
        bins.sort_unstable();
        bins.dedup();
        let panel = |(place, column): (usize, &PublishedColumn)| Panel {
            title: column.label.to_owned(),
            rule: None,
            marks: self.marks(&bins, figures.iter().map(|model| &model[place])),
            counts: bins.iter().map(|bin| n_questions(&figures, place, bin)).collect(),
        };
        let series = self.shown.iter().zip(SHAPES);
        Section {
            title: words.title,
            text: words.text.to_owned(),
            chart: Chart {
                id: words.id,
                title: format!("Accuracy {}", words.title.to_lowercase()),
                description: "The figures are in the table below.".into(),
                axis: Axis::shares(),
                series: series
                    .map(|(shown, shape)| Series { label: shown.label.to_owned(), shape })
                    .collect(),
                rule: None,
                rows: bins
                    .iter()
                    .map(|bin| ChartRow { label: bin.to_string(), starts_block: false })
                    .collect(),
                panels: self.columns.iter().enumerate().map(panel).collect(),
            },
            grid: self.grid(&words, &bins, &figures),
        }
    }

    fn marks<'f, B: Ord + 'f>(
        &self,
        bins: &[&B],
        figures: impl Iterator<Item = &'f Bins<B>>,
    ) -> Vec<Mark> {
        let of_model = |(series, model): (usize, &'f Bins<B>)| {
            let mark = |(row, bin): (usize, &&B)| {
                let accuracy = model.get(*bin)?;
                let Accuracy { n, accuracy: at, low, high } = *accuracy;
                let label = self.shown[series].label;
                let tip = format!(
                    "{label}: {} ({}), {}",
                    number::share(at),
                    number::interval(accuracy),
                    number::questions(n)
                );
                Some(Mark { row, series, at, low, high, tip })
            };
            bins.iter().enumerate().filter_map(mark).collect::<Vec<_>>()
        };
        figures.enumerate().flat_map(of_model).collect()
    }

    fn grid<B: Ord + ToString>(
        &self,
        words: &Wording,
        bins: &[&B],
        figures: &[Vec<Bins<B>>],
    ) -> Grid {
        let row = |(place, bin): (usize, &&B)| {
            let cell = |column: usize| {
                let accuracies = || figures.iter().map(|model| model[column].get(*bin));
                let line = |accuracy: Option<&Accuracy>| {
                    accuracy.map_or_else(Line::none, |accuracy| {
                        Line::new(number::share(accuracy.accuracy), number::interval(accuracy))
                    })
                };
                let n = n_questions(figures, column, bin);
                let mut lines = vec![Line::new("", number::questions(n))];
                lines.extend(accuracies().map(line));
                let value = accuracies().next().flatten().map(|accuracy| accuracy.accuracy);
                Cell { lines, value, is_best: false }
            };
            let mut label = vec![bin.to_string()];
            label.extend(self.shown.iter().map(|shown| format!("  {}", shown.label)));
            GridRow {
                label,
                cells: (0..self.columns.len()).map(cell).collect(),
                starts_block: place > 0,
            }
        };
        Grid {
            title: format!("Accuracy {}", words.title.to_lowercase()),
            head: head(words.rows, self.columns),
            rows: bins.iter().enumerate().map(row).collect(),
            foot: Vec::new(),
            settings: None,
            notes: vec!["Accuracy with its 95 % interval.".into()],
        }
    }
}

/// Accuracies by bin.
type Bins<B> = BTreeMap<B, Accuracy>;

/// How many questions of a column fall into a bin, for the model that answered most of them.
fn n_questions<B: Ord>(figures: &[Vec<Bins<B>>], column: usize, bin: &B) -> usize {
    let counts = figures.iter().filter_map(|model| model[column].get(bin)).map(|figure| figure.n);
    counts.max().unwrap_or(0)
}

/// The figures of a class, the keys of one bin taken together.
fn pool<K: Ord, B: Ord>(
    breakdown: &Breakdown<K>,
    class: Option<WordClass>,
    bin: impl Fn(&K) -> B,
) -> Bins<B> {
    let mut sums: BTreeMap<B, (f64, usize)> = BTreeMap::new();
    for (key, figures) in breakdown {
        if let Some(accuracy) = figures.get(class) {
            let (sum, n) = sums.entry(bin(key)).or_default();
            *sum += accuracy.accuracy * accuracy.n as f64;
            *n += accuracy.n;
        }
    }
    sums.into_iter().map(|(bin, (sum, n))| (bin, Accuracy::new(sum / n as f64, n))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::paper::TableKind;

    #[test]
    fn distances_fall_into_bins_that_leave_no_gap() {
        let names: Vec<String> =
            [Some(1), Some(2), Some(3), Some(4), Some(5), Some(20), Some(21), None]
                .map(|distance| Distance::of(distance).to_string())
                .to_vec();
        let expected = [
            "1 sentence back",
            "2 back",
            "3 to 4 back",
            "3 to 4 back",
            "5 to 8 back",
            "9 to 20 back",
            "more than 20 back",
            "not in the context",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn the_best_models_are_broken_down_by_book_and_place() {
        let set = fixture::set();
        let report = fixture::report(&set);
        let table = Table::of(&report, TableKind::Anonymised).unwrap();
        let sections = breakdowns(&report, &table);
        // The set has no training text, so there are no frequencies.
        assert_eq!(
            sections.iter().map(|s| s.title).collect::<Vec<_>>(),
            ["By book", "By place of the answer"]
        );
        let labels = |section: &Section| -> Vec<String> {
            section.chart.rows.iter().map(|row| row.label.clone()).collect()
        };
        assert_eq!(labels(&sections[0])[1], "A Hen");
        // Each book has one question per class.
        assert_eq!(sections[0].chart.panels[0].counts, [1, 1]);
        // Every answer is in the sentence before the query.
        assert_eq!(labels(&sections[1]), ["1 sentence back"]);
        // Prepositions, first book: both best models miss its one question; second book: both have it.
        let marks: Vec<(usize, usize, f64)> =
            sections[0].chart.panels[3].marks.iter().map(|m| (m.series, m.row, m.at)).collect();
        assert_eq!(marks, [(0, 0, 1.0), (0, 1, 0.0), (1, 0, 1.0), (1, 1, 0.0)]);
    }

    #[test]
    fn keys_of_one_bin_are_pooled_by_their_questions() {
        let figure = |accuracy, n| {
            let accuracy = Accuracy::new(accuracy, n);
            evaluation::ByClass { classes: BTreeMap::new(), all: accuracy }
        };
        let breakdown =
            Breakdown::from([(3, figure(1.0, 1)), (4, figure(0.0, 3)), (5, figure(0.5, 2))]);
        let pooled = pool(&breakdown, None, |&key| key < 5);
        // 1 of 1 and 0 of 3 make 1 of 4.
        assert_eq!(pooled[&true], Accuracy::new(0.25, 4));
        assert_eq!(pooled[&false], Accuracy::new(0.5, 2));
    }
}
