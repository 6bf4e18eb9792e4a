//! People as models (§4.5, the rows «Humans» of Table 2): answers → predictions, and how far the
//! annotators of shared questions agree.
//!
//! A person's prediction gives the chosen candidate a score of 1 and the others 0. Agreement is the share of
//! agreeing pairs and free-marginal κ (Randolph 2005) with chance = 1/number of candidates, since
//! each question has its own words.

use std::collections::BTreeMap;

use base::Split;
use questions::Example;
use serde::Serialize;

use crate::bootstrap::{self, Ratio};
use crate::predictions::{check_lines, choose};
use crate::{Accuracy, Error, Prediction, Predictions};

/// Draws one answer per question that several people answered, and κ's resamples.
const SEED: u64 = 1;

/// One question as one person answered it.
#[derive(Clone, Debug, PartialEq)]
pub struct HumanAnswer {
    /// The person's name or pseudonym.
    pub annotator: String,
    /// The time from showing the question to the answer.
    pub seconds: f64,
    /// The question, with the chosen candidate as its prediction.
    pub prediction: Prediction,
}

impl HumanAnswer {
    /// A person's choice, as an index into the candidates of a question.
    ///
    /// # Panics
    /// If `chosen` is out of range.
    pub fn new(
        annotator: impl Into<String>,
        seconds: f64,
        example: &Example<'_>,
        chosen: usize,
    ) -> Self {
        let mut scores = vec![0.0; example.question.candidates.len()];
        scores[chosen] = 1.0;
        // One score is the highest, so there is no tie to break.
        let prediction = Prediction::of(example, example.question.id().to_string(), scores, SEED);
        Self { annotator: annotator.into(), seconds, prediction }
    }
}

/// What people's answers say beyond accuracy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct People {
    /// How many answers there are, to shared questions too.
    pub answers: usize,
    /// The median time of an answer.
    pub median_seconds: f64,
    /// Each person, in the order of their names.
    pub persons: Vec<Person>,
    /// Where two or more people answered the same questions.
    pub agreement: Option<Agreement>,
}

/// Accuracy and speed of one person.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Person {
    /// The person's name or pseudonym.
    pub annotator: String,
    /// Accuracy, where right answers are known.
    #[serde(flatten)]
    pub accuracy: Option<Accuracy>,
    /// The median time of an answer.
    pub median_seconds: f64,
}

/// How far the annotators of shared questions agree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Questions with two or more answers.
    pub questions: usize,
    /// Pairs of answers to the same question.
    pub pairs: usize,
    /// The share of pairs that agree, with equal weight for each question.
    pub share: f64,
    /// Free-marginal κ (Randolph 2005).
    pub kappa: f64,
    /// The lower end of κ's 95 % bootstrap interval, questions resampled.
    pub low: f64,
    /// The upper end of κ's 95 % bootstrap interval.
    pub high: f64,
}

impl Predictions {
    /// The predictions of all people together, each question once; [`Self::people`] has the single answers.
    ///
    /// Chosen: where several people answered, one answer is drawn. A vote would be right more often than
    /// any person, and counting all answers would claim more questions than there are.
    ///
    /// # Errors
    /// As [`Predictions::new`]; a second answer by the same person is
    /// [`LineError::DuplicateId`](crate::LineError::DuplicateId).
    pub fn of_people(name: impl Into<String>, people: Vec<HumanAnswer>) -> Result<Self, Error> {
        let name = name.into();
        let keyed = people.iter().map(|HumanAnswer { annotator, prediction, .. }| {
            ((annotator, prediction.split, &prediction.id), prediction)
        });
        check_lines(&name, keyed)?;
        let drawn = by_question(people.iter()).into_values().map(|of_question| {
            let equal = vec![0.0; of_question.len()];
            let drawn = choose(&equal, &of_question[0].id, SEED);
            of_question[drawn].clone()
        });
        let mut pooled = Self::new(name, drawn.collect())?;
        pooled.people = people;
        Ok(pooled)
    }
}

impl People {
    /// Summarises the answers of one split by person; `None` without answers.
    pub fn of<'a>(answers: impl IntoIterator<Item = &'a HumanAnswer>) -> Option<Self> {
        let answers: Vec<&HumanAnswer> = answers.into_iter().collect();
        let mut by_person: BTreeMap<&str, Vec<&HumanAnswer>> = BTreeMap::new();
        for answer in &answers {
            by_person.entry(&answer.annotator).or_default().push(answer);
        }
        let person = |(annotator, answers): (&str, Vec<&HumanAnswer>)| {
            let credits = answers.iter().filter_map(|answer| answer.prediction.credit());
            Some(Person {
                annotator: annotator.to_owned(),
                accuracy: Accuracy::from_credits(credits),
                median_seconds: median_seconds(&answers)?,
            })
        };
        Some(Self {
            answers: answers.len(),
            median_seconds: median_seconds(&answers)?,
            persons: by_person.into_iter().filter_map(person).collect(),
            agreement: agreement(&answers),
        })
    }
}

