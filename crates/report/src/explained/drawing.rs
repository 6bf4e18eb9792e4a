//! An [`ExplainedQuestion`] as a drawing, as in Figure 2: the story, every window circled, the stronger the darker; those of
//! the returned answer red, the query's window blue. They differ in outline too, for those who see no colour.

use std::fmt::Write;

use corpus::detokenise::{joins_next, joins_previous, typeset};
use questions::{BLANK_WORD, Span};

use super::metrics::width;
use super::{ExplainedQuestion, Whose, printed};
use crate::chart::escape;
use crate::text::wrap;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = 12.0;
const SIZE: f64 = 16.0;
const LINE: f64 = 29.0;
const SPACE: f64 = 5.0;
const GAP: f64 = 62.0;
/// How far a box reaches beyond its words.
const PAD: f64 = 3.0;
/// Windows below this strength go without their figure.
const FAINT: f64 = 0.1;

/// A word in its place.
struct Placed {
    text: String,
    x: f64,
    width: f64,
    baseline: f64,
}

/// Draws; the id is that of its title and description. A file of its own says what the outlines mean.
pub fn draw(explained: &ExplainedQuestion, id: &str, is_file: bool) -> String {
    let mut bottom = 4.0;
    let mut words = Vec::new();
    let mut numbers = String::new();
    for (number, sentence) in (1..).zip(&explained.context) {
        let baseline = bottom + LINE;
        let _ = write!(
            numbers,
            "<text class=\"tick\" x=\"{:.0}\" y=\"{baseline:.0}\" text-anchor=\"end\">{number}</text>",
            LEFT - 10.0
        );
        words.extend(place(sentence, &mut bottom));
    }
    bottom += 12.0;
    let query = place(&explained.query, &mut bottom);

    let mut boxes = String::new();
    let windows = explained.by_strength();
    // The strongest come last, on top of the others.
    for &(strength, window) in windows.iter().rev() {
        circle(&mut boxes, explained, &words[window.words.clone()], (strength, window));
    }
    weights(&mut boxes, explained, &words, &windows);
    if let Some(window) = &explained.explanation.query {
        let outline = outlines(&query[window.clone()]);
        let _ = write!(boxes, "<g class=\"look query\" fill-opacity=\".12\">{outline}</g>");
    }
    let mut text = String::new();
    runs(&mut text, &words);
    runs(&mut text, &query);
    let foot = foot(explained, &mut bottom);
    let height = bottom + 14.0;
    let paper = if is_file {
        format!("<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height:.0}\"/>")
    } else {
        String::new()
    };
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-labelledby=\"{id}-title {id}-description\">\
         <title id=\"{id}-title\">{}</title><desc id=\"{id}-description\">{}</desc>\
         {paper}{boxes}{numbers}<g class=\"tale\">{text}</g>{foot}</svg>",
        escape(&explained.heading()),
        escape(&description(explained)),
    )
}

fn description(explained: &ExplainedQuestion) -> String {
    let strongest = explained.by_strength().first().map_or(String::new(), |(_, window)| {
        let words = explained.words()[window.words.clone()].join(" ");
        format!(" The strongest of {} windows: {words}.", explained.explanation.spans.len())
    });
    let answer = &explained.candidates[explained.predicted];
    format!("The model answers {answer}, {}.{strongest}", explained.verdict())
}

/// Sets words in lines from the bottom of what is there, and moves the bottom down.
fn place(words: &[String], bottom: &mut f64) -> Vec<Placed> {
    let mut placed: Vec<Placed> = Vec::with_capacity(words.len());
    let (mut x, mut baseline) = (LEFT, *bottom + LINE);
    let mut is_joined = true;
    for word in words {
        let text = typeset(word).to_owned();
        let width = if word == BLANK_WORD { GAP } else { width(&text, SIZE) };
        is_joined |= joins_previous(word);
        let space = if is_joined { 0.0 } else { SPACE };
        if x + space + width > WIDTH - RIGHT && !is_joined {
            x = LEFT;
            baseline += LINE;
        } else {
            x += space;
        }
        placed.push(Placed { text, x, width, baseline });
        x += width;
        is_joined = joins_next(word);
    }
    *bottom = baseline;
    placed
}

/// The words as text, a line at a time.
fn runs(svg: &mut String, words: &[Placed]) {
    for line in words.chunk_by(|a, b| a.baseline == b.baseline) {
        let _ = write!(svg, "<text y=\"{:.0}\">", line[0].baseline);
        for word in line.iter().filter(|word| word.text != BLANK_WORD) {
            let _ = write!(svg, "<tspan x=\"{:.1}\">{}</tspan>", word.x, escape(&word.text));
        }
        svg.push_str("</text>");
        for gap in line.iter().filter(|word| word.text == BLANK_WORD) {
            let _ = write!(
                svg,
                "<path class=\"gap\" d=\"M{:.1} {:.1}h{GAP}\"/>",
                gap.x,
                gap.baseline + 2.0
            );
        }
    }
}

/// What the style sheet calls a window.
fn class(whose: Whose) -> &'static str {
    match whose {
        Whose::Returned => "returned",
        Whose::Right => "right",
        Whose::Other => "other",
    }
}

fn circle(
    svg: &mut String,
    explained: &ExplainedQuestion,
    words: &[Placed],
    (strength, window): (f64, &Span),
) {
    let score = window.score.map(|score| format!(", score {}", printed(score.into())));
    let tip = format!(
        "{}{}{}",
        printed(window.weight.into()),
        score.unwrap_or_default(),
        if window.is_supporting { ", the supporting memory" } else { "" }
    );
    let _ = write!(
        svg,
        "<g class=\"look {}\" fill-opacity=\"{:.2}\" stroke-width=\"{:.1}\"><title>{}</title>{}",
        class(explained.whose(window)),
        0.02 + 0.3 * strength,
        0.8 + 1.4 * strength,
        escape(&tip),
        outlines(words),
    );
    svg.push_str("</g>");
}

