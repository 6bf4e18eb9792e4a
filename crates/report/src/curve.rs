//! The Goldilocks curve (§5): accuracy against the size of a window, one panel a word class → SVG, LaTeX.
//!
//! The paper says that windows are neither too small nor too large and prints no figures for it. Ours are drawn with
//! two intervals: the 95 % interval over questions (thin) and the standard deviation over seeds (thick). Sizes stand
//! on a logarithmic axis; whole sentences, which have no size, stand apart at its right.

use std::fmt::Write;

use evaluation::Accuracy;

use crate::chart::{Shape, escape, shape};
use crate::table::{Figures, Table, TableRow};
use crate::{layout, number, page};

/// How the words of a window are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    /// One dictionary per position.
    Positions,
    /// A bag of words.
    Bag,
}

const ENCODINGS: [Encoding; 2] = [Encoding::Positions, Encoding::Bag];

/// Where a row stands on the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    encoding: Encoding,
    /// b; none for whole sentences.
    size: Option<usize>,
}

/// The settings that say where a row stands.
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
    fn label(self) -> &'static str {
        ["one dictionary per position", "bag of words"][self as usize]
    }

    fn shape(self) -> Shape {
        [Shape::Disc, Shape::Square][self as usize]
    }
}

impl Place {
    /// Where a row with these settings stands, if it is one of the curve's.
    pub fn of(settings: &[(String, String)]) -> Option<Self> {
        let value = |key: &str| settings.iter().rfind(|(k, _)| k == key).map(|(_, v)| v.as_str());
        let encoding =
            if value("encoding") == Some("bag") { Encoding::Bag } else { Encoding::Positions };
        let is_sentence = value("unit") == Some("sentences");
        let size = value("window").and_then(|size| size.parse().ok());
        match (is_sentence, size) {
            (true, _) => Some(Self { encoding, size: None }),
            (false, Some(_)) => Some(Self { encoding, size }),
            (false, None) => None,
        }
    }

    /// Whether a setting is told by the label.
    pub fn tells(key: &str) -> bool {
        KEYS.contains(&key)
    }

    /// What its row is called.
    pub fn label(self) -> String {
        let size = self.size.map_or("whole sentences".to_owned(), |size| format!("b = {size}"));
        format!("{size}, {}", self.encoding.label())
    }

    /// Rows of one encoding stand together, whole sentences last.
    pub fn block(self) -> usize {
        if self.size.is_some() { self.encoding as usize } else { ENCODINGS.len() }
    }
}

