//! [`Reading`]: an explained question → sentences with boxes, a legend, and the windows as a list.
//!
//! Windows overlap: a word is in the box of the strongest window that it is part of, so that a weaker one may be drawn
//! in pieces.

use corpus::detokenise;
use questions::Span;
use serde::Serialize;

use super::{Role, Segment, Sentence, Word, cut, with_gap, words, words_of_sentences};
use crate::ExplainedQuestion;
use crate::number;

/// The number of strengths that are drawn.
const LEVELS: f64 = 5.0;
/// Windows below this strength are drawn without their weight.
const FAINT: f64 = 0.1;
/// How many windows are listed.
const LISTED: usize = 12;
/// How many words of a window are listed on either side of the mention.
const AROUND: usize = 6;

/// A question with what a model looked at before it answered.
#[derive(Debug, Serialize)]
pub struct Reading {
    /// The context, sentence by sentence.
    pub context: Vec<Sentence>,
    /// The query with its gap.
    pub query: Sentence,
    /// What the boxes mean; only kinds that occur.
    pub legend: Vec<LegendItem>,
    /// The strongest windows, the strongest first.
    pub windows: Vec<Window>,
    /// How many windows are not listed.
    pub n_unlisted: usize,
    /// The candidates by their scores, the best first.
    pub candidates: Vec<RankedCandidate>,
    /// What the model chose, and whether that is right.
    pub verdict: String,
}

/// Whose window a box shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BoxKind {
    /// Of the right candidate.
    Right,
    /// Of the candidate that the model chose, unless it is the right one.
    Chosen,
    /// Of any other candidate, or of none.
    Other,
    /// The words of the query that were compared with the windows.
    Query,
}

/// How a box is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// Its colour and outline.
    pub kind: BoxKind,
    /// How strong its window is, from 1 to 5.
    pub level: u8,
    /// The weight that is printed in it, on the model's own scale; none for weak windows.
    pub weight: Option<String>,
    /// Whether it is the supporting memory of §3.3.
    pub is_supporting: bool,
    /// What a pointer shows.
    pub tip: String,
}

/// A kind of box and its meaning.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct LegendItem {
    /// How its boxes are drawn.
    pub kind: BoxKind,
    /// Its meaning in this question.
    pub text: String,
}

/// A window as it is listed.
#[derive(Debug, PartialEq, Serialize)]
pub struct Window {
    /// The colour of its box.
    pub kind: BoxKind,
    /// The number of its sentence, from 1.
    pub sentence: usize,
    /// The index of its first word.
    pub from: usize,
    /// The index after its last word.
    pub to: usize,
    /// The index of the first word of the box that its middle is drawn in.
    pub box_start: usize,
    /// The weight on the model's own scale.
    pub weight: String,
    /// The strength compared with the strongest window, in per cent.
    pub percent: u8,
    /// The words before the mention, the mention, and the words after it.
    pub words: [String; 3],
    /// Whether it is the supporting memory of §3.3.
    pub is_supporting: bool,
}

/// A candidate and its score.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct RankedCandidate {
    /// The candidate.
    pub word: String,
    /// The score as it is printed.
    pub score: String,
    /// Whether it is the right one.
    pub is_answer: bool,
    /// Whether the model chose it.
    pub is_chosen: bool,
}

impl Reading {
    /// Draws an explained question. Windows that reach beyond the context are cut off there.
    pub fn of(explained: &ExplainedQuestion) -> Self {
        let windows = explained.by_strength();
        let tokens = explained.words();
        let boxes = Boxes::new(explained, &windows, tokens.len());
        let sentence = |words: Vec<Word>| {
            let words = boxes.roles(words);
            cut(
                words,
                |index| boxes.of_word[index],
                |window, words| Some(boxes.mark(window, words)),
            )
        };
        let sentences = explained.context.iter();
        let sentences: Vec<Vec<&str>> =
            sentences.map(|sentence| sentence.iter().map(String::as_str).collect()).collect();
        let context: Vec<Sentence> =
            words_of_sentences(&sentences).into_iter().map(sentence).collect();
        let list = |&(strength, window): &(f64, &Span)| {
            listed(explained, &tokens, &context, (strength, window))
        };
        let listed: Vec<Window> = windows.iter().take(LISTED).filter_map(list).collect();
        Self {
            query: query(explained),
            legend: legend(explained),
            n_unlisted: windows.len().saturating_sub(LISTED),
            windows: listed,
            context,
            candidates: candidates(explained),
            verdict: explained.verdict(),
        }
    }
}

/// Which window each word of a context is drawn in.
struct Boxes<'a> {
    explained: &'a ExplainedQuestion,
    windows: &'a [(f64, &'a Span)],
    /// The index of the strongest window of a word.
    of_word: Vec<Option<usize>>,
}

