//! What a model looked at before it answered (Figure 2).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use ::report::ExplainedQuestion;
use evaluation::Prediction;
use models::{Model, Scores};
use questions::{Example, Explanation, QuestionSet, Split, WordClass};
use sha2::{Digest, Sha256};

use crate::sets::SetOptions;
use crate::{Error, Result};

/// Returns the number that a text names a question by, if it does: an id has 16 digits or more, and some are decimal.
pub fn question_number(question: &str) -> Option<usize> {
    question.parse().ok().filter(|_| question.len() < 16)
}

/// Finds a question of a set that was opened from `path`, by its number, from 1, among those that are selected, or by
/// its id.
///
/// # Errors
/// [`Error::NoQuestion`].
pub fn find_question(
    set: &QuestionSet,
    path: &Path,
    question: &str,
    options: &SetOptions,
) -> Result<usize> {
    let missing = |expected| {
        Err(Error::NoQuestion { path: path.to_owned(), asked: question.to_owned(), expected })
    };
    let Some(number) = question_number(question) else {
        let splits = [Some(Split::Valid), Some(Split::Test), None, Some(Split::Train)];
        let found = splits.into_iter().find_map(|split| set.find(split, question));
        return found
            .map_or_else(|| missing("an id of the set's questions, or a number".to_owned()), Ok);
    };
    let selection = options.selection();
    let is_counted = |&index: &usize| {
        let example = set.example(index);
        selection.has(example.split, example.class)
    };
    let indices: Vec<usize> = (0..set.len()).filter(is_counted).collect();
    let index = number.checked_sub(1).and_then(|index| indices.get(index));
    let expected = || format!("a number from 1 to {}", ::report::thousands(indices.len()));
    index.copied().map_or_else(|| missing(expected()), Ok)
}

/// What a model looked at in one question of a set; `name` is what the model is called, `seed` that of draws between
/// equal scores.
///
/// # Errors
/// If the model fails.
pub fn explain(
    name: &str,
    model: &Arc<dyn Model>,
    set: &QuestionSet,
    index: usize,
    seed: u64,
) -> Result<ExplainedQuestion> {
    let example = set.example(index);
    let mut scorer = model.clone().scorer(set.vocabulary());
    let mut scores = Scores::default();
    scorer.score(&[example.question], &mut scores)?;
    let scores = scores.get(0).iter().copied().map(f64::from).collect();
    let prediction = Prediction::of(&example, set.id(index).to_string(), scores, seed);
    Ok(explained(name, &example, &prediction, scorer.explain(&example.question)?))
}

/// For each class the question that a model has right, and the one that it has wrong, whose id comes first when
/// hashed with the seed, with what the model looked at; nothing for a model that does not say. Questions with two
/// candidates that differ in their capital letters alone are left out.
///
/// # Errors
/// If the model fails.
pub fn hits_and_misses(
    name: &str,
    model: &Arc<dyn Model>,
    set: &QuestionSet,
    predictions: &[Prediction],
    seed: u64,
) -> Result<Vec<ExplainedQuestion>> {
    let hash = |prediction: &&Prediction| {
        Sha256::new().chain_update(seed.to_le_bytes()).chain_update(&prediction.id).finalize()
    };
    let classes = WordClass::ALL.map(Some).into_iter().chain([None]);
    let kinds = classes.flat_map(|class| [(class, true), (class, false)]);
    let chosen = kinds.filter_map(|(class, is_right)| {
        let is_kind = |p: &&Prediction| p.class == class && p.is_right() == Some(is_right);
        predictions.iter().filter(is_kind).filter(|p| !has_case_twins(p)).min_by_key(hash)
    });
    let mut scorer = model.clone().scorer(set.vocabulary());
    let look = |prediction: &Prediction| {
        let example = set.example(set.find(prediction.split, &prediction.id)?);
        let explanation = match scorer.explain(&example.question) {
            Ok(explanation) => explanation,
            Err(error) => return Some(Err(error.into())),
        };
        (!explanation.spans.is_empty())
            .then(|| Ok(explained(name, &example, prediction, explanation)))
    };
    chosen.filter_map(look).collect()
}

/// Returns whether two candidates are the same word but for its capital letters.
fn has_case_twins(prediction: &Prediction) -> bool {
    let forms: BTreeSet<String> =
        prediction.candidates.iter().map(|candidate| candidate.to_lowercase()).collect();
    forms.len() < prediction.candidates.len()
}

fn explained(
    name: &str,
    example: &Example<'_>,
    prediction: &Prediction,
    explanation: Explanation,
) -> ExplainedQuestion {
    let question = &example.question;
    let texts = |words: &[base::WordId]| -> Vec<String> {
        words.iter().map(|&word| question.word(word).to_owned()).collect()
    };
    ExplainedQuestion {
        model: Some(name.to_owned()),
        id: prediction.id.clone(),
        class: prediction.class,
        split: prediction.split,
        book: prediction.book.clone(),
        context: question.context.iter().map(texts).collect(),
        query: texts(question.query),
        candidates: prediction.candidates.clone(),
        scores: prediction.scores.clone(),
        answer: prediction.answer,
        predicted: prediction.predicted,
        explanation,
    }
}
