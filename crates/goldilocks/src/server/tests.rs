use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use base::seeds::{Use, generator};
use rand::RngExt;
use servers::testing::Fake;
use servers::{Kind, Method, Reply, Request, Unreachable};

use super::*;
use crate::questions_from_text;

/// A fake server that is lost after a number of requests.
struct Lost {
    fake: Arc<Fake>,
    left: AtomicUsize,
}

impl Transport for Lost {
    fn send(&self, request: &Request) -> Result<Reply, Unreachable> {
        let one_less = |left: usize| left.checked_sub(1);
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_err() {
            return Err(Unreachable {
                path: request.path.clone(),
                reason: "connection reset".to_owned(),
            });
        }
        self.fake.send(request)
    }
}

fn set() -> QuestionSet {
    questions_from_text("candle_hall", corpus::tales::TALES[0].text, 1).unwrap()
}

fn options(in_flight: usize) -> ServerOptions {
    let settings = ServerSettings { untrained: true, ..ServerSettings::default() };
    ServerOptions { settings, in_flight: NonZeroUsize::new(in_flight), ..ServerOptions::default() }
}

fn sample(n: usize) -> AnswerOptions {
    AnswerOptions { sample: Some(n), ..AnswerOptions::default() }
}

/// Answers over a server that is lost after some requests; returns how many it answered, and what came of it.
fn run(
    kind: Kind,
    output: &Path,
    options: ServerOptions,
    answering: &AnswerOptions,
    left: usize,
) -> (usize, Result<ServerRun>) {
    let fake = Arc::new(Fake::new(kind));
    let lost = Lost { fake: fake.clone(), left: AtomicUsize::new(left) };
    let model =
        LanguageModel::over(Box::new(lost), "http://127.0.0.1:1".to_owned(), false, options);
    let run = model.and_then(|model| {
        Ok(model.answer(&[(set(), answering.clone())], output, false, &|_| ())?.1)
    });
    (fake.n_requests.load(Ordering::SeqCst), run)
}

#[test]
fn predictions_have_the_same_bytes_for_one_and_four_in_flight_and_for_every_protocol() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let ways = [
        ("one.jsonl", Kind::LlamaServer, Method::Auto, 1),
        ("four.jsonl", Kind::LlamaServer, Method::Auto, 4),
        ("echo.jsonl", Kind::Vllm, Method::Echo, 3),
        ("spans.jsonl", Kind::Sglang, Method::Auto, 2),
    ];
    for (name, kind, method, in_flight) in ways {
        let mut options = options(in_flight);
        options.settings.method = method;
        let run = run(kind, &path(name), options, &sample(4), usize::MAX).1.unwrap();
        assert_eq!(run.counts.asked, Predictions::read(&path(name)).unwrap().len());
        assert_eq!((run.counts.known, run.counts.cut), (0, 0));
        assert!(run.counts.usage.tokens() > 0);
        assert!(
            fs::read_to_string(path(name).with_extension("toml")).unwrap().contains("[server]")
        );
        assert_eq!(server_run(&path(name)).unwrap().unwrap().1, "whole query");
        let candidate = path(name).with_extension("candidate.jsonl");
        assert_eq!(server_run(&candidate).unwrap().unwrap().1, "candidate alone");
    }
    let bytes = |name: &str| fs::read(path(name)).unwrap();
    assert!(bytes("one.jsonl") == bytes("four.jsonl"));
    assert!(bytes("one.candidate.jsonl") == bytes("four.candidate.jsonl"));
    assert!(bytes("one.jsonl") != bytes("one.candidate.jsonl"));
    let scores = |name: &str| -> Vec<f64> {
        Predictions::read(&path(name)).unwrap().iter().flat_map(|row| row.scores.clone()).collect()
    };
    for name in ["echo.jsonl", "spans.jsonl"] {
        let pairs = scores("one.jsonl").into_iter().zip(scores(name));
        assert!(pairs.into_iter().all(|(one, other)| (one - other).abs() < 1e-9), "{name}");
    }
}

