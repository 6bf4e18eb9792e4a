//! The compact form: a folder that holds the text of books once and questions as references to it.
//!
//! | file | holds |
//! |---|---|
//! | `manifest.toml` | `[set]`: format version, counts, size and SHA-256 of the other files ([`Manifest`]); and what the maker adds |
//! | `text.bin` | the vocabulary, the sentences as numbers of words, the books as ranges of sentences |
//! | `questions.bin` | the questions: context as a range of sentences, query as the sentence after it with a blank (spelt out where it is another), candidates, answer, class, split, book |
//! | `ids.bin` | the [ids](crate::QuestionId) of the questions in their order, 8 bytes each, without the numbers of twins |
//!
//! All numbers are little-endian base-128. A query that is a reference is never long, so a forged file can't
//! make a reader allocate more than about a hundred times its size. It is the only form that keeps all of a [`QuestionSet`].
//! A folder of an older version has no `ids.bin`: the ids are computed when they are needed. Whether stored ids
//! follow from the questions is checked by [`QuestionSet::first_wrong_id`], not by reading.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use base::WordId;
use base::hash::sha256;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::error::{Error, LineError, Result};
use crate::formats::base128::{Cursor, DecodeError, push_number, put_text};
use crate::formats::output::{write_file, write_folder};
use crate::{
    BLANK, BookText, EmptyFields, Example, NewQuestion, OpenOptions, Question, QuestionSet, Split,
    Warnings, WordClass, WriteOptions,
};

/// The version of the form that is written, and the only one that is read.
pub const VERSION: i64 = 1;
/// The file whose presence makes a folder a compact form.
pub const MANIFEST: &str = "manifest.toml";
const TEXT: &str = "text.bin";
const QUESTIONS: &str = "questions.bin";
const IDS: &str = "ids.bin";
const FILES: [&str; 3] = [TEXT, QUESTIONS, IDS];
/// A longer query is spelt out, so that a forged file can't blow up a long sentence a million times.
const LONGEST_REFERENCE: usize = 255;

/// Whether a file of that name belongs to a compact form.
pub(crate) fn is_part(name: &str) -> bool {
    name == MANIFEST || FILES.contains(&name)
}

/// Writes a set as a folder; [`WriteOptions::manifest`] joins the manifest's own `[set]` at top level.
///
/// # Errors
/// [`Error::Exists`], [`Error::ForeignFolder`] or [`Error::Write`]; then nothing is written.
pub fn write(set: &QuestionSet, folder: &Path, options: &WriteOptions) -> Result<()> {
    write_folder(folder, options.overwrite, is_part, |inside| {
        let contents = encode(set, &options.empty_fields);
        let manifest = Manifest::new(set, &contents, options.manifest.clone()).to_text();
        let named = FILES.into_iter().zip(contents).chain([(MANIFEST, manifest.into_bytes())]);
        for (name, bytes) in named {
            write_file(&inside.join(name), false, |file| {
                let failed = |cause| Error::Write { path: folder.join(name), cause };
                file.write_all(&bytes).map_err(failed)
            })?;
        }
        Ok(())
    })
}

/// The contents of `manifest.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// What the form itself needs.
    pub set: Contents,
    /// Everything that the maker of the set added.
    #[serde(flatten)]
    pub extra: Table,
}

/// The table `[set]` of a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "fields are counts of what they name")]
pub struct Contents {
    pub version: i64,
    pub questions: u64,
    pub books: u64,
    pub sentences: u64,
    pub vocabulary: u64,
    pub files: BTreeMap<String, FileEntry>,
}

/// A file of the form, as its manifest describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// The length of the file.
    pub bytes: u64,
    /// As `sha256sum` prints it.
    pub sha256: String,
}

impl Manifest {
    fn new(set: &QuestionSet, contents: &[Vec<u8>; 3], extra: Table) -> Self {
        let entry =
            |bytes: &Vec<u8>| FileEntry { bytes: bytes.len() as u64, sha256: sha256(bytes) };
        let files = FILES.into_iter().zip(contents);
        let set = Contents {
            version: VERSION,
            questions: set.len() as u64,
            books: set.books().len() as u64,
            sentences: set.n_sentences() as u64,
            vocabulary: set.vocabulary().len() as u64,
            files: files.map(|(name, bytes)| (name.to_owned(), entry(bytes))).collect(),
        };
        Self { set, extra }
    }