impl<'a> Boxes<'a> {
    fn new(
        explained: &'a ExplainedQuestion,
        windows: &'a [(f64, &'a Span)],
        n_words: usize,
    ) -> Self {
        let mut of_word = vec![None; n_words];
        // The strongest come first in the list, and last here.
        for (index, (_, window)) in windows.iter().enumerate().rev() {
            let end = window.words.end.min(n_words);
            of_word[window.words.start.min(end)..end].fill(Some(index));
        }
        Self { explained, windows, of_word }
    }

    /// Marks the mention of each window that is drawn around it.
    fn roles(&self, mut words: Vec<Word>) -> Vec<Word> {
        for word in &mut words {
            let window = self.of_word[word.index].map(|window| self.windows[window].1);
            if window.is_some_and(|window| window.mention == Some(word.index)) {
                word.role = Role::Mention;
            }
        }
        words
    }

    /// The box around a run of words; the piece that holds the mention also has the weight.
    fn mark(&self, window: usize, words: &[Word]) -> Mark {
        let (strength, span) = self.windows[window];
        let middle = span.mention.unwrap_or(span.words.start);
        let has_weight = words.iter().any(|word| word.index == middle)
            && (strength >= FAINT || span.is_supporting);
        let weight = number::weight(span.weight.into());
        let candidate = span.candidate.and_then(|index| self.explained.candidates.get(index));
        let score = span.score.map(|score| format!("match {}", number::weight(score.into())));
        let parts = [
            candidate.map(|candidate| format!("window of “{candidate}”")),
            Some(format!("weight {weight}")),
            score,
            span.is_supporting.then(|| "the supporting memory".to_owned()),
        ];
        Mark {
            kind: self.explained.kind(span),
            level: 1 + ((LEVELS - 1.0) * strength).round() as u8,
            weight: has_weight.then_some(weight),
            is_supporting: span.is_supporting && has_weight,
            tip: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
        }
    }
}

fn query(explained: &ExplainedQuestion) -> Sentence {
    let tokens: Vec<&str> = explained.query.iter().map(String::as_str).collect();
    let compared = explained.explanation.query.clone().unwrap_or_default();
    let mark = Mark {
        kind: BoxKind::Query,
        level: 1,
        weight: None,
        is_supporting: false,
        tip: "the words of the query that were compared".to_owned(),
    };
    let box_of = |index| compared.contains(&index).then_some(0);
    let sentence = cut(words(detokenise::spaced(&tokens), 0), box_of, |_, _| Some(mark.clone()));
    let gap = explained.query.iter().position(|token| token == questions::BLANK_WORD);
    match gap {
        Some(gap) => with_gap(sentence, gap),
        None => sentence,
    }
}

fn legend(explained: &ExplainedQuestion) -> Vec<LegendItem> {
    let spans = &explained.explanation.spans;
    let has = |kind| spans.iter().any(|span| explained.kind(span) == kind);
    let chosen = &explained.candidates[explained.predicted];
    let right = match explained.answer {
        Some(answer) if answer != explained.predicted => {
            format!("windows of “{}”, the right answer", explained.candidates[answer])
        }
        _ => format!("windows of “{chosen}”, its answer, which is right"),
    };
    let is_wrong = if explained.answer.is_some() { ", which is wrong" } else { "" };
    let of_choice = format!("windows of “{chosen}”, its answer{is_wrong}");
    let kinds = [
        (BoxKind::Chosen, of_choice, has(BoxKind::Chosen)),
        (BoxKind::Right, right, has(BoxKind::Right)),
        (BoxKind::Other, "windows of other words".to_owned(), has(BoxKind::Other)),
        (
            BoxKind::Query,
            "the words of the query that it compared with them".to_owned(),
            explained.explanation.query.is_some(),
        ),
    ];
    let item = |(kind, text, is_there): (BoxKind, String, bool)| {
        is_there.then_some(LegendItem { kind, text })
    };
    kinds.into_iter().filter_map(item).collect()
}

