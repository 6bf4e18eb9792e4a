//! Figure 2, live: a question and what a model looked at → text with windows of several strengths, and the
//! looks as a list, the strongest first.

use std::ops::Range;

use corpus::detokenise::{self, Spaced, spaced};
use questions::{BLANK, Explanation, Question};
use serde::Serialize;

/// The number of strengths that are drawn; 0 is none.
const STRENGTHS: f64 = 5.0;
/// How many looks are listed.
const LISTED: usize = 12;
/// Words on either side of a look's middle in the list.
const AROUND: usize = 6;

/// A sentence as it is drawn.
pub type Sentence = Vec<Token>;

/// A word as it is drawn.
#[derive(Debug, PartialEq, Serialize)]
pub struct Token {
    /// The word as a book prints it.
    pub text: String,
    /// Whether a space comes before it.
    pub has_space: bool,
    /// Whether that space is part of a window, as both its sides are.
    pub is_joined: bool,
    /// Its place in the context.
    pub place: usize,
    /// How strongly it was looked at, from 0 to 5.
    pub strength: u8,
    /// Whether it mentions the candidate of a window.
    pub is_instance: bool,
    /// Whether it is in the supporting memory.
    pub is_supporting: bool,
    /// Whether it is the gap.
    pub is_gap: bool,
}

/// A look as it is listed.
#[derive(Debug, PartialEq, Serialize)]
pub struct ListedLook {
    /// The number of its sentence, from 1.
    pub sentence: usize,
    /// Its first word's place in the context.
    pub from: usize,
    /// The index after its last word.
    pub to: usize,
    /// The candidate it speaks for.
    pub candidate: Option<String>,
    /// How much it counts, on the model's own scale.
    pub weight: String,
    /// The same from 0 to 100.
    pub percent: u8,
    /// The words before the candidate's instance, the instance, and the words after it.
    pub words: (String, String, String),
    /// Whether it is the supporting memory.
    pub is_supporting: bool,
}

/// The context of a question, drawn with what was looked at.
pub fn context(question: &Question<'_>, explanation: &Explanation) -> Vec<Sentence> {
    let strengths = explanation.strengths();
    let mut start = 0;
    let sentence = |words: &[base::WordId]| {
        let texts: Vec<&str> = words.iter().map(|&word| question.word(word)).collect();
        let mut tokens = plain(&texts, start);
        start += words.len();
        for (look, strength) in explanation.spans.iter().zip(&strengths) {
            let level = 1 + ((STRENGTHS - 1.0) * strength).round() as u8;
            for token in tokens.iter_mut().filter(|token| look.words.contains(&token.place)) {
                token.strength = token.strength.max(level);
                token.is_supporting |= look.is_supporting;
                token.is_instance |= look.mention == Some(token.place);
            }
        }
        join(&mut tokens);
        tokens
    };
    question.context.iter().map(sentence).collect()
}

/// A query with its gap; the words that were compared with the context are strong.
pub fn query(question: &Question<'_>, compared: Option<&Range<usize>>) -> Sentence {
    let texts: Vec<&str> = question.query.iter().map(|&word| question.word(word)).collect();
    let mut tokens = plain(&texts, 0);
    for (token, &word) in tokens.iter_mut().zip(question.query) {
        token.is_gap = word == BLANK;
        let is_compared = compared.is_some_and(|range| range.contains(&token.place));
        token.strength = u8::from(is_compared && !token.is_gap);
    }
    join(&mut tokens);
    tokens
}

/// Closes the gaps between words that were looked at.
fn join(tokens: &mut [Token]) {
    for place in 1..tokens.len() {
        tokens[place].is_joined = tokens[place - 1].strength > 0 && tokens[place].strength > 0;
    }
}

/// The strongest looks.
pub fn looks(question: &Question<'_>, explanation: &Explanation) -> Vec<ListedLook> {
    let strengths = explanation.strengths();
    let words: Vec<&str> =
        question.context.words().iter().map(|&word| question.word(word)).collect();
    let mut order: Vec<usize> = (0..explanation.spans.len()).collect();
    order.sort_by(|&a, &b| strengths[b].total_cmp(&strengths[a]));
    let listed = order.into_iter().take(LISTED).filter_map(|place| {
        let look = &explanation.spans[place];
        let range = look.words.start.min(words.len())..look.words.end.min(words.len());
        let middle = look.mention.filter(|at| *at < words.len());
        let sentence = sentence_of(question, middle.unwrap_or(range.start))?;
        Some(ListedLook {
            sentence: sentence + 1,
            from: range.start,
            to: range.end,
            candidate: look
                .candidate
                .and_then(|candidate| question.candidates.get(candidate))
                .map(|&candidate| question.word(candidate).to_owned()),
            weight: weight(look.weight),
            percent: (100.0 * strengths[place]).round() as u8,
            words: snippet(&words, &range, middle),
            is_supporting: look.is_supporting,
        })
    });
    listed.collect()
}