    fn to_text(&self) -> String {
        // By way of a table, whose keys are sorted.
        Table::try_from(self).expect("counts are below 2⁶³").to_string()
    }
}

/// Reads the manifest of a compact form, with all that its maker added.
///
/// # Errors
/// [`Error::Read`], [`Error::Version`], or [`Error::Damaged`] if it is not the manifest of a question set.
pub fn read_manifest(folder: &Path) -> Result<Manifest> {
    let path = folder.join(MANIFEST);
    let damaged = |reason: &str| Error::Damaged { path: path.clone(), reason: reason.to_owned() };
    let text = fs::read(&path).map_err(|cause| Error::Read { path: path.clone(), cause })?;
    let text = String::from_utf8(text).map_err(|_| damaged("it is not UTF-8"))?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| damaged(error.message()))?;
    // Another version may have other fields.
    let version = table.get("set").and_then(|set| set.get("version")?.as_integer());
    match version.ok_or_else(|| damaged("`set.version` is missing"))? {
        VERSION => table.try_into().map_err(|error: toml::de::Error| damaged(error.message())),
        found => Err(Error::Version { path, expected: VERSION, found }),
    }
}

/// Reads the questions of a folder that `options` ask for; the text of all books is there.
///
/// # Errors
/// [`Error::Read`], [`Error::Version`] or [`Error::Damaged`].
pub fn read(folder: &Path, options: &OpenOptions) -> Result<(QuestionSet, Warnings)> {
    let manifest = read_manifest(folder)?;
    let read = |name: &str| {
        let path = folder.join(name);
        let damaged =
            |reason: &str| Error::Damaged { path: path.clone(), reason: reason.to_owned() };
        let Some(FileEntry { bytes: length, sha256: hash }) = manifest.set.files.get(name) else {
            let reason = format!("`set.files.\"{name}\"` is missing");
            return Err(Error::Damaged { path: folder.join(MANIFEST), reason });
        };
        let failed = |cause| Error::Read { path: path.clone(), cause };
        let found = fs::metadata(&path).map_err(failed)?.len();
        if found != *length {
            return Err(damaged(&format!("expected {length} bytes, found {found}")));
        }
        let bytes = fs::read(&path).map_err(failed)?;
        if sha256(&bytes) != *hash {
            return Err(damaged("its SHA-256 is not the manifest's"));
        }
        Ok(bytes)
    };
    let (text, questions) = (read(TEXT)?, read(QUESTIONS)?);
    let ids = manifest.set.files.contains_key(IDS).then(|| read(IDS)).transpose()?;
    let damaged = |name: &str| {
        let path = folder.join(name);
        move |error: DecodeError| Error::Damaged { path, reason: error.to_string() }
    };
    let mut set = decode_text(&text).map_err(damaged(TEXT))?;
    let (kept, empty_fields) =
        decode_questions(&mut set, &questions, options).map_err(damaged(QUESTIONS))?;
    if let Some(ids) = ids {
        decode_ids(&mut set, &ids, &kept).map_err(damaged(IDS))?;
    }
    Ok((set, Warnings { empty_fields, ..Warnings::default() }))
}

/// The contents of `text.bin`, `questions.bin` and `ids.bin`.
pub fn encode(set: &QuestionSet, empty_fields: &EmptyFields) -> [Vec<u8>; 3] {
    // Ids are hashed on the other threads while this one writes numbers.
    let numbers = || (encode_text(set), encode_questions(set, empty_fields));
    let ((text, questions), ids) = rayon::join(numbers, || set.hashes().concat());
    [text, questions, ids]
}

/// The set and the empty fields that [`encode`] was given; without `ids.bin`, ids are computed when they are needed.
///
/// # Errors
/// [`DecodeError`] if the bytes are not those of a set.
pub fn decode(
    text: &[u8],
    questions: &[u8],
    ids: Option<&[u8]>,
) -> Result<(QuestionSet, EmptyFields), DecodeError> {
    let mut set = decode_text(text)?;
    let (kept, empty_fields) = decode_questions(&mut set, questions, &OpenOptions::default())?;
    if let Some(ids) = ids {
        decode_ids(&mut set, ids, &kept)?;
    }
    Ok((set, empty_fields))
}

