//! The one kind of picture in a report: small multiples of marks with intervals → SVG.
//!
//! Rows are methods, books or bins; a panel is a word class; all panels have the same axis. A chart is
//! drawn twice, with the panels side by side and one below the other, and the style sheet shows the
//! one that fits the screen. Colours come from the style sheet too, so that they follow light and dark.

use std::fmt::Write;

use super::{Drawing, escape};
use crate::formats::wrap;

/// Rows × panels of marks.
#[derive(Debug)]
pub struct Chart {
    /// What the ids of its parts begin with; unique in the page.
    pub id: &'static str,
    /// What it shows, for those who do not see it.
    pub title: String,
    /// What is to be seen, for those who do not see it.
    pub description: String,
    /// The axis that all panels share.
    pub axis: Axis,
    /// The kinds of marks, for the legend.
    pub series: Vec<Series>,
    /// What the lines across a panel are called.
    pub rule: Option<String>,
    /// The labels at the left, from top to bottom.
    pub rows: Vec<ChartRow>,
    /// The small multiples, from left to right.
    pub panels: Vec<Panel>,
}

/// The values from left to right.
#[derive(Debug)]
pub struct Axis {
    /// The value at the left edge.
    pub low: f64,
    /// The value at the right edge.
    pub high: f64,
    /// Positions of the lines and their figures.
    pub ticks: Vec<(f64, String)>,
}

/// What one kind of mark means.
#[derive(Debug)]
pub struct Series {
    /// The name in the legend.
    pub label: String,
    /// Series differ in shape as well as in colour.
    pub shape: Shape,
}

/// The shape of a mark: ours are filled, the paper's are hollow.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Disc,
    Ring,
    Square,
    Triangle,
    Diamond,
}

/// A label at the left of all panels.
#[derive(Debug)]
pub struct ChartRow {
    /// A method, a book, a bin.
    pub label: String,
    /// Whether it is set apart from the row above.
    pub starts_block: bool,
}

/// One of the small multiples.
#[derive(Debug, Default)]
pub struct Panel {
    /// The heading: a word class, usually.
    pub title: String,
    /// The value of a line across all rows.
    pub rule: Option<f64>,
    /// Figures of any row and series.
    pub marks: Vec<Mark>,
    /// The number of questions of each row, printed at the right; empty where all rows have the same.
    pub counts: Vec<usize>,
}

/// A figure with its interval.
#[derive(Debug)]
pub struct Mark {
    /// The index of its row.
    pub row: usize,
    /// The index of its series.
    pub series: usize,
    /// The value that the mark is drawn at.
    pub at: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// What a pointer shows.
    pub tip: String,
}

/// Measures of a drawing, in units of the view box.
struct Frame {
    label_width: f64,
    panel_width: f64,
    label_characters: usize,
    /// Whether headings begin above the labels, where a panel is too narrow for them.
    has_wide_titles: bool,
}

/// The width of a page's column on a desk, and of a telephone: the style sheet never draws them smaller.
const WIDE: f64 = 1060.0;
const NARROW: f64 = 340.0;
const PANEL_GAP: f64 = 32.0;
const MARGIN: f64 = 8.0;
const TOP: f64 = 32.0;
/// A chart of more rows is taller than a screen: the figures of its axis stand above it too.
const TALL: usize = 12;
const LANE: f64 = 7.0;
const TEXT_LINE: f64 = 15.0;
/// Room for the number of questions at the right of a panel.
const COUNT: f64 = 34.0;

impl Axis {
    /// Shares from 0 to 1.
    pub fn shares() -> Self {
        let ticks = [(0.0, "0"), (0.25, ""), (0.5, ".5"), (0.75, ""), (1.0, "1")];
        Self { low: 0.0, high: 1.0, ticks: ticks.map(|(at, text)| (at, text.to_owned())).to_vec() }
    }

    /// Differences about 0, as wide as they need.
    pub fn differences(values: impl Iterator<Item = f64>) -> Self {
        let reach = values.map(f64::abs).fold(0.1, f64::max);
        let tenths = (reach * 10.0).ceil();
        let reach = tenths / 10.0;
        let text = |sign: char| {
            format!("{sign}{}", crate::number::share(reach).trim_end_matches(['0', '.']))
        };
        let ticks = vec![(-reach, text('−')), (0.0, "0".to_owned()), (reach, text('+'))];
        Self { low: -reach, high: reach, ticks }
    }