/// The agreement on questions that several people answered; none where there is no such question.
fn agreement(answers: &[&HumanAnswer]) -> Option<Agreement> {
    let shared: Vec<(usize, Vec<usize>)> = by_question(answers.iter().copied())
        .into_values()
        .filter(|answers| answers.len() > 1)
        .map(|answers| {
            (answers[0].candidates.len(), answers.iter().map(|answer| answer.predicted).collect())
        })
        .collect();
    agreement_of(&shared, SEED)
}

fn median_seconds(answers: &[&HumanAnswer]) -> Option<f64> {
    let mut seconds: Vec<f64> = answers.iter().map(|answer| answer.seconds).collect();
    seconds.sort_unstable_by(f64::total_cmp);
    let middle = seconds.len() / 2;
    match seconds.len() {
        0 => None,
        n if n % 2 == 1 => Some(seconds[middle]),
        _ => Some((seconds[middle - 1] + seconds[middle]) / 2.0),
    }
}

/// Questions as (number of candidates, the choices of two or more people) → their agreement.
fn agreement_of(shared: &[(usize, Vec<usize>)], seed: u64) -> Option<Agreement> {
    if shared.is_empty() {
        return None;
    }
    let n_pairs = |choices: &[usize]| choices.len() * (choices.len() - 1) / 2;
    let observed = |choices: &[usize]| {
        let later = |index: usize| choices[index + 1..].iter().map(move |other| (index, other));
        let pairs = (0..choices.len()).flat_map(later);
        let agreeing = pairs.filter(|&(index, other)| choices[index] == *other).count();
        agreeing as f64 / n_pairs(choices) as f64
    };
    // Randolph 2005: κ = (P_o − P_e) / (1 − P_e), with P_e = 1/number of candidates. Chosen: where
    // questions have different numbers of them, P_e is the mean, as P_o is.
    let ratios: Vec<Ratio> = shared
        .iter()
        .map(|(n_candidates, choices)| {
            let chance = 1.0 / *n_candidates as f64;
            (observed(choices) - chance, 1.0 - chance)
        })
        .collect();
    let sums = ratios.iter().fold((0.0, 0.0), |sum, ratio| (sum.0 + ratio.0, sum.1 + ratio.1));
    let share = shared.iter().map(|(_, choices)| observed(choices)).sum::<f64>();
    let (low, high) = bootstrap::interval(&[ratios], seed);
    Some(Agreement {
        questions: shared.len(),
        pairs: shared.iter().map(|(_, choices)| n_pairs(choices)).sum(),
        share: share / shared.len() as f64,
        kappa: sums.0 / sums.1,
        low,
        high,
    })
}