/// The weights above the mentions, of several windows about one mention the strongest's.
fn weights(
    svg: &mut String,
    explained: &ExplainedQuestion,
    words: &[Placed],
    windows: &[(f64, &Span)],
) {
    let mut is_told = vec![false; words.len()];
    for (strength, window) in windows {
        let place = window.mention.unwrap_or(window.words.start);
        let is_shown = *strength >= FAINT || window.is_supporting;
        if !is_shown || std::mem::replace(&mut is_told[place], true) {
            continue;
        }
        let word = &words[place];
        let (x, y) = (word.x + word.width / 2.0, word.baseline - SIZE + 0.5);
        let star = if window.is_supporting { "★ " } else { "" };
        let _ = write!(
            svg,
            "<g class=\"look {}\"><path class=\"mention\" d=\"M{:.1} {:.1}h{:.1}\"/>\
             <text class=\"weight\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{star}{}</text></g>",
            class(explained.whose(window)),
            word.x,
            word.baseline + 2.5,
            word.width,
            printed(window.weight.into()),
        );
    }
}

/// A rounded box around the words of each line.
fn outlines(words: &[Placed]) -> String {
    let boxed = |line: &[Placed]| {
        let (first, last) = (&line[0], &line[line.len() - 1]);
        let (x, y) = (first.x - PAD, first.baseline - SIZE + 2.0);
        let width = last.x + last.width - first.x + 2.0 * PAD;
        format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" rx=\"8\"/>",
            SIZE + 4.0
        )
    };
    words.chunk_by(|a, b| a.baseline == b.baseline).map(boxed).collect()
}

/// The candidates with their scores, the verdict, and what the outlines mean.
fn foot(explained: &ExplainedQuestion, bottom: &mut f64) -> String {
    let mut svg = String::new();
    let mut line = |text: &str, class: &str, bottom: &mut f64| {
        *bottom += 20.0;
        let _ = write!(
            svg,
            "<text class=\"{class}\" x=\"{LEFT}\" y=\"{bottom:.0}\">{}</text>",
            escape(text)
        );
    };
    *bottom += 14.0;
    let ranked = explained.ranked();
    let (first, rest) = ranked.split_first().expect("a question has candidates");
    line(
        &format!("{} {}: {}", explained.candidates[first.0], first.1, explained.verdict()),
        "panel",
        bottom,
    );
    let rest: Vec<String> = rest
        .iter()
        .map(|(place, score)| format!("{} {score}", explained.candidates[*place]))
        .collect();
    for text in wrap(&rest.join(" · "), 110) {
        line(&text, "tick", bottom);
    }
    let has = |whose: Whose| {
        explained.explanation.spans.iter().any(|window| explained.whose(window) == whose)
    };
    let kinds = [
        ("returned", "the returned answer’s windows", has(Whose::Returned)),
        ("right", "the right answer’s", has(Whose::Right)),
        ("other", "other windows", has(Whose::Other)),
        ("query", "the query’s window", explained.explanation.query.is_some()),
    ];
    *bottom += 26.0;
    let mut x = LEFT;
    for (class, label, _) in kinds.into_iter().filter(|(.., is_there)| *is_there) {
        let _ = write!(
            svg,
            "<g class=\"look {class}\" fill-opacity=\".15\" stroke-width=\"1.4\"><rect x=\"{x:.0}\" y=\"{:.0}\" width=\"26\" height=\"13\" rx=\"6\"/></g>\
             <text class=\"tick\" x=\"{:.0}\" y=\"{bottom:.0}\">{label}</text>",
            *bottom - 10.5,
            x + 32.0,
        );
        x += 52.0 + 6.1 * label.chars().count() as f64;
    }
    svg
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explained::tests::explained;

    #[test]
    fn boxes_hold_their_words_and_lines_stay_on_the_page() {
        let words: Vec<String> = (0..60).map(|n| format!("word{n}")).collect();
        let mut bottom = 0.0;
        let placed = place(&words, &mut bottom);
        assert!(placed.iter().all(|word| word.x >= LEFT && word.x + word.width <= WIDTH - RIGHT));
        let lines: Vec<&[Placed]> = placed.chunk_by(|a, b| a.baseline == b.baseline).collect();
        assert!(lines.len() > 2);
        assert_eq!(bottom, lines.len() as f64 * LINE);
        // A window over a line's end is two boxes.
        let end = lines[0].len();
        assert_eq!(outlines(&placed[end - 1..end + 1]).matches("<rect").count(), 2);
    }

    #[test]
    fn every_window_is_circled_by_whose_it_is_and_marks_are_escaped() {
        let mut explained = explained();
        explained.candidates[2] = "<hen>".to_owned();
        explained.context[0][3] = "<hen>".to_owned();
        let svg = draw(&explained, "one", false);
        let count = |text: &str| svg.matches(text).count();
        // One more of each in the line that says what they mean,
        // and one for each weight.
        assert_eq!([count("look returned"), count("look right"), count("look query")], [5, 3, 2]);
        assert_eq!((count("look other"), count("★")), (0, 1));
        assert_eq!((count("<hen>"), count("&lt;hen&gt;")), (0, 2));
        assert_eq!(count("class=\"gap\""), 1);
        assert!(svg.contains("Otto .70: wrong: the answer is Anna"), "{svg}");
    }
}
