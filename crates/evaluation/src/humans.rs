//! People as models (§4.5, the rows «Humans» of Table 2): answers → predictions, and how far the
//! annotators of shared questions agree.
//!
//! A person's prediction scores the chosen candidate 1 and the others 0. Agreement is the share of
//! agreeing pairs and free-marginal κ (Randolph 2005) with chance = 1/number of candidates, since
//! each question has its own words.

use std::collections::BTreeMap;

use questions::Split;
use serde::Serialize;

use crate::bootstrap::{self, Ratio};
use crate::{Error, LineProblem, Prediction, Predictions, QuestionIndex};

/// One question as one person answered it.
#[derive(Clone, Debug, PartialEq)]
pub struct HumanAnswer {
    /// Who answered.
    pub annotator: String,
    /// The question's id.
    pub id: String,
    /// The question's split, where it is known.
    pub split: Option<Split>,
    /// The chosen candidate.
    pub chosen: String,
    /// How long it took.
    pub seconds: f64,
}

/// How far the annotators of shared questions agree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Questions with two or more answers.
    pub questions: usize,
    /// Pairs of answers to the same question.
    pub pairs: usize,
    /// The share of pairs that agree, each question counted alike.
    pub share: f64,
    /// Free-marginal κ.
    pub kappa: f64,
    /// The lower end of κ's 95 % bootstrap interval, questions resampled.
    pub low: f64,
    /// The upper end of κ's 95 % bootstrap interval.
    pub high: f64,
}

/// The predictions of each person, in the order of their names.
///
/// # Errors
/// [`Error::HumanAnswer`] for an answer that does not fit the set, or a second one by the same person.
pub fn predictions_by_person(
    answers: &[HumanAnswer],
    index: &QuestionIndex<'_>,
) -> Result<Vec<Predictions>, Error> {
    let mut by_person: BTreeMap<&str, Vec<Prediction>> = BTreeMap::new();
    for (answer, prediction) in answers.iter().zip(predictions(answers, index)?) {
        by_person.entry(&answer.annotator).or_default().push(prediction);
    }
    by_person.into_iter().map(|(person, answers)| Predictions::new(person, answers)).collect()
}

/// The predictions of all people together, each question once.
///
/// Chosen: where several people answered, one answer is drawn from the seed. A vote would be right more
/// often than any person, and counting all answers would claim more questions than there are.
///
/// # Errors
/// As [`predictions_by_person`]; [`Error::Empty`] without answers.
pub fn pooled_predictions(
    name: &str,
    answers: &[HumanAnswer],
    index: &QuestionIndex<'_>,
    seed: u64,
) -> Result<Predictions, Error> {
    let drawn = by_question(predictions(answers, index)?).into_values().map(|mut of_question| {
        let equal = vec![0.0; of_question.len()];
        of_question.swap_remove(crate::predictions::choose(&equal, &of_question[0].id, seed))
    });
    Predictions::new(name, drawn.collect())
}

/// The agreement on questions that several people answered; none where there is no such question.
///
/// # Errors
/// As [`predictions_by_person`].
pub fn agreement(
    answers: &[HumanAnswer],
    index: &QuestionIndex<'_>,
    seed: u64,
) -> Result<Option<Agreement>, Error> {
    let by_question = by_question(predictions(answers, index)?);
    let shared: Vec<(usize, Vec<usize>)> = by_question
        .into_values()
        .filter(|answers| answers.len() > 1)
        .map(|answers| {
            (answers[0].candidates.len(), answers.iter().map(|answer| answer.predicted).collect())
        })
        .collect();
    Ok(agreement_of(&shared, seed))
}

