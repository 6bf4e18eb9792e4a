//! Question ids: the same in every file format and folder, so that predictions find their question; and
//! [`QuestionSet::fingerprint`], which identifies a whole set.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::OnceLock;

use base::{Vocabulary, WordId};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::{Question, QuestionSet, Split};

/// The first 8 bytes of SHA-256 over context sentences, query and candidates, one per line.
pub(crate) type Hash = [u8; 8];

/// How many questions a thread hashes in one go.
const RUN: usize = 1 << 10;

/// The id of a question: 16 hexadecimal digits, and `#2`, `#3`, … for the second, third, … identical question
/// of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuestionId {
    hash: Hash,
    /// Counts identical questions of a split, from 1.
    twin: u32,
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        // A million of them are written: formatting numbers takes several times as long.
        let mut digits = [0; 16];
        for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(self.hash) {
            *pair = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
        }
        f.write_str(str::from_utf8(&digits).expect("digits are ASCII"))?;
        if self.twin > 1 { write!(f, "#{}", self.twin) } else { Ok(()) }
    }
}

/// A text that is not the id of any question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an id of 16 hexadecimal digits in lower case, perhaps with `#2` after them")]
pub struct ParseIdError;

impl FromStr for QuestionId {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let (digits, twin) = text.split_once('#').unwrap_or((text, "1"));
        let hash = u64::from_str_radix(digits, 16).map_err(|_| ParseIdError)?.to_be_bytes();
        let id = Self { hash, twin: twin.parse().map_err(|_| ParseIdError)? };
        // One spelling per id.
        if id.to_string() == text { Ok(id) } else { Err(ParseIdError) }
    }
}

impl Question<'_> {
    /// The id that follows from context, query and candidates alone.
    pub fn id(&self) -> QuestionId {
        QuestionId { hash: self.hash(), twin: 1 }
    }

    fn hash(&self) -> Hash {
        let mut lines = String::new();
        self.context.iter().for_each(|sentence| push_line(&mut lines, self.vocabulary, sentence));
        self.hash_after(Sha256::new_with_prefix(&lines), &mut lines)
    }

    /// The hash whose state after the context is this.
    fn hash_after(&self, context: Sha256, lines: &mut String) -> Hash {
        lines.clear();
        push_line(lines, self.vocabulary, self.query);
        for candidate in self.candidates {
            push_line(lines, self.vocabulary, std::slice::from_ref(candidate));
        }
        let mut hash = Hash::default();
        hash.copy_from_slice(&context.chain_update(lines).finalize()[..8]);
        hash
    }
}

fn push_line(lines: &mut String, vocabulary: &Vocabulary, words: &[WordId]) {
    for (index, &word) in words.iter().enumerate() {
        if index > 0 {
            lines.push(' ');
        }
        lines.push_str(vocabulary.word(word));
    }
    lines.push('\n');
}

/// Sentences of a set as lines of text, from `first` on.
#[derive(Default)]
struct SentenceLines {
    first: usize,
    lines: String,
    ends: Vec<usize>,
}

impl SentenceLines {
    /// The lines of some sentences; those that were spelt before are not spelt again.
    fn lines(&mut self, set: &QuestionSet, range: Range<usize>) -> &str {
        if !(self.first..=self.first + self.ends.len()).contains(&range.start) {
            *self = Self { first: range.start, ..Self::default() };
        }
        for sentence in self.first + self.ends.len()..range.end {
            push_line(&mut self.lines, set.vocabulary(), set.sentence(sentence));
            self.ends.push(self.lines.len());
        }
        let end = |n: usize| n.checked_sub(1).map_or(0, |last| self.ends[last]);
        &self.lines[end(range.start - self.first)..end(range.end - self.first)]
    }
}

/// The ids of a set: read from a file or computed when first asked for, then kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    hashes: OnceLock<Vec<Hash>>,
    /// All questions, sorted by hash and then by their order.
    by_hash: OnceLock<Vec<u32>>,
    /// The numbers of twins, for the few questions that have one above 1.
    twins: OnceLock<BTreeMap<u32, u32>>,
}

impl Ids {
    pub(crate) fn stored(hashes: Vec<Hash>) -> Self {
        Self { hashes: hashes.into(), ..Self::default() }
    }
}

