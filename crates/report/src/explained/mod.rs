//! Figure 2: a question with what a model looked at before it answered → text, a drawing, a page.
//!
//! An [`ExplainedQuestion`] holds all its words, so it can be written as a line of JSON and drawn elsewhere.

mod metrics;
mod svg;
mod terminal;

use std::ops::Range;

use questions::{Explanation, Span, Split, WordClass};
use serde::{Deserialize, Serialize};

use crate::reading::{BoxKind, Reading, book_title};
use crate::{number, page};

/// A question, the windows that a model weighed, and what it chose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExplainedQuestion {
    /// What the model is called, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Identifies the question in its set.
    pub id: String,
    /// The class of the missing word.
    pub class: Option<WordClass>,
    /// The split of its book.
    pub split: Option<Split>,
    /// The name of its book.
    pub book: Option<String>,
    /// S, sentence by sentence.
    pub context: Vec<Vec<String>>,
    /// q, with `XXXXX` for the missing word.
    pub query: Vec<String>,
    /// C, the candidates.
    pub candidates: Vec<String>,
    /// One score per candidate.
    pub scores: Vec<f64>,
    /// The index of the right candidate, where it is known.
    pub answer: Option<usize>,
    /// The index of the chosen candidate.
    pub predicted: usize,
    /// What the model looked at.
    #[serde(flatten)]
    pub explanation: Explanation,
}

impl ExplainedQuestion {
    /// Returns whether all indices are within its text and candidates: a file may hold others.
    pub fn is_whole(&self) -> bool {
        let n_words = self.words().len();
        let is_candidate = |place: usize| place < self.candidates.len();
        let is_window = |window: &Span| {
            window.words.start < n_words
                && is_within(&window.words, n_words)
                && window.mention.is_none_or(|mention| mention < n_words)
                && window.candidate.is_none_or(is_candidate)
        };
        self.scores.len() == self.candidates.len()
            && is_candidate(self.predicted)
            && self.answer.is_none_or(is_candidate)
            && self
                .explanation
                .query
                .as_ref()
                .is_none_or(|window| is_within(window, self.query.len()))
            && self.explanation.spans.iter().all(is_window)
    }

    /// Text for a terminal of a width: no colour.
    pub fn text(&self, width: usize) -> String {
        terminal::write(self, width)
    }

    /// The picture as an SVG file of its own.
    pub fn svg(&self) -> String {
        page::stand_alone(&svg::draw(self))
    }

    /// The question on an HTML page of its own, drawn as in the report and on the served page.
    pub fn html(&self) -> String {
        page::explained(self)
    }

    /// The question as people read it, with a box around each window.
    pub fn reading(&self) -> Reading {
        Reading::of(self)
    }

    /// What the model chose, and whether that is right, in words.
    pub(crate) fn verdict(&self) -> String {
        let chosen = &self.candidates[self.predicted];
        match self.answer {
            None => format!("{chosen}: the right answer is not known"),
            Some(answer) if answer == self.predicted => format!("{chosen}: right"),
            Some(answer) => format!("{chosen}: wrong, the answer is {}", self.candidates[answer]),
        }
    }

    /// Returns whether a wrong answer differs from the right one in its capital letters alone.
    pub fn is_case_twin(&self) -> bool {
        let form = |index: usize| self.candidates[index].to_lowercase();
        self.answer
            .is_some_and(|answer| answer != self.predicted && form(answer) == form(self.predicted))
    }

    /// Whose answer it is: `What memnn-window-selfsup looked at`.
    pub(crate) fn title(&self) -> String {
        format!("What {} looked at", self.model.as_deref().unwrap_or("the model"))
    }