    fn place(&self, value: f64, left: f64, width: f64) -> f64 {
        left + (value - self.low) / (self.high - self.low) * width
    }
}

impl Chart {
    /// The chart for wide and narrow screens, with its legend.
    pub fn drawing(&self) -> Drawing {
        Drawing { wide: self.wide(), narrow: self.narrow(), legend: self.legend() }
    }

    fn wide(&self) -> String {
        let n = self.panels.len() as f64;
        let label_width = 246.0;
        let panel_width = (WIDE - label_width - MARGIN - n * PANEL_GAP) / n;
        let frame =
            Frame { label_width, panel_width, label_characters: 34, has_wide_titles: false };
        self.draw(&self.panels, &frame, "wide")
    }

    fn narrow(&self) -> Vec<String> {
        let label_width = 158.0;
        let panel_width = NARROW - label_width - MARGIN - PANEL_GAP;
        let frame = Frame { label_width, panel_width, label_characters: 20, has_wide_titles: true };
        let draw = |(place, panel)| {
            self.draw(std::slice::from_ref(panel), &frame, &format!("narrow-{place}"))
        };
        self.panels.iter().enumerate().map(draw).collect()
    }

    fn legend(&self) -> String {
        let mut html = String::from("<ul class=\"legend\">");
        let mut item = |drawing: String, label: &str| {
            let label = escape(label);
            let _ = write!(
                html,
                "<li><svg width=\"30\" height=\"14\" viewBox=\"0 0 30 14\" aria-hidden=\"true\">{drawing}</svg>{label}</li>"
            );
        };
        for (place, series) in self.series.iter().enumerate() {
            let mark = shape(series.shape, 15.0, 7.0);
            item(
                format!("<g class=\"s{place}\"><path class=\"interval\" d=\"M3 7H27\"/>{mark}</g>"),
                &series.label,
            );
        }
        if let Some(rule) = &self.rule {
            item("<path class=\"rule\" d=\"M15 0V14\"/>".to_owned(), rule);
        }
        html + "</ul>"
    }

    fn draw(&self, panels: &[Panel], frame: &Frame, variant: &str) -> String {
        let id = format!("{}-{variant}", self.id);
        let labels: Vec<Vec<String>> =
            self.rows.iter().map(|row| wrap(&row.label, frame.label_characters)).collect();
        let centres = self.centres(&labels);
        let bottom =
            centres.last().map_or(self.top(), |(centre, height)| centre + height / 2.0 + 2.0);
        let n = panels.len() as f64;
        let width = frame.label_width + n * (frame.panel_width + PANEL_GAP) + MARGIN;
        let height = bottom + 22.0;
        let mut svg = format!(
            "<svg viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-labelledby=\"{id}-title {id}-description\">\
             <title id=\"{id}-title\">{}</title><desc id=\"{id}-description\">{}</desc>",
            escape(&self.title),
            escape(&self.description),
        );
        let right = width - MARGIN;
        for (lines, (centre, _)) in labels.iter().zip(&centres) {
            let _ = write!(
                svg,
                "<path class=\"guide\" d=\"M{} {centre:.1}H{right:.1}\"/>",
                frame.label_width
            );
            let first = centre + 4.0 - (lines.len() - 1) as f64 * TEXT_LINE / 2.0;
            for (place, line) in lines.iter().enumerate() {
                let y = first + place as f64 * TEXT_LINE;
                let _ = write!(svg, "<text x=\"0\" y=\"{y:.1}\">{}</text>", escape(line));
            }
        }
        for (place, panel) in panels.iter().enumerate() {
            let left = frame.label_width
                + PANEL_GAP / 2.0
                + place as f64 * (frame.panel_width + PANEL_GAP);
            let title_x = if frame.has_wide_titles { 0.0 } else { left };
            let _ = write!(
                svg,
                "<text class=\"panel\" x=\"{title_x:.1}\" y=\"13\">{}</text>",
                escape(&panel.title)
            );
            self.panel(&mut svg, panel, &centres, (left, frame.panel_width, bottom));
        }
        svg + "</svg>"
    }

    fn is_tall(&self) -> bool {
        self.rows.len() > TALL
    }

