//! A path → [`QuestionSet`]: a compact form, a folder in the layout of the released CBT or of CNN QA, or one file.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::formats::cbt;
use crate::formats::compact;
use crate::formats::jsonl;
use crate::formats::merge::merge;
use crate::formats::parquet;
use crate::formats::running_text;
use crate::formats::shards;
use crate::{EmptyFields, QuestionSet, Split, WordClass, cnn};

/// What a caller knows or wants beyond the path.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The class of questions that come without one.
    pub class: Option<WordClass>,
    /// The split of questions that come without one.
    pub split: Option<Split>,
    /// The splits to read, all if none is given; questions of unknown split are always read.
    pub only: Option<Vec<Split>>,
    /// The class to read, all if none is given; questions of unknown class are always read.
    pub only_class: Option<WordClass>,
    /// Whether bad questions of CNN QA are left out and counted; else the first is an error.
    pub skip_bad: bool,
}

impl OpenOptions {
    /// Whether questions of this split and class are to be read.
    pub(crate) fn wants(&self, split: Option<Split>, class: Option<WordClass>) -> bool {
        let of_split = self.only.as_ref().zip(split).is_none_or(|(only, s)| only.contains(&s));
        let of_class = self.only_class.zip(class).is_none_or(|(only, class)| only == class);
        of_split && of_class
    }
}

/// What was odd about the files of a set, but no error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    /// Empty fields in candidate lists.
    pub empty_fields: EmptyFields,
    /// Questions whose context is in no book, though running text is there.
    pub contexts_outside_books: usize,
    /// Questions that were left out because something is wrong with them.
    pub bad: usize,
    /// What is wrong with the first of them.
    pub first_bad: Option<String>,
    /// Questions of another source than CNN: the Daily Mail is half of the release, and the paper did not use it.
    pub of_other_sources: usize,
}

impl Warnings {
    /// A sentence for each kind that occurred.
    pub fn sentences(&self) -> Vec<String> {
        let questions =
            |n: usize| if n == 1 { "1 question".into() } else { format!("{n} questions") };
        let mut sentences = Vec::new();
        if !self.empty_fields.is_empty() {
            let found = questions(self.empty_fields.len());
            sentences.push(format!(
                "{found} with empty fields in the candidate list: the empty fields are no candidates, \
                 and are written back as they were"
            ));
        }
        if self.contexts_outside_books > 0 {
            let found = questions(self.contexts_outside_books);
            sentences.push(format!(
                "{found} with a context that is not in the running text: their book is unknown"
            ));
        }
        if let Some(first) = &self.first_bad {
            let found = questions(self.bad);
            sentences.push(format!("{found} left out as bad, the first: {first}"));
        }
        if self.of_other_sources > 0 {
            let found = questions(self.of_other_sources);
            sentences.push(format!("{found} of another source left out: the paper used CNN alone"));
        }
        sentences
    }
}

impl QuestionSet {
    /// Opens a compact form, a folder of shards, a folder in the layout of the released CBT, folders of `.question`
    /// files, or a file that ends in `.txt`, `.jsonl`, `.parquet` or `.question`.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::NoSet`], [`Error::UnknownEnding`], [`Error::Empty`], and those of the
    /// reader.
    pub fn open(path: &Path, options: &OpenOptions) -> Result<(Self, Warnings)> {
        let missing = || Error::Missing { path: path.to_owned() };
        if !path.exists() {
            // A program may have been killed while it replaced the folder. If not, it is missing.
            let _ = base::files::recover_folder(path);
        }
        let is_folder = fs::metadata(path).map_err(|_| missing())?.is_dir();
        let (set, warnings) = if !is_folder {
            open_file(path, options)?
        } else if let Some(files) = shards::files(path)? {
            parquet::read_files(&files, options)?
        } else if path.join(compact::MANIFEST).is_file() {
            compact::read(path, options)?
        } else {
            open_released(path, options)?
        };
        match (set.len(), warnings.of_other_sources) {
            (1.., _) => Ok((set, warnings)),
            (0, 1..) => Err(Error::OtherSource {
                path: path.to_owned(),
                left_out: warnings.of_other_sources,
            }),
            (0, 0) => Err(Error::Empty {
                path: path.to_owned(),
                only: options.only.clone(),
                only_class: options.only_class,
            }),
        }
    }
}

