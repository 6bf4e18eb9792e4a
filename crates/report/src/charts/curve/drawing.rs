//! The Goldilocks curve as a picture: panels side by side, on the same axes.

use std::fmt::Write;

use evaluation::Accuracy;

use super::{Curve, ENCODINGS, Encoding, Panel, Point};
use crate::charts::chart::{Shape, shape};
use crate::charts::{Drawing, escape};
use crate::{number, page};

/// Room for the figures of the axis.
const LEFT: f64 = 34.0;
const GAP: f64 = 28.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 30.0;
const HEIGHT: f64 = 230.0;
/// A panel with its title, sizes and the name of the axis.
const ROW: f64 = TOP + HEIGHT + 46.0;
/// Room at the right of the sizes for whole sentences.
const APART: f64 = 60.0;
/// How far apart the two lines are, so that their intervals do not hide each other.
const APART_LINES: f64 = 3.0;

/// How panels are arranged.
#[derive(Clone, Copy)]
struct Frame {
    panel: f64,
    columns: usize,
}

impl Frame {
    fn width(self) -> f64 {
        LEFT + self.columns as f64 * (self.panel + GAP) - GAP + RIGHT
    }
}

impl Encoding {
    fn shape(self) -> Shape {
        [Shape::Disc, Shape::Square][self as usize]
    }
}

impl Curve {
    /// The curve for wide and narrow screens, with its legend.
    pub fn drawing(&self) -> Drawing {
        let narrow = |(index, panel): (usize, &Panel)| {
            let frame = Frame { panel: 290.0, columns: 1 };
            self.svg(std::slice::from_ref(panel), frame, &format!("narrow-{index}"))
        };
        let wide = Frame { panel: 232.0, columns: self.panels.len() };
        Drawing {
            wide: self.svg(&self.panels, wide, "wide"),
            narrow: self.panels.iter().enumerate().map(narrow).collect(),
            legend: self.legend(),
        }
    }

    fn legend(&self) -> String {
        let item = |(drawing, label): (String, &str)| {
            format!(
                "<li><svg width=\"30\" height=\"14\" viewBox=\"0 0 30 14\" aria-hidden=\"true\">{drawing}</svg>{label}</li>"
            )
        };
        let items: String = legend().into_iter().map(item).collect();
        format!("<ul class=\"legend\">{items}</ul>")
    }

    /// The picture as an SVG file of its own, 800 units wide, with title, legend and caption.
    pub fn file(&self) -> String {
        let frame = Frame { panel: 364.0, columns: 2 };
        let width = frame.width();
        let mut head =
            format!("<text class=\"panel\" x=\"{LEFT}\" y=\"26\">{}</text>", escape(&self.title));
        let (mut x, mut y) = (LEFT, 38.0);
        for (drawing, label) in legend() {
            let room = 58.0 + 6.3 * label.chars().count() as f64;
            if x + room > width {
                (x, y) = (LEFT, y + 22.0);
            }
            let _ = write!(
                head,
                "<g transform=\"translate({x:.0} {y:.0})\">{drawing}<text class=\"tick\" x=\"36\" y=\"11\">{}</text></g>",
                escape(label)
            );
            x += room;
        }
        let top = y + 32.0;
        let rows = self.panels.len().div_ceil(frame.columns) as f64;
        let height = top + rows * ROW + 26.0;
        let caption = format!(
            "<text class=\"tick\" x=\"{LEFT}\" y=\"{:.0}\">{}</text>",
            height - 12.0,
            escape(&self.caption)
        );
        let panels = self.panels(&self.panels, frame);
        page::stand_alone(&format!(
            "{}<rect class=\"paper\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"6\"/>{head}\
             <g transform=\"translate(0 {top:.0})\">{panels}</g>{caption}</svg>",
            self.opening("file", (width, height)),
        ))
    }

    fn svg(&self, panels: &[Panel], frame: Frame, variant: &str) -> String {
        let rows = panels.len().div_ceil(frame.columns) as f64;
        let opening = self.opening(variant, (frame.width(), rows * ROW));
        format!("{opening}{}</svg>", self.panels(panels, frame))
    }

    fn opening(&self, variant: &str, (width, height): (f64, f64)) -> String {
        let id = format!("curve-{variant}");
        format!(
            "<svg viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-labelledby=\"{id}-title {id}-description\">\
             <title id=\"{id}-title\">{}</title><desc id=\"{id}-description\">Accuracy against the size of the window, \
             one panel per word class, with intervals. {}</desc>",
            escape(&self.title),
            escape(&self.finding().join(" ")),
        )
    }