    /// Where the first row begins: below the headings, and the figures of the axis where they are there too.
    fn top(&self) -> f64 {
        if self.is_tall() { TOP + TEXT_LINE } else { TOP }
    }

    /// The middle of each row and its height.
    fn centres(&self, labels: &[Vec<String>]) -> Vec<(f64, f64)> {
        let marks = (self.series.len() as f64 * LANE + 9.0).max(20.0);
        let mut top = self.top();
        let centre = |(row, lines): (&ChartRow, &Vec<String>)| {
            if row.starts_block {
                top += 9.0;
            }
            let height = marks.max(lines.len() as f64 * TEXT_LINE + 6.0);
            top += height;
            (top - height / 2.0, height)
        };
        self.rows.iter().zip(labels).map(centre).collect()
    }

    fn panel(
        &self,
        svg: &mut String,
        panel: &Panel,
        centres: &[(f64, f64)],
        place: (f64, f64, f64),
    ) {
        let (left, width, bottom) = place;
        let right = left + width + PANEL_GAP / 2.0 - 4.0;
        let width = width - if panel.counts.is_empty() { 0.0 } else { COUNT };
        let x = |value: f64| self.axis.place(value, left, width);
        for ((centre, _), n) in centres.iter().zip(&panel.counts) {
            let (y, n) = (centre + 4.0, crate::number::count(*n));
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{right:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{n}</text>"
            );
        }
        if !panel.counts.is_empty() {
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{right:.1}\" y=\"13\" text-anchor=\"end\">n</text>"
            );
        }
        for (place, (at, text)) in self.axis.ticks.iter().enumerate() {
            let (at, below) = (x(*at), bottom + 15.0);
            // The outer figures stay within their panel, clear of its neighbours'.
            let anchor = match place {
                0 => "start",
                _ if place + 1 == self.axis.ticks.len() => "end",
                _ => "middle",
            };
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{at:.1} {}V{bottom:.1}\"/>",
                self.top() - 6.0
            );
            let above = self.is_tall().then_some(TOP - 1.0);
            for y in above.into_iter().chain([below]) {
                let _ = write!(
                    svg,
                    "<text class=\"tick\" x=\"{at:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
                );
            }
        }
        if let Some(rule) = panel.rule {
            let _ = write!(
                svg,
                "<path class=\"rule\" d=\"M{:.1} {}V{bottom:.1}\"/>",
                x(rule),
                self.top() - 6.0
            );
        }
        let middle = (self.series.len() as f64 - 1.0) / 2.0;
        for mark in &panel.marks {
            let y = centres[mark.row].0 + (mark.series as f64 - middle) * LANE;
            let _ = write!(
                svg,
                "<g class=\"s{}\"><title>{}</title><path class=\"interval\" d=\"M{:.1} {y:.1}H{:.1}\"/>{}</g>",
                mark.series,
                escape(&mark.tip),
                x(mark.low),
                x(mark.high),
                shape(self.series[mark.series].shape, x(mark.at), y),
            );
        }
    }
}

/// A mark centred on a point.
pub fn shape(shape: Shape, x: f64, y: f64) -> String {
    match shape {
        Shape::Disc => format!("<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>"),
        Shape::Ring => {
            format!("<circle class=\"mark hollow\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\"/>")
        }
        Shape::Square => path(x, y, "m-2.8-2.8h5.6v5.6h-5.6z"),
        Shape::Triangle => path(x, y, "m0-3.7l3.6 6.4h-7.2z"),
        Shape::Diamond => path(x, y, "m0-4l4 4l-4 4l-4-4z"),
    }
}

fn path(x: f64, y: f64, outline: &str) -> String {
    format!("<path class=\"mark\" d=\"M{x:.1} {y:.1}{outline}\"/>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tall_chart_has_the_figures_of_its_axis_at_both_ends() {
        let figures = |n_rows: usize| {
            let row = |index: usize| ChartRow { label: index.to_string(), starts_block: false };
            let chart = Chart {
                id: "chart",
                title: String::new(),
                description: String::new(),
                axis: Axis::shares(),
                series: vec![Series { label: String::new(), shape: Shape::Disc }],
                rule: None,
                rows: (0..n_rows).map(row).collect(),
                panels: vec![Panel::default()],
            };
            chart.drawing().wide.matches(">.5<").count()
        };
        assert_eq!([figures(TALL), figures(TALL + 1)], [1, 2]);
    }
}
