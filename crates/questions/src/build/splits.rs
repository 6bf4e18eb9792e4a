//! Which book is for training, validation or test (§2: books are allocated, never questions).
//!
//! Given by a file of lines `split TAB file name`, or drawn from the seed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rand::seq::SliceRandom;
use sha2::{Digest, Sha256};

use crate::{Error, LineError, Location, Result, Split};
use base::seeds::{Use, generator};

/// A file of splits: lines `split TAB file name`, with further columns and a header line if it likes.
///
/// Books are known by their file names without folder and without `.txt` or `.epub`. The file may name books
/// that are not built, but not the same book twice.
#[derive(Clone, Debug)]
pub struct SplitFile {
    path: PathBuf,
    /// Name → line and split.
    books: BTreeMap<String, (usize, Split)>,
}

impl SplitFile {
    /// Reads a file of splits.
    ///
    /// # Errors
    /// If it can't be read or a line is wrong.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| Error::Read { path: path.to_owned(), cause })?;
        Self::from_text(path, &text)
    }

    /// Parses the text of a file of splits; the path is for errors alone.
    ///
    /// # Errors
    /// If a line but the first has no split, a line has no file name, or a book is listed twice.
    pub fn from_text(path: &Path, text: &str) -> Result<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut books = BTreeMap::new();
        for (index, row) in text.lines().enumerate().filter(|(_, row)| !row.trim().is_empty()) {
            let line = index + 1;
            let malformed =
                |error| Error::Malformed { path: path.to_owned(), at: Location::Line(line), error };
            let mut columns = row.split('\t').map(str::trim);
            let split = columns.next().and_then(Split::from_code);
            let book = columns.next().map(book_name).filter(|name| !name.is_empty());
            match (split, book) {
                (Some(split), Some(book)) => {
                    if let Some((first, _)) = books.insert(book.to_owned(), (line, split)) {
                        let book = book.to_owned();
                        return Err(malformed(LineError::SplitTwice { book, first }));
                    }
                }
                // A header.
                (None, _) if line == 1 => {}
                _ => return Err(malformed(LineError::SplitLine { found: row.to_owned() })),
            }
        }
        Ok(Self { path: path.to_owned(), books })
    }

    /// The splits of books that are named one by one; `path` is for errors alone.
    pub fn of_books(path: &Path, books: impl IntoIterator<Item = (String, Split)>) -> Self {
        let numbered = (1..).zip(books);
        let named =
            numbered.map(|(line, (name, split))| (book_name(&name).to_owned(), (line, split)));
        Self { path: path.to_owned(), books: named.collect() }
    }

    /// The split of a book.
    ///
    /// # Errors
    /// If no line names it: a book that is forgotten must not end up in training by accident.
    pub fn split(&self, name: &str) -> Result<Split> {
        let found = self.books.get(book_name(name)).map(|&(_, split)| split);
        found.ok_or_else(|| Error::NoSplit {
            path: self.path.clone(),
            book: book_name(name).to_owned(),
        })
    }
}

/// A file name without its folder and without `.txt` or `.epub`; other dots belong to the name.
fn book_name(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.strip_suffix(".txt").or_else(|| name.strip_suffix(".epub")).unwrap_or(name)
}

/// Which shares of the books are for validation and test; the rest is for training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitShares {
    /// The share for validation, from 0 to less than 1.
    pub valid: f64,
    /// The share for test.
    pub test: f64,
}

impl Default for SplitShares {
    /// Chosen: a tenth of the books for validation and a tenth for test.
    fn default() -> Self {
        Self { valid: 0.1, test: 0.1 }
    }
}

impl SplitShares {
    /// How many of three or more books are for validation and for test: one at least, unless the share
    /// is none.
    fn counts(self, n_books: usize) -> (usize, usize) {
        // Halves are rounded up, also those that a share such as .1 misses by a little.
        let count = |share: f64| match share > 0.0 {
            true => ((n_books as f64 * share + 0.5 + 1e-9) as usize).max(1),
            false => 0,
        };
        (count(self.valid), count(self.test))
    }
}

/// Draws a split for each book from the seed; the order of the names does not matter.
///
/// Chosen: of three and more books, a tenth, and one at least, is for validation, as many for test, and the
/// rest for training. Two books are one for training and one for test. One book is for test: questions
/// from a single book are wanted for asking.
pub fn draw_splits(names: &[&str], seed: u64) -> Vec<Split> {
    let groups: Vec<usize> = (0..names.len()).collect();
    draw_splits_of_groups(names, &groups, SplitShares::default(), seed)
}

