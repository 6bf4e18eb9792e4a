//! The candidates C of a question (§2): the words of its context, class by class → n distinct words.
//!
//! [`ContextWords`] slides along the book: a sentence enters and another leaves, so that no context is ever
//! counted again as a whole.

use std::collections::VecDeque;

use base::{Vocabulary, WordId};
use rand::Rng;
use rand::seq::SliceRandom;

use crate::build::python_set;
use crate::{Complement, FillUp, WordClass};

/// The words of the current context that have a class: how often each occurs there, and which they are.
pub(crate) struct ContextWords {
    classes: [Multiset; WordClass::ALL.len()],
    /// All of them in the order of the text.
    text: VecDeque<(WordId, WordClass)>,
    /// Python's hash of each word of the book.
    hashes: Vec<u64>,
}

/// How many wrong candidates are drawn, and from where.
#[derive(Clone, Copy)]
pub(crate) struct Draw {
    pub n: usize,
    pub fill_up: FillUp,
    pub complement: Complement,
}

impl ContextWords {
    /// An empty context, for the words of a book.
    pub(crate) fn new(words: &Vocabulary) -> Self {
        Self {
            classes: std::array::from_fn(|_| Multiset::new(words.len())),
            text: VecDeque::new(),
            hashes: words.iter().map(python_set::hash).collect(),
        }
    }

    /// A word enters the context.
    pub(crate) fn add(&mut self, word: WordId, class: WordClass) {
        self.classes[class as usize].add(word);
        self.text.push_back((word, class));
    }

    /// A word leaves it: the one that entered first.
    pub(crate) fn remove(&mut self, word: WordId, class: WordClass) {
        self.classes[class as usize].remove(word);
        let first = self.text.pop_front();
        debug_assert_eq!(first, Some((word, class)));
    }

    /// Whether the word occurs in the context with this class.
    pub(crate) fn contains(&self, word: WordId, class: WordClass) -> bool {
        self.classes[class as usize].counts[word.index()] > 0
    }

    /// Draws wrong candidates until there are `n`, or as many as the policy finds.
    pub(crate) fn draw(
        &self,
        (answer, class): (WordId, WordClass),
        Draw { n, fill_up, complement }: Draw,
        random: &mut impl Rng,
    ) -> Vec<WordId> {
        let mut drawn = Vec::with_capacity(n + 1);
        for (at, classes) in pools(class, fill_up).iter().enumerate() {
            let is_other = |word: &WordId| *word != answer && !drawn.contains(word);
            let mut pool = match complement {
                Complement::PythonSet if at > 0 => self.first_of_set(classes, n, is_other),
                _ => self.distinct(classes, is_other),
            };
            let (chosen, _) = pool.partial_shuffle(random, n - drawn.len());
            drawn.extend_from_slice(chosen);
            if drawn.len() == n {
                break;
            }
        }
        drawn
    }

    /// The distinct words of some classes.
    fn distinct(&self, classes: &[WordClass], keep: impl Fn(&WordId) -> bool) -> Vec<WordId> {
        let words = classes.iter().flat_map(|&class| &self.classes[class as usize].distinct);
        let mut words: Vec<WordId> = words.copied().filter(keep).collect();
        if classes.len() > 1 {
            // A word may have two classes in one context and must not have two chances.
            words.sort_unstable();
            words.dedup();
        }
        words
    }

    /// The first `n` words of a Python set of them.
    fn first_of_set(
        &self,
        classes: &[WordClass],
        n: usize,
        keep: impl Fn(&WordId) -> bool,
    ) -> Vec<WordId> {
        let mut words: Vec<WordId> = Vec::new();
        for (word, class) in &self.text {
            if classes.contains(class) && keep(word) && !words.contains(word) {
                words.push(*word);
            }
        }
        let hashes: Vec<u64> = words.iter().map(|word| self.hashes[word.index()]).collect();
        python_set::order(&hashes).into_iter().take(n).map(|at| words[at]).collect()
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
    indices: Vec<u32>,
    distinct: Vec<WordId>,
}

impl Multiset {
    fn new(n_words: usize) -> Self {
        Self { counts: vec![0; n_words], indices: vec![0; n_words], distinct: Vec::new() }
    }

