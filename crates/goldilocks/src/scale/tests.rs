//! The tales in shards, against the same tales on one machine.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use questions::{OpenOptions, QuestionSet, Split};

use super::*;
use crate::{BuildOptions, Error, Program, SetOptions, build, stats, stats_of_shards};

fn program() -> Program {
    Program::new("")
}

fn options(shard_bytes: u64) -> PlanOptions {
    PlanOptions { build: BuildOptions::default(), splits_by_hash: false, shard_bytes }
}

fn planned(folder: &Path, shard_bytes: u64) -> Plan {
    plan(&options(shard_bytes), folder, false, &program(), &|_| ()).unwrap()
}

fn built(plan: &Plan, number: usize) -> ShardOutcome {
    build_shard(plan, number, false, &program(), &|_| ()).unwrap()
}

fn hashes(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder.join("data")).unwrap();
    let hash = |path: &Path| crate::sets::sha256_of_file(path).unwrap();
    entries
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), hash(&entry.path())))
        .collect()
}

#[test]
fn any_shards_in_any_order_have_the_questions_of_one_machine() {
    let one = build(&BuildOptions::default(), &|_| ()).unwrap().set;
    let folder = tempfile::tempdir().unwrap();
    // One shard for each split, and several.
    for (name, bytes, least) in [("few", 1 << 30, 3), ("many", 40_000, 6)] {
        let [forwards, backwards] =
            ["a", "b"].map(|way| folder.path().join(format!("{name}-{way}")));
        let plans = [planned(&forwards, bytes), planned(&backwards, bytes)];
        let n = plans[0].shards().len();
        assert!(n >= least, "{n}");
        (0..n).for_each(|number| assert!(!built(&plans[0], number).was_there));
        (0..n).rev().for_each(|number| _ = built(&plans[1], number));
        // A second time, and with a second merge, nothing changes.
        for plan in &plans {
            merge(plan, &program(), &|_| ()).unwrap();
        }
        let first = hashes(&forwards);
        assert!((0..n).all(|number| built(&plans[0], number).was_there));
        merge(&Plan::open(&forwards).unwrap(), &program(), &|_| ()).unwrap();
        assert_eq!((hashes(&forwards), hashes(&backwards)), (first.clone(), first));

        let (set, _) = QuestionSet::open(&forwards, &OpenOptions::default()).unwrap();
        assert_eq!(set.all_ids(), one.all_ids());
        let statistics = stats_of_shards(&forwards, 1, &program(), &|_| ()).unwrap();
        assert_eq!(statistics, stats(&one, &|_| ()));
        let rows = |set: &QuestionSet| -> Vec<_> {
            let row =
                |e: questions::Example<'_>| (e.answer, e.class, e.split, e.book.map(str::to_owned));
            set.examples().map(row).collect()
        };
        assert_eq!(rows(&set), rows(&one));
    }
}

