//! Word classes from running text: words that occur between the same neighbours share a class.
//!
//! The exchange algorithm of Martin, Liermann & Ney (1998), *Algorithms for bigram and trigram word
//! clustering*: each word in turn moves to the class that makes the text most likely under a bigram
//! model of classes, until a number of rounds is done. Input: how often each word follows each
//! other. Output: one class per word.

use rayon::prelude::*;

/// Bigram counts of a text over words 0, 1, 2, …
pub struct Bigrams {
    n_words: usize,
    /// For each word, the words after it with their counts.
    after: Vec<Vec<(u32, u32)>>,
    /// For each word, the words before it with their counts.
    before: Vec<Vec<(u32, u32)>>,
}

impl Bigrams {
    /// Counts neighbours in sentences of word numbers below `n_words`.
    pub fn count(sentences: &[Vec<u32>], n_words: usize) -> Self {
        let mut pairs: Vec<(u32, u32)> = sentences
            .par_iter()
            .flat_map_iter(|sentence| sentence.windows(2).map(|pair| (pair[0], pair[1])))
            .collect();
        pairs.par_sort_unstable();
        let mut after = vec![Vec::new(); n_words];
        let mut before = vec![Vec::new(); n_words];
        for run in pairs.chunk_by(|a, b| a == b) {
            let (first, second) = run[0];
            after[first as usize].push((second, run.len() as u32));
            before[second as usize].push((first, run.len() as u32));
        }
        Self { n_words, after, before }
    }

    /// Puts every word into one of `n_classes` classes; words come in descending frequency.
    pub fn classes(&self, n_classes: usize, rounds: usize) -> Vec<u16> {
        let mut exchange = Exchange::new(self, n_classes);
        for _ in 0..rounds {
            for word in 0..self.n_words {
                exchange.move_to_best_class(word);
            }
        }
        exchange.class
    }
}

/// *n* ln *n*, the term of which the log-likelihood consists; tabulated where counts are small.
struct Entropy(Vec<f64>);

impl Entropy {
    fn new() -> Self {
        Self((0..1 << 16).map(n_log_n).collect())
    }

    fn of(&self, count: u32) -> f64 {
        self.0.get(count as usize).copied().unwrap_or_else(|| n_log_n(count))
    }
}

fn n_log_n(count: u32) -> f64 {
    if count == 0 { 0.0 } else { f64::from(count) * f64::from(count).ln() }
}

struct Exchange<'a> {
    bigrams: &'a Bigrams,
    n_classes: usize,
    class: Vec<u16>,
    /// How often a word of the row's class comes before one of the column's class.
    pairs: Vec<u32>,
    /// The transpose of `pairs`, so that both are read along a row.
    pairs_back: Vec<u32>,
    /// Row sums and column sums of `pairs`.
    first: Vec<u32>,
    second: Vec<u32>,
    entropy: Entropy,
}

/// A word's neighbours summed by class, itself left out.
struct Neighbours {
    after: Vec<(usize, u32)>,
    before: Vec<(usize, u32)>,
    itself: u32,
    /// The number of words after and before it, itself included.
    n_after: u32,
    n_before: u32,
}

impl<'a> Exchange<'a> {
    /// Starts with word 0 in class 0, word 1 in class 1 and so on, in a cycle.
    fn new(bigrams: &'a Bigrams, n_classes: usize) -> Self {
        let mut exchange = Self {
            bigrams,
            n_classes,
            class: (0..bigrams.n_words).map(|word| (word % n_classes) as u16).collect(),
            pairs: vec![0; n_classes * n_classes],
            pairs_back: vec![0; n_classes * n_classes],
            first: vec![0; n_classes],
            second: vec![0; n_classes],
            entropy: Entropy::new(),
        };
        for (word, after) in bigrams.after.iter().enumerate() {
            for &(other, count) in after {
                let (a, b) = (exchange.class_of(word), exchange.class_of(other as usize));
                exchange.add_pair(a, b, count);
                exchange.first[a] += count;
                exchange.second[b] += count;
            }
        }
        exchange
    }

    fn class_of(&self, word: usize) -> usize {
        usize::from(self.class[word])
    }

    fn add_pair(&mut self, a: usize, b: usize, count: u32) {
        self.pairs[a * self.n_classes + b] += count;
        self.pairs_back[b * self.n_classes + a] += count;
    }

    fn remove_pair(&mut self, a: usize, b: usize, count: u32) {
        self.pairs[a * self.n_classes + b] -= count;
        self.pairs_back[b * self.n_classes + a] -= count;
    }

    fn neighbours(&self, word: usize) -> Neighbours {
        let by_class = |neighbours: &[(u32, u32)]| {
            let mut sums = vec![0; self.n_classes];
            for &(other, count) in neighbours.iter().filter(|&&(other, _)| other as usize != word) {
                sums[self.class_of(other as usize)] += count;
            }
            sums.into_iter().enumerate().filter(|&(_, count)| count > 0).collect()
        };
        let total = |neighbours: &[(u32, u32)]| neighbours.iter().map(|&(_, count)| count).sum();
        let (after, before) = (&self.bigrams.after[word], &self.bigrams.before[word]);
        let itself =
            after.iter().find(|&&(other, _)| other as usize == word).map_or(0, |&(_, n)| n);
        Neighbours {
            after: by_class(after),
            before: by_class(before),
            itself,
            n_after: total(after),
            n_before: total(before),
        }
    }