/// Draws a split for each group of books: `groups` has a number for each book, and books of one number stay together.
/// Where no book has company, the splits are those of [`draw_splits`].
///
/// A group that is larger than what is left of the share for test or validation is for training, unless the split
/// would have no book at all; then the smallest group is taken. One group is for test; two are one for training, one
/// for test.
pub fn draw_splits_of_groups(
    names: &[&str],
    groups: &[usize],
    shares: SplitShares,
    seed: u64,
) -> Vec<Split> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (book, &group) in groups.iter().enumerate() {
        members.entry(group).or_default().push(book);
    }
    let mut waiting: Vec<Vec<usize>> = members.into_values().collect();
    waiting.sort_by_key(|group| group.iter().map(|&book| names[book]).min());
    waiting.shuffle(&mut generator(seed, Use::Splits, &[]));
    let (n_valid, n_test) = match waiting.len() {
        0 => (0, 0),
        1 | 2 => (0, 1),
        _ => shares.counts(names.len()),
    };
    let n_kept = usize::from(waiting.len() > 1);
    let mut splits = vec![Split::Train; names.len()];
    for (split, wanted) in [(Split::Test, n_test), (Split::Valid, n_valid)] {
        for group in take_groups(&mut waiting, wanted, n_kept) {
            group.into_iter().for_each(|book| splits[book] = split);
        }
    }
    splits
}

/// Takes groups of books, the first that fit into `wanted` books; if none fits, the smallest. Leaves `n_kept` groups.
fn take_groups(waiting: &mut Vec<Vec<usize>>, wanted: usize, n_kept: usize) -> Vec<Vec<usize>> {
    let (mut taken, mut n_taken) = (Vec::new(), 0);
    let mut place = 0;
    while place < waiting.len() && waiting.len() > n_kept && n_taken < wanted {
        if n_taken + waiting[place].len() <= wanted {
            n_taken += waiting[place].len();
            taken.push(waiting.remove(place));
        } else {
            place += 1;
        }
    }
    if taken.is_empty() && wanted > 0 && waiting.len() > n_kept {
        let smallest = (0..waiting.len()).min_by_key(|&place| waiting[place].len());
        taken.extend(smallest.map(|place| waiting.remove(place)));
    }
    taken
}