/// Gives the questions of a set their ids; `kept` says for each question of the file whether it is in the set.
fn decode_ids(set: &mut QuestionSet, bytes: &[u8], kept: &[bool]) -> Result<(), DecodeError> {
    let (hashes, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() || hashes.len() != kept.len() {
        return Err(DecodeError("it does not hold 8 bytes per question"));
    }
    let hashes = hashes.iter().zip(kept).filter(|(_, is_kept)| **is_kept);
    set.set_hashes(hashes.map(|(hash, _)| *hash).collect());
    Ok(())
}

fn encode_text(set: &QuestionSet) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_number(&mut bytes, set.vocabulary().len());
    set.vocabulary().iter().for_each(|word| put_text(&mut bytes, word));
    push_number(&mut bytes, set.n_sentences());
    for sentence in 0..set.n_sentences() {
        put_words(&mut bytes, set.sentence(sentence));
    }
    push_number(&mut bytes, set.books().len());
    for book in set.books() {
        put_text(&mut bytes, &book.name);
        push_number(&mut bytes, code_of(book.split, &Split::ALL));
        push_number(&mut bytes, book.sentences.start);
        push_number(&mut bytes, book.sentences.len());
    }
    bytes
}

fn decode_text(bytes: &[u8]) -> Result<QuestionSet, DecodeError> {
    let mut cursor = Cursor::new(bytes);
    let mut set = QuestionSet::default();
    for number in 0..cursor.length()? {
        let word = set.intern(cursor.text()?);
        if word.index() != number {
            return Err(DecodeError(
                "a word of the vocabulary is there twice, or `XXXXX` is not the first",
            ));
        }
    }
    let mut words = Vec::new();
    for _ in 0..cursor.length()? {
        take_words(&mut cursor, &set, &mut words)?;
        set.push_sentence(words.iter().copied());
    }
    for _ in 0..cursor.length()? {
        let name = cursor.text()?.to_owned();
        let split = value_of(cursor.number()?, &Split::ALL)?;
        let sentences = cursor.range(set.n_sentences())?;
        set.push_book(BookText { name, split, sentences });
    }
    cursor.end()?;
    Ok(set)
}

fn encode_questions(set: &QuestionSet, empty_fields: &EmptyFields) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_number(&mut bytes, set.len());
    for (index, example) in set.examples().enumerate() {
        let context = set.context(index);
        push_number(&mut bytes, code_of(example.class, &WordClass::ALL));
        push_number(&mut bytes, code_of(example.split, &Split::ALL));
        push_number(&mut bytes, set.book(index).map_or(0, |book| book + 1));
        push_number(&mut bytes, context.start);
        push_number(&mut bytes, context.len());
        if query_follows_context(set, context.end, &example) {
            push_number(&mut bytes, example.question.blank + 1);
        } else {
            push_number(&mut bytes, 0);
            put_words(&mut bytes, example.question.query);
        }
        put_words(&mut bytes, example.question.candidates);
        push_number(&mut bytes, example.answer.map_or(0, |answer| answer + 1));
        if empty_fields.is_empty() {
            put_text(&mut bytes, "");
        } else {
            let candidates = words_of(set, example.question.candidates);
            let field = empty_fields.as_text(index, &candidates);
            put_text(&mut bytes, &field.unwrap_or_default());
        }
    }
    bytes
}

/// Whether the query, with the answer in its blank, is the sentence after the context.
fn query_follows_context(set: &QuestionSet, next: usize, example: &Example<'_>) -> bool {
    let Question { query, blank, candidates, .. } = example.question;
    let Some(answer) = example.answer else { return false };
    next < set.n_sentences() && query.len() <= LONGEST_REFERENCE && {
        let sentence = set.sentence(next);
        sentence.len() == query.len()
            && sentence[..blank] == query[..blank]
            && sentence[blank] == candidates[answer]
            && sentence[blank + 1..] == query[blank + 1..]
    }
}

