//! The Goldilocks curve (§5): accuracy against the size of a window, one panel per word class → SVG, LaTeX.
//!
//! The paper says that windows are neither too small nor too large and prints no figures for it. Ours are drawn with
//! two intervals: the 95 % interval over questions (thin) and the standard deviation over seeds (thick). The axis
//! of sizes is logarithmic; whole sentences, which have no size, are apart at its right.

mod drawing;
mod latex;

use evaluation::Accuracy;
use questions::WordClass;

use crate::number;
use crate::tables::{self, Figures, Table, TableRow};

/// How the words of a window are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    /// One dictionary per position.
    Positions,
    /// A bag of words.
    Bag,
}

const ENCODINGS: [Encoding; 2] = [Encoding::Positions, Encoding::Bag];

/// The place of a row on the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    encoding: Encoding,
    /// b; none for whole sentences.
    size: Option<usize>,
}

/// The settings that the label of a place says already.
const KEYS: [&str; 3] = ["encoding", "unit", "window"];

/// Points of every class, all on the same axes.
#[derive(Debug)]
pub struct Curve {
    title: String,
    caption: String,
    sizes: Vec<usize>,
    has_sentences: bool,
    low: f64,
    high: f64,
    panels: Vec<Panel>,
}

#[derive(Debug)]
struct Panel {
    title: String,
    class: Option<WordClass>,
    points: Vec<Point>,
}

#[derive(Debug)]
struct Point {
    place: Place,
    accuracy: Accuracy,
    deviation: Option<f64>,
    /// Whether no other size of its encoding is better.
    is_peak: bool,
}

impl Encoding {
    fn code(self) -> &'static str {
        ["positions", "bag"][self as usize]
    }

    fn label(self) -> &'static str {
        ["one dictionary per position", "bag of words"][self as usize]
    }

    /// The same within a sentence.
    fn phrase(self) -> &'static str {
        ["one dictionary per position", "a bag of words"][self as usize]
    }
}

impl Place {
    /// The place that a row's id names: `goldilocks/positions/5`, `goldilocks/bag/sentences`.
    pub fn from_id(id: &str) -> Option<Self> {
        let (encoding, size) = id.strip_prefix("goldilocks/")?.split_once('/')?;
        let encoding = ENCODINGS.into_iter().find(|known| known.code() == encoding)?;
        let size = if size == "sentences" { None } else { Some(size.parse().ok()?) };
        Some(Self { encoding, size })
    }

    /// Returns whether the label of a place says a setting already.
    pub fn says(key: &str) -> bool {
        KEYS.contains(&key)
    }

    /// What its row is called.
    pub fn label(self) -> String {
        let size = self.size.map_or("whole sentences".to_owned(), |size| format!("b = {size}"));
        format!("{size}, {}", self.encoding.code())
    }

    /// Rows of one encoding are together, whole sentences last.
    pub fn block(self) -> usize {
        if self.size.is_some() { self.encoding as usize } else { ENCODINGS.len() }
    }
}