fn listed(
    explained: &ExplainedQuestion,
    tokens: &[&str],
    context: &[Sentence],
    (strength, span): (f64, &Span),
) -> Option<Window> {
    let end = span.words.end.min(tokens.len());
    let start = span.words.start.min(end);
    let mention = span.mention.filter(|mention| *mention < tokens.len());
    let middle = mention.unwrap_or(start);
    if middle >= tokens.len() {
        return None;
    }
    let from = start.max(middle.saturating_sub(AROUND)).min(middle);
    let after = middle + usize::from(mention.is_some());
    let to = end.min(middle + AROUND + 1).max(after);
    let spaced = detokenise::spaced(&tokens[from..to]);
    let text = |from_word: usize, to_word: usize| {
        detokenise::join(&spaced[from_word - from..to_word - from])
    };
    let first = |segment: &Segment| segment.words[0].index;
    let boxes = context.iter().flatten().map(first);
    Some(Window {
        kind: explained.kind(span),
        box_start: boxes.take_while(|&first| first <= middle).last()?,
        sentence: 1 + explained.sentence_of(middle),
        from: start,
        to: end,
        weight: number::weight(span.weight.into()),
        percent: (100.0 * strength).round() as u8,
        words: [text(from, middle), text(middle, after), text(after, to)],
        is_supporting: span.is_supporting,
    })
}

fn candidates(explained: &ExplainedQuestion) -> Vec<RankedCandidate> {
    let candidate = |(index, score): (usize, String)| RankedCandidate {
        word: explained.candidates[index].clone(),
        score,
        is_answer: explained.answer == Some(index),
        is_chosen: explained.predicted == index,
    };
    explained.ranked().into_iter().map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explained::tests::explained;

    fn boxes(sentence: &[Segment]) -> Vec<(BoxKind, String, Option<&str>)> {
        let text = |segment: &Segment| {
            segment.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
        };
        let marked = sentence.iter().filter_map(|segment| {
            let mark = segment.mark.as_ref()?;
            Some((mark.kind, text(segment), mark.weight.as_deref()))
        });
        marked.collect()
    }

    #[test]
    fn windows_are_boxes_by_whose_they_are_with_their_weights() {
        let reading = Reading::of(&explained());
        assert_eq!(
            boxes(&reading.context[0]),
            [
                (BoxKind::Right, "Anna fed the".to_owned(), Some(".25")),
                (BoxKind::Chosen, ", and Otto slept .".to_owned(), Some(".50")),
            ]
        );
        assert_eq!(boxes(&reading.query), [(BoxKind::Query, "So XXXXX woke at".to_owned(), None)]);
        assert_eq!(reading.query[0].words[1].role, Role::Gap);
        let mentions = reading.context[0].iter().flat_map(|segment| &segment.words);
        let mentions: Vec<&str> =
            mentions.filter(|w| w.role == Role::Mention).map(|w| w.text.as_str()).collect();
        assert_eq!(mentions, ["Anna", "Otto"]);
        let legend: Vec<&str> = reading.legend.iter().map(|item| item.text.as_str()).collect();
        assert_eq!(
            legend,
            [
                "windows of “Otto”, its answer, which is wrong",
                "windows of “Anna”, the right answer",
                "the words of the query that it compared with them",
            ]
        );
    }

    #[test]
    fn the_strongest_of_overlapping_windows_is_drawn_whole() {
        let mut explained = explained();
        // Anna's window runs through Otto's, which is stronger and in its middle.
        explained.explanation.spans[0].words = 0..9;
        explained.explanation.spans[1].words = 5..7;
        let reading = Reading::of(&explained);
        let texts: Vec<(BoxKind, String, Option<&str>)> = boxes(&reading.context[0]);
        assert_eq!(
            texts,
            [
                (BoxKind::Right, "Anna fed the hen ,".to_owned(), Some(".25")),
                (BoxKind::Chosen, "and Otto".to_owned(), Some(".50")),
                (BoxKind::Right, "slept .".to_owned(), None),
            ]
        );
        let levels: Vec<u8> =
            reading.context[0].iter().filter_map(|s| s.mark.as_ref()).map(|m| m.level).collect();
        // 1 + 4 · .25/.5 = 3.
        assert_eq!(levels, [3, 5, 3]);
    }

    #[test]
    fn windows_are_listed_with_their_sentence_the_strongest_first() {
        let reading = Reading::of(&explained());
        let rows: Vec<(usize, &str, u8)> =
            reading.windows.iter().map(|w| (w.sentence, w.weight.as_str(), w.percent)).collect();
        assert_eq!(rows, [(1, ".50", 100), (1, ".25", 50), (2, ".20", 40)]);
        assert_eq!(reading.windows[0].words, [", and", " Otto", " slept."]);
        assert!(reading.windows[0].is_supporting);
    }

    #[test]
    fn windows_beyond_the_context_do_no_harm() {
        let mut explained = explained();
        explained.explanation.spans[0].words = 90..99;
        explained.explanation.spans[0].mention = Some(95);
        explained.explanation.query = Some(70..90);
        let reading = Reading::of(&explained);
        assert_eq!(reading.windows.len(), 2);
        assert_eq!(reading.context.len(), 2);
        assert!(boxes(&reading.query).is_empty());
    }
}