#[test]
fn identical_questions_are_numbered_across_shards() {
    let folder = tempfile::tempdir().unwrap();
    let books = folder.path().join("books");
    fs::create_dir(&books).unwrap();
    let text = corpus::tales::TALES[0].text;
    for name in ["a", "b", "c"] {
        fs::write(books.join(name).with_extension("txt"), text).unwrap();
    }
    let splits = "train\ta\ntrain\tb\ntrain\tc\n";
    let splits = questions::SplitFile::from_text(Path::new("splits"), splits).unwrap();
    // Candidates are drawn by the name of a book: with two of them, often the same ones.
    let mut build_options =
        BuildOptions { books: vec![books], splits: Some(splits), ..BuildOptions::default() };
    build_options.rules.n_candidates = 2;
    let one = build(&build_options, &|_| ()).unwrap().set;
    let set = folder.path().join("set");
    let options = PlanOptions { build: build_options, splits_by_hash: false, shard_bytes: 1 };
    let plan = plan(&options, &set, false, &program(), &|_| ()).unwrap();
    assert_eq!(plan.shards().len(), 3);
    (0..3).for_each(|number| _ = built(&plan, number));
    let merged = merge(&plan, &program(), &|_| ()).unwrap();
    let mut ids = Vec::new();
    for shard in plan.shards() {
        questions::parquet::read_ids(&set.join(&shard.file), |id| ids.push(id.to_owned())).unwrap();
    }
    assert_eq!(ids, one.all_ids());
    assert_eq!(merged.twins, ids.iter().filter(|id| id.contains('#')).count());
    assert!(merged.twins > 0, "the test needs twins");
    assert_eq!(merge(&plan, &program(), &|_| ()).unwrap(), merged);
    // A shard by itself has the ids of the whole, and all shards together its figures: of these books with one text,
    // every pair shares all.
    let shards = Shards::find(&set).unwrap().unwrap();
    let of_shard = |number| shards.open(number, &SetOptions::default(), &|_| ()).unwrap().all_ids();
    assert_eq!((0..3).flat_map(of_shard).collect::<Vec<_>>(), ids);
    let statistics = stats_of_shards(&set, 1, &program(), &|_| ()).unwrap();
    assert_eq!(statistics, stats(&one, &|_| ()));
    assert_eq!(statistics.leaks.overlaps.len(), 3);
    let repeated: usize = statistics.leaks.duplicates.iter().map(|found| found.questions).sum();
    assert!(repeated > merged.twins, "{:?}", statistics.leaks.duplicates);
    // A shard that is lost is built again, and merged again.
    let before = hashes(&set);
    fs::remove_file(set.join(&plan.shards()[1].file)).unwrap();
    let error = merge(&plan, &program(), &|_| ()).unwrap_err();
    assert!(error.to_string().ends_with("1 of 3 shards is not built: 1"), "{error}");
    assert!(!built(&plan, 1).was_there && !set.join(MERGED).exists());
    merge(&plan, &program(), &|_| ()).unwrap();
    assert_eq!(hashes(&set), before);
}

#[test]
fn what_does_not_belong_to_the_plan_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    let plan_a = planned(&set, 1 << 30);
    built(&plan_a, 1);
    // The same plan is no other plan.
    planned(&set, 1 << 30);
    let other = plan(&options(40_000), &set, false, &program(), &|_| ());
    assert!(matches!(other, Err(Error::Exists { .. })), "{other:?}");
    let other = plan(&options(40_000), &set, true, &program(), &|_| ()).unwrap();
    let refused = build_shard(&other, 1, false, &program(), &|_| ());
    assert!(matches!(refused, Err(Error::OtherPlan { .. })), "{refused:?}");
    assert!(!build_shard(&other, 1, true, &program(), &|_| ()).unwrap().was_there);

    let newer = Program { version: "9.9.9".into(), ..program() };
    let refused = build_shard(&other, 0, false, &newer, &|_| ());
    assert!(matches!(refused, Err(Error::OtherProgram { .. })), "{refused:?}");
    // Other weights of the tagger.
    let path = set.join(PLAN);
    let text = fs::read_to_string(&path).unwrap();
    let tagger = corpus::Tagger::fingerprint();
    fs::write(&path, text.replace(tagger, &"0".repeat(tagger.len()))).unwrap();
    let refused = build_shard(&Plan::open(&set).unwrap(), 0, false, &program(), &|_| ());
    assert!(matches!(refused, Err(Error::OtherProgram { .. })), "{refused:?}");
    fs::write(&path, text).unwrap();
    let refused = build_shard(&other, 99, false, &program(), &|_| ());
    assert!(matches!(refused, Err(Error::InvalidOption { .. })), "{refused:?}");
    fs::write(set.join("plan.jsonl"), "").unwrap();
    assert!(matches!(Plan::open(&set), Err(Error::CorruptPlan { .. })));
}