    fn add(&mut self, word: WordId) {
        let count = &mut self.counts[word.index()];
        *count += 1;
        if *count == 1 {
            self.indices[word.index()] = self.distinct.len() as u32;
            self.distinct.push(word);
        }
    }

    fn remove(&mut self, word: WordId) {
        let count = &mut self.counts[word.index()];
        *count -= 1;
        if *count == 0 {
            let index = self.indices[word.index()] as usize;
            self.distinct.swap_remove(index);
            if let Some(moved) = self.distinct.get(index) {
                self.indices[moved.index()] = index as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use WordClass::{CommonNoun, NamedEntity, Verb};

    use super::*;
    use base::seeds::{Use, generator};

    fn words(words: &[&str]) -> Vocabulary {
        let mut vocabulary = Vocabulary::default();
        words.iter().for_each(|word| _ = vocabulary.intern(word));
        vocabulary
    }

    /// Words 0 to 2 are entities, 2 to 5 common nouns (2 is both), 6 to 8 verbs.
    fn context() -> ContextWords {
        let names = ["Ann", "Bo", "hen", "fox", "owl", "cow", "ran", "sat", "saw"];
        let mut context = ContextWords::new(&words(&names));
        for (words, class) in [(0..3, NamedEntity), (2..6, CommonNoun), (6..9, Verb)] {
            words.for_each(|word| context.add(WordId(word), class));
        }
        context
    }

    fn draw(answer: u32, class: WordClass, n: usize, fill_up: FillUp, seed: u64) -> Vec<u32> {
        let mut random = generator(seed, Use::Test, &[]);
        let draw = Draw { n, fill_up, complement: Complement::Random };
        let drawn = context().draw((WordId(answer), class), draw, &mut random);
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

    /// Python 2.7's tutorial has `set(['orange', 'pear', 'apple', 'banana'])` and `set(['a', 'r', 'b', 'c', 'd'])`.
    #[test]
    fn complements_are_drawn_from_the_first_words_of_a_python_set() {
        let names = words(&["Ann", "Bo", "apple", "orange", "pear", "banana"]);
        let mut context = ContextWords::new(&names);
        // The first sentence leaves again.
        let (early, rest) = (WordId(5), (0..6).map(WordId));
        context.add(early, CommonNoun);
        for word in rest {
            context.add(word, if word.0 < 2 { NamedEntity } else { CommonNoun });
        }
        context.remove(early, CommonNoun);
        let draw = |n: usize, seed: u64| {
            let mut random = generator(seed, Use::Test, &[]);
            let draw = Draw { n, fill_up: FillUp::Widen, complement: Complement::PythonSet };
            let drawn = context.draw((WordId(0), NamedEntity), draw, &mut random);
            drawn.into_iter().map(|word| names.word(word)).collect::<Vec<_>>()
        };
        let seen: std::collections::BTreeSet<&str> =
            (0..50).flat_map(|seed| draw(2, seed)).collect();
        // Bo and one of the first two nouns.
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["Bo", "orange", "pear"]);
        assert!((0..50).all(|seed| draw(3, seed).len() == 3));
    }

    proptest::proptest! {
        #[test]
        fn a_sliding_context_holds_what_a_fresh_one_would(
            words in proptest::collection::vec(0_u32..6, 1..60),
            length in 1_usize..9,
        ) {
            let mut sliding = Multiset::new(6);
            for (index, &word) in words.iter().enumerate() {
                sliding.add(WordId(word));
                if index >= length {
                    sliding.remove(WordId(words[index - length]));
                }
                let mut fresh: Vec<u32> =
                    words[(index + 1).saturating_sub(length)..=index].to_vec();
                fresh.sort_unstable();
                fresh.dedup();
                let mut held: Vec<u32> = sliding.distinct.iter().map(|word| word.0).collect();
                held.sort_unstable();
                proptest::prop_assert_eq!(held, fresh);
            }
        }
    }
}
