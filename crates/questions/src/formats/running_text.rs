//! The running text of books, and the location of a question in it.
//!
//! `cbt_{train,valid,test}.txt`, or a folder `tokenised/` of `SPLIT__BOOK.txt`: one sentence per line, words
//! joined by spaces → [`BookText`]s. A line that begins with `_BOOK_TITLE_` begins a book and is never text;
//! empty lines are ignored.
//!
//! A question is located where its whole context is, within one book of its split. If there are several such
//! places, it is the next one after the question before it, else the first: files are in the order of the books.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::BuildHasher;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::path::{Path, PathBuf};

use base::WordId;

use crate::error::LineError;
use crate::error::{Error, Location, Result};
use crate::formats::sentence;
use crate::{BookText, QuestionSet, Split};

/// How a line that begins a book begins.
pub const BOOK_TITLE: &str = "_BOOK_TITLE_";
/// What the released files have after the name of a book.
pub(crate) const TITLE_ENDING: &str = ".txt.out";

/// A file of running text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TextFile {
    path: PathBuf,
    split: Split,
    /// The book of text before the first title.
    book: String,
}

/// The files of running text of some splits: in the folder of a question set, or next to it.
pub(crate) fn files(folder: &Path, splits: &[Split]) -> Result<Vec<TextFile>> {
    let mut files = Vec::new();
    let folders = [folder.join("tokenised"), folder.join("..").join("tokenised")];
    let tokenised = folders.iter().find(|folder| folder.is_dir());
    for &split in splits {
        let book = format!("cbt_{}", split.code());
        let path = folder.join(format!("{book}.txt"));
        if path.is_file() {
            files.push(TextFile { path, split, book });
        } else if let Some(tokenised) = tokenised {
            files.extend(tokenised_files(tokenised, split)?);
        }
    }
    Ok(files)
}

fn tokenised_files(folder: &Path, split: Split) -> Result<Vec<TextFile>> {
    let failed = |cause| Error::Read { path: folder.to_owned(), cause };
    let prefix = format!("{}__", split.code());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let book = name.strip_prefix(&prefix).and_then(|name| name.strip_suffix(".txt"));
        if let Some(book) = book.map(str::to_owned) {
            files.push(TextFile { path, split, book });
        }
    }
    files.sort_by(|a, b| a.book.cmp(&b.book));
    Ok(files)
}

/// Adds the books of a file to a set.
pub(crate) fn read(set: &mut QuestionSet, file: &TextFile) -> Result<()> {
    let bytes =
        fs::read(&file.path).map_err(|cause| Error::Read { path: file.path.clone(), cause })?;
    if u32::try_from(set.n_words() + bytes.len()).is_err() {
        return Err(Error::TooLarge { path: file.path.clone() });
    }
    read_books(set, &bytes, file)
}

fn read_books(set: &mut QuestionSet, bytes: &[u8], file: &TextFile) -> Result<()> {
    let mut name = file.book.clone();
    let mut start = set.n_sentences();
    let mut words = Vec::new();
    let finish = |set: &mut QuestionSet, name: String, start: usize| {
        let sentences = start..set.n_sentences();
        if !sentences.is_empty() {
            set.push_book(BookText { name, split: Some(file.split), sentences });
        }
    };
    for (line, bytes) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let text = std::str::from_utf8(bytes).map_err(|_| Error::Malformed {
            path: file.path.clone(),
            at: Location::Line(line),
            error: LineError::NotUtf8,
        })?;
        let text = text.strip_suffix('\r').unwrap_or(text);
        if let Some(title) = text.strip_prefix(BOOK_TITLE) {
            let title = title.trim_start_matches([' ', ':']).trim_end();
            let title = title.strip_suffix(TITLE_ENDING).unwrap_or(title).to_owned();
            finish(set, std::mem::replace(&mut name, title), start);
            start = set.n_sentences();
        } else if !text.is_empty() {
            words.clear();
            words.extend(sentence::words(text).map(|word| set.intern(word)));
            set.push_sentence(words.iter().copied());
        }
    }
    finish(set, name, start);
    Ok(())
}

/// Finds contexts in the books of a set.
pub(crate) struct Index<'s> {
    set: &'s QuestionSet,
    /// Hash and number of every sentence in a book, in order.
    sentences: Vec<(u64, usize)>,
}

/// Where the running text has a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BookPosition {
    /// Its first sentence in the set with the books.
    pub first: usize,
    /// Its book, as an index into those of the set.
    pub book: usize,
}