    fn move_to_best_class(&mut self, word: usize) {
        let neighbours = self.neighbours(word);
        let own = self.class_of(word);
        for &(class, count) in &neighbours.after {
            self.remove_pair(own, class, count);
        }
        for &(class, count) in &neighbours.before {
            self.remove_pair(class, own, count);
        }
        self.remove_pair(own, own, neighbours.itself);
        self.first[own] -= neighbours.n_after;
        self.second[own] -= neighbours.n_before;

        let (mut best, mut best_gain) = (own, self.gain(&neighbours, own));
        for class in (0..self.n_classes).filter(|&class| class != own) {
            let gain = self.gain(&neighbours, class);
            if gain > best_gain {
                (best, best_gain) = (class, gain);
            }
        }

        self.class[word] = best as u16;
        for &(class, count) in &neighbours.after {
            self.add_pair(best, class, count);
        }
        for &(class, count) in &neighbours.before {
            self.add_pair(class, best, count);
        }
        self.add_pair(best, best, neighbours.itself);
        self.first[best] += neighbours.n_after;
        self.second[best] += neighbours.n_before;
    }

    /// What the text's log-likelihood gains when a word that is in no class joins this one.
    // Martin, Liermann & Ney 1998, Eq. (6): Σ N(g,h) ln N(g,h) − Σ N(g) ln N(g) − Σ N(h) ln N(h).
    fn gain(&self, neighbours: &Neighbours, class: usize) -> f64 {
        let rise = |from: u32, by: u32| self.entropy.of(from + by) - self.entropy.of(from);
        let row = class * self.n_classes..(class + 1) * self.n_classes;
        let (pairs, pairs_back) = (&self.pairs[row.clone()], &self.pairs_back[row]);
        let mut gain = 0.0;
        // A pair of the class with itself gets counts from both sides: it is settled at the end.
        let mut within = neighbours.itself;
        for &(other, count) in &neighbours.after {
            if other == class { within += count } else { gain += rise(pairs[other], count) }
        }
        for &(other, count) in &neighbours.before {
            if other == class { within += count } else { gain += rise(pairs_back[other], count) }
        }
        gain + rise(pairs[class], within)
            - rise(self.first[class], neighbours.n_after)
            - rise(self.second[class], neighbours.n_before)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The log-likelihood of the class bigram model by its definition, up to a constant of the text.
    fn log_likelihood(sentences: &[Vec<u32>], class: &[u16], n_classes: usize) -> f64 {
        let mut pairs = vec![vec![0u32; n_classes]; n_classes];
        for pair in sentences.iter().flat_map(|sentence| sentence.windows(2)) {
            pairs[usize::from(class[pair[0] as usize])][usize::from(class[pair[1] as usize])] += 1;
        }
        let columns = (0..n_classes).map(|b| pairs.iter().map(|row| row[b]).sum::<u32>());
        pairs.iter().flatten().map(|&n| n_log_n(n)).sum::<f64>()
            - pairs.iter().map(|row| n_log_n(row.iter().sum())).sum::<f64>()
            - columns.map(n_log_n).sum::<f64>()
    }

    #[test]
    fn words_between_the_same_neighbours_share_a_class() {
        // The bear sat . A wolf ran . … every article, noun, verb and full stop in every combination.
        let mut sentences = Vec::new();
        for article in [0, 1] {
            for noun in [2, 3, 4] {
                for verb in [5, 6] {
                    sentences.push(vec![article, noun, verb, 7]);
                }
            }
        }
        let class = Bigrams::count(&sentences, 8).classes(4, 10);
        assert_eq!(class[0], class[1]);
        assert_eq!((class[2], class[3]), (class[3], class[4]));
        assert_eq!(class[5], class[6]);
        let distinct: std::collections::BTreeSet<u16> = class.into_iter().collect();
        assert_eq!(distinct.len(), 4);
    }

    proptest! {
        #[test]
        fn each_move_is_the_best_one_by_definition(
            sentences in prop::collection::vec(prop::collection::vec(0u32..6, 0..8), 1..8),
            word in 0usize..6,
        ) {
            let bigrams = Bigrams::count(&sentences, 6);
            let mut exchange = Exchange::new(&bigrams, 3);
            let before = exchange.class.clone();
            exchange.move_to_best_class(word);
            let best = (0..3)
                .map(|class| {
                    let mut moved = before.clone();
                    moved[word] = class;
                    log_likelihood(&sentences, &moved, 3)
                })
                .fold(f64::NEG_INFINITY, f64::max);
            let reached = log_likelihood(&sentences, &exchange.class, 3);
            prop_assert!((reached - best).abs() < 1e-9, "reached {reached}, best {best}");
        }
    }
}
