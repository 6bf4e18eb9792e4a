//! An [`ExplainedQuestion`] as a picture, as in Figure 2: the boxes of [`crate::reading`], set in lines of a fixed width.
//!
//! Sentences without a window that counts are left out, so that the picture shows what the model used.

use std::fmt::Write;

use super::ExplainedQuestion;
use super::metrics::width;
use crate::charts::escape;
use crate::formats::wrap;
use crate::reading::{BoxKind, Mark, Reading, Role, Segment, Sentence, Word};

const WIDTH: f64 = 800.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 16.0;
const SIZE: f64 = 16.0;
const LINE: f64 = 29.0;
const SPACE: f64 = 5.0;
const GAP: f64 = 62.0;
/// Room between a box and its words, and between a box and what is outside.
const PAD: f64 = 5.0;
const MARGIN: f64 = 2.0;
const WEIGHT_SIZE: f64 = 12.5;
/// Characters of 12.5 px sans serif in a line.
const LINE_CHARACTERS: usize = 112;

/// Draws the question, the legend and the candidates.
pub fn draw(explained: &ExplainedQuestion) -> String {
    let reading = explained.reading();
    let mut canvas = Canvas { bottom: 12.0, ..Canvas::default() };
    canvas.line(&explained.title(), "panel", 20.0);
    canvas.line(&explained.heading(), "tick", 19.0);
    canvas.bottom += 8.0;
    let mut n_left_out = 0;
    for (number, sentence) in (1..).zip(&reading.context) {
        if has_weight(sentence) {
            canvas.sentence(sentence, Some(number));
        } else {
            n_left_out += 1;
        }
    }
    canvas.bottom += 12.0;
    let (y, right) = (canvas.bottom + 2.0, WIDTH - RIGHT);
    let _ = write!(canvas.boxes, "<path class=\"grid\" d=\"M{LEFT} {y:.0}H{right}\"/>");
    canvas.sentence(&reading.query, None);
    canvas.bottom += 14.0;
    canvas.line(&reading.verdict, "panel", 22.0);
    let candidates: Vec<String> =
        reading.candidates.iter().map(|c| format!("{} {}", c.word, c.score)).collect();
    for text in wrap(&candidates.join(" · "), LINE_CHARACTERS) {
        canvas.line(&text, "tick", 19.0);
    }
    canvas.bottom += 6.0;
    canvas.legend(&reading);
    if n_left_out > 0 {
        let text = match n_left_out {
            1 => "One sentence in which the model weighed nothing much is left out.".to_owned(),
            n => format!("{n} sentences in which the model weighed nothing much are left out."),
        };
        canvas.line(&text, "tick", 22.0);
    }
    let height = canvas.bottom + 16.0;
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-labelledby=\"title description\">\
         <title id=\"title\">{}</title><desc id=\"description\">{}</desc>\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height:.0}\" rx=\"6\"/>{}{}<g class=\"tale\">{}</g></svg>",
        escape(&explained.title()),
        escape(&description(explained, &reading)),
        canvas.boxes,
        canvas.labels,
        canvas.text,
    )
}

fn has_weight(sentence: &[Segment]) -> bool {
    let marks = sentence.iter().filter_map(|segment| segment.mark.as_ref());
    marks.into_iter().any(|mark| mark.weight.is_some())
}

fn description(explained: &ExplainedQuestion, reading: &Reading) -> String {
    let strongest = reading.windows.first().map_or(String::new(), |window| {
        let n = explained.explanation.spans.len();
        format!(" The strongest of {n} windows: “{}”.", window.words.concat().trim())
    });
    format!("{}.{strongest}", reading.verdict)
}

/// What has been drawn so far, and where the next line goes.
#[derive(Default)]
struct Canvas {
    bottom: f64,
    boxes: String,
    labels: String,
    text: String,
}

