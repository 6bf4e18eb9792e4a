//! Softmax regression with one weight per feature: questions with feature rows and answers → the weights
//! of highest likelihood, by Newton's method.
//!
//! p(c) = exp(w · x_c) / Σ exp(w · x_c'); the loss is −Σ log p(answer) + r/2 |w|², which is convex. The
//! small ridge r keeps the weights finite where some weights would get every answer right.

use crate::ensemble::log_softmax;

/// r, on weights of features whose standard deviation is about 1: a prior so wide that it matters only
/// where the data do not.
const RIDGE: f64 = 1e-3;

/// Newton's method needs about ten steps; with the line search it cannot diverge.
const MAX_STEPS: usize = 100;
const MAX_HALVINGS: i32 = 40;

/// One question: a feature row per candidate, and the index of the answer.
#[derive(Clone, Debug)]
pub(crate) struct LabelledQuestion<'a> {
    pub(crate) rows: &'a [Vec<f64>],
    pub(crate) answer: usize,
}

/// The weights of highest likelihood; features may be of any scale.
pub(crate) fn fit(questions: &[LabelledQuestion<'_>], n_features: usize) -> Vec<f64> {
    let scales = scales(questions, n_features);
    let scaled: Vec<Vec<Vec<f64>>> = questions
        .iter()
        .map(|question| question.rows.iter().map(|row| divided(row, &scales)).collect())
        .collect();
    let questions: Vec<LabelledQuestion<'_>> = questions
        .iter()
        .zip(&scaled)
        .map(|(question, rows)| LabelledQuestion { rows, answer: question.answer })
        .collect();
    divided(&minimise(&questions, n_features), &scales)
}

/// The standard deviation of each feature within questions, or 1 where it never varies.
fn scales(questions: &[LabelledQuestion<'_>], n_features: usize) -> Vec<f64> {
    let n: usize = questions.iter().map(|question| question.rows.len()).sum();
    let scale = |i: usize| {
        let squares = questions.iter().map(|question| {
            let mean =
                question.rows.iter().map(|row| row[i]).sum::<f64>() / question.rows.len() as f64;
            question.rows.iter().map(|row| (row[i] - mean).powi(2)).sum::<f64>()
        });
        let deviation = (squares.sum::<f64>() / n as f64).sqrt();
        if deviation > 0.0 { deviation } else { 1.0 }
    };
    (0..n_features).map(scale).collect()
}

fn divided(values: &[f64], scales: &[f64]) -> Vec<f64> {
    values.iter().zip(scales).map(|(value, scale)| value / scale).collect()
}

/// The weights that minimise the loss.
fn minimise(questions: &[LabelledQuestion<'_>], n_features: usize) -> Vec<f64> {
    let mut weights = vec![0.0; n_features];
    let mut here = Loss::at(&weights, questions);
    for _ in 0..MAX_STEPS {
        let step = solve(here.hessian.clone(), here.gradient.clone());
        // Half of it is what a full step would gain on the quadratic: at its minimum, nothing.
        let decrement: f64 = step.iter().zip(&here.gradient).map(|(s, g)| s * g).sum();
        if decrement <= 1e-12 * (1.0 + here.value) {
            break;
        }
        let lower = (0..MAX_HALVINGS).map(|halvings| 0.5_f64.powi(halvings)).find_map(|length| {
            let moved: Vec<f64> = weights.iter().zip(&step).map(|(w, s)| w - length * s).collect();
            let loss = Loss::at(&moved, questions);
            (loss.value < here.value).then_some((moved, loss))
        });
        // No lower point along the step: the minimum, to the precision of the arithmetic.
        let Some(lower) = lower else { break };
        (weights, here) = lower;
    }
    weights
}

/// w · x of each candidate.
pub(crate) fn activations(weights: &[f64], rows: &[Vec<f64>]) -> Vec<f64> {
    rows.iter().map(|row| row.iter().zip(weights).map(|(x, w)| x * w).sum()).collect()
}

/// The loss at some weights with its first and second derivatives.
struct Loss {
    value: f64,
    gradient: Vec<f64>,
    hessian: Vec<Vec<f64>>,
}

impl Loss {
    fn at(weights: &[f64], questions: &[LabelledQuestion<'_>]) -> Self {
        let n = weights.len();
        let mut value = weights.iter().map(|w| RIDGE / 2.0 * w * w).sum::<f64>();
        let mut gradient: Vec<f64> = weights.iter().map(|w| RIDGE * w).collect();
        let mut hessian = vec![vec![0.0; n]; n];
        (0..n).for_each(|i| hessian[i][i] = RIDGE);
        for question in questions {
            let log_probs = log_softmax(&activations(weights, question.rows));
            value -= log_probs[question.answer];
            let p: Vec<f64> = log_probs.into_iter().map(f64::exp).collect();
            let expected: Vec<f64> = (0..n)
                .map(|i| question.rows.iter().zip(&p).map(|(row, p)| p * row[i]).sum())
                .collect();
            for i in 0..n {
                // ∂/∂w_i = E_p[x_i] − x_i of the answer.
                gradient[i] += expected[i] - question.rows[question.answer][i];
                for j in 0..=i {
                    // ∂²/∂w_i∂w_j = Cov_p(x_i, x_j).
                    let product: f64 =
                        question.rows.iter().zip(&p).map(|(row, p)| p * row[i] * row[j]).sum();
                    hessian[i][j] += product - expected[i] * expected[j];
                }
            }
        }
        (0..n).for_each(|i| (0..i).for_each(|j| hessian[j][i] = hessian[i][j]));
        Self { value, gradient, hessian }
    }
}

/// The x of A x = b for a symmetric positive definite A, by Gaussian elimination, which needs no pivots
/// there.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for pivot in 0..n {
        let (above, below) = a.split_at_mut(pivot + 1);
        let pivot_row = &above[pivot];
        for (row, index) in below.iter_mut().zip(pivot + 1..) {
            let factor = row[pivot] / pivot_row[pivot];
            row.iter_mut().zip(pivot_row).for_each(|(x, p)| *x -= factor * p);
            b[index] -= factor * b[pivot];
        }
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|column| a[row][column] * b[column]).sum();
        b[row] = (b[row] - known) / a[row][row];
    }
    b
}

#[cfg(test)]
mod tests {
    use base::seeds::{Use, generator};
    use rand::RngExt;

    use super::*;
    use crate::testing::draw;

    /// Questions of five candidates with two random features, answered by known weights.
    fn simulate(n: usize, weights: [f64; 2]) -> Vec<(Vec<Vec<f64>>, usize)> {
        let mut rng = generator(7, Use::Test, &[]);
        let question = |_| {
            let rows: Vec<Vec<f64>> = (0..5)
                .map(|_| vec![rng.random_range(-2.0..2.0), rng.random_range(-200.0..200.0)])
                .collect();
            let answer = draw(&log_softmax(&activations(&weights, &rows)), &mut rng);
            (rows, answer)
        };
        (0..n).map(question).collect()
    }

    fn labelled(questions: &[(Vec<Vec<f64>>, usize)]) -> Vec<LabelledQuestion<'_>> {
        questions.iter().map(|(rows, answer)| LabelledQuestion { rows, answer: *answer }).collect()
    }

    #[test]
    fn the_generating_weights_are_found_again() {
        let questions = simulate(10_000, [1.5, 0.005]);
        let weights = fit(&labelled(&questions), 2);
        // Standard errors from the curvature: about 0.02 and 0.0001.
        assert!((weights[0] - 1.5).abs() < 0.08, "{weights:?}");
        assert!((weights[1] - 0.005).abs() < 0.0004, "{weights:?}");
    }

    #[test]
    fn gradient_and_hessian_are_those_of_finite_differences() {
        let questions = simulate(20, [1.0, 0.002]);
        let (questions, weights, step) = (labelled(&questions), [0.7, -0.003], 1e-5);
        let exact = Loss::at(&weights, &questions);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs()));
        for i in 0..2 {
            let moved = |by: f64| {
                let mut weights = weights;
                weights[i] += by;
                Loss::at(&weights, &questions)
            };
            let (above, below) = (moved(step), moved(-step));
            let gradient = (above.value - below.value) / (2.0 * step);
            assert!(near(gradient, exact.gradient[i]), "{gradient} {:?}", exact.gradient);
            for j in 0..2 {
                let second = (above.gradient[j] - below.gradient[j]) / (2.0 * step);
                assert!(near(second, exact.hessian[i][j]), "{second} {:?}", exact.hessian);
            }
        }
    }

    #[test]
    fn the_gradient_vanishes_at_the_fitted_weights() {
        let questions = simulate(300, [3.0, 0.0]);
        let questions = labelled(&questions);
        let weights = minimise(&questions, 2);
        let gradient = Loss::at(&weights, &questions).gradient;
        assert!(gradient.iter().all(|g| g.abs() < 1e-3), "{gradient:?}");
    }

    #[test]
    fn a_model_that_is_always_right_gets_a_finite_weight_and_one_that_says_nothing_none() {
        let rows = vec![vec![1.0, 4.0], vec![0.0, 4.0]];
        let questions = vec![LabelledQuestion { rows: &rows, answer: 0 }; 5];
        let weights = fit(&questions, 2);
        assert!(weights[0] > 1.0 && weights[0].is_finite(), "{weights:?}");
        assert!(weights[1].abs() < 1e-9, "{weights:?}");
    }

    #[test]
    fn linear_equations_are_solved() {
        // 4x + y = 6 and x + 3y = 7 have x = 1, y = 2.
        assert_eq!(solve(vec![vec![4.0, 1.0], vec![1.0, 3.0]], vec![6.0, 7.0]), [1.0, 2.0]);
    }
}