impl QuestionId {
    /// The same question as another, whichever of them comes first.
    pub(crate) fn first_twin(self) -> Self {
        Self { twin: 1, ..self }
    }

    pub(crate) fn is_first_twin(self) -> bool {
        self.twin == 1
    }
}

impl QuestionSet {
    /// The id of a question: computed at most once, and not at all for a compact form with `ids.bin`.
    pub fn id(&self, index: usize) -> QuestionId {
        let twin = self.twins().get(&(index as u32)).copied().unwrap_or(1);
        QuestionId { hash: self.hashes()[index], twin }
    }

    /// The id of a question without the number of a twin: what follows from context, query and candidates alone.
    pub fn unnumbered_id(&self, index: usize) -> QuestionId {
        QuestionId { hash: self.hashes()[index], twin: 1 }
    }

    /// The question with an id in a split, or among the questions without one.
    pub fn find(&self, split: Option<Split>, id: &str) -> Option<usize> {
        let QuestionId { hash, twin } = id.parse().ok()?;
        let mut twins = self.with_hash(hash).iter().map(|&index| index as usize);
        twins.find(|&index| self.example(index).split == split && self.id(index).twin == twin)
    }

    /// The ids of all questions of a split (or of those without one), in their order.
    pub fn ids(&self, split: Option<Split>) -> Vec<(usize, String)> {
        let of_split = (0..self.len()).filter(|&index| self.example(index).split == split);
        of_split.map(|index| (index, self.id(index).to_string())).collect()
    }

    /// The ids of all questions, in their order; twins are numbered within their split.
    pub fn all_ids(&self) -> Vec<String> {
        (0..self.len()).map(|index| self.id(index).to_string()).collect()
    }

    /// The first question whose id, as a file has it, does not follow from its text.
    pub fn first_wrong_id(&self) -> Option<usize> {
        let hashes = self.hashes().par_iter().enumerate();
        hashes.find_map_first(|(index, hash)| {
            (self.example(index).question.hash() != *hash).then_some(index)
        })
    }

    /// 16 hexadecimal digits that identify the content of the set, in whatever files it is stored: questions in
    /// their order with answers, classes, splits and books, and the text of the books.
    pub fn fingerprint(&self) -> String {
        self.fingerprint_where(|_| true)
    }

    /// The fingerprint of the questions and books of some splits: those that a learner reads, for example. It does
    /// not depend on whether the others have been read.
    pub fn fingerprint_of(&self, splits: &[Split]) -> String {
        self.fingerprint_where(|split| split.is_some_and(|split| splits.contains(&split)))
    }

    fn fingerprint_where(&self, is_part: impl Fn(Option<Split>) -> bool) -> String {
        let mut hash = Sha256::new();
        let mut text = String::new();
        for book in self.books().iter().filter(|book| is_part(book.split)) {
            text.clear();
            text.push_str(&format!("{:?} {:?}\n", book.name, book.split));
            for sentence in self.sentences(book.sentences.clone()) {
                push_line(&mut text, self.vocabulary(), sentence);
            }
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(&text);
        }
        for (example, id) in self.examples().zip(self.hashes()) {
            if is_part(example.split) {
                let (answer, class) = (example.answer, example.class.map(|class| class.code()));
                hash.update(id);
                hash.update(format!(
                    "{answer:?} {class:?} {:?} {:?}\n",
                    example.split, example.book
                ));
            }
        }
        base::hash::hex(&hash.finalize()[..8])
    }

    /// The hashes of all questions, in their order: `ids.bin`.
    pub(crate) fn hashes(&self) -> &[Hash] {
        self.id_store().hashes.get_or_init(|| {
            let starts: Vec<usize> = (0..self.len()).step_by(RUN).collect();
            let run = |start: usize| self.hashes_of(start..self.len().min(start + RUN));
            starts.into_par_iter().flat_map_iter(run).collect()
        })
    }