impl Canvas {
    /// A line of sans-serif text.
    fn line(&mut self, text: &str, class: &str, height: f64) {
        self.bottom += height;
        let y = self.bottom;
        let _ = write!(
            self.labels,
            "<text class=\"{class}\" x=\"{LEFT}\" y=\"{y:.0}\">{}</text>",
            escape(text)
        );
    }

    /// A sentence with its boxes and, in the margin, its number.
    fn sentence(&mut self, sentence: &Sentence, number: Option<usize>) {
        if let Some(number) = number {
            let (x, y) = (LEFT - 12.0, self.bottom + LINE);
            let _ = write!(
                self.labels,
                "<text class=\"tick\" x=\"{x}\" y=\"{y:.0}\" text-anchor=\"end\">{number}</text>"
            );
        }
        let mut pen = Pen { x: LEFT, baseline: self.bottom + LINE };
        for segment in sentence {
            self.segment(segment, &mut pen);
        }
        self.bottom = pen.baseline;
    }

    fn segment(&mut self, segment: &Segment, pen: &mut Pen) {
        let edge = if segment.mark.is_some() { PAD + MARGIN } else { 0.0 };
        let mut piece: Option<(f64, f64)> = None;
        for (index, word) in segment.words.iter().enumerate() {
            let is_first = index == 0;
            let width = width_of(word);
            let space = if word.has_space && pen.x > LEFT { SPACE } else { 0.0 };
            let lead = if is_first { edge } else { 0.0 };
            // The weight stays with the last word.
            let is_last = index + 1 == segment.words.len();
            let tail = if is_last { edge + weight_width(segment.mark.as_ref()) } else { 0.0 };
            let is_over = pen.x + space + lead + width + tail > WIDTH - RIGHT;
            if is_over && word.has_space && pen.x > LEFT {
                if let Some((from, to)) = piece.take() {
                    self.outline(segment, from, to, pen.baseline);
                }
                pen.x = LEFT + edge;
                pen.baseline += LINE;
            } else {
                pen.x += space + lead;
            }
            self.word(word, pen);
            piece = Some((piece.map_or(pen.x, |(from, _)| from), pen.x + width));
            pen.x += width;
        }
        if let Some(weight) = segment.mark.as_ref().and_then(label) {
            let (x, y) = (pen.x + PAD, pen.baseline - 0.5);
            let _ = write!(
                self.labels,
                "<text class=\"tick\" x=\"{x:.1}\" y=\"{y:.1}\">{weight}</text>"
            );
        }
        let weight = weight_width(segment.mark.as_ref());
        if let Some((from, to)) = piece {
            self.outline(segment, from, to + weight, pen.baseline);
        }
        pen.x += weight + edge;
    }

    fn word(&mut self, word: &Word, pen: &Pen) {
        let Pen { x, baseline } = pen;
        let _ = match word.role {
            Role::Gap => {
                let y = baseline + 2.0;
                write!(self.boxes, "<path class=\"gap\" d=\"M{x:.1} {y:.1}h{GAP}\"/>")
            }
            Role::Mention => write!(
                self.text,
                "<text x=\"{x:.1}\" y=\"{baseline:.0}\" font-weight=\"700\">{}</text>",
                escape(&word.text)
            ),
            _ => write!(
                self.text,
                "<text x=\"{x:.1}\" y=\"{baseline:.0}\">{}</text>",
                escape(&word.text)
            ),
        };
    }

    fn outline(&mut self, segment: &Segment, from: f64, to: f64, baseline: f64) {
        let Some(mark) = &segment.mark else { return };
        let (x, y, width) = (from - PAD, baseline - SIZE + 1.0, to - from + 2.0 * PAD);
        let strength = f64::from(mark.level) / 5.0;
        let _ = write!(
            self.boxes,
            "<g class=\"box {}\" fill-opacity=\"{:.2}\" stroke-width=\"{:.1}\"><title>{}</title>\
             <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" rx=\"7\"/></g>",
            class(mark.kind),
            0.02 + 0.28 * strength,
            0.8 + 1.2 * strength,
            escape(&mark.tip),
            SIZE + 6.0,
        );
    }