impl Curve {
    /// The curve of a table whose rows differ in the size of their windows; none for other tables.
    pub fn of(table: &Table) -> Option<Self> {
        let rows: Vec<(Place, &TableRow)> =
            table.rows.iter().filter_map(|row| Some((Place::of(&row.settings)?, row))).collect();
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
            Panel { title: table.heading(column), points }
        };
        let panels: Vec<Panel> = (0..table.columns().len()).map(panel).collect();
        let accuracies = || panels.iter().flat_map(|panel| &panel.points).map(|p| p.accuracy);
        let tenth = |value: f64, round: fn(f64) -> f64| round(value * 10.0) / 10.0;
        Some(Self {
            title: table.kind.published().title.to_owned(),
            caption: layout::made(&table.provenance, &table.seeds),
            has_sentences: rows.iter().any(|(place, _)| place.size.is_none()),
            sizes,
            low: tenth(accuracies().map(|a| a.low).fold(1.0, f64::min), f64::floor),
            high: tenth(accuracies().map(|a| a.high).fold(0.0, f64::max), f64::ceil),
            panels,
        })
    }

    /// What it shows, in words.
    pub fn verdict(&self) -> Vec<String> {
        let sentence = |encoding: Encoding| {
            let peak = |panel: &Panel| {
                let peaks =
                    panel.points.iter().filter(|p| p.is_peak && p.place.encoding == encoding);
                let peak = peaks.into_iter().next()?;
                let share = number::share(peak.accuracy.accuracy);
                let class = panel.title.split(',').next().unwrap_or_default();
                Some(format!("{class} at b = {} ({share})", peak.place.size?))
            };
            let peaks: Vec<String> = self.panels.iter().filter_map(peak).collect();
            (!peaks.is_empty())
                .then(|| format!("Best with {}: {}.", encoding.label(), peaks.join(", ")))
        };
        ENCODINGS.into_iter().filter_map(sentence).collect()
    }

    /// All panels side by side.
    pub fn wide(&self) -> String {
        self.svg(&self.panels, "wide", "")
    }

    /// One drawing a panel, for narrow screens.
    pub fn narrow(&self) -> Vec<String> {
        let draw = |(place, panel): (usize, &Panel)| {
            self.svg(std::slice::from_ref(panel), &format!("narrow-{place}"), "")
        };
        self.panels.iter().enumerate().map(draw).collect()
    }

    /// The names of the lines and intervals, as a list in HTML.
    pub fn legend(&self) -> String {
        let item = |(drawing, label): (String, &str)| {
            format!(
                "<li><svg width=\"30\" height=\"14\" viewBox=\"0 0 30 14\" aria-hidden=\"true\">{drawing}</svg>{label}</li>"
            )
        };
        let items: String = legend().into_iter().map(item).collect();
        format!("<ul class=\"legend\">{items}</ul>")
    }

    /// A drawing as a file of its own.
    pub fn file(&self) -> String {
        let mut legend_row = String::new();
        let mut x = LEFT;
        for (drawing, label) in legend() {
            let text = escape(label);
            let _ = write!(
                legend_row,
                "<g transform=\"translate({x:.0} 8)\">{drawing}<text class=\"tick\" x=\"36\" y=\"11\">{text}</text></g>"
            );
            x += 58.0 + 5.9 * label.chars().count() as f64;
        }
        page::stand_alone(&self.svg(&self.panels, "file", &legend_row))
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

/// What the lines and intervals are: a drawing of 30 by 14, and a label.
fn legend() -> Vec<(String, &'static str)> {
    let line = |encoding: Encoding| {
        let mark = shape(encoding.shape(), 15.0, 7.0);
        let class = encoding as usize;
        (
            format!("<g class=\"s{class}\"><path class=\"curve\" d=\"M2 7H28\"/>{mark}</g>"),
            encoding.label(),
        )
    };
    let mut items: Vec<(String, &str)> = ENCODINGS.into_iter().map(line).collect();
    items.extend([
        (
            "<g class=\"s0\"><path class=\"interval\" d=\"M15 0V14\"/></g>".to_owned(),
            "95 % interval over questions",
        ),
        (
            "<g class=\"s0\"><path class=\"deviation\" d=\"M15 2V12\"/></g>".to_owned(),
            "± deviation over seeds",
        ),
        ("<circle class=\"peak\" cx=\"15\" cy=\"7\" r=\"6\"/>".to_owned(), "best size"),
    ]);
    items
}

const LEFT: f64 = 34.0;
const PANEL: f64 = 236.0;
const GAP: f64 = 28.0;
const TOP: f64 = 30.0;
const HEIGHT: f64 = 230.0;
/// Room at the right of the sizes for whole sentences.
const APART: f64 = 44.0;
/// How far the two lines stand apart, so that their intervals do not hide each other.
const APART_LINES: f64 = 3.0;

impl Curve {
    fn svg(&self, panels: &[Panel], variant: &str, legend: &str) -> String {
        let id = format!("curve-{variant}");
        let is_file = !legend.is_empty();
        let down = if is_file { 34.0 } else { 0.0 };
        let width = LEFT + panels.len() as f64 * (PANEL + GAP) - GAP + 6.0;
        let height = down + TOP + HEIGHT + 44.0 + if is_file { 20.0 } else { 0.0 };
        let mut svg = format!(
            "<svg viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-labelledby=\"{id}-title {id}-description\">\
             <title id=\"{id}-title\">{}</title><desc id=\"{id}-description\">Accuracy against the size of the window, \
             one panel a word class, with intervals. {}</desc>",
            escape(&self.title),
            escape(&self.verdict().join(" ")),
        );
        if is_file {
            let caption = escape(&self.caption);
            let _ = write!(
                svg,
                "<rect class=\"paper\" width=\"{width:.0}\" height=\"{height:.0}\"/>{legend}\
                 <text class=\"tick\" x=\"{LEFT}\" y=\"{:.0}\">{caption}</text>",
                height - 8.0
            );
        }
        let _ = write!(svg, "<g transform=\"translate(0 {down:.0})\">");
        for (place, panel) in panels.iter().enumerate() {
            let left = LEFT + place as f64 * (PANEL + GAP);
            self.axes(&mut svg, panel, left, place == 0);
            for encoding in ENCODINGS {
                self.line(&mut svg, panel, encoding, left);
            }
        }
        svg + "</g></svg>"
    }

    fn x(&self, size: Option<usize>, left: f64) -> f64 {
        let room = PANEL - 20.0 - if self.has_sentences { APART } else { 0.0 };
        let log = |size: usize| (size as f64).ln();
        let (first, last) = (log(self.sizes[0]), log(self.sizes[self.sizes.len() - 1]));
        match size {
            Some(size) => left + 10.0 + (log(size) - first) / (last - first) * room,
            None => left + PANEL - 18.0,
        }
    }

    fn y(&self, share: f64) -> f64 {
        TOP + HEIGHT * (self.high - share) / (self.high - self.low)
    }

    fn axes(&self, svg: &mut String, panel: &Panel, left: f64, is_first: bool) {
        let (right, bottom) = (left + PANEL, TOP + HEIGHT);
        let _ = write!(
            svg,
            "<text class=\"panel\" x=\"{left:.0}\" y=\"13\">{}</text>",
            escape(&panel.title)
        );
        let steps = ((self.high - self.low) * 10.0).round() as usize;
        for step in 0..=steps {
            let share = self.low + step as f64 / 10.0;
            let y = self.y(share);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{left:.0} {y:.1}H{right:.0}\"/>");
            if is_first {
                let text = format!("{share:.1}");
                let text = text.trim_start_matches('0');
                let (x, y) = (left - 6.0, y + 4.0);
                let _ = write!(
                    svg,
                    "<text class=\"tick\" x=\"{x:.0}\" y=\"{y:.1}\" text-anchor=\"end\">{text}</text>"
                );
            }
        }
        let mut tick = |x: f64, text: &str| {
            let y = bottom + 16.0;
            let _ = write!(svg, "<path class=\"grid\" d=\"M{x:.1} {bottom}v4\"/>");
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{x:.1}\" y=\"{y:.0}\" text-anchor=\"middle\">{text}</text>"
            );
        };
        let mut free = f64::NEG_INFINITY;
        for &size in &self.sizes {
            // Sizes that stand too close have a tick and no figure.
            let x = self.x(Some(size), left);
            let text = size.to_string();
            let half = 3.5 * text.len() as f64;
            let is_free = x - half > free;
            tick(x, if is_free { &text } else { "" });
            free = if is_free { x + half + 2.0 } else { free };
        }
        if self.has_sentences {
            let x = self.x(None, left);
            tick(x, "sentence");
            let x = x - APART / 2.0 - 3.0;
            let _ = write!(
                svg,
                "<path class=\"grid\" stroke-dasharray=\"2 3\" d=\"M{x:.1} {TOP}V{bottom}\"/>"
            );
        }
        let (x, y) = (left + (PANEL - APART) / 2.0, bottom + 34.0);
        let _ = write!(
            svg,
            "<text class=\"tick\" x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"middle\">words in a window, b</text>"
        );
    }

    fn line(&self, svg: &mut String, panel: &Panel, encoding: Encoding, left: f64) {
        let mut points: Vec<&Point> =
            panel.points.iter().filter(|point| point.place.encoding == encoding).collect();
        points.sort_by_key(|point| point.place.size);
        let beside = APART_LINES * (encoding as usize as f64 - 0.5);
        let at = |point: &Point| {
            (self.x(point.place.size, left) + beside, self.y(point.accuracy.accuracy))
        };
        let sized = points.iter().filter(|point| point.place.size.is_some());
        let path: Vec<String> =
            sized.map(|point| at(point)).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ = write!(
            svg,
            "<g class=\"s{}\"><path class=\"curve\" d=\"M{}\"/>",
            encoding as usize,
            path.join("L")
        );
        for point in &points {
            let (x, y) = at(point);
            let Accuracy { accuracy, low, high, n } = point.accuracy;
            let deviation =
                point.deviation.map_or(String::new(), |d| format!(" ±{}", number::share(d)));
            let tip = format!(
                "{}: {} ({}){deviation}, n = {}",
                point.place.label(),
                number::share(accuracy),
                number::interval(&point.accuracy),
                number::count(n)
            );
            let _ = write!(svg, "<g><title>{}</title>", escape(&tip));
            let _ = write!(
                svg,
                "<path class=\"interval\" d=\"M{x:.1} {:.1}V{:.1}\"/>",
                self.y(low),
                self.y(high)
            );
            if let Some(deviation) = point.deviation {
                let (low, high) = (self.y(accuracy - deviation), self.y(accuracy + deviation));
                let _ = write!(svg, "<path class=\"deviation\" d=\"M{x:.1} {low:.1}V{high:.1}\"/>");
            }
            let _ = write!(svg, "{}</g>", shape(encoding.shape(), x, y));
        }
        svg.push_str("</g>");
        if let Some(peak) = points.iter().find(|point| point.is_peak) {
            self.peak(svg, panel, peak, at(peak));
        }
    }

    /// A ring and the size: above the higher of the two lines, below the lower.
    fn peak(&self, svg: &mut String, panel: &Panel, peak: &Point, (x, y): (f64, f64)) {
        let others =
            panel.points.iter().filter(|p| p.is_peak && p.place.encoding != peak.place.encoding);
        let is_higher =
            others.into_iter().all(|other| other.accuracy.accuracy <= peak.accuracy.accuracy);
        let label_y = match is_higher {
            true => self.y(peak.accuracy.high) - 5.0,
            false => self.y(peak.accuracy.low) + 13.0,
        };
        let label = peak.place.size.map_or(String::new(), |size| format!("b = {size}"));
        let _ = write!(
            svg,
            "<circle class=\"peak\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"/>\
             <text class=\"peak-label\" x=\"{x:.1}\" y=\"{label_y:.1}\" text-anchor=\"middle\">{label}</text>"
        );
    }

    /// The same picture for LaTeX.
    pub fn latex(&self) -> String {
        // Whole sentences stand one step beyond the largest window.
        let largest = self.sizes[self.sizes.len() - 1];
        let apart = largest as f64 * 2.0;
        let mut ticks: Vec<String> = self.sizes.iter().map(usize::to_string).collect();
        let mut labels = ticks.clone();
        if self.has_sentences {
            ticks.push(format!("{apart:.0}"));
            labels.push("sentence".to_owned());
        }
        let mut lines = vec![
            "% Needs \\usepackage{pgfplots} and \\usepgfplotslibrary{groupplots}.".to_owned(),
            "\\begin{tikzpicture}".to_owned(),
            format!(
                "\\begin{{groupplot}}[group style={{group size={} by 1, y descriptions at=edge left, horizontal sep=8pt}}, \
                 width=.3\\linewidth, height=5cm, xmode=log, ymin={:.1}, ymax={:.1}, xtick={{{}}}, xticklabels={{{}}}, \
                 xlabel={{$b$}}, tick label style={{font=\\tiny}}, title style={{font=\\small}}, legend style={{font=\\tiny}}]",
                self.panels.len(),
                self.low,
                self.high,
                ticks.join(","),
                labels.join(","),
            ),
        ];
        for panel in &self.panels {
            let title = panel.title.split(',').next().unwrap_or_default();
            lines.push(format!("\\nextgroupplot[title={{{title}}}]"));
            for encoding in ENCODINGS {
                let style = ["mark=*, solid", "mark=square*, dashed"][encoding as usize];
                let options = "error bars/.cd, y dir=both, y explicit";
                let of = |is_sized: bool| -> Vec<String> {
                    let mut points: Vec<&Point> = panel
                        .points
                        .iter()
                        .filter(|p| {
                            p.place.encoding == encoding && p.place.size.is_some() == is_sized
                        })
                        .collect();
                    points.sort_by_key(|point| point.place.size);
                    points.into_iter().map(|point| coordinate(point, apart)).collect()
                };
                for (points, only_marks) in [(of(true), ""), (of(false), ", only marks")] {
                    if !points.is_empty() {
                        let points = points.join(" ");
                        lines.push(format!(
                            "\\addplot+[{style}{only_marks}, {options}] coordinates {{{points}}};"
                        ));
                    }
                }
            }
        }
        lines.extend(["\\end{groupplot}".to_owned(), "\\end{tikzpicture}".to_owned()]);
        let [positions, bag] = ENCODINGS.map(Encoding::label);
        lines.push(format!(
            "% Solid: {positions}. Dashed: {bag}. Bars: 95 % intervals over questions."
        ));
        lines.join("\n") + "\n"
    }
}