    /// The hashes of consecutive questions. Those about one sentence have one context, which is hashed once;
    /// neighbouring contexts overlap, so each sentence is spelt once.
    fn hashes_of(&self, range: Range<usize>) -> impl Iterator<Item = Hash> {
        let mut lines = String::new();
        let mut sentence_lines = SentenceLines::default();
        let mut last: Option<(Range<usize>, Sha256)> = None;
        range.map(move |index| {
            let context = match last.take() {
                Some(same) if same.0 == self.context(index) => same,
                _ => {
                    let context = self.context(index);
                    let hash = Sha256::new_with_prefix(sentence_lines.lines(self, context.clone()));
                    (context, hash)
                }
            };
            let hash = self.example(index).question.hash_after(context.1.clone(), &mut lines);
            last = Some(context);
            hash
        })
    }

    /// The same, if they have been read or computed.
    pub(crate) fn known_hashes(&self) -> Option<&[Hash]> {
        self.id_store().hashes.get().map(Vec::as_slice)
    }

    /// Numbers identical questions as the ids of the file do that they were read from, in which they may be a part of a
    /// larger set: these are the ids of all that have a twin there.
    pub(crate) fn take_twins(&mut self, ids: &[QuestionId]) {
        let mut numbers: BTreeMap<Hash, VecDeque<u32>> = BTreeMap::new();
        ids.iter().for_each(|id| numbers.entry(id.hash).or_default().push_back(id.twin));
        let hashes = self.hashes().to_vec();
        let number = |hash| numbers.get_mut(hash).and_then(VecDeque::pop_front).unwrap_or(1);
        let numbered = (0..).zip(hashes.iter().map(number));
        let twins: BTreeMap<u32, u32> = numbered.filter(|&(_, twin)| twin > 1).collect();
        self.set_hashes(hashes);
        // Nothing has asked for them yet.
        let _ = self.id_store().twins.set(twins);
    }

    /// The numbers of the questions that are not the first with their hash in their split.
    fn twins(&self) -> &BTreeMap<u32, u32> {
        self.id_store().twins.get_or_init(|| {
            // Few are repeated, in whatever split: only these are counted.
            let mut sorted: Vec<u64> =
                self.hashes().iter().map(|&hash| u64::from_be_bytes(hash)).collect();
            sorted.sort_unstable();
            let repeated = sorted.windows(2).filter(|pair| pair[0] == pair[1]);
            let repeated: HashSet<Hash> = repeated.map(|pair| pair[0].to_be_bytes()).collect();
            let mut counts: HashMap<(Hash, Option<Split>), u32> = HashMap::new();
            let mut twins = BTreeMap::new();
            if repeated.is_empty() {
                return twins;
            }
            let all = (0..).zip(self.hashes());
            for (index, &hash) in all.filter(|(_, hash)| repeated.contains(*hash)) {
                let count = counts.entry((hash, self.split(index as usize))).or_default();
                *count += 1;
                if *count > 1 {
                    twins.insert(index, *count);
                }
            }
            twins
        })
    }