#[test]
fn a_shard_whose_bytes_changed_is_built_again_and_a_changed_book_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [book, set] = ["hen.txt", "set"].map(|name| folder.path().join(name));
    fs::write(&book, corpus::tales::TALES[1].text).unwrap();
    let build = BuildOptions { books: vec![book.clone()], ..BuildOptions::default() };
    let options = PlanOptions { build, splits_by_hash: true, shard_bytes: 1 };
    let plan = plan(&options, &set, false, &program(), &|_| ()).unwrap();
    let first = built(&plan, 0).receipt;
    let file = set.join(&first.file);
    let mut bytes = fs::read(&file).unwrap();
    bytes[100] ^= 1;
    fs::write(&file, bytes).unwrap();
    let again = built(&plan, 0);
    assert_eq!((again.was_there, again.receipt), (false, first));
    fs::write(&book, "Another tale.").unwrap();
    let refused = build_shard(&plan, 0, true, &program(), &|_| ());
    assert!(matches!(refused, Err(Error::ChangedBook { .. })), "{refused:?}");
    let found =
        Split::ALL.map(|split| plan.all_books().iter().filter(|b| b.split == split).count());
    assert_eq!(found.iter().sum::<usize>(), 1);
}

#[test]
fn the_figures_of_shards_are_made_in_parts_by_any_worker() {
    let folder = tempfile::tempdir().unwrap();
    let [books, set] = ["books", "set"].map(|name| folder.path().join(name));
    fs::create_dir(&books).unwrap();
    for tale in &corpus::tales::TALES[..4] {
        fs::write(books.join(tale.name), tale.text).unwrap();
    }
    let build = BuildOptions { books: vec![books.clone()], ..BuildOptions::default() };
    let options = PlanOptions { build, splits_by_hash: true, shard_bytes: 1 };
    let plan = plan(&options, &set, false, &program(), &|_| ()).unwrap();
    (0..4).for_each(|number| _ = built(&plan, number));
    assert!(matches!(Shards::find(&set), Err(Error::NotMerged { .. })));
    merge(&plan, &program(), &|_| ()).unwrap();

    let parts = SetParts::open(&set, &program()).unwrap();
    assert_eq!((parts.n_parts(), parts.n_buckets()), (4, 1));
    assert!(parts.bucket(0, &|_| ()).is_err(), "no shard is counted");
    assert!((0..4).rev().all(|number| !parts.part(number, &|_| ()).unwrap()));
    assert!(!parts.bucket(0, &|_| ()).unwrap() && parts.part(2, &|_| ()).unwrap());
    let whole = QuestionSet::open(&set, &OpenOptions::default()).unwrap().0;
    let found = parts.report(&|_| ()).unwrap();
    assert_eq!(found.leaks.duplicates, stats(&whole, &|_| ()).leaks.duplicates);
    // What a worker left half-written is made again, and what another version made.
    fs::write(set.join("stats/00001.json"), "{").unwrap();
    let newer = Program { version: "9.9.9".into(), ..program() };
    assert!(!parts.part(1, &|_| ()).unwrap());
    assert!(!SetParts::open(&set, &newer).unwrap().part(1, &|_| ()).unwrap());
    assert!(!parts.part(1, &|_| ()).unwrap());
    for number in [4, 99] {
        let refused = [parts.part(number, &|_| ()), parts.bucket(number, &|_| ())];
        assert!(refused.iter().all(|r| matches!(r, Err(Error::InvalidOption { .. }))));
    }
    // Its words are not those of the questions any more.
    let tale = books.join(corpus::tales::TALES[0].name);
    fs::write(&tale, "Another tale.").unwrap();
    fs::remove_dir_all(set.join("stats")).unwrap();
    let refused = parts.report(&|_| ());
    assert!(matches!(&refused, Err(Error::OtherBook { path }) if *path == tale), "{refused:?}");
}