fn open_file(path: &Path, options: &OpenOptions) -> Result<(QuestionSet, Warnings)> {
    let options = with_origin_of_name(path, options);
    let open = || File::open(path).map_err(|cause| Error::Read { path: path.to_owned(), cause });
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("txt") => {
            let splits = options.split.map_or(Split::ALL.to_vec(), |split| vec![split]);
            let folder = path.parent().unwrap_or(Path::new(""));
            open_cbt_files(vec![(path.to_owned(), options)], folder, &splits)
        }
        Some("question") => cnn::read_file(open()?, path, &options),
        Some("jsonl") if cnn::is_news(path)? => cnn::read_lines(open()?, path, &options),
        Some("jsonl") => jsonl::read(open()?, path, &options),
        Some("parquet") => parquet::read(open()?, path, &options),
        _ => Err(Error::UnknownEnding { path: path.to_owned() }),
    }
}

/// Class and split from the name of a file. A released one, `cbtest_NE_valid_2000ex.txt`, says both. Of any other
/// name, the split holds where the caller leaves it open, and so does the class of a name that says nothing else:
/// `NE.jsonl`, `valid_NE.jsonl`, `NE-train-00000-of-00002.parquet`.
fn with_origin_of_name(path: &Path, options: &OpenOptions) -> OpenOptions {
    if let Some((split, class)) = released_origin(path) {
        return OpenOptions { class: Some(class), split: Some(split), ..options.clone() };
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let parts = || name.split(|c: char| !c.is_alphanumeric());
    let split_of = |part: &str| match part {
        "validation" => Some(Split::Valid),
        _ => Split::from_code(part),
    };
    // A letter in a longer name, as in `tales_part_V.jsonl`, is not a class.
    let is_expected = |part: &str| {
        let number = part.strip_suffix("ex").unwrap_or(part);
        matches!(part, "cbtest" | "cbt" | "of")
            || number.bytes().all(|byte| byte.is_ascii_digit())
            || WordClass::from_code(part).is_some()
            || split_of(part).is_some()
    };
    let class = parts().find_map(WordClass::from_code).filter(|_| parts().all(is_expected));
    OpenOptions {
        class: options.class.or(class),
        split: options.split.or_else(|| parts().find_map(split_of)),
        ..options.clone()
    }
}

/// The files of a folder in the released layout, in the order of splits and classes.
fn open_released(folder: &Path, options: &OpenOptions) -> Result<(QuestionSet, Warnings)> {
    let failed = |cause| Error::Read { path: folder.to_owned(), cause };
    let mut files: Vec<((Split, WordClass), PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if let Some(origin) = released_origin(&path) {
            files.push((origin, path));
        }
    }
    if files.is_empty() {
        let questions = cnn::question_files(folder)?;
        if questions.is_empty() {
            return Err(Error::NoSet { path: folder.to_owned() });
        }
        return cnn::read_files(folder, questions, options);
    }
    files.sort();
    files.retain(|((split, class), _)| options.wants(Some(*split), Some(*class)));
    let splits: Vec<Split> =
        Split::ALL.into_iter().filter(|&split| options.wants(Some(split), None)).collect();
    let with_options = |((split, class), path)| {
        let origin = (Some(class), Some(split));
        (path, OpenOptions { class: origin.0, split: origin.1, ..OpenOptions::default() })
    };
    open_cbt_files(files.into_iter().map(with_options).collect(), folder, &splits)
}

/// Split and class of `cbtest_{CLASS}_train.txt` and `cbtest_{CLASS}_{valid,test}_{N}ex.txt`.
fn released_origin(path: &Path) -> Option<(Split, WordClass)> {
    let name = path.file_name()?.to_str()?.strip_prefix("cbtest_")?.strip_suffix(".txt")?;
    let (class, rest) = name.split_once('_')?;
    let (split, count) = rest.split_once('_').unwrap_or((rest, "0ex"));
    let digits = count.strip_suffix("ex")?;
    let is_count = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let origin = (Split::from_code(split)?, WordClass::from_code(class)?);
    is_count.then_some(origin)
}

/// Reads files of CBT text in parallel and looks their questions up in the running text.
fn open_cbt_files(
    files: Vec<(PathBuf, OpenOptions)>,
    folder: &Path,
    splits: &[Split],
) -> Result<(QuestionSet, Warnings)> {
    let read_books = || {
        let mut set = QuestionSet::default();
        for file in running_text::files(folder, splits)? {
            running_text::read(&mut set, &file)?;
        }
        Ok::<_, Error>(set)
    };
    let read_part = |(path, options): &(PathBuf, OpenOptions)| {
        let failed = |cause| Error::Read { path: path.clone(), cause };
        cbt::read(File::open(path).map_err(failed)?, path, options)
    };
    let read_parts = || files.par_iter().map(read_part).collect::<Vec<_>>();
    let (books, results) = rayon::join(read_books, read_parts);
    let mut warnings = Warnings::default();
    let (mut parts, mut n_questions) = (Vec::with_capacity(results.len()), 0);
    for result in results {
        let (part, of_part) = result?;
        warnings.empty_fields.append(of_part.empty_fields, n_questions);
        n_questions += part.len();
        parts.push(part);
    }
    let books = books?;
    let too_large = |_| Error::TooLarge { path: folder.to_owned() };
    let (set, outside) = merge(books, parts).map_err(too_large)?;
    warnings.contexts_outside_books = outside;
    Ok((set, warnings))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::fixtures::{error_text, spelt};
    use crate::formats::compact;
    use crate::{Format, WriteOptions};

    const TRAIN: &str = "1 A bear .\n2 A house .\n3 A XXXXX .\tbed\t\tbed|bear\n\n1 A house .\n2 A bed .\n3 The XXXXX .\tend\t\tend|bed||\n\n";
    const TEST: &str = "1 A girl .\n2 A wood .\n3 The XXXXX .\tgirl\t\tgirl|wood\n\n1 Not in .\n2 The book .\n3 The XXXXX .\tbook\t\tbook|girl\n\n";

    /// A small set in the released layout, with running text for both splits.
    fn released() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("cbtest_CN_train.txt", TRAIN);
        write("cbtest_NE_test_2ex.txt", TEST);
        write("cbtest_V_train.txt", TRAIN);
        write("cbtest_NE_old.txt", "not read");
        write("README", "not read");
        write(
            "cbt_train.txt",
            "_BOOK_TITLE_ : Bears.txt.out\nA bear .\nA house .\nA bed .\nThe end .\n",
        );
        write("cbt_test.txt", "_BOOK_TITLE_ : Girl.txt.out\nA girl .\nA wood .\nThe girl .\n");
        folder
    }

    fn open(path: &Path) -> Result<(QuestionSet, Warnings)> {
        QuestionSet::open(path, &OpenOptions::default())
    }

    #[test]
    fn the_released_layout_is_read_in_the_order_of_splits_and_classes() {
        let folder = released();
        let (set, warnings) = open(folder.path()).unwrap();
        let origins: Vec<_> = (0..set.len())
            .map(|i| {
                let example = set.example(i);
                (example.split.map(Split::code), example.class.map(WordClass::code), example.book)
            })
            .collect();
        let expected = [
            (Some("train"), Some("CN"), Some("Bears")),
            (Some("train"), Some("CN"), Some("Bears")),
            (Some("train"), Some("V"), Some("Bears")),
            (Some("train"), Some("V"), Some("Bears")),
            (Some("test"), Some("NE"), Some("Girl")),
            (Some("test"), Some("NE"), None),
        ];
        assert_eq!(origins, expected);
        assert_eq!(set.n_sentences(), 4 + 3 + 2, "two books, and one context that is in neither");
        expect![[r#"
            2 questions with empty fields in the candidate list: the empty fields are no candidates, and are written back as they were
            1 question with a context that is not in the running text: their book is unknown"#]].assert_eq(&warnings.sentences().join("\n"));
    }

    #[test]
    fn only_the_files_of_the_splits_asked_for_are_read() {
        let folder = released();
        fs::write(folder.path().join("cbtest_P_train.txt"), "broken").unwrap();
        let options = OpenOptions { only: Some(vec![Split::Test]), ..OpenOptions::default() };
        let (set, _) = QuestionSet::open(folder.path(), &options).unwrap();
        assert_eq!((set.len(), set.books().len()), (2, 1));
        assert!(open(folder.path()).is_err());

        let options = OpenOptions { only: Some(vec![Split::Valid]), ..OpenOptions::default() };
        for name in ["", "cbtest_NE_test_2ex.txt"] {
            let error = QuestionSet::open(&folder.path().join(name), &options).unwrap_err();
            assert!(error.to_string().ends_with(": holds no question of `valid`"), "{error}");
            expect!["select other splits or another class"]
                .assert_eq(&error.remedy().unwrap().to_string());
        }
    }

    #[test]
    fn a_class_is_chosen_where_it_is_known_and_named_where_it_is_not() {
        let folder = released();
        let (set, _) = open(folder.path()).unwrap();
        for (name, format) in
            [("a.jsonl", Format::JsonLines), ("a.parquet", Format::Parquet), ("a", Format::Compact)]
        {
            set.write(&folder.path().join(name), format, &WriteOptions::default()).unwrap();
        }
        fs::write(folder.path().join("own.txt"), TEST).unwrap();
        let verbs = Some(WordClass::Verb);
        let options = OpenOptions { class: verbs, only_class: verbs, ..OpenOptions::default() };
        for name in ["", "a.jsonl", "a.parquet", "a", "own.txt"] {
            let (set, _) = QuestionSet::open(&folder.path().join(name), &options).unwrap();
            let classes: Vec<_> = (0..set.len()).map(|index| set.example(index).class).collect();
            assert_eq!(classes, [verbs; 2], "{name}");
        }
        let path = folder.path().join("cbtest_NE_test_2ex.txt");
        let error = error_text(&QuestionSet::open(&path, &options).unwrap_err());
        expect![[r#"
            error: …/cbtest_NE_test_2ex.txt: holds no question of class `V`
            hint: select other splits or another class
        "#]]
        .assert_eq(&error.replace(folder.path().to_str().unwrap(), "…"));
    }

    #[test]
    fn the_same_set_for_any_number_of_threads() {
        let folder = released();
        let encoded = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (set, warnings) = open(folder.path()).unwrap();
                compact::encode(&set, &warnings.empty_fields)
            })
        };
        assert_eq!(encoded(1), encoded(4));
    }

    #[test]
    fn class_and_split_come_from_the_name_of_a_file() {
        let folder = released();
        let (set, _) = open(&folder.path().join("cbtest_NE_test_2ex.txt")).unwrap();
        assert_eq!(
            (set.example(0).class, set.example(0).split),
            (Some(WordClass::NamedEntity), Some(Split::Test))
        );
        assert_eq!(set.example(0).book, Some("Girl"));

        let origin = |name: &str| {
            let options = with_origin_of_name(Path::new(name), &OpenOptions::default());
            (options.class, options.split)
        };
        assert_eq!(origin("bears.txt"), (None, None));
        assert_eq!(origin("Verbs_and_more.txt"), (None, None));
        assert_eq!(origin("V/validation-00000-of-00001.parquet"), (None, Some(Split::Valid)));
        for name in
            ["NE.jsonl", "cbt_NE.jsonl", "NE-train-00000-of-00002.parquet", "test_NE_9ex.txt"]
        {
            assert_eq!(origin(name).0, Some(WordClass::NamedEntity), "{name}");
        }
        for name in ["tales_part_V.jsonl", "x-P.jsonl", "P-and-Q.txt", "valid_V_mine.parquet"] {
            assert_eq!(origin(name).0, None, "{name}");
        }
        let given = OpenOptions { class: Some(WordClass::Verb), ..OpenOptions::default() };
        assert_eq!(with_origin_of_name(Path::new("x_NE_.txt"), &given).class, given.class);
    }

    #[test]
    fn every_form_that_is_written_is_opened_again() {
        let folder = released();
        let (set, Warnings { empty_fields, .. }) = open(folder.path()).unwrap();
        assert_eq!(empty_fields.len(), 2);
        let options = WriteOptions { empty_fields, ..WriteOptions::default() };
        for (name, format) in [
            ("all.jsonl", Format::JsonLines),
            ("all.parquet", Format::Parquet),
            ("all", Format::Compact),
            ("layout", Format::Cbt),
        ] {
            let path = folder.path().join(name);
            set.write(&path, format, &options).unwrap();
            let (read, warnings) = open(&path).unwrap();
            assert_eq!(spelt(&read), spelt(&set), "{name}");
            assert_eq!(warnings.empty_fields, options.empty_fields, "{name}");
        }
        let path = folder.path().join("all.txt");
        set.write(&path, Format::Cbt, &options).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), [TRAIN, TRAIN, TEST].concat());
    }

    #[test]
    fn a_folder_that_a_killed_program_was_replacing_is_opened() {
        let folder = released();
        let (set, _) = open(folder.path()).unwrap();
        let options = WriteOptions::default();
        set.write(&folder.path().join("set"), Format::Compact, &options).unwrap();
        fs::rename(folder.path().join("set"), folder.path().join(".set.replaced")).unwrap();
        assert_eq!(open(&folder.path().join("set")).unwrap().0.len(), set.len());
    }

    #[test]
    fn what_cannot_be_opened_is_said_with_a_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let error = |name: &str, text: Option<&str>| {
            let path = folder.path().join(name);
            if let Some(text) = text {
                fs::write(&path, text).unwrap();
            }
            error_text(&open(&path).unwrap_err()).replace(folder.path().to_str().unwrap(), "…")
        };
        expect![[r#"
            error: …/none.txt: no such file or folder
            hint: build a question set, or get the released one
        "#]]
        .assert_eq(&error("none.txt", None));
        expect![[r#"
            error: …/: no question set: expected `manifest.toml`, files like `cbtest_NE_valid_2000ex.txt` or `.question` files
            hint: build a question set, or get the released one
        "#]].assert_eq(&error("", None));
        expect![[r#"
            error: …/bears.csv: unknown ending: expected `.txt`, `.jsonl`, `.parquet` or `.question`
            hint: a question set is a folder, or a file of CBT text (.txt), JSON lines (.jsonl), Parquet (.parquet) or CNN QA (.question)
        "#]].assert_eq(&error("bears.csv", Some("a,b")));
        expect![[r#"
            error: …/empty.txt: holds no question
            hint: check that it is the right file and that it is complete
        "#]]
        .assert_eq(&error("empty.txt", Some("")));
        expect![[r#"
            error: …/empty.jsonl: holds no question
            hint: check that it is the right file and that it is complete
        "#]]
        .assert_eq(&error("empty.jsonl", Some("")));
        expect![[r#"
            error: …/empty.parquet: invalid Parquet file: EOF: Parquet file too small. Size is 0 but need 8
            hint: the file was cut or changed; copy it again, or make it again
        "#]].assert_eq(&error("empty.parquet", Some("")));
        expect![[r#"
            error: …/binary.txt:1: lines are not numbered as expected: expected `1`, found `\u{0}\u{1}ELF`
            hint: a question is lines numbered from 1, the query last, and then an empty line
        "#]]
        .assert_eq(&error("binary.txt", Some("\0\u{1}ELF\n")));
    }
}