    /// The questions with a hash, in their order.
    fn with_hash(&self, hash: Hash) -> &[u32] {
        let hashes = self.hashes();
        let of = |index: u32| hashes[index as usize];
        let by_hash = self.id_store().by_hash.get_or_init(|| {
            let mut sorted: Vec<u32> = (0..self.len() as u32).collect();
            sorted.par_sort_unstable_by_key(|&index| (of(index), index));
            sorted
        });
        let start = by_hash.partition_point(|&index| of(index) < hash);
        let twins = by_hash[start..].iter().take_while(|&&index| of(index) == hash).count();
        &by_hash[start..start + twins]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixtures::{bears, sets};
    use crate::{BLANK, BookText, NewQuestion, WordClass};

    /// `She ate XXXXX` after `She ate soup`, for each of these splits.
    fn soups(splits: &[Option<Split>]) -> QuestionSet {
        let mut set = QuestionSet::default();
        let [she, ate, porridge, soup] = ["She", "ate", "porridge", "soup"].map(|w| set.intern(w));
        let sentence = set.push_sentence([she, ate, soup]);
        for &split in splits {
            set.push(NewQuestion {
                context: sentence..sentence + 1,
                query: &[she, ate, BLANK],
                candidates: &[porridge, soup],
                answer: Some(0),
                class: None,
                split,
                book: None,
            })
            .unwrap();
        }
        set
    }

    #[test]
    fn the_id_is_the_hash_of_the_lines_and_a_twin_is_numbered() {
        let train = Some(Split::Train);
        let mut set = soups(&[None, train, None]);
        // printf 'She ate soup\nShe ate XXXXX\nporridge\nsoup\n' | sha256sum | cut -c1-16
        let [first, second] = ["eccc93b56153a56b", "eccc93b56153a56b#2"];
        assert_eq!(set.all_ids(), [first, first, second]);
        assert_eq!(set.ids(None), [(0, first.to_owned()), (2, second.to_owned())]);
        assert_eq!(set.example(2).question.id().to_string(), first);
        let found = [(None, first), (train, first), (None, second), (train, second)];
        assert_eq!(found.map(|(split, id)| set.find(split, id)), [Some(0), Some(1), Some(2), None]);
        assert_eq!(set.find(None, "eccc93b56153a56c"), None);
        assert_eq!(set.first_wrong_id(), None);

        // What is kept of the ids is not that of an older, smaller set.
        let question = bears(1);
        let words: Vec<WordId> =
            question.vocabulary().iter().map(|word| set.intern(word)).collect();
        set.push(NewQuestion {
            context: 0..1,
            query: &[BLANK],
            candidates: &words[1..3],
            answer: None,
            class: None,
            split: None,
            book: None,
        })
        .unwrap();
        assert_eq!(set.all_ids().len(), 4);
    }

    #[test]
    fn an_id_has_one_spelling() {
        let id: QuestionId = "00cc93b56153a56b#12".parse().unwrap();
        assert_eq!(id.to_string(), "00cc93b56153a56b#12");
        for wrong in ["", "eccc", "ECCC93b56153a56b", "eccc93b56153a56b#1", "eccc93b56153a56b#02"] {
            assert_eq!(wrong.parse::<QuestionId>(), Err(ParseIdError), "{wrong}");
        }
    }

    #[test]
    fn the_fingerprint_changes_with_anything_that_the_questions_or_books_say() {
        let [train, valid] = [Split::Train, Split::Valid].map(Some);
        let set = soups(&[train, valid]);
        let question = |set: &QuestionSet, change: fn(&mut NewQuestion<'_>)| {
            let mut set = set.clone();
            let last = set.clone();
            let example = last.example(1);
            let mut question = NewQuestion {
                context: last.context(1),
                query: example.question.query,
                candidates: example.question.candidates,
                answer: example.answer,
                class: example.class,
                split: Some(Split::Test),
                book: None,
            };
            change(&mut question);
            set.push(question).unwrap();
            set
        };
        let book = |name: &str, sentences| {
            let mut set = set.clone();
            set.push_book(BookText { name: name.to_owned(), split: valid, sentences });
            set
        };
        let sets = [
            set.clone(),
            soups(&[valid, train]),
            soups(&[train, None]),
            question(&set, |_| ()),
            question(&set, |question| question.answer = Some(1)),
            question(&set, |question| question.answer = None),
            question(&set, |question| question.class = Some(WordClass::Verb)),
            question(&set, |question| question.context = 1..1),
            question(&book("Bears", 0..0), |_| ()),
            question(&book("Bears", 0..0), |question| question.book = Some(0)),
            book("Bears", 0..1),
            book("Wolves", 0..1),
        ];
        let prints: std::collections::BTreeSet<String> =
            sets.iter().map(QuestionSet::fingerprint).collect();
        assert_eq!(prints.len(), sets.len());

        // Words that no question has, and questions of other splits, do not count.
        let mut more = question(&set, |_| ());
        more.intern("unheard-of");
        let learnt = [Split::Train, Split::Valid];
        assert_eq!(more.fingerprint_of(&learnt), set.fingerprint_of(&learnt));
        assert_ne!(more.fingerprint_of(&[Split::Train]), set.fingerprint_of(&learnt));
    }

    proptest! {
        #[test]
        fn every_question_is_found_by_its_id((set, _) in sets()) {
            for (index, id) in set.all_ids().iter().enumerate() {
                prop_assert_eq!(set.find(set.example(index).split, id), Some(index));
            }
        }
    }
}