#[test]
fn as_many_questions_are_kept_as_one_machine_keeps_and_the_same_ones() {
    let counts = questions::Counts::AtMost([[300, 200, 100, 5000], [20; 4], [1, 0, 30, 1000]]);
    let build_options = BuildOptions { counts, ..BuildOptions::default() };
    let one = build(&build_options, &|_| ()).unwrap().set;
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set");
    let options = PlanOptions { build: build_options, splits_by_hash: false, shard_bytes: 40_000 };
    let plan = plan(&options, &set, false, &program(), &|_| ()).unwrap();
    let n = plan.shards().len();
    (0..n).for_each(|number| _ = built(&plan, number));
    let warnings = std::sync::Mutex::new(Vec::new());
    let report = |event| {
        if let crate::Event::Warning(warning) = event {
            warnings.lock().unwrap().push(warning.to_string());
        }
    };
    let merged = merge(&plan, &program(), &report).unwrap();
    assert_eq!(warnings.into_inner().unwrap().len(), 2, "prepositions of train and test");
    assert_eq!(merged.counts[1], [20; 4]);
    let opened = || QuestionSet::open(&set, &OpenOptions::default()).unwrap().0;
    assert_eq!((opened().all_ids(), merged.questions), (one.all_ids(), one.len()));
    // Again, and after a shard is built anew: the same.
    let before = hashes(&set);
    assert!((0..n).all(|number| built(&plan, number).was_there));
    assert_eq!(merge(&plan, &program(), &|_| ()).unwrap(), merged);
    assert!(!build_shard(&plan, 1, true, &program(), &|_| ()).unwrap().was_there);
    assert!(hashes(&set) != before);
    assert_eq!(merge(&plan, &program(), &|_| ()).unwrap(), merged);
    assert_eq!(hashes(&set), before);
    assert_eq!(stats_of_shards(&set, 1, &program(), &|_| ()).unwrap(), stats(&one, &|_| ()));
}

#[test]
fn splits_are_drawn_as_one_machine_draws_them() {
    let folder = tempfile::tempdir().unwrap();
    let books = folder.path().join("books");
    fs::create_dir(&books).unwrap();
    for (number, tale) in corpus::tales::TALES[..6].iter().enumerate() {
        let author = ["Ann", "Bob", "Cy"][number % 3];
        fs::write(books.join(format!("{author}___{number}.txt")), tale.text).unwrap();
    }
    // A book of which the half is in another.
    let text = corpus::tales::TALES[4].text;
    let (start, _) = text.char_indices().nth(text.chars().count() / 2).unwrap();
    fs::write(books.join("Dee___half.txt"), &text[start..]).unwrap();
    for (seed, by_author) in [(1, false), (2, false), (3, true)] {
        let build_options =
            BuildOptions { books: vec![books.clone()], seed, by_author, ..BuildOptions::default() };
        let built = build(&build_options, &|_| ()).unwrap();
        let options =
            PlanOptions { build: build_options, splits_by_hash: false, shard_bytes: 1 << 30 };
        let set = folder.path().join(format!("set {seed}"));
        let plan = plan(&options, &set, false, &program(), &|_| ()).unwrap();
        let planned: BTreeMap<_, _> =
            plan.all_books().iter().map(|book| (book.name.clone(), book.split)).collect();
        let expected: BTreeMap<_, _> =
            built.books.iter().map(|book| (book.name.clone(), book.split)).collect();
        assert_eq!(planned, expected);
        assert_eq!(planned["Dee___half"], planned["Bob___4"], "a near-copy");
        if by_author {
            assert_eq!(planned["Ann___0"], planned["Ann___3"]);
        }
    }
}