    /// The legend of the boxes, one line per kind.
    fn legend(&mut self, reading: &Reading) {
        for item in &reading.legend {
            self.bottom += 21.0;
            let (x, y, top) = (LEFT + 40.0, self.bottom, self.bottom - 11.5);
            let _ = write!(
                self.boxes,
                "<g class=\"box {}\" fill-opacity=\".2\" stroke-width=\"1.4\">\
                 <rect x=\"{LEFT}\" y=\"{top:.1}\" width=\"30\" height=\"15\" rx=\"6\"/></g>",
                class(item.kind)
            );
            let _ = write!(
                self.labels,
                "<text class=\"tick\" x=\"{x}\" y=\"{y:.0}\">{}</text>",
                escape(&item.text)
            );
        }
    }
}

/// Where the next word begins.
struct Pen {
    x: f64,
    baseline: f64,
}

fn width_of(word: &Word) -> f64 {
    match word.role {
        Role::Gap => GAP,
        // Times is about a twentieth wider in bold.
        Role::Mention => 1.06 * width(&word.text, SIZE),
        _ => width(&word.text, SIZE),
    }
}

fn label(mark: &Mark) -> Option<String> {
    let star = if mark.is_supporting { "★ " } else { "" };
    mark.weight.as_ref().map(|weight| format!("{star}{weight}"))
}

fn weight_width(mark: Option<&Mark>) -> f64 {
    // Digits of common sans-serif fonts are .56 of their size wide.
    let characters = mark.and_then(label).map(|label| label.chars().count() as f64);
    characters.map_or(0.0, |n| PAD + 0.56 * n * WEIGHT_SIZE)
}

/// The name of a kind in the style sheet, as the template writes it.
fn class(kind: BoxKind) -> &'static str {
    match kind {
        BoxKind::Right => "right",
        BoxKind::Chosen => "chosen",
        BoxKind::Other => "other",
        BoxKind::Query => "query",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explained::tests::explained;

    #[test]
    fn words_stay_on_the_page_and_a_box_over_the_end_of_a_line_is_two() {
        let mut explained = explained();
        explained.context[0] = (0..60).map(|n| format!("word{n}")).collect();
        explained.explanation.spans.truncate(1);
        explained.explanation.spans[0].words = 0..60;
        let svg = draw(&explained);
        let xs = svg.split("<text x=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let xs: Vec<f64> = xs.map(|x| x.parse().unwrap()).collect();
        assert!(xs.iter().all(|&x| (LEFT..WIDTH - RIGHT).contains(&x)), "{xs:?}");
        // One in the legend.
        assert!(svg.matches("class=\"box right\"").count() > 3, "{svg}");
    }

    #[test]
    fn every_window_is_outlined_by_whose_it_is_and_text_is_escaped() {
        let mut explained = explained();
        explained.candidates[2] = "<hen>".to_owned();
        explained.context[0][3] = "<hen>".to_owned();
        let svg = draw(&explained);
        let count = |text: &str| svg.matches(text).count();
        // One more of each in the legend.
        assert_eq!([count("box chosen"), count("box right"), count("box query")], [3, 2, 2]);
        assert_eq!((count("box other"), count("★")), (0, 1));
        assert_eq!((count("<hen>"), count("&lt;hen&gt;")), (0, 2));
        assert_eq!(count("class=\"gap\""), 1);
        assert!(svg.contains("Otto: wrong, the answer is Anna"), "{svg}");
    }

    #[test]
    fn sentences_without_a_window_that_counts_are_left_out() {
        let mut explained = explained();
        explained.explanation.spans[2].weight = 0.001;
        let svg = draw(&explained);
        assert!(svg.contains("One sentence in which the model weighed nothing much"), "{svg}");
        assert!(!svg.contains(">Wake<"), "{svg}");
    }
}
