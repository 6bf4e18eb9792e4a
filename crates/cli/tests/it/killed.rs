//! Nothing lost: an answer that the page has confirmed survives `kill -9`, a hundred times at random moments
//! under load.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use crate::run::goldilocks;
use crate::serving::{Serving, make_study};

const KILLS: usize = 100;
const PEOPLE: usize = 12;

/// An answer as it is exported: who, the candidates, the choice.
type Answer = (String, String, String);

/// A person who answers as fast as the page lets them.
struct Person {
    name: String,
    cookie: String,
    confirmed: Vec<Answer>,
    is_done: bool,
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .max_redirects(0)
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(60)));
    config.build().into()
}

fn unescaped(text: &str) -> String {
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#x27;", "'"),
        ("&quot;", "\""),
        ("&#x2f;", "/"),
        ("&amp;", "&"),
    ];
    pairs.iter().fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}

fn field(page: &str, name: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\""))?;
    Some(rest.split('"').next()?.to_owned())
}

impl Person {
    fn join(study: &str, name: String) -> Self {
        let agent = agent();
        let page = agent.get(study).call().unwrap().body_mut().read_to_string().unwrap();
        let form = [("name", name.clone()), ("seal", field(&page, "seal").unwrap())];
        let reply = agent.post(study).send_form(form).unwrap();
        let cookie = reply.headers()["set-cookie"].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Self { name, cookie, confirmed: Vec::new(), is_done: false }
    }

    /// Answers until the page is gone; what it has confirmed by then must last.
    fn answer(&mut self, base: &str, random: &mut ChaCha8Rng) {
        let agent = agent();
        let test = format!("{base}/test");
        while !self.is_done {
            let page = agent.get(&test).header("cookie", &self.cookie).call();
            let Ok(page) = page.and_then(|mut reply| reply.body_mut().read_to_string()) else {
                return;
            };
            let Some(seal) = field(&page, "seal") else {
                assert!(page.contains("That was the last one"), "{page}");
                self.is_done = true;
                return;
            };
            let words = page.split("<span>").skip(1).map(|rest| rest.split('<').next().unwrap());
            let words: Vec<String> = words.map(unescaped).take(10).collect();
            let choice = random.random_range(..words.len());
            let form = [
                ("item", field(&page, "item").unwrap()),
                ("shown", field(&page, "shown").unwrap()),
                ("seal", seal),
                ("choice", choice.to_string()),
            ];
            match agent.post(&test).header("cookie", &self.cookie).send_form(form) {
                Ok(reply) if reply.status() == 303 => {
                    self.confirmed.push((
                        self.name.clone(),
                        words.join("|"),
                        words[choice].clone(),
                    ));
                }
                Ok(reply) => panic!("{}", reply.status()),
                Err(_) => return,
            }
        }
    }
}

/// How often each answer occurs in the exported file.
fn exported(folder: &Path) -> BTreeMap<Answer, usize> {
    let said = goldilocks(folder, &["study", "export", "study.db", "-o", "answers"]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    let mut answers = BTreeMap::new();
    for line in fs::read_to_string(folder.join("answers/humans-query.jsonl")).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line[key].as_str().unwrap().to_owned();
        let candidates = line["candidates"].as_array().unwrap();
        let candidates: Vec<&str> = candidates.iter().map(|word| word.as_str().unwrap()).collect();
        *answers
            .entry((text("annotator"), candidates.join("|"), text("predicted")))
            .or_insert(0) += 1;
    }
    answers
}

/// Lets people answer while the server is killed again and again.
fn answer_and_kill(folder: &Path) -> Vec<Person> {
    let start = || Serving::start(folder, &["--study", "study.db", "one.jsonl"]);
    let serving = start();
    let join = |n| Person::join(&serving.studies[0], format!("Person {n}"));
    let mut people: Vec<Person> = (0..PEOPLE).map(join).collect();
    serving.kill();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for round in 0..KILLS {
        let serving = start();
        let base = serving.base().to_owned();
        let life = Duration::from_millis(random.random_range(5..150));
        std::thread::scope(|scope| {
            for (n, person) in people.iter_mut().enumerate() {
                let mut random = ChaCha8Rng::seed_from_u64((round * PEOPLE + n) as u64);
                let base = base.as_str();
                scope.spawn(move || person.answer(base, &mut random));
            }
            std::thread::sleep(life);
            serving.kill();
        });
    }
    people
}

#[test]
fn confirmed_answers_survive_a_hundred_kills() {
    let folder = TempDir::new().unwrap();
    // Everybody gets every question, so that there is always somebody with something to answer.
    let settings = "--mode query --sample 150 --shared 150";
    make_study(folder.path(), &format!("{settings} --times {PEOPLE} --annotators {PEOPLE}"));
    // What the page explores does not matter here, and one question is read fastest.
    let said = goldilocks(folder.path(), &["convert", "tales", "tales.jsonl"]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    let line = fs::read_to_string(folder.path().join("tales.jsonl")).unwrap();
    fs::write(folder.path().join("one.jsonl"), line.lines().next().unwrap()).unwrap();

    let people = answer_and_kill(folder.path());
    let kept = exported(folder.path());
    let mut confirmed: BTreeMap<Answer, usize> = BTreeMap::new();
    for answer in people.iter().flat_map(|person| &person.confirmed) {
        *confirmed.entry(answer.clone()).or_insert(0) += 1;
    }
    let kept_of = |answer: &Answer| kept.get(answer).copied().unwrap_or(0);
    let lost: usize = confirmed.iter().map(|(answer, n)| n.saturating_sub(kept_of(answer))).sum();
    let (n_confirmed, n_kept): (usize, usize) = (confirmed.values().sum(), kept.values().sum());
    println!("{KILLS} kills: {n_confirmed} answers confirmed, {n_kept} kept, {lost} lost");
    assert_eq!(lost, 0, "of {n_confirmed} confirmed answers");
    // More than were confirmed may be kept: those whose confirmation was cut off, one a person and kill at most.
    assert!(n_kept <= n_confirmed + KILLS * PEOPLE, "{n_kept} of {n_confirmed}");
    assert!(n_confirmed > KILLS, "only {n_confirmed} answers were confirmed: the load was no load");
}