    /// Which question it is: class, split, book.
    pub(crate) fn heading(&self) -> String {
        let class = self.class.map_or("Question", WordClass::label).to_owned();
        let split = self.split.map(|split| split.code().to_owned());
        let book = self.book.as_deref().map(book_title);
        [Some(class), split, book].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    /// The context as one running text.
    pub(crate) fn words(&self) -> Vec<&str> {
        self.context.iter().flatten().map(String::as_str).collect()
    }

    /// The index of the sentence that a word of the context is in.
    pub(crate) fn sentence_of(&self, word: usize) -> usize {
        let ends = self.context.iter().scan(0, |end, sentence| {
            *end += sentence.len();
            Some(*end)
        });
        ends.take_while(|&end| end <= word).count()
    }

    /// Whose window a span is.
    pub(crate) fn kind(&self, span: &Span) -> BoxKind {
        // Models that lower-case have the windows of one candidate for both of two that differ in case alone.
        let form =
            |candidate: usize| self.candidates.get(candidate).map(|word| word.to_lowercase());
        let candidate = span.candidate.and_then(form);
        match candidate {
            None => BoxKind::Other,
            candidate if candidate == self.answer.and_then(form) => BoxKind::Right,
            candidate if candidate == form(self.predicted) => BoxKind::Chosen,
            Some(_) => BoxKind::Other,
        }
    }

    /// The windows, the strongest first, each with its strength relative to the strongest.
    pub(crate) fn by_strength(&self) -> Vec<(f64, &Span)> {
        let strengths = self.explanation.strengths().into_iter();
        let mut windows: Vec<(f64, &Span)> = strengths.zip(&self.explanation.spans).collect();
        windows.sort_by(|a, b| b.0.total_cmp(&a.0));
        windows
    }

    /// The candidates with their scores as printed, the best first.
    pub(crate) fn ranked(&self) -> Vec<(usize, String)> {
        let mut places: Vec<usize> = (0..self.candidates.len()).collect();
        places.sort_by(|&a, &b| self.scores[b].total_cmp(&self.scores[a]));
        // Of equal scores the one that was drawn comes first.
        places.sort_by_key(|&place| place != self.predicted);
        let shares = self.shares();
        places.into_iter().map(|place| (place, number::weight(shares[place]))).collect()
    }

    /// The scores; those that are the logarithms of a distribution as that distribution.
    fn shares(&self) -> Vec<f64> {
        let shares: Vec<f64> = self.scores.iter().map(|score| score.exp()).collect();
        let is_distribution = (shares.iter().sum::<f64>() - 1.0).abs() < 0.01;
        if is_distribution { shares } else { self.scores.clone() }
    }
}

fn is_within(places: &Range<usize>, n: usize) -> bool {
    places.start <= places.end && places.end <= n
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two sentences, three windows, the query's window in the middle.
    pub fn explained() -> ExplainedQuestion {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let window = |words: Range<usize>, candidate, mention, weight: f32| Span {
            words,
            candidate: Some(candidate),
            mention: Some(mention),
            weight,
            score: Some(3.0 + weight.ln()),
            is_supporting: weight == 0.5,
        };
        ExplainedQuestion {
            model: Some("memnn-window-selfsup".to_owned()),
            id: "0123456789abcdef".to_owned(),
            class: Some(WordClass::NamedEntity),
            split: Some(Split::Valid),
            book: Some("The_Two_Hens.txt".to_owned()),
            context: vec![
                words("Anna fed the hen , and Otto slept ."),
                words("`` Wake up , Otto ! ''"),
            ],
            query: words("So XXXXX woke at last ."),
            candidates: words("Anna Otto hen"),
            scores: vec![0.25, 0.7, 0.05],
            answer: Some(0),
            predicted: 1,
            explanation: Explanation {
                query: Some(0..4),
                spans: vec![
                    window(0..3, 0, 0, 0.25),
                    window(4..9, 1, 6, 0.5),
                    window(11..15, 1, 13, 0.2),
                ],
            },
        }
    }

    #[test]
    fn a_word_is_found_in_its_sentence() {
        let explained = explained();
        assert_eq!([0, 8, 9, 15].map(|word| explained.sentence_of(word)), [0, 0, 1, 1]);
    }

    #[test]
    fn strength_is_relative_to_the_strongest_and_penalties_start_at_the_weakest() {
        let mut explained = explained();
        let strengths = |explained: &ExplainedQuestion| -> Vec<(f64, usize)> {
            explained
                .by_strength()
                .iter()
                .map(|(s, window)| ((s * 100.0).round() / 100.0, window.words.start))
                .collect()
        };
        assert_eq!(strengths(&explained), [(1.0, 4), (0.5, 0), (0.4, 11)]);
        let penalties = [-10.0, -5.0, -15.0];
        explained
            .explanation
            .spans
            .iter_mut()
            .zip(penalties)
            .for_each(|(window, w)| window.weight = w);
        assert_eq!(strengths(&explained), [(1.0, 4), (0.5, 0), (0.0, 11)]);
    }

    #[test]
    fn windows_are_of_the_right_answer_of_the_choice_or_of_others() {
        let kinds = |explained: &ExplainedQuestion| -> Vec<BoxKind> {
            explained.explanation.spans.iter().map(|span| explained.kind(span)).collect()
        };
        let mut explained = explained();
        assert_eq!(kinds(&explained), [BoxKind::Right, BoxKind::Chosen, BoxKind::Chosen]);
        explained.predicted = 0;
        assert_eq!(kinds(&explained), [BoxKind::Right, BoxKind::Other, BoxKind::Other]);
        explained.candidates[2] = "otto".to_owned();
        explained.predicted = 2;
        assert_eq!(kinds(&explained)[1], BoxKind::Chosen);
    }

    #[test]
    fn capital_letters_make_twins() {
        let mut explained = explained();
        assert!(!explained.is_case_twin());
        explained.candidates = ["milk", "Milk", "hen"].map(str::to_owned).to_vec();
        assert!(explained.is_case_twin());
        explained.predicted = 0;
        assert!(!explained.is_case_twin(), "it is right");
    }

    #[test]
    fn it_can_be_written_and_drawn_elsewhere() {
        let line = serde_json::to_string(&explained()).unwrap();
        assert_eq!(serde_json::from_str::<ExplainedQuestion>(&line).unwrap(), explained());
    }

    #[test]
    fn places_beyond_the_text_are_noticed() {
        assert!(explained().is_whole());
        let harms: [fn(&mut ExplainedQuestion); 6] = [
            |explained| explained.predicted = 3,
            |explained| explained.answer = Some(3),
            |explained| explained.scores.truncate(2),
            |explained| explained.explanation.query = Some(0..7),
            |explained| explained.explanation.spans[0].words = 16..16,
            |explained| explained.explanation.spans[2].mention = Some(16),
        ];
        for harm in harms {
            let mut explained = explained();
            harm(&mut explained);
            assert!(!explained.is_whole(), "{explained:?}");
        }
    }

    #[test]
    fn log_probabilities_are_shown_as_shares() {
        let mut explained = explained();
        explained.scores = [0.25, 0.7, 0.05].map(f64::ln).to_vec();
        let ranked = [(1, ".70"), (0, ".25"), (2, ".05")];
        assert_eq!(explained.ranked(), ranked.map(|(place, text)| (place, text.to_owned())));
        explained.scores = vec![-3.0, -2.0, -4.0];
        assert_eq!(explained.ranked()[0], (1, "−2".to_owned()));
    }
}
