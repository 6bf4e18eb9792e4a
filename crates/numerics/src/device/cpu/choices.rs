//! Which of several texts is the right one: ln p of all pieces → what the gradient at each of them is multiplied by.

use std::ops::Range;

use crate::Real;
use crate::device::NO_TARGET;

/// With sums S of ln p, scale s and P = softmax(s S): −ln P(answer), and at each place of text c
/// share · s · (1(c = answer) − P(c)), since ∂(−ln P(answer)) / ∂S(c) = s (P(c) − 1(c = answer)).
pub fn choose<R: Real>(
    weights: &mut [R],
    losses: &mut [R],
    log_probs: &[R],
    (questions, texts): (&[u32], usize),
    [scale, share]: [R; 2],
) {
    for (question, loss) in questions.chunks(1 + 2 * texts).zip(losses) {
        *loss = R::ZERO;
        let Some((&answer, bounds)) = question.split_first() else { continue };
        if answer == NO_TARGET {
            continue;
        }
        let (bounds, _) = bounds.as_chunks::<2>();
        let places: Vec<Range<usize>> =
            bounds.iter().map(|&[first, end]| first as usize..end as usize).collect();
        let scores: Vec<Option<R>> = places
            .iter()
            .map(|places| {
                let mut sum = R::ZERO;
                log_probs[places.clone()].iter().for_each(|&x| sum += x);
                (!places.is_empty()).then(|| scale * sum)
            })
            .collect();
        let right = scores[answer as usize].expect("the answer has pieces");
        let most = scores.iter().flatten().fold(right, |a, &b| if b > a { b } else { a });
        let mut sum = R::ZERO;
        scores.iter().flatten().for_each(|&score| sum += (score - most).exp());
        *loss = sum.ln() + most - right;
        for (text, (places, score)) in places.into_iter().zip(scores).enumerate() {
            let Some(score) = score else { continue };
            let right = if text == answer as usize { R::ONE } else { R::ZERO };
            let weight = share * scale * (right - (score - most).exp() / sum);
            weights[places].fill(weight);
        }
    }
}