impl Curve {
    /// The curve of a table whose rows differ in the size of their windows; none for other tables.
    pub fn of(table: &Table) -> Option<Self> {
        let rows: Vec<(Place, &TableRow)> = table
            .rows
            .iter()
            .filter_map(|row| Some((Place::from_id(row.paper_row.as_deref()?)?, row)))
            .collect();
        let mut sizes: Vec<usize> = rows.iter().filter_map(|(place, _)| place.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.len() < 2 {
            return None;
        }
        let panel = |column: usize| {
            let point = |(place, row): &(Place, &TableRow)| point(*place, &row.cells[column]);
            let mut points: Vec<Point> = rows.iter().filter_map(point).collect();
            for encoding in ENCODINGS {
                mark_peak(&mut points, encoding);
            }
            Panel { title: table.heading(column), class: table.columns()[column].class, points }
        };
        let panels: Vec<Panel> = (0..table.columns().len()).map(panel).collect();
        let accuracies = || panels.iter().flat_map(|panel| &panel.points).map(|p| p.accuracy);
        let tenth = |value: f64, round: fn(f64) -> f64| round(value * 10.0) / 10.0;
        Some(Self {
            title: table.title(),
            caption: tables::made(&table.provenance, &table.seeds),
            has_sentences: rows.iter().any(|(place, _)| place.size.is_none()),
            sizes,
            low: tenth(accuracies().map(|a| a.low).fold(1.0, f64::min), f64::floor),
            high: tenth(accuracies().map(|a| a.high).fold(0.0, f64::max), f64::ceil),
            panels,
        })
    }

    /// The best size of each class in words, per encoding, and the sizes that cannot be told from it.
    pub fn finding(&self) -> Vec<String> {
        let sentences = |encoding: Encoding| -> Vec<String> {
            let peaks: Vec<Peak> =
                self.panels.iter().filter_map(|panel| panel.peak(encoding)).collect();
            if peaks.is_empty() {
                return Vec::new();
            }
            let best: Vec<String> = peaks.iter().map(Peak::in_words).collect();
            let mut sentences = vec![format!(
                "With {}, windows are best at {}.",
                encoding.phrase(),
                best.join(", ")
            )];
            let ranges: Vec<String> = peaks.iter().filter_map(Peak::range_in_words).collect();
            if !ranges.is_empty() {
                let ranges = ranges.join(", ");
                sentences.push(format!("Within the 95 % interval of the best: {ranges}."));
            }
            sentences
        };
        ENCODINGS.into_iter().flat_map(sentences).collect()
    }
}

/// The best size of a class, and the sizes whose accuracy is within its interval.
struct Peak {
    class: &'static str,
    size: usize,
    accuracy: f64,
    level: Vec<usize>,
}

impl Peak {
    /// `3 words for names (.531)`.
    fn in_words(&self) -> String {
        let Self { class, size, accuracy, .. } = self;
        let words = if *size == 1 { "word" } else { "words" };
        format!("{size}\u{a0}{words} for {class} ({})", number::share(*accuracy))
    }

