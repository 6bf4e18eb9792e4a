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
/// Room for the title, and below it for the label of a best size whose interval reaches the upper edge.
const TOP: f64 = 40.0;
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
            self.peaks(&mut svg, panel, at);
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
        let points = panel.points.iter().filter(|point| point.place.encoding == encoding);
        let path = self.path(panel, encoding, frame);
        let path: Vec<String> = path.iter().map(|[x, y]| format!("{x:.1} {y:.1}")).collect();
        let _ = write!(
            svg,
            "<g class=\"s{}\"><path class=\"curve\" d=\"M{}\"/>",
            encoding as usize,
            path.join("L")
        );
        for point in points {
            let [x, y] = self.at(point, frame);
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
    }

    fn at(&self, point: &Point, frame: At) -> [f64; 2] {
        let shift = APART_LINES * (point.place.encoding as usize as f64 - 0.5);
        [self.x(point.place.size, frame) + shift, self.y(point.accuracy.accuracy)]
    }

    /// The corners of a line, from the smallest size to the largest.
    fn path(&self, panel: &Panel, encoding: Encoding, frame: At) -> Vec<[f64; 2]> {
        let of_line =
            |point: &&Point| point.place.encoding == encoding && point.place.size.is_some();
        let mut points: Vec<&Point> = panel.points.iter().filter(of_line).collect();
        points.sort_by_key(|point| point.place.size);
        points.into_iter().map(|point| self.at(point, frame)).collect()
    }

    /// A ring around the best size of each line. The size is written above all that is drawn there, and that of the
    /// lower line below, unless it is the same.
    fn peaks(&self, svg: &mut String, panel: &Panel, frame: At) {
        /// Half of the room of a label.
        const HALF: f64 = 19.0;
        let mut peaks: Vec<&Point> = panel.points.iter().filter(|point| point.is_peak).collect();
        peaks.sort_by(|a, b| b.accuracy.accuracy.total_cmp(&a.accuracy.accuracy));
        for peak in &peaks {
            let [x, y] = self.at(peak, frame);
            let _ = write!(svg, "<circle class=\"peak\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"/>");
        }
        peaks.dedup_by_key(|peak| peak.place.size);
        for (peak, is_higher) in peaks.into_iter().zip([true, false]) {
            let Some(size) = peak.place.size else { continue };
            let [x, _] = self.at(peak, frame);
            let x = x.clamp(frame.left + HALF, frame.left + frame.width - HALF);
            let [highest, lowest] = self.reach(panel, frame, [x - HALF, x + HALF]);
            let y = if is_higher {
                (highest - 6.0).max(TOP - 4.0)
            } else {
                (lowest + 15.0).min(TOP + HEIGHT - 4.0)
            };
            let _ = write!(
                svg,
                "<text class=\"peak-label\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">b = {size}</text>"
            );
        }
    }

    /// How high and how low anything is drawn between two places.
    fn reach(&self, panel: &Panel, frame: At, [from, to]: [f64; 2]) -> [f64; 2] {
        let is_between = |point: &&Point| (from..=to).contains(&self.at(point, frame)[0]);
        let intervals = panel.points.iter().filter(is_between);
        let intervals = intervals.flat_map(|p| [self.y(p.accuracy.high), self.y(p.accuracy.low)]);
        let paths = ENCODINGS.map(|encoding| self.path(panel, encoding, frame));
        let crossings = paths.iter().flat_map(|path| path.windows(2)).flat_map(|pair| {
            let [[x, y], [next_x, next_y]] = [pair[0], pair[1]];
            let height = move |at: f64| y + (at - x) / (next_x - x) * (next_y - y);
            [from, to].into_iter().filter(move |at| (x..next_x).contains(at)).map(height)
        });
        intervals
            .chain(crossings)
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[high, low], y| [high.min(y), low.max(y)])
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