/// The median time of an answer; none without answers.
pub fn median_seconds(answers: &[HumanAnswer]) -> Option<f64> {
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
        let later = |place: usize| choices[place + 1..].iter().map(move |other| (place, other));
        let pairs = (0..choices.len()).flat_map(later);
        let agreeing = pairs.filter(|&(place, other)| choices[place] == *other).count();
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

/// One prediction an answer, in their order.
fn predictions(
    answers: &[HumanAnswer],
    index: &QuestionIndex<'_>,
) -> Result<Vec<Prediction>, Error> {
    let mut first_lines = BTreeMap::new();
    let mut predictions = Vec::with_capacity(answers.len());
    for (line, answer) in (1..).zip(answers) {
        let key = (&answer.annotator, answer.split, &answer.id);
        let prediction = match first_lines.insert(key, line) {
            Some(first) => Err(LineProblem::DoubledId { id: answer.id.clone(), first }),
            None => prediction(answer, index),
        };
        predictions.push(prediction.map_err(|problem| Error::HumanAnswer {
            annotator: answer.annotator.clone(),
            id: answer.id.clone(),
            problem: problem.into(),
        })?);
    }
    Ok(predictions)
}

fn prediction(answer: &HumanAnswer, index: &QuestionIndex<'_>) -> Result<Prediction, LineProblem> {
    let place = index.place(answer.split, &answer.id);
    let place = place.ok_or_else(|| LineProblem::UnknownId { id: answer.id.clone(), n: 1 })?;
    let example = index.set().example(place);
    let question = &example.question;
    let is_chosen = |&candidate: &corpus::WordId| question.word(candidate) == answer.chosen;
    let scores: Vec<f64> =
        question.candidates.iter().map(|c| if is_chosen(c) { 1.0 } else { 0.0 }).collect();
    if !scores.contains(&1.0) {
        return Err(LineProblem::NotACandidate {
            key: "chosen",
            found: answer.chosen.clone(),
            twin: None,
        });
    }
    // One score is the highest, so nothing is drawn.
    Ok(Prediction::of(&example, answer.id.clone(), scores, 0))
}

fn by_question(predictions: Vec<Prediction>) -> BTreeMap<(Option<Split>, String), Vec<Prediction>> {
    let mut by_question: BTreeMap<_, Vec<Prediction>> = BTreeMap::new();
    for prediction in predictions {
        by_question.entry((prediction.split, prediction.id.clone())).or_default().push(prediction);
    }
    by_question
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::evaluate;
    use crate::testing::question_set;

    fn answer(annotator: &str, id: &str, chosen: &str, seconds: f64) -> HumanAnswer {
        let (annotator, id, chosen) = (annotator.to_owned(), id.to_owned(), chosen.to_owned());
        HumanAnswer { annotator, id, split: Some(Split::Valid), chosen, seconds }
    }

    /// Each choice as often as its count says.
    fn choices(counts: &[usize]) -> (usize, Vec<usize>) {
        let repeat = |(choice, &n): (usize, &usize)| std::iter::repeat_n(choice, n);
        (counts.len(), counts.iter().enumerate().flat_map(repeat).collect())
    }

    #[test]
    fn people_are_predictions_one_by_one_and_together() {
        let set = question_set();
        let index = QuestionIndex::of_splits(&set, &[Split::Valid]);
        let ids = set.ids(Some(Split::Valid));
        let answers = [
            answer("Wren", &ids[0].1, "door", 4.0),
            answer("Wren", &ids[1].1, "jug", 8.0),
            answer("Finch", &ids[1].1, "Goose", 5.0),
        ];
        let people = predictions_by_person(&answers, &index).unwrap();
        let of = |predictions: &Predictions| {
            let all = evaluate(predictions).unwrap()[0].classes.all;
            (predictions.name().to_owned(), all.n, all.accuracy)
        };
        assert_eq!(of(&people[0]), ("Finch".to_owned(), 1, 1.0));
        assert_eq!(of(&people[1]), ("Wren".to_owned(), 2, 0.5));
        // The second question counts once, as one of the two answered it.
        let accuracies =
            (0..20).map(|seed| of(&pooled_predictions("people", &answers, &index, seed).unwrap()));
        let mut accuracies: Vec<_> = accuracies.map(|(_, n, accuracy)| (n, accuracy)).collect();
        accuracies.sort_by(|a, b| a.1.total_cmp(&b.1));
        accuracies.dedup();
        assert_eq!(accuracies, [(2, 0.5), (2, 1.0)]);
        assert_eq!(median_seconds(&answers), Some(5.0));
        assert_eq!(median_seconds(&answers[..2]), Some(6.0));
        assert_eq!(median_seconds(&[]), None);
        // One shared question, two candidates, no agreement: κ = (0 − ½)/(1 − ½).
        let agreement = agreement(&answers, &index, 1).unwrap().unwrap();
        assert_eq!((agreement.questions, agreement.pairs), (1, 1));
        assert_eq!((agreement.share, agreement.kappa), (0.0, -1.0));
    }

    #[test]
    fn answers_that_do_not_fit_are_named() {
        let set = question_set();
        let index = QuestionIndex::of_splits(&set, &[Split::Valid]);
        let id = set.ids(Some(Split::Valid)).remove(0).1;
        let message = |answers: &[HumanAnswer]| {
            let error = agreement(answers, &index, 1).unwrap_err();
            format!("{error}\n")
        };
        let good = answer("Wren", &id, "door", 1.0);
        let messages = [
            message(&[answer("Wren", "0123", "door", 1.0)]),
            message(&[answer("Wren", &id, "Door", 1.0)]),
            message(&[good.clone(), good]),
        ];
        expect![[r#"
            answer of `Wren` to question `0123`: question `0123` is not in the question set
            answer of `Wren` to question `05a027de13c2da80`: `chosen`: expected one of the candidates, found `Door`
            answer of `Wren` to question `05a027de13c2da80`: question `05a027de13c2da80` is answered again: first in line 1
        "#]].assert_eq(&messages.concat());
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
