//! The candidates C of a question (§2): the words of its context, class by class → n distinct words.
//!
//! [`ContextWords`] slides along the book: a sentence enters and another leaves, so that no context is ever
//! counted again as a whole.

use base::WordId;
use rand::Rng;
use rand::seq::SliceRandom;

use crate::{FillUp, WordClass};

/// The words of the current context that have a class: how often each occurs there, and which they are.
pub(crate) struct ContextWords {
    classes: [Multiset; WordClass::ALL.len()],
}

impl ContextWords {
    /// An empty context, for words under `n_words`.
    pub(crate) fn new(n_words: usize) -> Self {
        Self { classes: std::array::from_fn(|_| Multiset::new(n_words)) }
    }

    /// A word enters the context.
    pub(crate) fn add(&mut self, word: WordId, class: WordClass) {
        self.classes[class as usize].add(word);
    }

    /// A word that entered leaves it.
    pub(crate) fn remove(&mut self, word: WordId, class: WordClass) {
        self.classes[class as usize].remove(word);
    }

    /// Whether the word occurs in the context with this class.
    pub(crate) fn contains(&self, word: WordId, class: WordClass) -> bool {
        self.classes[class as usize].counts[word.index()] > 0
    }

    /// Draws wrong candidates until there are `n`, or as many as the policy finds.
    pub(crate) fn draw(
        &self,
        (answer, class): (WordId, WordClass),
        n: usize,
        fill_up: FillUp,
        random: &mut impl Rng,
    ) -> Vec<WordId> {
        let mut drawn = Vec::with_capacity(n + 1);
        let mut pool: Vec<WordId> = Vec::new();
        for classes in pools(class, fill_up) {
            pool.clear();
            for &class in *classes {
                pool.extend(&self.classes[class as usize].distinct);
            }
            if classes.len() > 1 {
                // A word may have two classes in one context and must not have two chances.
                pool.sort_unstable();
                pool.dedup();
            }
            pool.retain(|word| *word != answer && !drawn.contains(word));
            let (chosen, _) = pool.partial_shuffle(random, n - drawn.len());
            drawn.extend_from_slice(chosen);
            if drawn.len() == n {
                break;
            }
        }
        drawn
    }
}

/// Where the wrong candidates come from, one pool after the other until there are enough.
fn pools(class: WordClass, fill_up: FillUp) -> &'static [&'static [WordClass]] {
    use WordClass::{CommonNoun, NamedEntity, Preposition, Verb};
    match (fill_up, class) {
        (FillUp::Widen, NamedEntity) => &[&[NamedEntity], &[CommonNoun], &WordClass::ALL],
        (FillUp::Widen, CommonNoun) => &[&[CommonNoun], &WordClass::ALL],
        (FillUp::Widen, Verb) => &[&[Verb], &WordClass::ALL],
        (FillUp::Widen, Preposition) => &[&[Preposition], &WordClass::ALL],
        (_, NamedEntity) => &[&[NamedEntity]],
        (_, CommonNoun) => &[&[CommonNoun]],
        (_, Verb) => &[&[Verb]],
        (_, Preposition) => &[&[Preposition]],
    }
}

/// Words with their counts; every operation takes constant time.
struct Multiset {
    counts: Vec<u32>,
    /// The position of a word in `distinct`, if its count is not 0.
    places: Vec<u32>,
    distinct: Vec<WordId>,
}

impl Multiset {
    fn new(n_words: usize) -> Self {
        Self { counts: vec![0; n_words], places: vec![0; n_words], distinct: Vec::new() }
    }

    fn add(&mut self, word: WordId) {
        let count = &mut self.counts[word.index()];
        *count += 1;
        if *count == 1 {
            self.places[word.index()] = self.distinct.len() as u32;
            self.distinct.push(word);
        }
    }

    fn remove(&mut self, word: WordId) {
        let count = &mut self.counts[word.index()];
        *count -= 1;
        if *count == 0 {
            let place = self.places[word.index()] as usize;
            self.distinct.swap_remove(place);
            if let Some(moved) = self.distinct.get(place) {
                self.places[moved.index()] = place as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use WordClass::{CommonNoun, NamedEntity, Verb};

    use super::*;
    use base::seeds::{Use, generator};

    /// Words 0 to 2 are entities, 2 to 5 common nouns (2 is both), 6 to 8 verbs.
    fn context() -> ContextWords {
        let mut context = ContextWords::new(9);
        for (words, class) in [(0..3, NamedEntity), (2..6, CommonNoun), (6..9, Verb)] {
            words.for_each(|word| context.add(WordId(word), class));
        }
        context
    }

    fn draw(answer: u32, class: WordClass, n: usize, fill_up: FillUp, seed: u64) -> Vec<u32> {
        let mut random = generator(seed, Use::Test, &[]);
        let drawn = context().draw((WordId(answer), class), n, fill_up, &mut random);
        let mut drawn: Vec<u32> = drawn.into_iter().map(|word| word.0).collect();
        drawn.sort_unstable();
        drawn
    }

    #[test]
    fn pools_are_emptied_one_after_the_other() {
        for seed in 0..20 {
            // Both other entities, then nouns, the noun 2 being there already.
            let entities = draw(0, NamedEntity, 5, FillUp::Widen, seed);
            assert_eq!(entities, [1, 2, 3, 4, 5]);
            // Both other verbs, then any word, entities included.
            let verbs = draw(7, Verb, 8, FillUp::Widen, seed);
            assert_eq!(verbs, [0, 1, 2, 3, 4, 5, 6, 8]);
            assert_eq!(draw(0, NamedEntity, 3, FillUp::Widen, seed)[..2], [1, 2]);
        }
        assert_eq!(draw(0, NamedEntity, 9, FillUp::Widen, 1).len(), 8);
        assert_eq!(draw(0, NamedEntity, 9, FillUp::Fewer, 1), [1, 2]);
        assert_eq!(draw(0, NamedEntity, 9, FillUp::Refuse, 1), [1, 2]);
    }

    #[test]
    fn every_word_of_a_pool_has_the_same_chance() {
        // Of 2, 3 and 4, two are drawn: each in 2/3 of 3,000 draws, standard deviation 26.
        let mut times = [0_i32; 9];
        for seed in 0..3000 {
            draw(5, CommonNoun, 2, FillUp::Widen, seed)
                .into_iter()
                .for_each(|word| times[word as usize] += 1);
        }
        assert!(times[2..5].iter().all(|&n| (n - 2000).abs() < 130), "{times:?}");
        assert_eq!(times.iter().sum::<i32>(), 6000);
    }

    proptest::proptest! {
        #[test]
        fn a_sliding_context_holds_what_a_fresh_one_would(
            words in proptest::collection::vec(0_u32..6, 1..60),
            length in 1_usize..9,
        ) {
            let mut sliding = Multiset::new(6);
            for (place, &word) in words.iter().enumerate() {
                sliding.add(WordId(word));
                if place >= length {
                    sliding.remove(WordId(words[place - length]));
                }
                let mut fresh: Vec<u32> =
                    words[(place + 1).saturating_sub(length)..=place].to_vec();
                fresh.sort_unstable();
                fresh.dedup();
                let mut held: Vec<u32> = sliding.distinct.iter().map(|word| word.0).collect();
                held.sort_unstable();
                proptest::prop_assert_eq!(held, fresh);
            }
        }
    }
}
