#![allow(clippy::all, missing_docs, clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods)]
use questions::*;
use std::time::Instant;
fn main() {
    let dir = std::path::PathBuf::from(std::env::args().nth(1).unwrap());
    let mut set = QuestionSet::default();
    let t = Instant::now();
    let text = std::fs::read_to_string(dir.join("cbt_train.txt")).unwrap();
    let start = set.n_sentences();
    for line in text.lines() {
        if line.starts_with("_BOOK_TITLE_") { continue; }
        let w: Vec<_> = line.split_whitespace().map(|w| set.intern(w)).collect();
        set.push_sentence(w);
    }
    let end = set.n_sentences();
    set.push_book(BookText { name: "all".into(), split: Some(Split::Train), sentences: start..end });
    for class in WordClass::ALL { for (split, f) in [(Split::Valid, "valid_2000ex"), (Split::Test, "test_2500ex")] {
        let text = std::fs::read_to_string(dir.join(format!("cbtest_{}_{f}.txt", class.code()))).unwrap();
        let mut start = set.n_sentences();
        for line in text.lines() {
            if line.is_empty() { start = set.n_sentences(); continue; }
            let (n, rest) = line.split_once(' ').unwrap();
            if n != "21" {
                let w: Vec<_> = rest.split_whitespace().map(|w| set.intern(w)).collect();
                set.push_sentence(w);
            } else {
                let mut f = rest.split('\t');
                let q: Vec<_> = f.next().unwrap().split_whitespace().map(|w| set.intern(w)).collect();
                let a = f.next().unwrap(); f.next();
                let c: Vec<&str> = f.next().unwrap().split('|').filter(|c| !c.is_empty()).collect();
                let answer = c.iter().position(|x| *x == a);
                let c: Vec<_> = c.iter().map(|w| set.intern(w)).collect();
                let e = set.n_sentences();
                set.push(NewQuestion { context: start..e, query: &q, candidates: &c, answer, class: Some(class), split: Some(split), book: None });
            }
        }
    }}
    println!("read {} questions, {} words, {:?}", set.len(), set.vocabulary().len(), t.elapsed());
    let all: Vec<usize> = (0..set.len()).collect();
    let extra = [("max-frequency-corpus", ""), ("max-frequency-context", ""), ("sliding-window", ""), ("word-distance", "max_penalty=5"), ("word-distance", "max_penalty=auto")];
    let mut total = 0.0;
    for (name, s) in extra {
        let entry = models::find(name).unwrap();
        let settings = models::Settings::from_text(entry, (!s.is_empty()).then_some(s)).unwrap();
        let t = Instant::now();
        let report = |e| println!("  {e:?}");
        let model = (entry.train)(&settings, &models::Training::new(&set, 1, &report)).unwrap();
        let trained = t.elapsed();
        let scores = models::score_all(&*model, &set, &all, &[], &|_| ()).unwrap();
        if s != "max_penalty=5" { total += t.elapsed().as_secs_f64(); }
        print!("{name:24} {s} train {trained:.2?} total {:.2?} ", t.elapsed());
        for split in [Split::Valid, Split::Test] { for class in WordClass::ALL {
            let (mut n, mut c) = (0, 0.0);
            for i in 0..set.len() { if set.class(i) == Some(class) && set.split(i) == Some(split) {
                n += 1; c += models::credit(&scores[i], set.example(i).answer.unwrap());
            }}
            print!(" {:.4}", c / n as f64);
        }}
        println!();
        let folder = std::env::temp_dir().join(format!("baseline-{name}"));
        models::save(&*model, &settings, Default::default(), &folder, true).unwrap();
        let t = Instant::now();
        let (again, _) = models::load(&folder).unwrap();
        print!("load {:?} ", t.elapsed());
        assert_eq!(models::score_all(&*again, &set, &all, &[], &|_| ()).unwrap(), scores);
        println!("same");
    }
    println!("four with auto: {total:.2} s");
}
