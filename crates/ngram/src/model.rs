//! [`Model`]: the bytes of a model file → log-probabilities of words after a [`State`].

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, Write as _};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use base::Vocabulary;
use memmap2::Mmap;
use rayon::prelude::*;

use crate::encode::encode;
use crate::file::{EMPTY, Layout, LevelLayout, first_slot, is_whole, u32_at};
use crate::packed::read;
use crate::quantise;
use crate::sentences::SentenceScorer;
use crate::table::{Level, Table};
use crate::text::{START, TokenId, UNKNOWN};
use crate::{Error, MAX_ORDER, Result};

/// A language model that can be queried; in memory or as a mapped file.
pub struct Model {
    bytes: Bytes,
    layout: Layout,
    path: PathBuf,
}

enum Bytes {
    Owned(Vec<u8>),
    /// The file stays open, so that it can be copied without reading the map into memory.
    Mapped {
        map: Mmap,
        file: Mutex<File>,
    },
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped { map, .. } => map,
        }
    }
}

/// The last words, as far as a model knows n-grams that begin with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The n-grams that the last 1, 2, … words are, as slots of their levels.
    grams: [u32; MAX_ORDER - 1],
    backoffs: [f32; MAX_ORDER - 1],
    len: usize,
}

impl State {
    /// No words before; not even the start of a sentence.
    pub const EMPTY: Self =
        Self { grams: [0; MAX_ORDER - 1], backoffs: [0.0; MAX_ORDER - 1], len: 0 };
}

impl Model {
    /// Makes a model in memory; `quantise` keeps 256 different probabilities and backoffs per length.
    ///
    /// # Errors
    /// [`Error::TooManyGrams`], if there are more of a length than numbers of slots.
    pub fn new(table: &Table, quantise: bool) -> Result<Self> {
        Self::from_bytes(encode(table, quantise)?, Path::new(""))
    }