/// The split of a book by the hash of the seed and its name: a tenth for validation, a tenth for test, roughly. A
/// book that joins later moves no other.
pub fn hash_split(name: &str, seed: u64) -> Split {
    let hash = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(name).finalize();
    let mut number = [0; 8];
    number.copy_from_slice(&hash[..8]);
    match u64::from_le_bytes(number) % 10 {
        0 => Split::Test,
        1 => Split::Valid,
        _ => Split::Train,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixtures::error_text;

    fn parse(text: &str) -> Result<SplitFile> {
        SplitFile::from_text(Path::new("splits.tsv"), text)
    }

    #[test]
    fn a_file_of_splits_may_have_a_header_more_columns_and_more_books() {
        let file = "split\tname\tnote\ntrain\tOld_Mr._Hen.txt\tA long tale\n\nvalid\tThe Fox\r\n\
                    test\ttales/Owl.epub\n";
        let file = parse(file).unwrap();
        for name in ["Old_Mr._Hen", "Old_Mr._Hen.txt", "books/Old_Mr._Hen.epub"] {
            assert_eq!(file.split(name).unwrap(), Split::Train);
        }
        assert_eq!(file.split("The Fox").unwrap(), Split::Valid);
        assert_eq!(file.split("Owl").unwrap(), Split::Test);
    }

    #[test]
    fn errors_in_a_file_of_splits_name_the_line() {
        let refused =
            |text, message: Expect| message.assert_eq(&error_text(&parse(text).unwrap_err()));
        refused(
            "train\tHen\ndev\tFox\n",
            expect![[r#"
            error: splits.tsv:2: expected `train`, `valid` or `test`, a tab and a file name, found `dev\tFox`
            hint: further columns may follow, and the first line may be a header
        "#]],
        );
        refused(
            "train\tHen\ntest Fox\n",
            expect![[r#"
            error: splits.tsv:2: expected `train`, `valid` or `test`, a tab and a file name, found `test Fox`
            hint: further columns may follow, and the first line may be a header
        "#]],
        );
        refused(
            "test\n",
            expect![[r#"
            error: splits.tsv:1: expected `train`, `valid` or `test`, a tab and a file name, found `test`
            hint: further columns may follow, and the first line may be a header
        "#]],
        );
        refused(
            "train\tHen.txt\n\ntest\tHen\n",
            expect![[r#"
                error: splits.tsv:3: `Hen` is given a split twice: it is in line 1 too
                hint: leave one of the lines out: a book is in one split only
            "#]],
        );

        let error = parse("train\tHen.txt\n").unwrap().split("Fox").unwrap_err();
        expect![[r#"
            error: splits.tsv: no line gives the split of `Fox`
            hint: add a line to splits.tsv: `train`, `valid` or `test`, a tab, `Fox.txt`
        "#]]
        .assert_eq(&error_text(&error));
        let missing = SplitFile::read(Path::new("no/such/file.tsv")).unwrap_err();
        expect![[r#"
            error: no/such/file.tsv: cannot be read: No such file or directory (os error 2)
            hint: check that it is a file and that you can read it
        "#]]
        .assert_eq(&error_text(&missing));
    }

    #[test]
    fn drawn_splits_have_a_book_for_each_purpose() {
        let names: Vec<String> = (0..108).map(|book| format!("book {book}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let count = |n: usize| {
            let splits = draw_splits(&names[..n], 7);
            Split::ALL.map(|split| splits.iter().filter(|&&other| other == split).count())
        };
        assert_eq!(count(0), [0, 0, 0]);
        assert_eq!(count(1), [0, 0, 1]);
        assert_eq!(count(2), [1, 0, 1]);
        assert_eq!(count(3), [1, 1, 1]);
        assert_eq!(count(14), [12, 1, 1]);
        assert_eq!(count(15), [11, 2, 2]);
        assert_eq!(count(108), [86, 11, 11]);
    }

    #[test]
    fn drawn_splits_follow_the_names_and_the_seed() {
        let drawn = draw_splits(&["Ant", "Bee", "Cow", "Doe"], 1);
        let mut reversed = draw_splits(&["Doe", "Cow", "Bee", "Ant"], 1);
        reversed.reverse();
        assert_eq!(drawn, reversed);
        assert!((2..20).any(|seed| draw_splits(&["Ant", "Bee", "Cow", "Doe"], seed) != drawn));
    }

    #[test]
    fn books_of_a_group_stay_together() {
        let names: Vec<String> = (0..20).map(|book| format!("book {book:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for seed in 0..50 {
            // Pairs.
            let pairs: Vec<usize> = (0..20).map(|book| book / 2).collect();
            let splits = draw_splits_of_groups(&names, &pairs, SplitShares::default(), seed);
            assert!(splits.chunks(2).all(|pair| pair[0] == pair[1]), "{splits:?}");
            let count = |split| splits.iter().filter(|&&other| other == split).count();
            assert_eq!(Split::ALL.map(count), [16, 2, 2]);
            // Every group is larger than a tenth.
            let large: Vec<usize> = (0..20).map(|book| book / 5).collect();
            let splits = draw_splits_of_groups(&names, &large, SplitShares::default(), seed);
            let count = |split| splits.iter().filter(|&&other| other == split).count();
            assert_eq!(Split::ALL.map(count), [10, 5, 5]);
            assert!(splits.chunks(5).all(|group| group.iter().all(|&split| split == group[0])));
        }
        let one = draw_splits_of_groups(&names, &[0; 20], SplitShares::default(), 1);
        assert!(one.iter().all(|&split| split == Split::Test));
    }

    #[test]
    fn shares_say_how_many_books_are_for_validation_and_test() {
        let names: Vec<String> = (0..20).map(|book| format!("book {book:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let groups: Vec<usize> = (0..20).collect();
        let count = |valid, test| {
            let splits = draw_splits_of_groups(&names, &groups, SplitShares { valid, test }, 3);
            Split::ALL.map(|split| splits.iter().filter(|&&other| other == split).count())
        };
        assert_eq!(count(0.2, 0.3), [10, 4, 6]);
        assert_eq!(count(0.0, 0.5), [10, 0, 10]);
        assert_eq!(count(0.01, 0.0), [19, 1, 0]);
        // Training keeps a book.
        assert_eq!(count(0.5, 0.49), [1, 9, 10]);
    }

    #[test]
    fn a_split_by_hash_depends_on_the_name_and_the_seed_alone() {
        let splits = |seed| (0..1000).map(move |book| hash_split(&format!("book {book}"), seed));
        let n = Split::ALL.map(|split| splits(1).filter(|&other| other == split).count());
        assert!(n[0] > 750 && n[1] > 70 && n[2] > 70, "{n:?}");
        assert!(splits(1).ne(splits(2)));
    }
}