/// Adds the questions that `options` ask for; returns which they are, and their empty fields.
fn decode_questions(
    set: &mut QuestionSet,
    bytes: &[u8],
    options: &OpenOptions,
) -> Result<(Vec<bool>, EmptyFields), DecodeError> {
    let mut cursor = Cursor::new(bytes);
    let mut empty_fields = EmptyFields::default();
    let (mut query, mut candidates, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..cursor.length()? {
        let class = value_of(cursor.number()?, &WordClass::ALL)?.or(options.class);
        let split = value_of(cursor.number()?, &Split::ALL)?.or(options.split);
        let book = cursor.number()?.checked_sub(1);
        let context = cursor.range(set.n_sentences())?;
        match cursor.number()?.checked_sub(1) {
            Some(blank) => {
                query.clear();
                if context.end < set.n_sentences() {
                    query.extend_from_slice(set.sentence(context.end));
                }
                if query.len() > LONGEST_REFERENCE {
                    return Err(DecodeError("a query refers to a sentence that is too long"));
                }
                *query.get_mut(blank).ok_or(DecodeError("a blank is outside its query"))? = BLANK;
            }
            None => take_words(&mut cursor, set, &mut query)?,
        }
        take_words(&mut cursor, set, &mut candidates)?;
        let answer = cursor.number()?.checked_sub(1);
        let field = cursor.text()?;
        kept.push(options.wants(split, class));
        if !kept[kept.len() - 1] {
            continue;
        }
        let (query, candidates) = (&query[..], &candidates[..]);
        let question =
            set.push(NewQuestion { context, query, candidates, answer, class, split, book });
        let question = question.map_err(|error| match error {
            LineError::OutOfRange { .. } => {
                DecodeError("a question has an answer or a book that is not there")
            }
            _ => DecodeError("a question breaks the rules of §2"),
        })?;
        if !field.is_empty() {
            empty_fields.record(question, field.split('|'));
            if empty_fields.as_text(question, &words_of(set, candidates)).as_deref() != Some(field)
            {
                return Err(DecodeError("a candidate field is not that of its candidates"));
            }
        }
    }
    cursor.end()?;
    Ok((kept, empty_fields))
}

fn words_of<'s>(set: &'s QuestionSet, words: &[WordId]) -> Vec<&'s str> {
    words.iter().map(|&word| set.vocabulary().word(word)).collect()
}

fn put_words(bytes: &mut Vec<u8>, words: &[WordId]) {
    push_number(bytes, words.len());
    words.iter().for_each(|word| push_number(bytes, word.index()));
}

fn take_words(
    cursor: &mut Cursor<'_>,
    set: &QuestionSet,
    words: &mut Vec<WordId>,
) -> Result<(), DecodeError> {
    words.clear();
    for _ in 0..cursor.length()? {
        let word = cursor.number()?;
        if word >= set.vocabulary().len() {
            return Err(DecodeError("a word is not in the vocabulary"));
        }
        words.push(WordId(word as u32));
    }
    Ok(())
}

/// 0 for none, else the position in the list, from 1.
fn code_of<T: PartialEq>(value: Option<T>, all: &[T]) -> usize {
    value
        .and_then(|value| all.iter().position(|other| *other == value))
        .map_or(0, |index| index + 1)
}