#[test]
fn a_run_that_is_cut_anywhere_resumes_and_asks_nothing_twice_but_what_was_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.jsonl");
    let (n_whole, result) = run(Kind::LlamaServer, &whole, options(4), &sample(3), usize::MAX);
    let n_questions = result.unwrap().counts.asked;
    // Who it is, the probe, and ten texts and ten answers per question.
    let per_question = 20;
    let n_probe = n_whole - n_questions * per_question;
    let mut random = generator(1, Use::Test, &["kills"]);
    for round in 0..50 {
        let path = folder.path().join(format!("{round}.jsonl"));
        let cut = n_probe + random.random_range(0..n_questions * per_question);
        let (n_first, result) = run(Kind::LlamaServer, &path, options(4), &sample(3), cut);
        assert!(matches!(result.unwrap_err(), Error::Servers(servers::Error::Unreachable(_))));
        assert!(!path.exists());
        if round % 2 == 0 {
            // A kill in the middle of a line.
            let details = Details::path_for(&path);
            let bytes = fs::read(&details).unwrap();
            let is_header_alone = bytes.iter().filter(|&&byte| byte == b'\n').count() < 2;
            fs::write(&details, &bytes[..bytes.len() - if is_header_alone { 0 } else { 5 }])
                .unwrap();
        }
        let (n_second, result) = run(Kind::LlamaServer, &path, options(4), &sample(3), usize::MAX);
        let counts = result.unwrap().counts;
        assert_eq!(counts.asked + counts.known, n_questions);
        // One question per worker was in flight, and one line was cut.
        assert!(
            n_first + n_second <= n_whole + n_probe + 5 * per_question,
            "{n_first} {n_second} {n_whole}"
        );
        for extension in ["jsonl", "candidate.jsonl"] {
            let of = |path: &Path| fs::read(path.with_extension(extension)).unwrap();
            assert!(of(&path) == of(&whole), "round {round}");
        }
    }
}

#[test]
fn answers_of_another_way_of_asking_are_not_taken_and_not_destroyed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.jsonl");
    let (n, _) = run(Kind::LlamaServer, &path, options(1), &sample(1), usize::MAX);
    assert!(n > 0);
    fs::remove_file(&path).unwrap();
    let before = fs::read(Details::path_for(&path)).unwrap();
    let mut other = options(1);
    other.settings.text = servers::TextForm::Tokens;
    let error = run(Kind::LlamaServer, &path, other, &sample(1), usize::MAX).1.unwrap_err();
    assert!(error.to_string().ends_with("(text: expected `tokens`, found `plain`)"), "{error}");
    assert!(fs::read(Details::path_for(&path)).unwrap() == before);
}

#[test]
fn a_chat_leaves_letters_and_a_budget_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.jsonl");
    let mut options = options(2);
    options.settings.scoring = Scoring::Choice;
    let run_of =
        |options: ServerOptions| run(Kind::Ollama, &path, options, &sample(5), usize::MAX).1;
    let error = run_of(ServerOptions { budget: Some(1000), ..options.clone() }).unwrap_err();
    assert!(matches!(error, Error::Servers(servers::Error::Budget { .. })), "{error}");
    let counts = run_of(options).unwrap().counts;
    assert!(counts.known > 0, "what was paid for is kept");
    assert_eq!(counts.letters.get(&'B'), Some(&(counts.asked + counts.known)));
    let predictions = Predictions::read(&path).unwrap();
    assert!(predictions.iter().all(|row| row.scores.iter().sum::<f64>() == 1.0));
}

#[test]
fn a_context_that_is_too_long_is_cut_by_whole_sentences() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.jsonl");
    let fake = Fake::with(Kind::Vllm, servers::testing::Fault::TooLong);
    let mut options = options(1);
    options.settings.method = Method::Echo;
    let model =
        LanguageModel::over(Box::new(fake), "http://127.0.0.1:1".into(), false, options).unwrap();
    let counts = model.answer(&[(set(), sample(1))], &path, false, &|_| ()).unwrap().1.counts;
    assert!(counts.cut > 0 && counts.sentences_cut > counts.cut, "{counts:?}");
}

/// A kill when the answers are complete, and not all files are written, leaves a run that resumes.
#[test]
fn predictions_are_written_after_the_files_that_go_with_them() {
    let folder = tempfile::tempdir().unwrap();
    for blocked in ["candidate.jsonl", "toml"] {
        let path = folder.path().join(format!("{blocked}-blocked.jsonl"));
        fs::create_dir(path.with_extension(blocked)).unwrap();
        run(Kind::LlamaServer, &path, options(2), &sample(1), usize::MAX).1.unwrap_err();
        assert!(!path.exists());
        fs::remove_dir(path.with_extension(blocked)).unwrap();
        let counts =
            run(Kind::LlamaServer, &path, options(2), &sample(1), usize::MAX).1.unwrap().counts;
        assert_eq!(counts.asked, 0, "all answers were kept");
        assert_eq!(counts.known, Predictions::read(&path).unwrap().len());
    }
}

/// Serves the answers one after the other, each on its connection; returns the requests.
fn serve(answers: Vec<String>) -> (ServerAddress, thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address =
        ServerAddress::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let serve = move || {
        answers.into_iter().map(|answer| one(&listener.accept().unwrap().0, &answer)).collect()
    };
    (address, thread::spawn(serve))
}