fn plain(texts: &[&str], start: usize) -> Sentence {
    let token = |(at, Spaced { has_space, text }): (usize, Spaced<'_>)| Token {
        text: text.to_owned(),
        has_space,
        is_joined: false,
        place: start + at,
        strength: 0,
        is_instance: false,
        is_supporting: false,
        is_gap: false,
    };
    spaced(texts).into_iter().enumerate().map(token).collect()
}

/// A weight with three digits that count.
pub fn weight(weight: f32) -> String {
    match weight.abs() {
        large if large >= 100.0 || large == large.trunc() => format!("{weight:.0}"),
        large if large >= 1.0 => format!("{weight:.1}"),
        _ => format!("{weight:.3}"),
    }
    .replace('-', "−")
}

fn sentence_of(question: &Question<'_>, place: usize) -> Option<usize> {
    let mut end = 0;
    question.context.iter().position(|sentence| {
        end += sentence.len();
        place < end
    })
}

/// The words of a look around its middle.
fn snippet(
    words: &[&str],
    range: &Range<usize>,
    middle: Option<usize>,
) -> (String, String, String) {
    let at = middle.unwrap_or(range.start);
    let from = range.start.max(at.saturating_sub(AROUND)).min(at);
    let after = (at + usize::from(middle.is_some())).min(words.len());
    let to = range.end.min(at + AROUND + 1).max(after);
    let spaced = spaced(&words[from..to]);
    let text = |part: Range<usize>| detokenise::join(&spaced[part.start - from..part.end - from]);
    (text(from..at), text(at..after), text(after..to))
}

#[cfg(test)]
mod tests {
    use questions::Span;

    use super::*;
    use crate::fixture;

    fn look(words: Range<usize>, instance: usize, weight: f32) -> Span {
        Span {
            words,
            candidate: Some(0),
            mention: Some(instance),
            weight,
            score: None,
            is_supporting: weight > 0.5,
        }
    }

    #[test]
    fn windows_are_drawn_by_their_strength_and_the_strongest_wins() {
        let set = fixture::set();
        let question = set.example(0).question;
        // The bear0 saw | the hen0 <script>…
        let looks = vec![look(0..3, 1, 0.8), look(2..5, 4, 0.2)];
        let explanation = Explanation { spans: looks, query: Some(0..2) };
        let drawn = context(&question, &explanation);
        let strengths: Vec<u8> = drawn.iter().flatten().map(|token| token.strength).collect();
        // 1 + 4 · 0.8/0.8 = 5 and 1 + 4 · 0.2/0.8 = 2.
        assert_eq!(strengths, [5, 5, 5, 2, 2, 0]);
        let instances: Vec<bool> = drawn.iter().flatten().map(|token| token.is_instance).collect();
        assert_eq!(instances, [false, true, false, false, true, false]);
        let joined: Vec<bool> = drawn.iter().flatten().map(|token| token.is_joined).collect();
        assert_eq!(joined, [false, true, true, false, true, false]);
        assert!(drawn[0][2].is_supporting && !drawn[1][0].is_supporting);
        let query = query(&question, explanation.query.as_ref());
        let query: Vec<(u8, bool)> =
            query.iter().map(|token| (token.strength, token.is_gap)).collect();
        assert_eq!(query, [(1, false), (0, true), (0, false)]);
    }

    #[test]
    fn looks_are_listed_with_their_sentence_the_strongest_first() {
        let set = fixture::set();
        let question = set.example(0).question;
        let explanation =
            Explanation { spans: vec![look(0..3, 1, -7.0), look(3..5, 4, -2.0)], query: None };
        let listed = super::looks(&question, &explanation);
        let row = |look: &ListedLook| (look.sentence, look.weight.clone(), look.percent);
        assert_eq!(
            listed.iter().map(row).collect::<Vec<_>>(),
            [(2, "−2".into(), 100), (1, "−7".into(), 0)]
        );
        assert_eq!(listed[0].words, ("the".into(), " hen0".into(), String::new()));
        assert_eq!(listed[1].words, ("The".into(), " bear0".into(), " saw".into()));
    }

    #[test]
    fn looks_outside_the_context_do_no_harm() {
        let set = fixture::set();
        let question = set.example(0).question;
        let explanation = Explanation { spans: vec![look(90..99, 95, 1.0)], query: Some(7..9) };
        assert!(super::looks(&question, &explanation).is_empty());
        assert_eq!(context(&question, &explanation).len(), 2);
    }
}
