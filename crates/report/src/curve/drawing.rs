//! The Goldilocks curve as a picture: panels side by side, on the same axes.

use std::fmt::Write;

use evaluation::Accuracy;

use super::{Curve, ENCODINGS, Encoding, Panel, Point};
use crate::chart::{Shape, escape, shape};
use crate::{number, page};

const LEFT: f64 = 34.0;
const PANEL: f64 = 236.0;
const GAP: f64 = 28.0;
const TOP: f64 = 30.0;
const HEIGHT: f64 = 230.0;
/// Room at the right of the sizes for whole sentences.
const APART: f64 = 54.0;
/// How far apart the two lines are, so that their intervals do not hide each other.
const APART_LINES: f64 = 3.0;

impl Encoding {
    fn shape(self) -> Shape {
        [Shape::Disc, Shape::Square][self as usize]
    }
}

impl Curve {
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

    fn svg(&self, panels: &[Panel], variant: &str, legend: &str) -> String {
        let id = format!("curve-{variant}");
        let is_file = !legend.is_empty();
        let down = if is_file { 34.0 } else { 0.0 };
        let width = LEFT + panels.len() as f64 * (PANEL + GAP) - GAP + 10.0;
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
            None => left + PANEL - 24.0,
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
            // Sizes that are too close have a tick and no figure.
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
            let x = x - APART / 2.0 - 4.0;
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
        let shift = APART_LINES * (encoding as usize as f64 - 0.5);
        let at = |point: &Point| {
            (self.x(point.place.size, left) + shift, self.y(point.accuracy.accuracy))
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
        let label_y = if is_higher {
            self.y(peak.accuracy.high) - 5.0
        } else {
            self.y(peak.accuracy.low) + 13.0
        };
        let label = peak.place.size.map_or(String::new(), |size| format!("b = {size}"));
        let _ = write!(
            svg,
            "<circle class=\"peak\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"/>\
             <text class=\"peak-label\" x=\"{x:.1}\" y=\"{label_y:.1}\" text-anchor=\"middle\">{label}</text>"
        );
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