#[test]
fn books_that_fail_cost_their_shards_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let [books, set] = ["books", "set"].map(|name| folder.path().join(name));
    fs::create_dir(&books).unwrap();
    for tale in &corpus::tales::TALES[..5] {
        fs::write(books.join(tale.name).with_extension("txt"), tale.text).unwrap();
    }
    let build = BuildOptions { books: vec![books], ..BuildOptions::default() };
    let options = PlanOptions { build, splits_by_hash: true, shard_bytes: 1 };
    let plan = plan(&options, &set, false, &program(), &|_| ()).unwrap();
    let path = |number: usize| plan.all_books()[number].path.clone().unwrap();
    let whole = fs::read(path(2)).unwrap();
    // Removed, changed, and changed so that it is as long as before and no text.
    fs::remove_file(path(0)).unwrap();
    fs::write(path(1), "Another tale.").unwrap();
    fs::write(path(2), vec![0; whole.len()]).unwrap();
    let warnings = std::sync::Mutex::new(Vec::new());
    let report = |event| {
        if let crate::Event::Warning(warning) = event {
            warnings.lock().unwrap().push(warning.to_string());
        }
    };
    let mut n_built = 0;
    let failed = build_shards(&plan, false, &program(), &report, |_| n_built += 1);
    assert!(matches!(&failed, Err(Error::ShardsMissing { missing, .. }) if *missing == [0, 1, 2]));
    let warnings = warnings.into_inner().unwrap();
    let expected = ["no such file", "has changed since it was planned", "expected text"];
    assert_eq!((n_built, warnings.len()), (2, 3));
    for (number, (warning, expected)) in warnings.iter().zip(expected).enumerate() {
        assert!(warning.starts_with(&format!("shard {number} is not built: ")), "{warning}");
        assert!(warning.contains(expected), "{warning}");
    }
    // What is brought back is built, and nothing else.
    fs::write(path(2), whole).unwrap();
    let mut built = Vec::new();
    let failed = build_shards(&plan, false, &program(), &|_| (), |done| built.push(done.was_there));
    assert!(matches!(&failed, Err(Error::ShardsMissing { missing, .. }) if *missing == [0, 1]));
    assert_eq!(built, [false, true, true]);
}

#[test]
fn books_are_compared_by_a_sample_with_the_counts_of_all_8_grams() {
    let folder = tempfile::tempdir().unwrap();
    let [books, set] = ["books", "set"].map(|name| folder.path().join(name));
    fs::create_dir(&books).unwrap();
    let tales = &corpus::tales::TALES;
    for tale in &tales[..4] {
        fs::write(books.join(tale.name).with_extension("txt"), tale.text).unwrap();
    }
    // A tenth of one and the half of another, each before a whole one.
    let end = |text: &str, part: usize| {
        let place = text.len() / part;
        (place..).find(|&place| text.is_char_boundary(place)).unwrap()
    };
    for (name, from, part) in [("tenth", 0, 10), ("half", 1, 2)] {
        let text =
            format!("{}\n\n{}", &tales[from].text[..end(tales[from].text, part)], tales[4].text);
        fs::write(books.join(name).with_extension("txt"), text).unwrap();
    }
    let build = BuildOptions { books: vec![books], ..BuildOptions::default() };
    let options = PlanOptions { build, splits_by_hash: true, shard_bytes: 1 };
    let plan = plan(&options, &set, false, &program(), &|_| ()).unwrap();
    build_shards(&plan, false, &program(), &|_| (), |_| ()).unwrap();
    merge(&plan, &program(), &|_| ()).unwrap();
    let exact = stats_of_shards(&set, 1, &program(), &|_| ()).unwrap();
    let length = || fs::metadata(set.join("stats/00000.bin")).unwrap().len();
    let all = length();
    assert!(exact.leaks.overlaps.len() >= 3, "{:?}", exact.leaks.overlaps);
    for one_of in [2, 8] {
        let parts = SetParts::open(&set, &program()).unwrap().sampled(one_of);
        assert!(parts.verify(0, &|_| ()).is_err(), "nothing is compared");
        assert!((0..parts.n_parts()).rev().all(|number| !parts.part(number, &|_| ()).unwrap()));
        assert!((0..parts.n_buckets()).all(|number| !parts.bucket(number, &|_| ()).unwrap()));
        assert!(!parts.verify(1, &|_| ()).unwrap() && parts.verify(1, &|_| ()).unwrap());
        assert!(length() < all);
        assert_eq!(parts.report(&|_| ()).unwrap(), exact);
    }
    assert_eq!(stats_of_shards(&set, 1, &program(), &|_| ()).unwrap(), exact);
    assert_eq!(length(), all);
}