impl<'s> Index<'s> {
    pub(crate) fn new(set: &'s QuestionSet) -> Self {
        let indices = set.books().iter().flat_map(|book| book.sentences.clone());
        let mut sentences: Vec<(u64, usize)> =
            indices.map(|index| (hash(set.sentence(index)), index)).collect();
        sentences.sort_unstable();
        Self { set, sentences }
    }

    /// The locations of all questions of a part that has the vocabulary of the books.
    pub(crate) fn locations(&self, part: &QuestionSet) -> Vec<Option<BookPosition>> {
        let mut previous: Option<(Range<usize>, BookPosition)> = None;
        let find = |question| {
            let context = part.context(question);
            let split = part.example(question).split;
            // Contexts that share sentences in the part share them in the book.
            let guess = previous.as_ref().and_then(|(range, location)| {
                range.contains(&context.start).then(|| location.first + context.start - range.start)
            });
            let from = previous.as_ref().map_or(0, |(_, location)| location.first);
            let location = guess
                .and_then(|guess| self.at(part, &context, split, guess))
                .or_else(|| self.search(part, &context, split, from));
            if let Some(location) = location {
                previous = Some((context, location));
            }
            location
        };
        (0..part.len()).map(find).collect()
    }

    /// Looks up the longest sentence of the context, which is the rarest as a rule.
    fn search(
        &self,
        part: &QuestionSet,
        context: &Range<usize>,
        split: Option<Split>,
        from: usize,
    ) -> Option<BookPosition> {
        let longest = context.clone().max_by_key(|&sentence| part.sentence(sentence).len())?;
        let offset = longest - context.start;
        let key = hash(part.sentence(longest));
        let start = self.sentences.partition_point(|&(hash, _)| hash < key);
        let same = self.sentences[start..].iter().take_while(|&&(hash, _)| hash == key);
        let firsts: Vec<usize> = same.filter_map(|&(_, index)| index.checked_sub(offset)).collect();
        let (before, after) = firsts.split_at(firsts.partition_point(|&first| first < from));
        let mut in_order = after.iter().chain(before);
        in_order.find_map(|&first| self.at(part, context, split, first))
    }

    /// The location from sentence `first` on, if the context is there.
    fn at(
        &self,
        part: &QuestionSet,
        context: &Range<usize>,
        split: Option<Split>,
        first: usize,
    ) -> Option<BookPosition> {
        let books = self.set.books();
        let book = books.partition_point(|book| book.sentences.end <= first);
        let fits = |book: &&BookText| {
            book.sentences.start <= first
                && first + context.len() <= book.sentences.end
                && (split.is_none() || book.split == split)
        };
        books.get(book).filter(fits)?;
        let mut pairs = (first..).zip(context.clone());
        let is_here = !context.is_empty()
            && pairs.all(|(ours, theirs)| self.set.sentence(ours) == part.sentence(theirs));
        is_here.then_some(BookPosition { first, book })
    }
}