fn one(stream: &TcpStream, answer: &str) -> String {
    let (head, _) = request(stream);
    { stream }.write_all(answer.as_bytes()).unwrap();
    head
}

/// The head of a request in lower case, and its body.
fn request(mut stream: &TcpStream) -> (String, Vec<u8>) {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        request.push(byte[0]);
    }
    let head = String::from_utf8(request).unwrap().to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).unwrap();
    (head, body)
}

fn http(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn sent(answers: Vec<String>, keys: &Keys) -> (Result<Reply, Unreachable>, Vec<String>) {
    let (address, server) = serve(answers);
    let connection = Connection::new(&address, keys, Duration::from_secs(5)).unwrap().impatient();
    let request =
        Request { path: "/v1/completions".into(), body: Some(serde_json::json!({"a": 1})) };
    (connection.send(&request), server.join().unwrap())
}

#[test]
fn what_may_pass_is_tried_again_and_the_rest_is_not() {
    let good = http("200 OK", "", "{}");
    let busy = http("429 Too Many Requests", "Retry-After: 0\r\n", "{}");
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".to_owned();
    for passing in
        [busy, http("503 Loading", "", "{}"), http("500 Oops", "", "{}"), cut, String::new()]
    {
        let (reply, requests) = sent(vec![passing.clone(), good.clone()], &Keys::default());
        assert_eq!((reply.unwrap().status, requests.len()), (200, 2), "{passing}");
    }
    for (last, status) in [
        (http("429 Too Many Requests", "", "{}"), 429),
        (
            http(
                "429 Too Many Requests",
                "Retry-After: 0\r\n",
                "{\"code\":\"insufficient_quota\"}",
            ),
            429,
        ),
        (http("400 Bad Request", "", "{}"), 400),
        (http("401 Unauthorized", "", "{}"), 401),
        (http("500 Oops", "", "{\"error\":\"grammar stack\"}"), 500),
        (http("302 Found", "Location: http://example.com/\r\n", ""), 302),
    ] {
        assert_eq!(sent(vec![last], &Keys::default()).0.unwrap().status, status);
    }
    let (reply, requests) = sent(vec![http("503 Loading", "", "{}"); 5], &Keys::default());
    assert_eq!((reply.unwrap().status, requests.len()), (503, 5));
}

#[test]
fn a_key_is_a_header_and_in_no_message() {
    let keys = Keys { any: Some("sesame".to_owned()), ..Keys::default() };
    let (_, requests) = sent(vec![http("200 OK", "", "{}")], &keys);
    assert!(requests[0].contains("authorization: bearer sesame"));
    let address = ServerAddress::parse("http://127.0.0.1:9").unwrap();
    let connection = Connection::new(&address, &keys, Duration::from_secs(1)).unwrap().impatient();
    let error = connection.send(&Request { path: "/props".into(), body: None }).unwrap_err();
    assert!(!error.to_string().contains("sesame"));
    assert!(error.to_string().contains("tried 5 times"), "{error}");
}

/// Serves a fake model over HTTP, for as long as the test runs.
fn serve_model(fake: Fake) -> ServerAddress {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            let (head, body) = request(&stream);
            // A probe that connects and asks nothing.
            let Some(path) = head.split(' ').nth(1) else { continue };
            let body = (!body.is_empty()).then(|| serde_json::from_slice(&body).unwrap());
            let reply = fake.send(&Request { path: path.to_owned(), body }).unwrap();
            let status = format!("{} So", reply.status);
            { &stream }.write_all(http(&status, "", &reply.body).as_bytes()).unwrap();
        }
    });
    ServerAddress::parse(&address).unwrap()
}

#[test]
fn a_key_is_in_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.jsonl");
    let keys = Keys { any: Some("sesame".to_owned()), ..Keys::default() };
    let address = serve_model(Fake::new(Kind::LlamaServer));
    let model = LanguageModel::connect(&address, ServerOptions { keys, ..options(2) }).unwrap();
    model.answer(&[(set(), sample(1))], &path, false, &|_| ()).unwrap();
    let files: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 4, "{files:?}");
    for file in files {
        assert!(!fs::read_to_string(&file).unwrap().contains("sesame"), "{}", file.display());
    }
}

#[test]
fn controls_have_names_in_words() {
    let controls = [Control::QueryOnly, Control::RenamedEntities { seed: 1 }];
    let named = controls.map(|control| words_of(&format!("{control:?}")));
    assert_eq!(named, ["query only", "renamed entities"]);
}

#[test]
fn a_server_elsewhere_needs_a_budget() {
    let address = ServerAddress::parse("https://api.openai.com/v1").unwrap();
    let error = LanguageModel::connect(&address, ServerOptions::default()).err().unwrap();
    assert!(error.to_string().starts_with("budget: expected the number of tokens"), "{error}");
}