fn value_of<T: Copy>(number: usize, all: &[T]) -> Result<Option<T>, DecodeError> {
    match number.checked_sub(1) {
        None => Ok(None),
        Some(index) => {
            all.get(index).copied().map(Some).ok_or(DecodeError("a class or split is not there"))
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;
    use crate::fixtures::{bears, error_text, sets, spelt, spelt_books};

    /// A folder with three questions, and its error after `change`, printed without the folder's path.
    fn error_after(change: impl FnOnce(&Path)) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bears");
        write(&bears(3), &path, &WriteOptions::default()).unwrap();
        change(&path);
        let error = read(&path, &OpenOptions::default()).unwrap_err();
        error_text(&error).replace(folder.path().to_str().unwrap(), "…")
    }

    #[test]
    fn the_manifest_holds_counts_hashes_and_what_the_maker_adds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bears");
        let manifest: Table = "seed = 1\n[inputs]\n\"bears.txt\" = \"ab12\"".parse().unwrap();
        let options = WriteOptions { manifest, ..WriteOptions::default() };
        write(&bears(3), &path, &options).unwrap();
        expect![[r#"
            seed = 1

            [inputs]
            "bears.txt" = "ab12"

            [set]
            books = 0
            questions = 3
            sentences = 4
            version = 1
            vocabulary = 15

            [set.files."ids.bin"]
            bytes = 24
            sha256 = "7e985d3ac782ede80c9bc6c88620dfc3c98ee3dfef52fb948daaec5e2ed85c44"

            [set.files."questions.bin"]
            bytes = 58
            sha256 = "b7a6fb98b1f24a1a03e020ebbf383e27dc0e5c2b5c53e12c95910d1af9f6dfce"

            [set.files."text.bin"]
            bytes = 93
            sha256 = "567421651ca08bc2f84101a19f205b440c4a28752bd4cd47306fd60d393f3425"
        "#]]
        .assert_eq(&fs::read_to_string(path.join(MANIFEST)).unwrap());
        let manifest = read_manifest(&path).unwrap();
        assert_eq!(manifest.extra["inputs"]["bears.txt"].as_str(), Some("ab12"));
        assert_eq!(spelt(&read(&path, &OpenOptions::default()).unwrap().0), spelt(&bears(3)));
    }

    #[test]
    fn ids_are_read_back_or_computed_and_a_stray_file_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bears");
        let set = bears(3);
        write(&set, &path, &WriteOptions::default()).unwrap();
        fs::write(path.join("notes.txt"), "to do").unwrap();
        let open = || read(&path, &OpenOptions::default()).unwrap().0;
        assert_eq!(open().all_ids(), set.all_ids());
        assert_eq!(open().fingerprint(), set.fingerprint());

        // Sound files may hold ids of other questions: that is found on demand.
        let mut manifest = read_manifest(&path).unwrap();
        let mut bytes = fs::read(path.join(IDS)).unwrap();
        bytes[8] ^= 1;
        fs::write(path.join(IDS), &bytes).unwrap();
        manifest.set.files.get_mut(IDS).unwrap().sha256 = sha256(&bytes);
        fs::write(path.join(MANIFEST), manifest.to_text()).unwrap();
        assert_ne!(open().all_ids(), set.all_ids());
        assert_eq!((open().first_wrong_id(), set.first_wrong_id()), (Some(1), None));

        // An older version wrote no ids.
        manifest.set.files.remove(IDS);
        fs::write(path.join(MANIFEST), manifest.to_text()).unwrap();
        fs::remove_file(path.join(IDS)).unwrap();
        assert_eq!(open().all_ids(), set.all_ids());
    }

    #[test]
    fn a_damaged_form_is_refused() {
        let text = |path: &Path| path.join("text.bin");
        expect![[r#"
            error: …/bears/text.bin: is damaged: expected 93 bytes, found 92
            hint: the file was cut or changed; copy it again, or make it again
        "#]]
        .assert_eq(&error_after(|path| {
            let bytes = fs::read(text(path)).unwrap();
            fs::write(text(path), &bytes[..bytes.len() - 1]).unwrap();
        }));
        expect![[r#"
            error: …/bears/text.bin: is damaged: its SHA-256 is not the manifest's
            hint: the file was cut or changed; copy it again, or make it again
        "#]]
        .assert_eq(&error_after(|path| {
            let mut bytes = fs::read(text(path)).unwrap();
            bytes[3] ^= 1;
            fs::write(text(path), bytes).unwrap();
        }));
        expect![[r#"
            error: …/bears/text.bin: cannot be read: No such file or directory (os error 2)
            hint: check that it is a file and that you can read it
        "#]]
        .assert_eq(&error_after(|path| fs::remove_file(text(path)).unwrap()));
        expect![[r#"
            error: …/bears/manifest.toml: is damaged: key with no value, expected `=`
            hint: the file was cut or changed; copy it again, or make it again
        "#]]
        .assert_eq(&error_after(|path| fs::write(path.join(MANIFEST), "[set]\nvers").unwrap()));
    }

    #[test]
    fn another_version_is_refused() {
        expect![[r#"
            error: …/bears/manifest.toml: format version: expected 1, found 2
            hint: build the set again with this version, or read it with the version that wrote it
        "#]]
        .assert_eq(&error_after(|path| {
            let manifest = fs::read_to_string(path.join(MANIFEST)).unwrap();
            let other = manifest.replace("version = 1", "version = 2");
            fs::write(path.join(MANIFEST), other).unwrap();
        }));
    }

    #[test]
    fn a_failure_leaves_the_old_form_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bears");
        write(&bears(3), &path, &WriteOptions::default()).unwrap();
        assert!(matches!(
            write(&bears(4), &path, &WriteOptions::default()),
            Err(Error::Exists { .. })
        ));
        assert_eq!(read(&path, &OpenOptions::default()).unwrap().0.len(), 3);
        write(&bears(4), &path, &WriteOptions::overwrite(true)).unwrap();
        assert_eq!(read(&path, &OpenOptions::default()).unwrap().0.len(), 4);
    }

    /// The set and its first question again, of which nothing is known but perhaps its split.
    fn and_another(mut set: QuestionSet, split: Option<Split>) -> QuestionSet {
        let first = set.clone();
        set.push(NewQuestion {
            context: 0..1,
            query: first.example(0).question.query,
            candidates: first.example(0).question.candidates,
            answer: None,
            class: None,
            split,
            book: None,
        })
        .unwrap();
        set
    }

    #[test]
    fn only_the_splits_asked_for_are_kept() {
        let split = Some(Split::Train);
        let set = and_another(bears(2), split);
        let options = OpenOptions { only: Some(vec![Split::Train]), ..OpenOptions::default() };
        let [text, questions, _] = encode(&set, &EmptyFields::default());
        let mut read = decode_text(&text).unwrap();
        decode_questions(&mut read, &questions, &options).unwrap();
        assert_eq!((read.len(), read.example(0).split), (1, split));
    }

    #[test]
    fn class_and_split_that_are_not_there_come_from_the_caller() {
        let set = and_another(bears(1), None);
        let (class, split) = (Some(WordClass::Verb), Some(Split::Test));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bears");
        write(&set, &path, &WriteOptions::default()).unwrap();
        let options = OpenOptions { class, split, ..OpenOptions::default() };
        let (set, _) = read(&path, &options).unwrap();
        assert_eq!(
            (set.example(0).class, set.example(0).split),
            (Some(WordClass::CommonNoun), Some(Split::Valid))
        );
        assert_eq!((set.example(1).class, set.example(1).split), (class, split));
    }

    fn decode_all(contents: &[Vec<u8>; 3]) -> Result<(QuestionSet, EmptyFields), DecodeError> {
        let [text, questions, ids] = contents;
        decode(text, questions, Some(ids))
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_whole((set, empty_fields) in sets()) {
            let contents = encode(&set, &empty_fields);
            let (read, read_fields) = decode_all(&contents).unwrap();
            prop_assert_eq!(spelt(&read), spelt(&set));
            prop_assert_eq!(&read_fields, &empty_fields);
            prop_assert_eq!(spelt_books(&read), spelt_books(&set));
            prop_assert_eq!(read.n_sentences(), set.n_sentences());
            prop_assert_eq!(encode(&read, &read_fields), contents);
        }

        #[test]
        fn damage_is_no_panic(
            (set, empty_fields) in sets(), file in 0..3usize, at: prop::sample::Index, byte: u8,
        ) {
            let mut contents = encode(&set, &empty_fields);
            let index = at.index(contents[file].len());
            contents[file][index] = byte;
            if let Ok((read, fields)) = decode_all(&contents) {
                let again = decode_all(&encode(&read, &fields));
                prop_assert_eq!(again.map(|(set, fields)| (spelt(&set), fields)), Ok((spelt(&read), fields)));
            }
        }

        #[test]
        fn no_shorter_form_is_whole(
            (set, empty_fields) in sets(), file in 0..3usize, at: prop::sample::Index,
        ) {
            let mut contents = encode(&set, &empty_fields);
            let length = at.index(contents[file].len());
            contents[file].truncate(length);
            prop_assert!(decode_all(&contents).is_err());
        }
    }
}