fn coordinate(point: &Point, apart: f64) -> String {
    let Accuracy { accuracy, low, high, .. } = point.accuracy;
    let x = point.place.size.map_or(apart, |size| size as f64);
    format!("({x:.0},{accuracy:.4}) += (0,{:.4}) -= (0,{:.4})", high - accuracy, accuracy - low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::TableKind;
    use crate::{Report, fixture};

    fn settings(texts: &[&str]) -> Vec<(String, String)> {
        let pair =
            |text: &&str| text.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())).unwrap();
        texts.iter().map(pair).collect()
    }

    #[test]
    fn a_row_stands_where_its_settings_say() {
        let label = |texts: &[&str]| Place::of(&settings(texts)).map(Place::label);
        assert_eq!(label(&["dim=100", "window=5"]).unwrap(), "b = 5, one dictionary per position");
        assert_eq!(label(&["encoding=bag", "window=31"]).unwrap(), "b = 31, bag of words");
        assert_eq!(
            label(&["encoding=bag", "unit=sentences", "window=5"]).unwrap(),
            "whole sentences, bag of words"
        );
        assert_eq!(label(&["dim=100"]), None);
    }

    /// A table of the fixture's questions with a row a size; each is right on so many of the eight questions.
    fn curve(rows: &[(&[&str], usize)]) -> Option<Curve> {
        let set = fixture::valid_set();
        let row = |(texts, n_right): &(&[&str], usize)| {
            let mut row = fixture::row(&set, "memnn-window-selfsup", |index| index % 4 < *n_right);
            row.settings = settings(texts);
            row
        };
        let rows = rows.iter().map(row).collect();
        let report = Report { rows, tables: vec![TableKind::Goldilocks], ..fixture::report(&set) };
        Curve::of(&Table::of(&report, TableKind::Goldilocks).unwrap())
    }

    #[test]
    fn the_peak_is_the_smallest_of_the_best_sizes_and_never_a_sentence() {
        let curve = curve(&[
            (&["window=1"], 0),
            (&["window=3"], 2),
            (&["window=5"], 2),
            (&["encoding=bag", "window=3"], 1),
            (&["encoding=bag", "unit=sentences"], 4),
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
        assert!(curve.has_sentences);
        let svg = curve.wide();
        assert_eq!(svg.matches("class=\"peak\"").count(), 2 * 4);
        assert_eq!(svg.matches("class=\"panel\"").count(), 4);
        assert_eq!(curve.narrow().len(), 4);
    }

    #[test]
    fn one_size_is_no_curve() {
        assert!(curve(&[(&["window=5"], 1), (&["dim=3"], 1)]).is_none());
    }

    #[test]
    fn the_file_brings_its_own_style_and_ground() {
        let file = curve(&[(&["window=1"], 1), (&["window=3"], 2)]).unwrap().file();
        assert!(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "));
        assert!(
            file.contains("<style>") && file.contains("class=\"paper\"") && file.contains("--ink")
        );
    }

    #[test]
    fn latex_has_a_plot_a_class_with_its_bars() {
        let latex = curve(&[
            (&["window=1"], 1),
            (&["window=3"], 2),
            (&["encoding=bag", "unit=sentences"], 1),
        ])
        .unwrap()
        .latex();
        assert_eq!(latex.matches("\\nextgroupplot").count(), 4);
        assert_eq!(latex.matches("\\addplot").count(), 8);
        // Two of two right: Wilson's interval is .3424 to 1.
        assert!(latex.contains("(1,1.0000) += (0,0.0000) -= (0,0.6576)"), "{latex}");
        assert!(latex.contains("xticklabels={1,3,sentence}"), "{latex}");
    }
}