    fn panels(&self, panels: &[Panel], frame: Frame) -> String {
        let mut svg = String::new();
        for (index, panel) in panels.iter().enumerate() {
            let (row, column) = (index / frame.columns, index % frame.columns);
            let left = LEFT + column as f64 * (frame.panel + GAP);
            let at = At { left, width: frame.panel };
            let _ = write!(svg, "<g transform=\"translate(0 {:.0})\">", row as f64 * ROW);
            self.axes(&mut svg, panel, at, column == 0);
            for encoding in ENCODINGS {
                self.line(&mut svg, panel, encoding, at);
            }
            svg.push_str("</g>");
        }
        svg
    }

    fn x(&self, size: Option<usize>, at: At) -> f64 {
        let room = at.width - 20.0 - if self.has_sentences { APART } else { 0.0 };
        let log = |size: usize| (size as f64).ln();
        let (first, last) = (log(self.sizes[0]), log(self.sizes[self.sizes.len() - 1]));
        match size {
            Some(size) => at.left + 10.0 + (log(size) - first) / (last - first) * room,
            None => at.left + at.width - 28.0,
        }
    }

    fn y(&self, share: f64) -> f64 {
        TOP + HEIGHT * (self.high - share) / (self.high - self.low)
    }

    fn axes(&self, svg: &mut String, panel: &Panel, at: At, is_first: bool) {
        let (left, right, bottom) = (at.left, at.left + at.width, TOP + HEIGHT);
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
            let x = self.x(Some(size), at);
            let text = size.to_string();
            let half = 4.0 * text.len() as f64;
            let is_free = x - half > free;
            tick(x, if is_free { &text } else { "" });
            free = if is_free { x + half + 2.0 } else { free };
        }
        if self.has_sentences {
            let x = self.x(None, at);
            tick(x, "sentence");
            let x = x - APART / 2.0 - 4.0;
            let _ = write!(
                svg,
                "<path class=\"grid\" stroke-dasharray=\"2 3\" d=\"M{x:.1} {TOP}V{bottom}\"/>"
            );
        }
        let (x, y) = (left + (at.width - APART) / 2.0, bottom + 36.0);
        let _ = write!(
            svg,
            "<text class=\"tick\" x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"middle\">words in a window, b</text>"
        );
    }

    fn line(&self, svg: &mut String, panel: &Panel, encoding: Encoding, frame: At) {
        let mut points: Vec<&Point> =
            panel.points.iter().filter(|point| point.place.encoding == encoding).collect();
        points.sort_by_key(|point| point.place.size);
        let shift = APART_LINES * (encoding as usize as f64 - 0.5);
        let at = |point: &Point| {
            (self.x(point.place.size, frame) + shift, self.y(point.accuracy.accuracy))
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

    /// A ring and the size: above the interval of the higher of the two lines, below that of the lower, and at the side
    /// where that would leave the panel.
    fn peak(&self, svg: &mut String, panel: &Panel, peak: &Point, (x, y): (f64, f64)) {
        let others =
            panel.points.iter().filter(|p| p.is_peak && p.place.encoding != peak.place.encoding);
        let is_higher =
            others.into_iter().all(|other| other.accuracy.accuracy <= peak.accuracy.accuracy);
        let (above, below) = (self.y(peak.accuracy.high) - 6.0, self.y(peak.accuracy.low) + 15.0);
        let (label_x, label_y, anchor) = match is_higher {
            true if above > TOP + 8.0 => (x, above, "middle"),
            false if below < TOP + HEIGHT => (x, below, "middle"),
            true => (x + 9.0, y - 8.0, "start"),
            false => (x + 9.0, y + 18.0, "start"),
        };
        let label = peak.place.size.map_or(String::new(), |size| format!("b = {size}"));
        let _ = write!(
            svg,
            "<circle class=\"peak\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"/>\
             <text class=\"peak-label\" x=\"{label_x:.1}\" y=\"{label_y:.1}\" text-anchor=\"{anchor}\">{label}</text>"
        );
    }
}

/// Where a panel is.
#[derive(Clone, Copy)]
struct At {
    left: f64,
    width: f64,
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
            "± standard deviation over seeds",
        ),
        ("<circle class=\"peak\" cx=\"15\" cy=\"7\" r=\"6\"/>".to_owned(), "best size"),
    ]);
    items
}