    /// Maps a file that [`Self::write`] wrote. Only its header is read and checked.
    ///
    /// # Errors
    /// If it cannot be read, is not a model file, has another version, or was cut.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |reason| Error::File { path: path.to_owned(), reason };
        Self::map(File::open(path).map_err(failed)?, path)
    }

    /// Maps an open file; `path` is for messages.
    pub(crate) fn map(file: File, path: &Path) -> Result<Self> {
        let failed = |reason| Error::File { path: path.to_owned(), reason };
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(failed(ErrorKind::IsADirectory.into()));
        }
        // An empty file cannot be mapped.
        if metadata.len() == 0 {
            return Self::new_at(Bytes::Owned(vec![]), path);
        }
        #[expect(
            unsafe_code,
            reason = "mapping is what makes opening independent of the file's size"
        )]
        // SAFETY: the map is read-only, and model files are replaced by renaming, never changed in place, so
        // the bytes under the map stay. Whatever they are, every use of them is checked against its bounds.
        let map = unsafe { Mmap::map(&file) };
        let map = map.map_err(failed)?;
        Self::new_at(Bytes::Mapped { map, file: Mutex::new(file) }, path)
    }

    /// Makes a model of a file's bytes; `path` is for messages.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn from_bytes(bytes: Vec<u8>, path: &Path) -> Result<Self> {
        Self::new_at(Bytes::Owned(bytes), path)
    }

    fn new_at(bytes: Bytes, path: &Path) -> Result<Self> {
        let layout = Layout::read(path, &bytes)?;
        Ok(Self { bytes, layout, path: path.to_owned() })
    }

    /// Reads all of the model and verifies its checksum.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if it is not what was written.
    pub fn check(&self) -> Result<()> {
        if is_whole(&self.bytes) {
            return Ok(());
        }
        let reason = "wrong checksum of the body".to_owned();
        Err(Error::Corrupt { path: self.path.clone(), reason })
    }

    /// Writes the model file, whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let failed = |reason| Error::File { path: path.to_owned(), reason };
        base::files::write_file(path, failed, |to| match &self.bytes {
            Bytes::Owned(bytes) => to.write_all(bytes).map_err(failed),
            Bytes::Mapped { map, file } => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let n = map.len() as u64;
                let copied = file.rewind().and_then(|()| io::copy(&mut (&mut *file).take(n), to));
                if copied.map_err(failed)? == n {
                    Ok(())
                } else {
                    Err(failed(ErrorKind::UnexpectedEof.into()))
                }
            }
        })
    }

    /// The length of the longest n-grams.
    pub fn order(&self) -> usize {
        self.layout.levels.len()
    }

    /// The number of n-grams of each length, from 1.
    pub fn n_grams(&self) -> impl Iterator<Item = usize> {
        self.layout.levels.iter().map(|level| level.len)
    }

    /// The size of the model file.
    pub fn n_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The token of a word that the model knows.
    pub fn get(&self, word: &str) -> Option<TokenId> {
        let Layout { slots, n_slots, .. } = self.layout;
        let mut slot = first_slot(word, n_slots);
        // In a corrupt file all slots may be taken.
        for _ in 0..n_slots {
            let number = u32_at(&self.bytes, slots + 4 * slot);
            if number == EMPTY {
                return None;
            }
            if self.bytes_of(number) == Some(word.as_bytes()) {
                return Some(TokenId(number));
            }
            slot = if slot + 1 == n_slots { 0 } else { slot + 1 };
        }
        None
    }

    /// The token of a word, or `<unk>`.
    pub fn token(&self, word: &str) -> TokenId {
        self.get(word).unwrap_or(UNKNOWN)
    }

    fn bytes_of(&self, number: u32) -> Option<&[u8]> {
        let Layout { n_words, ends, text, n_text, .. } = self.layout;
        let number = Some(number as usize).filter(|&number| number < n_words)?;
        let end = |number| u32_at(&self.bytes, ends + 4 * number) as usize;
        let start = number.checked_sub(1).map_or(0, end);
        self.bytes[text..text + n_text].get(start..end(number))
    }

    /// The state at the start of a sentence.
    pub fn sentence_start(&self) -> State {
        self.advance(&State::EMPTY, START).1
    }

    /// Returns the log-probability of a word after a state, and the state that includes the word.
    pub fn advance(&self, state: &State, word: TokenId) -> (f32, State) {
        let word = if word.index() < self.layout.n_words { word.0 } else { UNKNOWN.0 };
        let levels = &self.layout.levels;
        let mut gram = word as usize;
        let mut log_prob = self.log_prob(&levels[0], gram);
        let mut next = State::EMPTY;
        let mut n_matched = 0;
        loop {
            if n_matched + 1 < levels.len() {
                next.grams[n_matched] = gram as u32;
                next.backoffs[n_matched] = self.backoff(&levels[n_matched], gram);
                next.len = n_matched + 1;
            }
            if n_matched == state.len {
                break;
            }
            let level = &levels[n_matched + 1];
            let key = level.spread.key(state.grams[n_matched], word);
            let Some(found) = self.find(level, key, level.spread.home(key)) else { break };
            n_matched += 1;
            gram = found;
            log_prob = self.log_prob(&levels[n_matched], gram);
        }
        // The backoffs of the contexts after which the word was not seen.
        let log_prob = log_prob + state.backoffs[n_matched..state.len].iter().sum::<f32>();
        (log_prob, next)
    }

    /// The log-probabilities of the words of a sentence and of its end.
    pub fn log_probs<'a>(&self, sentence: impl IntoIterator<Item = &'a str>) -> Vec<f32> {
        SentenceScorer::new(self).log_probs(sentence).to_vec()
    }

    /// The layout of the n-grams of each length, from 1.
    pub(crate) fn levels(&self) -> &[LevelLayout] {
        &self.layout.levels
    }

    /// Finds the n-gram of a key from its home on.
    pub(crate) fn find(&self, level: &LevelLayout, key: u64, home: usize) -> Option<usize> {
        // What is kept of keys, at the upper end: the sign of a difference says which one is larger.
        let skipped = u64::BITS - level.key;
        for slot in home..level.n_slots {
            let difference = self.bits(level, slot, 0).wrapping_sub(key) << skipped;
            if difference == 0 {
                return Some(slot);
            }
            if difference >> 63 == 0 {
                return None;
            }
        }
        None
    }

    /// Reads a byte of a slot, so that the processor has it at hand when the slot is looked at.
    pub(crate) fn touch(&self, level: &LevelLayout, slot: usize) -> u8 {
        self.bytes[level.start + slot * level.stride / 8]
    }

    pub(crate) fn log_prob(&self, level: &LevelLayout, gram: usize) -> f32 {
        self.value(level, 0, self.bits(level, gram, level.key))
    }

    pub(crate) fn backoff(&self, level: &LevelLayout, gram: usize) -> f32 {
        self.value(level, 1, self.bits(level, gram, level.key + level.log_prob))
    }

    /// The bits of an n-gram from one on.
    fn bits(&self, level: &LevelLayout, gram: usize, skip: u32) -> u64 {
        read(&self.bytes, 8 * level.start + gram * level.stride + skip as usize)
    }

    fn value(&self, level: &LevelLayout, book: usize, bits: u64) -> f32 {
        let bits = if level.is_quantised() {
            let code = book * quantise::N_VALUES + bits as usize % quantise::N_VALUES;
            u32_at(&self.bytes, level.codebook + 4 * code)
        } else {
            bits as u32
        };
        f32::from_bits(bits)
    }

    /// The n-grams with their values as they are stored: quantised values stay quantised.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the file is not what was written, or not written by this program.
    pub fn to_table(&self) -> Result<Table> {
        self.check()?;
        let mut vocabulary = Vocabulary::default();
        for number in 0..self.layout.n_words as u32 {
            let word = self.bytes_of(number).and_then(|bytes| std::str::from_utf8(bytes).ok());
            vocabulary.intern(word.unwrap_or_default());
        }
        let levels = self.to_levels().map(|levels| Table { levels, vocabulary });
        levels.filter(Table::is_consistent).ok_or_else(|| {
            let reason = "inconsistent n-grams".to_owned();
            Error::Corrupt { path: self.path.clone(), reason }
        })
    }

    /// The levels in the order of a trie; `None` if an n-gram has no context.
    fn to_levels(&self) -> Option<Vec<Level>> {
        // The n-grams of the level above by their slots.
        let mut above: Vec<u32> = (0..self.layout.n_words as u32).collect();
        let mut levels: Vec<Level> = Vec::new();
        for (index, layout) in self.layout.levels.iter().enumerate() {
            let grams = if index == 0 {
                (0..layout.len as u32).map(|word| (0, word, word)).collect()
            } else {
                let mut grams = self.grams_of(layout, &above)?;
                grams.par_sort_unstable();
                grams
            };
            if let Some(shorter) = levels.last_mut() {
                shorter.children = starts(&grams, shorter.words.len());
            }
            let slots = || grams.iter().map(|gram| gram.2 as usize);
            let is_last = index + 1 == self.order();
            let backoffs = slots().take(if is_last { 0 } else { grams.len() });
            levels.push(Level {
                words: grams.iter().map(|gram| gram.1).collect(),
                log_probs: slots().map(|slot| self.log_prob(layout, slot)).collect(),
                backoffs: backoffs.map(|slot| self.backoff(layout, slot)).collect(),
                children: vec![],
            });
            above = vec![u32::MAX; layout.n_slots];
            (0..).zip(slots()).for_each(|(gram, slot)| above[slot] = gram);
        }
        Some(levels)
    }

    /// The context, the last word and the slot of each n-gram of a level; `None` if a context is not there.
    fn grams_of(&self, layout: &LevelLayout, contexts: &[u32]) -> Option<Vec<(u32, u32, u32)>> {
        let key = |slot| {
            let low = self.bits(layout, slot, 0) & (u64::MAX >> (u64::BITS - layout.key));
            layout.spread.whole_key(slot, low, layout.key)
        };
        let filled = (0..layout.n_slots).filter_map(|slot| Some((slot, key(slot)?)));
        let gram = |(slot, key): (usize, u64)| {
            let (context, word) = layout.spread.gram(key);
            let &context =
                contexts.get(context as usize).filter(|&&context| context != u32::MAX)?;
            Some((context, word, slot as u32))
        };
        filled.map(gram).collect::<Option<Vec<_>>>().filter(|grams| grams.len() == layout.len)
    }
}