fn hash(sentence: &[WordId]) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(sentence)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;
    use crate::fixtures::{error_text, spelt_books};
    use crate::formats::merge::merge;
    use crate::{BLANK, NewQuestion};

    fn file() -> TextFile {
        TextFile { path: "cbt_train.txt".into(), split: Split::Train, book: "cbt_train".to_owned() }
    }

    #[test]
    fn titles_separate_books_and_are_never_text() {
        let text = "no title .\n_BOOK_TITLE_ : The_Bears.txt.out\nA bear .\n\nA  house .\r\n_BOOK_TITLE_ : Empty.txt.out\n_BOOK_TITLE_ : Wood\nTrees .\n";
        let mut set = QuestionSet::default();
        read_books(&mut set, text.as_bytes(), &file()).unwrap();
        let joined = |book: (String, Option<Split>, Vec<Vec<String>>)| {
            (book.0, book.2.iter().map(|words| words.join(" ")).collect::<Vec<_>>())
        };
        let books: Vec<_> = spelt_books(&set).into_iter().map(joined).collect();
        let expected = [
            ("cbt_train", vec!["no title ."]),
            ("The_Bears", vec!["A bear .", "A  house ."]),
            ("Wood", vec!["Trees ."]),
        ];
        assert_eq!(books.len(), 3);
        for ((name, sentences), (expected_name, expected_sentences)) in books.iter().zip(&expected)
        {
            assert_eq!(
                (name.as_str(), sentences),
                (*expected_name, &expected_sentences.iter().map(|s| (*s).to_owned()).collect())
            );
        }
        let error = read_books(&mut set, b"A bear .\n\xff\n", &file()).unwrap_err();
        expect![[r#"
            error: cbt_train.txt:2: the text is not UTF-8
            hint: `iconv -f WINDOWS-1252 -t UTF-8 IN > OUT` converts the commonest other encoding
        "#]]
        .assert_eq(&error_text(&error));
    }

    #[test]
    fn running_text_is_found_in_the_folder_or_next_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let questions = folder.path().join("questions");
        let tokenised = folder.path().join("tokenised");
        fs::create_dir(&questions).unwrap();
        fs::create_dir(&tokenised).unwrap();
        assert_eq!(files(&questions, &Split::ALL).unwrap(), []);
        fs::write(questions.join("cbt_train.txt"), "").unwrap();
        for name in ["valid__b.txt", "valid__a.txt", "train__c.txt", "valid__d.tsv"] {
            fs::write(tokenised.join(name), "").unwrap();
        }
        let found = files(&questions, &Split::ALL).unwrap();
        let books: Vec<(Split, &str)> =
            found.iter().map(|file| (file.split, &*file.book)).collect();
        let expected = [(Split::Train, "cbt_train"), (Split::Valid, "a"), (Split::Valid, "b")];
        assert_eq!(books, expected);
    }

    /// Questions without words of their own, whose contexts are given as text.
    fn part(contexts: &[(&[&str], Option<Split>)]) -> QuestionSet {
        let mut set = QuestionSet::default();
        let candidates = ["a", "b"].map(|word| set.intern(word));
        for &(sentences, split) in contexts {
            let start = set.n_sentences();
            for text in sentences {
                let words: Vec<WordId> =
                    sentence::words(text).map(|word| set.intern(word)).collect();
                set.push_sentence(words);
            }
            set.push(NewQuestion {
                context: start..set.n_sentences(),
                query: &[BLANK],
                candidates: &candidates,
                answer: None,
                class: None,
                split,
                book: None,
            })
            .unwrap();
        }
        set
    }

    fn books(texts: &[(&str, Split)]) -> QuestionSet {
        let mut set = QuestionSet::default();
        for &(text, split) in texts {
            read_books(&mut set, text.as_bytes(), &TextFile { split, ..file() }).unwrap();
        }
        set
    }

    #[test]
    fn a_context_is_found_within_one_book_of_its_split() {
        let books = books(&[("a\nb\nc\n", Split::Train), ("b\nc\nd\n", Split::Valid)]);
        let (train, valid) = (Some(Split::Train), Some(Split::Valid));
        let part = part(&[
            (&["b", "c"], train),
            (&["b", "c"], valid),
            (&["c", "d"], None),
            (&["c", "b"], None),
            (&[], None),
            (&["c", "d"], train),
        ]);
        let (set, outside) = merge(books, vec![part]).unwrap();
        let found: Vec<_> = (0..6).map(|i| (set.context(i), set.book(i))).collect();
        let expected = [
            (1..3, Some(0)),
            (3..5, Some(1)),
            (4..6, Some(1)),
            (6..8, None),
            (8..8, None),
            (8..10, None),
        ];
        assert_eq!(found, expected);
        assert_eq!(outside, 3);
    }

    #[test]
    fn of_several_places_the_next_one_is_taken() {
        let books = books(&[("a\nb\nx\na\nb\ny\na\nb\n", Split::Train)]);
        let part = part(&[
            (&["a", "b"], None),
            (&["b", "x"], None),
            (&["a", "b"], None),
            (&["y", "a"], None),
            (&["a", "b"], None),
            (&["b", "y"], None),
        ]);
        let (set, _) = merge(books, vec![part]).unwrap();
        let starts: Vec<usize> = (0..6).map(|question| set.context(question).start).collect();
        assert_eq!(starts, [0, 1, 3, 5, 6, 4]);
    }

    proptest! {
        /// The twin tries every place of every book for every question.
        #[test]
        fn a_place_is_found_wherever_there_is_one(
            text in "([ab]\n){4,12}",
            contexts in prop::collection::vec("[ab]{0,4}", 1..6),
        ) {
            let spelt: Vec<Vec<&str>> = contexts.iter().map(|c| c.split("").filter(|s| !s.is_empty()).collect()).collect();
            let with_split: Vec<(&[&str], Option<Split>)> = spelt.iter().map(|c| (&c[..], None)).collect();
            let (set, _) = merge(books(&[(&text, Split::Train)]), vec![part(&with_split)]).unwrap();
            let running: String = text.replace('\n', "");
            for (question, context) in contexts.iter().enumerate() {
                let is_here = !context.is_empty() && running.contains(context.as_str());
                prop_assert_eq!(set.book(question).is_some(), is_here);
                let words: String = set.context(question).flat_map(|sentence| set.sentence(sentence)).map(|&word| set.vocabulary().word(word)).collect();
                prop_assert_eq!(&words, context);
            }
        }
    }
}