    /// `names 3 to 7`; nothing where no other size is as good.
    fn range_in_words(&self) -> Option<String> {
        let [first, .., last] = self.level[..] else { return None };
        Some(format!("{} {first}\u{a0}to\u{a0}{last}", self.class))
    }
}

impl Panel {
    fn peak(&self, encoding: Encoding) -> Option<Peak> {
        let sized = || {
            self.points.iter().filter(|p| p.place.encoding == encoding && p.place.size.is_some())
        };
        let peak = sized().find(|point| point.is_peak)?;
        let is_level = |point: &&Point| point.accuracy.accuracy >= peak.accuracy.low;
        let mut level: Vec<usize> = sized().filter(is_level).filter_map(|p| p.place.size).collect();
        level.sort_unstable();
        let class = self.class.map_or("questions", number::class_in_words);
        Some(Peak { class, size: peak.place.size?, accuracy: peak.accuracy.accuracy, level })
    }
}

fn point(place: Place, figures: &Figures) -> Option<Point> {
    let deviation = figures.spread.and_then(|spread| spread.deviation);
    Some(Point { place, accuracy: figures.ours?, deviation, is_peak: false })
}

/// Of equals the smallest window.
fn mark_peak(points: &mut [Point], encoding: Encoding) {
    let sizes =
        points.iter_mut().filter(|p| p.place.encoding == encoding && p.place.size.is_some());
    let key = |point: &Point| (point.accuracy.accuracy, std::cmp::Reverse(point.place.size));
    let best = sizes.max_by(|a, b| key(a).partial_cmp(&key(b)).expect("accuracies are numbers"));
    if let Some(best) = best {
        best.is_peak = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::TableKind;
    use crate::{Report, fixture};

    #[test]
    fn a_row_is_placed_by_its_id() {
        let label = |id: &str| Place::from_id(id).map(Place::label);
        assert_eq!(label("goldilocks/positions/5").unwrap(), "b = 5, positions");
        assert_eq!(label("goldilocks/bag/31").unwrap(), "b = 31, bag");
        assert_eq!(label("goldilocks/bag/sentences").unwrap(), "whole sentences, bag");
        for other in
            ["memnn-window-selfsup", "goldilocks/bags/3", "goldilocks/bag/", "window/bag/3"]
        {
            assert_eq!(label(other), None);
        }
    }

    /// A table of the fixture's questions with a row per place; each is right on `n_right` of four questions.
    fn curve(rows: &[(&str, usize)]) -> Option<Curve> {
        let set = fixture::valid_set();
        let row = |(place, n_right): &(&str, usize)| {
            let mut row = fixture::row(&set, "memnn-window-selfsup", |index| index % 4 < *n_right);
            row.paper_row = Some(format!("goldilocks/{place}"));
            row
        };
        let rows = rows.iter().map(row).collect();
        let report = Report { rows, tables: vec![TableKind::Goldilocks], ..fixture::report(&set) };
        Curve::of(&Table::of(&report, TableKind::Goldilocks).unwrap())
    }

    #[test]
    fn the_peak_is_the_smallest_of_the_best_sizes_and_never_a_sentence() {
        let curve = curve(&[
            ("positions/1", 0),
            ("positions/3", 2),
            ("positions/5", 2),
            ("bag/3", 1),
            ("bag/sentences", 4),
        ])
        .unwrap();
        let peaks: Vec<Vec<Option<usize>>> = curve
            .panels
            .iter()
            .map(|panel| panel.points.iter().filter(|p| p.is_peak).map(|p| p.place.size).collect())
            .collect();
        // Named entities are the questions 0 and 4, so the first rows are level there.
        assert_eq!(peaks[0], [Some(3), Some(3)]);
        assert_eq!(curve.sizes, [1, 3, 5]);
        let finding = curve.finding();
        let best = "With one dictionary per position, windows are best at 3\u{a0}words for names (1.000), ";
        assert!(finding[0].starts_with(best), "{finding:?}");
        // Two questions: 1 has the interval .342 to 1, which holds its equal.
        let range = "Within the 95 % interval of the best: names 3\u{a0}to\u{a0}5";
        assert!(finding[1].starts_with(range), "{finding:?}");
        assert!(finding[2].starts_with("With a bag of words, windows are best at 3\u{a0}words"));
        assert!(curve.has_sentences);
        let svg = curve.drawing().wide;
        assert_eq!(svg.matches("class=\"peak\"").count(), 2 * 4);
        assert_eq!(svg.matches("class=\"panel\"").count(), 4);
        assert_eq!(curve.drawing().narrow.len(), 4);
    }

    #[test]
    fn best_sizes_are_written_once_within_their_panel_and_below_its_title() {
        let labels = |rows: &[(&str, usize)]| -> Vec<String> {
            let svg = curve(rows).unwrap().drawing().narrow[0].clone();
            svg.split("class=\"peak-label\" ").skip(1).map(str::to_owned).collect()
        };
        // Both lines are best at the same size, with an interval up to the edge.
        let once = labels(&[("positions/1", 0), ("positions/3", 4), ("bag/1", 0), ("bag/3", 4)]);
        assert_eq!(once.len(), 1, "{once:?}");
        assert!(once[0].contains("y=\"36.0\"") && once[0].contains(">b = 3<"), "{once:?}");
        // The smallest size is at the left edge: its label stays within the panel.
        let apart = labels(&[("positions/1", 0), ("positions/3", 2), ("bag/1", 4), ("bag/3", 0)]);
        assert_eq!(apart.len(), 2, "{apart:?}");
        assert!(apart.iter().any(|label| label.starts_with("x=\"53.0\"")), "{apart:?}");
    }

    #[test]
    fn one_size_is_no_curve() {
        assert!(curve(&[("positions/5", 1), ("none", 1)]).is_none());
    }

    #[test]
    fn the_file_brings_its_own_style_and_ground() {
        let file = curve(&[("positions/1", 1), ("positions/3", 2)]).unwrap().file();
        assert!(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "));
        assert!(
            file.contains("<style>") && file.contains("class=\"paper\"") && file.contains("--ink")
        );
    }

    #[test]
    fn latex_has_a_plot_per_class_with_its_bars() {
        let latex =
            curve(&[("positions/1", 1), ("positions/3", 2), ("bag/sentences", 1)]).unwrap().latex();
        assert_eq!(latex.matches("\\nextgroupplot").count(), 4);
        assert_eq!(latex.matches("\\addplot").count(), 8);
        // Two of two right: Wilson's interval is .3424 to 1.
        assert!(latex.contains("(1,1.0000) += (0,0.0000) -= (0,0.6576)"), "{latex}");
        assert!(latex.contains("xticklabels={1,3,sentence}"), "{latex}");
    }
}
