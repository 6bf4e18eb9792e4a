//! Figure 2: a question with what a model looked at before it answered → text, a drawing, a page.
//!
//! An [`ExplainedQuestion`] holds all its words, so it can be written as a line of JSON and drawn elsewhere.

mod drawing;
mod metrics;
mod terminal;

use std::ops::Range;

use questions::{Explanation, Span, Split, WordClass};
use serde::{Deserialize, Serialize};

use crate::chart::escape;
use crate::{number, page};

/// A question, the windows that were weighed, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExplainedQuestion {
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
    /// C.
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

/// Whose window it is, which decides how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// Of the answer that the model returned.
    Returned,
    /// Of the right answer, where the model returned another.
    Right,
    /// Of any other candidate, or of none.
    Other,
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

    /// Text for the terminal: 80 columns, no colour.
    pub fn text(&self) -> String {
        terminal::write(self)
    }

    /// A drawing as a file of its own.
    pub fn svg(&self) -> String {
        page::stand_alone(&drawing::draw(self, "looked", true))
    }

    /// A page with the drawing and the same as text.
    pub fn html(&self) -> String {
        page::bare(&self.heading(), &self.figure("looked"))
    }

    /// The drawing and the same as text, for a page; the id is unique in it.
    pub(crate) fn figure(&self, id: &str) -> String {
        format!(
            "<figure class=\"explained\">{}</figure>\n<details><summary>The same as text</summary>\
             <pre tabindex=\"0\">{}</pre></details>\n",
            drawing::draw(self, id, false),
            escape(&self.text()),
        )
    }

    /// Whether the model is right, in words.
    pub(crate) fn verdict(&self) -> String {
        match self.answer {
            None => "the answer is not known".to_owned(),
            Some(answer) if answer == self.predicted => "right".to_owned(),
            Some(answer) => format!("wrong: the answer is {}", self.candidates[answer]),
        }
    }

    /// Which question it is.
    pub(crate) fn heading(&self) -> String {
        let class = self.class.map(|class| class.label().to_owned());
        let split = self.split.map(|split| split.code().to_owned());
        let book = self.book.as_deref().map(crate::passage::book_title);
        let parts = [Some(format!("Question {}", self.id)), class, split, book];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The context as one running text.
    fn words(&self) -> Vec<&str> {
        self.context.iter().flatten().map(String::as_str).collect()
    }

    /// The index of the sentence that a word of the context is in.
    fn sentence_of(&self, word: usize) -> usize {
        let ends = self.context.iter().scan(0, |end, sentence| {
            *end += sentence.len();
            Some(*end)
        });
        ends.take_while(|&end| end <= word).count()
    }

    fn whose(&self, window: &Span) -> Whose {
        // Models that lower-case have the windows of one candidate for both of two that differ in case alone.
        let form = |candidate: usize| self.candidates[candidate].to_lowercase();
        match window.candidate.map(form) {
            None => Whose::Other,
            Some(candidate) if candidate == form(self.predicted) => Whose::Returned,
            candidate if candidate == self.answer.map(form) => Whose::Right,
            Some(_) => Whose::Other,
        }
    }

    /// The windows, the strongest first, each with its strength relative to the strongest.
    fn by_strength(&self) -> Vec<(f64, &Span)> {
        let strengths = self.explanation.strengths().into_iter();
        let mut windows: Vec<(f64, &Span)> = strengths.zip(&self.explanation.spans).collect();
        windows.sort_by(|a, b| b.0.total_cmp(&a.0));
        windows
    }

    /// The candidates with their scores as printed, the best first.
    fn ranked(&self) -> Vec<(usize, String)> {
        let mut places: Vec<usize> = (0..self.candidates.len()).collect();
        places.sort_by(|&a, &b| self.scores[b].total_cmp(&self.scores[a]));
        // Of equal scores the one that was drawn comes first.
        places.sort_by_key(|&place| place != self.predicted);
        let shares = self.shares();
        places.into_iter().map(|place| (place, printed(shares[place]))).collect()
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

/// A weight or score: shares without their zero, other numbers to two places.
fn printed(value: f64) -> String {
    let text = match value {
        0.0..=1.0 => return format!("{value:.2}").trim_start_matches('0').to_owned(),
        _ => format!("{value:.2}"),
    };
    let text = text.trim_end_matches('0').trim_end_matches('.');
    number::minus(text)
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
    fn windows_are_the_returned_ones_the_right_ones_or_others() {
        let mut explained = explained();
        let whose: Vec<Whose> =
            explained.explanation.spans.iter().map(|window| explained.whose(window)).collect();
        assert_eq!(whose, [Whose::Right, Whose::Returned, Whose::Returned]);
        explained.predicted = 0;
        let whose: Vec<Whose> =
            explained.explanation.spans.iter().map(|window| explained.whose(window)).collect();
        assert_eq!(whose, [Whose::Returned, Whose::Other, Whose::Other]);
        explained.candidates[2] = "otto".to_owned();
        explained.predicted = 2;
        assert_eq!(explained.whose(&explained.explanation.spans[1]), Whose::Returned);
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

    #[test]
    fn scores_are_short() {
        assert_eq!(
            [0.684, 1.0, 0.0, -7.0, 12.345].map(printed),
            [".68", "1.00", ".00", "−7", "12.35"]
        );
    }
}