fn by_question<'a>(
    answers: impl Iterator<Item = &'a HumanAnswer>,
) -> BTreeMap<(Option<Split>, &'a str), Vec<&'a Prediction>> {
    let mut by_question: BTreeMap<_, Vec<&Prediction>> = BTreeMap::new();
    for HumanAnswer { prediction, .. } in answers {
        by_question.entry((prediction.split, &*prediction.id)).or_default().push(prediction);
    }
    by_question
}

#[cfg(test)]
mod tests {
    use questions::QuestionSet;

    use super::*;
    use crate::evaluate;
    use crate::testing::question_set;

    /// Answers to the two validation questions of the fixture: (who, question, chosen, seconds).
    fn answers(set: &QuestionSet, answers: &[(&str, usize, usize, f64)]) -> Vec<HumanAnswer> {
        let indices = set.of_split(Split::Valid);
        let answer = |&(annotator, question, chosen, seconds): &(&str, usize, usize, f64)| {
            HumanAnswer::new(annotator, seconds, &set.example(indices[question]), chosen)
        };
        answers.iter().map(answer).collect()
    }

    /// Each choice as often as its count says.
    fn choices(counts: &[usize]) -> (usize, Vec<usize>) {
        let repeat = |(choice, &n): (usize, &usize)| std::iter::repeat_n(choice, n);
        (counts.len(), counts.iter().enumerate().flat_map(repeat).collect())
    }

    #[test]
    fn people_are_predictions_together_and_one_by_one() {
        let set = question_set();
        let right: Vec<usize> = set
            .of_split(Split::Valid)
            .iter()
            .map(|&index| set.example(index).answer.unwrap())
            .collect();
        let people = answers(
            &set,
            &[
                ("Wren", 0, right[0], 4.0),
                ("Wren", 1, 1 - right[1], 8.0),
                ("Finch", 1, right[1], 5.0),
            ],
        );
        let predictions = Predictions::of_people("people", people.clone()).unwrap();
        // The second question counts once, as one of the two answered it.
        assert_eq!(predictions.len(), 2);
        let results = evaluate(&predictions).unwrap().remove(0);
        assert_eq!(results.classes.all.n, 2);
        let found = results.people.unwrap();
        let persons: Vec<_> = found
            .persons
            .iter()
            .map(|p| (p.annotator.as_str(), p.accuracy.unwrap().accuracy, p.median_seconds))
            .collect();
        assert_eq!(persons, [("Finch", 1.0, 5.0), ("Wren", 0.5, 6.0)]);
        assert_eq!((found.answers, found.median_seconds), (3, 5.0));
        // One shared question, two candidates, no agreement: κ = (0 − ½)/(1 − ½).
        let agreement = found.agreement.unwrap();
        assert_eq!((agreement.questions, agreement.pairs), (1, 1));
        assert_eq!((agreement.share, agreement.kappa), (0.0, -1.0));
        assert_eq!(People::of(&[]), None);
    }

    #[test]
    fn the_pooled_answer_is_one_of_those_given_and_each_is_drawn_for_some_question() {
        let set = question_set();
        let mut drawn: Vec<(usize, usize)> = Vec::new();
        for question in 0..2 {
            let both = [("Wren", question, 0, 1.0), ("Finch", question, 1, 1.0)];
            for order in [[0, 1], [1, 0]] {
                let people = answers(&set, &order.map(|index| both[index]));
                let pooled = Predictions::of_people("people", people).unwrap();
                drawn.push((order[0], pooled.iter().next().unwrap().predicted));
            }
        }
        // In the other order the same index is drawn, which is the other answer: nobody is always preferred.
        assert_ne!(drawn[0].1, drawn[1].1);
        assert_ne!(drawn[2].1, drawn[3].1);
    }

    #[test]
    fn a_second_answer_by_the_same_person_is_refused() {
        let set = question_set();
        let twice = answers(&set, &[("Wren", 0, 0, 1.0), ("Wren", 0, 1, 1.0)]);
        let error = Predictions::of_people("people", twice).unwrap_err();
        let id = set.example(set.of_split(Split::Valid)[0]).question.id().to_string();
        assert_eq!(
            error.to_string(),
            format!("people:2: question `{id}` is answered again: first in line 1")
        );
    }

    #[test]
    fn kappa_is_that_of_published_examples() {
        // Counts of choices by question; κ by Randolph's Online Kappa Calculator, as statsmodels'
        // tests give it. First: pairs (21 + 0)/28 and (3 + 10)/28, mean 17/28; (17/28 − ½)/½ = 3/14.
        let first = agreement_of(&[choices(&[7, 1]), choices(&[3, 5])], 1).unwrap();
        assert!((first.kappa - 0.214286).abs() < 6e-6, "{first:?}");
        assert_eq!((first.questions, first.pairs), (2, 56));
        assert!((first.share - 17.0 / 28.0).abs() < 1e-12);
        let second = agreement_of(&[choices(&[6, 1, 0]), choices(&[0, 7, 0])], 1).unwrap();
        assert!((second.kappa - 0.785714).abs() < 6e-6, "{second:?}");
        // Two questions: a resample has either twice, or both.
        assert!(second.low < second.kappa && second.high == 1.0, "{second:?}");
    }

    #[test]
    fn chance_agreement_has_kappa_zero_and_full_agreement_one() {
        // All pairs of ten choices over ten candidates, each question a pair: one in ten agrees.
        let pairs: Vec<_> = (0..100).map(|i| (10, vec![i / 10, i % 10])).collect();
        let chance = agreement_of(&pairs, 1).unwrap();
        assert!(chance.kappa.abs() < 1e-12 && chance.low < 0.0 && 0.0 < chance.high, "{chance:?}");
        assert_eq!(agreement_of(&[(10, vec![3, 3, 3])], 1).unwrap().kappa, 1.0);
        assert!(agreement_of(&[], 1).is_none());
    }
}