/// Where the n-grams of each context begin, and where those of the last one end; sorted by their contexts.
fn starts(grams: &[(u32, u32, u32)], n_contexts: usize) -> Vec<u32> {
    let mut starts = vec![0; n_contexts + 1];
    grams.iter().for_each(|&(context, ..)| starts[context as usize + 1] += 1);
    for context in 0..n_contexts {
        starts[context + 1] += starts[context];
    }
    starts
}

#[cfg(test)]
mod tests {
    use std::fs;

    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;
    use crate::naive::NaiveModel;
    use crate::text::END;
    use crate::{Options, Pruning, Text, estimate};

    fn table(sentences: &[Vec<&str>], order: usize, at_most: u32) -> Table {
        let mut text = Text::default();
        sentences.iter().for_each(|words| text.push(words.iter().copied()).unwrap());
        let options = Options { order, pruning: Pruning { at_most, from: 2 } };
        // SortedText for longer n-grams than are asked for, as tuning does.
        estimate(&text.sort(MAX_ORDER).unwrap(), &options).unwrap().table
    }

    fn tale() -> Vec<Vec<&'static str>> {
        ["the bear ate the soup .", "the bear slept .", "who ate the soup ? the bear .", "soup"]
            .map(|sentence| sentence.split(' ').collect())
            .to_vec()
    }

    fn probability(model: &Model, history: &[&str], word: &str) -> f64 {
        let mut state = State::EMPTY;
        for word in history {
            let word = if *word == "<s>" { START } else { model.token(word) };
            state = model.advance(&state, word).1;
        }
        let word = if word == "</s>" { END } else { model.token(word) };
        f64::from(model.advance(&state, word).0).exp()
    }

    fn sentences() -> impl Strategy<Value = Vec<Vec<&'static str>>> {
        let word = prop::sample::select(vec!["a", "b", "c", "d", "e"]);
        prop::collection::vec(prop::collection::vec(word, 0..8), 1..8)
    }

    fn history() -> impl Strategy<Value = Vec<&'static str>> {
        let word = prop::sample::select(vec!["a", "b", "c", "d", "e", "unseen"]);
        (any::<bool>(), prop::collection::vec(word, 0..6)).prop_map(|(starts, words)| {
            let start = if starts { vec!["<s>"] } else { vec![] };
            [start, words].concat()
        })
    }

    proptest! {
        #[test]
        fn probabilities_are_those_by_definition(
            sentences in sentences(), history in history(), order in 1..=MAX_ORDER,
        ) {
            let model = Model::new(&table(&sentences, order, 0), false).unwrap();
            let naive = NaiveModel::new(&sentences, order);
            for word in naive.words() {
                let (ours, expected) = (probability(&model, &history, word), naive.probability(&history, word));
                prop_assert!((ours / expected - 1.0).abs() < 1e-5, "{word}: {ours} {expected}");
            }
        }

        #[test]
        fn probabilities_sum_to_one_after_any_history(
            sentences in sentences(), history in history(), order in 1..=MAX_ORDER, at_most in 0u32..3,
        ) {
            let model = Model::new(&table(&sentences, order, at_most), false).unwrap();
            let words = NaiveModel::new(&sentences, order);
            let sum: f64 = words.words().iter().map(|word| probability(&model, &history, word)).sum();
            prop_assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        }

        #[test]
        fn a_sentence_is_scored_as_its_words_one_after_the_other(
            sentences in sentences(), scored in sentences(), order in 1..=MAX_ORDER, at_most in 0u32..3,
        ) {
            let model = Model::new(&table(&sentences, order, at_most), false).unwrap();
            let mut scorer = SentenceScorer::new(&model);
            for sentence in &scored {
                let words = sentence.iter().map(|&word| model.token(word)).chain([END]);
                let mut state = model.sentence_start();
                let expected: Vec<f32> = words.map(|word| {
                    let (log_prob, next) = model.advance(&state, word);
                    state = next;
                    log_prob
                }).collect();
                prop_assert_eq!(scorer.log_probs(sentence.iter().copied()), expected);
            }
        }

        #[test]
        fn a_model_becomes_the_table_that_it_was_made_of(
            sentences in sentences(), order in 1..=MAX_ORDER, at_most in 0u32..3,
        ) {
            let table = table(&sentences, order, at_most);
            let again = Model::new(&table, false).unwrap().to_table().unwrap();
            prop_assert_eq!(&again.levels, &table.levels);
            prop_assert!(again.vocabulary.iter().eq(table.vocabulary.iter()));
        }

        #[test]
        fn changed_bytes_are_found_and_never_read_out_of_bounds(
            sentences in sentences(), order in 1..=MAX_ORDER, quantise: bool, at: prop::sample::Index, to: u8,
        ) {
            let model = Model::new(&table(&sentences, order, 0), quantise).unwrap();
            let mut bytes = model.bytes.to_vec();
            let at = at.index(bytes.len());
            prop_assume!(bytes[at] != to);
            bytes[at] = to;
            if let Ok(model) = Model::from_bytes(bytes, Path::new("m")) {
                prop_assert!(model.check().is_err());
                model.log_probs(["a", "b", "unseen", "c", "d", "e", "a"]);
            }
        }
    }

    #[test]
    fn a_quantised_model_is_near_and_smaller() {
        let table = table(&tale(), 3, 0);
        let (plain, quantised) =
            (Model::new(&table, false).unwrap(), Model::new(&table, true).unwrap());
        // So few values are kept exactly.
        let sentence = || "the bear ate soup".split(' ');
        assert_eq!(plain.log_probs(sentence()), quantised.log_probs(sentence()));
        let strides = |model: &Model| -> Vec<usize> {
            model.layout.levels.iter().map(|level| level.stride).collect()
        };
        // The values have 8 bits in place of 32.
        assert_eq!(strides(&plain)[1], strides(&quantised)[1] + 2 * 24);
        assert_eq!(strides(&plain)[2], strides(&quantised)[2] + 24);
    }

    #[test]
    fn a_mapped_file_answers_like_memory_even_after_it_was_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ngrams.bin");
        let model = Model::new(&table(&tale(), 4, 0), false).unwrap();
        model.write(&path).unwrap();
        let mapped = Model::open(&path).unwrap();
        mapped.check().unwrap();
        let sentence = || "who slept ?".split(' ');
        assert_eq!(mapped.log_probs(sentence()), model.log_probs(sentence()));
        Model::new(&table(&tale(), 1, 0), true).unwrap().write(&path).unwrap();
        assert_eq!(mapped.log_probs(sentence()), model.log_probs(sentence()));
        assert_eq!(Model::open(&path).unwrap().order(), 1);
    }

    #[test]
    fn every_corruption_of_a_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ngrams.bin");
        let sound = Model::new(&table(&tale(), 3, 0), false).unwrap().bytes.to_vec();
        let message = |bytes: &[u8], expected: &Expect| {
            fs::write(&path, bytes).unwrap();
            let error = Model::open(&path).and_then(|model| model.check()).unwrap_err();
            let text = format!(
                "{error}\n{}",
                error.remedy().map_or(String::new(), |remedy| remedy.to_string())
            );
            expected.assert_eq(&text.replace(folder.path().to_str().unwrap(), "ROOT"));
        };
        let changed = |at: usize| {
            let mut bytes = sound.clone();
            bytes[at] ^= 4;
            bytes
        };
        message(
            b"",
            &expect![[r#"
                ROOT/ngrams.bin: not a language model: expected `goldilocks-ngram` at its start, found other bytes
                import an ARPA file to make a language model"#]],
        );
        message(
            b"\\data\\",
            &expect![[r#"
                ROOT/ngrams.bin: not a language model: expected `goldilocks-ngram` at its start, found other bytes
                import an ARPA file to make a language model"#]],
        );
        message(
            &sound[..100],
            &expect![[r#"
                ROOT/ngrams.bin: corrupt language model: expected at least 128 bytes, found 100
                rebuild it: train the model again, or import its ARPA file"#]],
        );
        message(
            &sound[..sound.len() - 9],
            &expect![[r#"
                ROOT/ngrams.bin: corrupt language model: expected 733 bytes, found 724
                rebuild it: train the model again, or import its ARPA file"#]],
        );
        message(
            &changed(16),
            &expect![[r#"
                ROOT/ngrams.bin: unsupported format: expected version 2, found 6
                rebuild it: train the model again, or import its ARPA file"#]],
        );
        message(
            &changed(40),
            &expect![[r#"
                ROOT/ngrams.bin: corrupt language model: wrong checksum of the header
                rebuild it: train the model again, or import its ARPA file"#]],
        );
        message(
            &changed(sound.len() - 12),
            &expect![[r#"
                ROOT/ngrams.bin: corrupt language model: wrong checksum of the body
                rebuild it: train the model again, or import its ARPA file"#]],
        );
    }

    #[test]
    fn a_folder_is_not_a_model_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = Model::open(folder.path()).err().unwrap().to_string();
        assert_eq!(error, format!("{}: is a directory", folder.path().display()));
    }

    #[test]
    fn an_order_that_is_out_of_range_is_an_error_not_a_panic() {
        for order in [0, MAX_ORDER + 1] {
            let error = Text::default().sort(order).err().unwrap().to_string();
            assert_eq!(error, format!("n-grams of {order} words: expected an order from 1 to 6"));
        }
        let mut text = Text::default();
        text.push(["bear"]).unwrap();
        let sorted = text.sort(2).unwrap();
        for order in [0, 3] {
            let options = Options { order, ..Options::default() };
            let error = estimate(&sorted, &options).err().unwrap().to_string();
            assert_eq!(error, format!("n-grams of {order} words: expected an order from 1 to 2"));
        }
    }

    #[test]
    fn odd_texts_make_models() {
        let long = "x".repeat(10_000_000);
        for sentences in [vec![vec!["bear"]], vec![vec![]], vec![vec![long.as_str()]]] {
            let model = Model::new(&table(&sentences, 5, 0), false).unwrap();
            assert!(model.log_probs(["bear"]).iter().all(|log_prob| log_prob.is_finite()));
        }
        let nothing =
            estimate(&Text::default().sort(5).unwrap(), &Options::default()).err().unwrap();
        expect!["nothing to estimate a language model on: expected a sentence, found none"]
            .assert_eq(&nothing.to_string());
    }
}
