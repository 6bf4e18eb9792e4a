//! Many questions at once, on all threads: places in a set → scores in the same order.

use questions::{Question, QuestionSet};
use rayon::prelude::*;

use crate::{Error, Model, Result};
use questions::Control;

/// The scores of the questions at some places of a set, after the controls.
///
/// `progress` hears how many more questions are done.
///
/// # Errors
/// If the model's device fails, or a score is NaN or infinite.
pub fn score_all(
    model: &dyn Model,
    set: &QuestionSet,
    places: &[usize],
    controls: &[Control],
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Vec<f32>>> {
    let reader = model.reader(set.vocabulary());
    let batches: Vec<Vec<Vec<f32>>> = places
        .par_chunks(reader.batch())
        .map(|places| {
            let mut buffers = vec![Vec::new(); places.len()];
            let controlled = |(&place, buffer)| {
                Control::apply_all(controls, set.example(place).question, buffer)
            };
            let questions: Vec<Question<'_>> =
                places.iter().zip(&mut buffers).map(controlled).collect();
            let scores = reader.score_many(&questions)?;
            questions.iter().zip(&scores).try_for_each(|(q, scores)| check_finite(q, scores))?;
            progress(places.len());
            Ok(scores)
        })
        .collect::<Result<_>>()?;
    Ok(batches.into_iter().flatten().collect())
}

fn check_finite(question: &Question<'_>, scores: &[f32]) -> Result<()> {
    match scores.iter().position(|score| !score.is_finite()) {
        None => Ok(()),
        Some(place) => Err(Error::NotFinite {
            id: question.id(),
            candidate: question.word(question.candidates[place]).to_owned(),
            found: scores[place],
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use base::Vocabulary;
    use questions::Split;

    use super::*;
    use crate::Reader;
    use crate::fixture::{Asked, set_of};

    /// Scores every candidate with the number of context sentences; four of them make it NaN.
    struct CountSentences;

    impl Model for CountSentences {
        fn reader<'a>(&'a self, _: &'a Vocabulary) -> Box<dyn Reader + 'a> {
            Box::new(Self)
        }
        fn save(&self, _: &Path) -> Result<()> {
            Ok(())
        }
    }

    impl Reader for CountSentences {
        fn score(&self, question: &Question<'_>) -> Vec<f32> {
            let n = question.context.len();
            vec![if n == 4 { f32::NAN } else { n as f32 }; question.candidates.len()]
        }
    }

    fn set(n_sentences: impl Iterator<Item = usize>) -> QuestionSet {
        let asked: Vec<Asked<'_>> = n_sentences
            .map(|n| Asked {
                context: vec!["a fox"; n],
                query: "the XXXXX",
                candidates: &["fox", "hen"],
                answer: None,
                split: Split::Test,
            })
            .collect();
        set_of(&asked)
    }

    #[test]
    fn scores_come_in_the_order_of_the_places_and_every_question_is_counted() {
        let set = set((0..300).map(|n| n % 4));
        let places: Vec<usize> = (0..300).rev().collect();
        let done = AtomicUsize::new(0);
        let count = |n| _ = done.fetch_add(n, Ordering::Relaxed);
        let scores = score_all(&CountSentences, &set, &places, &[], &count).unwrap();
        let expected: Vec<Vec<f32>> = places.iter().map(|n| vec![(n % 4) as f32; 2]).collect();
        assert_eq!(scores, expected);
        assert_eq!(done.into_inner(), 300);
    }

    #[test]
    fn controls_come_before_the_model() {
        let set = set([3, 7].into_iter());
        let scores =
            |controls: &[Control]| score_all(&CountSentences, &set, &[0, 1], controls, &|_| ());
        assert_eq!(scores(&[Control::LastSentences(5)]).unwrap(), [[3.0; 2], [5.0; 2]]);
        let both = [Control::LastSentences(5), Control::QueryOnly];
        assert_eq!(scores(&both).unwrap(), [[0.0; 2], [0.0; 2]]);
    }

    #[test]
    fn a_score_that_is_no_number_stops_everything() {
        let error = score_all(&CountSentences, &set([3, 4].into_iter()), &[0, 1], &[], &|_| ())
            .unwrap_err();
        expect_test::expect![
            "question ee9048941f3eeb97: the score of `fox` is NaN: expected a finite number"
        ]
        .assert_eq(&error.to_string());
    }
}
