//! Tagging from left to right: each word gets the tag of the highest score, given the tags before.

use super::{
    described_book::DescribedBook,
    description::{Description, OUTSIDE},
    templates::{NO_TAG, Templates, WINDOW, Window},
    weights::{Scores, Weights},
};

/// The tags of one kind for every word of a book, by index.
pub type Tags = Vec<Vec<u8>>;

/// Tags a whole book; `pos` are its parts of speech where the templates read them, else empty.
pub fn decode<const L: usize, T: Templates<L>>(
    book: &DescribedBook,
    pos: &[Vec<u8>],
    weights: &Weights<L>,
) -> Tags {
    let singles: Vec<[Scores<L>; WINDOW]> =
        book.descriptions.iter().map(|word| single_scores::<L, T>(word, weights)).collect();
    let outside = single_scores::<L, T>(&OUTSIDE, weights);

    let mut features = Vec::new();
    let tag_sentence = |(sentence_idx, sentence): (usize, &Vec<u32>)| {
        let pos = pos.get(sentence_idx).map_or(&[][..], Vec::as_slice);
        let mut tags: Vec<u8> = Vec::with_capacity(sentence.len());
        for (word_idx, &word) in sentence.iter().enumerate() {
            let tag = T::certain(&book.descriptions[word as usize]).unwrap_or_else(|| {
                let window = window(book, sentence, pos, word_idx);
                let mut scores = [0; L];
                scores[0] = T::HEAD_START;
                for position in 0..WINDOW {
                    let word = (word_idx + position).checked_sub(2).and_then(|at| sentence.get(at));
                    let single = word.map_or(&outside, |&word| &singles[word as usize]);
                    for (score, weight) in scores.iter_mut().zip(&single[position]) {
                        *score += weight;
                    }
                }
                let (last, before) = tags_before(&tags);
                features.clear();
                T::joint(&window, &mut features);
                T::sequence(&window, last, before, &mut features);
                weights.add(&features, &mut scores);
                best_tag(&scores[..T::TAGS])
            });
            tags.push(tag);
        }
        tags
    };
    book.sentences.iter().enumerate().map(tag_sentence).collect()
}

/// What a word alone adds to the scores at each of the positions around it.
fn single_scores<const L: usize, T: Templates<L>>(
    word: &Description,
    weights: &Weights<L>,
) -> [Scores<L>; WINDOW] {
    let mut scores = [[0; L]; WINDOW];
    let mut features = Vec::new();
    for (position, scores) in scores.iter_mut().enumerate() {
        features.clear();
        T::single(word, position, &mut features);
        weights.add(&features, scores);
    }
    scores
}

/// The surroundings of a word.
pub fn window<'a>(
    book: &'a DescribedBook,
    sentence: &[u32],
    pos: &[u8],
    word_idx: usize,
) -> Window<'a> {
    let words = std::array::from_fn(|position| {
        let word = (word_idx + position).checked_sub(2).and_then(|at| sentence.get(at));
        word.map_or(&OUTSIDE, |&word| &book.descriptions[word as usize])
    });
    let pos = std::array::from_fn(|position| {
        (word_idx + position).checked_sub(1).and_then(|at| pos.get(at)).copied().unwrap_or(NO_TAG)
    });
    Window { words, pos }
}

/// The last tag and the one before it.
pub fn tags_before(tags: &[u8]) -> (u8, u8) {
    match *tags {
        [.., before, last] => (last, before),
        [last] => (last, NO_TAG),
        [] => (NO_TAG, NO_TAG),
    }
}

/// The tag of the highest score, the first one if there are several.
pub fn best_tag<S: PartialOrd>(scores: &[S]) -> u8 {
    let mut best = 0;
    for (tag, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = tag;
        }
    }
    best as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tagger::{feature_key::key1, templates::Entities, weights::TagWeight};

    #[test]
    fn a_mention_must_beat_the_head_start_of_no_mention() {
        let book = DescribedBook::new([["a"]], &Default::default());
        let always_there = key1(2 * 32 + 2, 0);
        for (weight, tag) in [(120, 0), (121, 5)] {
            let entries = vec![TagWeight { tag: 5, weight }];
            let weights = Weights::new(vec![always_there], vec![0, 1], entries);
            assert_eq!(decode::<16, Entities>(&book, &[], &weights), [[tag]]);
        }
    }

    #[test]
    fn the_first_of_equal_tags_is_best() {
        assert_eq!([best_tag(&[0, 3, 3]), best_tag(&[-1, -2]), best_tag::<i16>(&[])], [1, 0, 0]);
    }

    #[test]
    fn the_tags_before_are_the_last_two() {
        assert_eq!(tags_before(&[1, 2, 3]), (3, 2));
        assert_eq!(tags_before(&[1]), (1, NO_TAG));
        assert_eq!(tags_before(&[]), (NO_TAG, NO_TAG));
    }

    #[test]
    fn a_window_reaches_past_both_ends_of_a_sentence() {
        let book = DescribedBook::new([["a", "b"]], &Default::default());
        let window = window(&book, &book.sentences[0], &[5, 6], 1);
        let words = window.words.map(|word| word.word);
        let [a, b] = [0, 1].map(|word| book.descriptions[word].word);
        assert_eq!(words, [OUTSIDE.word, a, b, OUTSIDE.word, OUTSIDE.word]);
        assert_eq!(window.pos, [5, 6, NO_TAG]);
    }
}
