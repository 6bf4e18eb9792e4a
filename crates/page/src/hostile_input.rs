//! Hostile input does no harm: text, paths, sizes, slowness and SQL, over real connections.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use crate::Limits;
use crate::client::{Served, exchange, free, read, served};
use crate::fixture::HOSTILE;
use crate::study::Mode;

fn page() -> Served {
    served(Limits::default())
}

#[test]
fn hostile_text_is_shown_and_never_run() {
    let served = page();
    let code = served.study(Mode::ContextQuery);
    let mut researcher = served.researcher();
    let seal = researcher.get("/studies").field("seal");
    researcher.post(
        "/studies",
        &[("seal", &seal), ("name", HOSTILE), ("sample", "1"), ("annotators", "6")],
    );
    let mut taker = served.visitor();
    assert_eq!(taker.join(&code, HOSTILE).status, 303);
    let id = served.site.catalogue.sets[0].ids[0].clone();
    let query = crate::client::encoded(&[
        ("search", HOSTILE),
        ("book", HOSTILE),
        ("set", HOSTILE),
        ("model", HOSTILE),
    ]);
    let text =
        format!("{HOSTILE} said the hen. The hen saw the bear. The bear saw the {HOSTILE} hen.");
    let own = [("seal", &*seal), ("text", &*text), ("gap", HOSTILE), ("model", HOSTILE)];
    let problem = [("seal", &*seal), ("sample", HOSTILE)];
    let mut pages = vec![
        researcher.get("/questions"),
        researcher.get(&format!("/questions?{query}")),
        researcher.get(&format!("/questions/{id}?{query}")),
        researcher.post("/own", &own),
        researcher.post("/studies", &problem),
        researcher.get("/studies"),
        researcher.get("/studies/1"),
        researcher.get("/studies/2"),
        taker.get(&format!("/study/{code}")),
        taker.get("/test"),
        taker.get("/test/pause"),
    ];
    let shown = taker.get("/test");
    taker.choose(&shown, "3");
    pages.push(researcher.get("/studies/1/results"));
    for page in &pages {
        assert!(page.status == 200, "{page:?}");
        // minijinja escapes `/` as well.
        assert!(page.body.contains("&lt;script&gt;alert(1)"), "{}", page.body);
        assert!(!page.body.contains("<script>"), "{}", page.body);
    }
}

#[test]
fn paths_lead_nowhere_outside() {
    let served = free();
    let mut visitor = served.visitor();
    for path in [
        "/../../../etc/passwd",
        "/page.css/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/questions/..%2f..%2f..%2fetc%2fpasswd",
        "/questions/%00",
        "/study/..%2fstudy.db",
        "/return/%2e%2e%2fstudy.db",
        "/studies/1/export/..%2f..%2fstudy.db",
        "/study.db",
        "//etc/passwd",
    ] {
        let reply = visitor.get(path);
        assert!(matches!(reply.status, 400 | 404), "{path}: {}", reply.status);
        assert!(!reply.body.contains("root:") && !reply.body.contains("SQLite"), "{path}");
    }
    let served = page();
    served.study(Mode::Query);
    let mut researcher = served.researcher();
    for file in
        ["..%2f..%2fstudy.db", "study.db", "humans-query.jsonl%00", "..", "humans-query.jsonl"]
    {
        // Nobody has answered, so there is no file of that name either.
        assert_eq!(researcher.get(&format!("/studies/1/export/{file}")).status, 404, "{file}");
    }
}

#[test]
fn oversized_requests_are_cut_off() {
    let served = free();
    let mut visitor = served.visitor();
    let limit = Limits::default().body_bytes;
    let body = format!("text={}", "a".repeat(limit));
    assert_eq!(visitor.send("POST", "/own", &[], &body).status, 413);
    // A body that does not say how long it is.
    let chunk = format!("{:x}\r\n{}\r\n", limit / 2, "a".repeat(limit / 2)).repeat(3);
    let head =
        format!("POST /own HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n", served.address);
    let form = "Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n\r\n";
    let reply = exchange(served.address, format!("{head}{form}{chunk}0\r\n\r\n").as_bytes());
    assert!(reply.status == 413, "{reply:?}");
    // A body that claims to be endless is refused before it comes.
    let reply = exchange(
        served.address,
        format!(
            "{}Content-Length: 99999999999\r\n\r\n",
            head.replace("Transfer-Encoding: chunked\r\n", "Connection: close\r\n")
        )
        .as_bytes(),
    );
    assert_eq!(reply.status, 413);
    let many = "X-A: b\r\n".repeat(10_000);
    let reply = exchange(
        served.address,
        format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n").as_bytes(),
    );
    assert_eq!(reply.status, 431);
    let long = format!("/questions?search={}", "a".repeat(200_000));
    assert!(matches!(visitor.get(&long).status, 414 | 431 | 0));
    // A passage that fits the body but not the page is answered with an explanation.
    let seal = visitor.get("/own").field("seal");
    let text = "a ".repeat(crate::own::LONGEST);
    let reply = visitor.post("/own", &[("seal", &seal), ("text", &text)]);
    assert!(reply.body.contains("too long"), "{}", reply.status);
}

#[test]
fn slow_clients_are_cut_off_and_keep_nobody_waiting() {
    let short = Duration::from_millis(300);
    let limits = Limits {
        head: short,
        body: short,
        connection: Duration::from_secs(2),
        ..Limits::default()
    };
    let served = served(limits);
    let connect = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(served.address).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    };
    let slow_heads: Vec<TcpStream> =
        (0..50).map(|_| connect(b"GET / HTTP/1.1\r\nHost: loc")).collect();
    let silent = connect(b"");
    let head = "POST /enter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n";
    let slow_body = connect(
        format!("{head}Content-Type: application/x-www-form-urlencoded\r\n\r\ntoken=").as_bytes(),
    );
    // Meanwhile others are served.
    assert_eq!(served.visitor().get("/page.css").status, 200);
    // Each read ends because the server closed, not because the test gave up.
    assert_eq!(read(slow_body).status, 408);
    for stream in slow_heads.into_iter().chain([silent]) {
        let status = read(stream).status;
        assert!(matches!(status, 0 | 408), "{status}");
    }
    // A client that asks on and on and never reads is closed as well.
    let mut greedy = TcpStream::connect(served.address).unwrap();
    greedy.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = b"GET /page.css HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let end = (0..1_000_000).find(|_| greedy.write_all(request).is_err());
    assert!(end.is_some(), "the server went on forever");
}

/// Text that would be a statement, if anybody let it.
const SQL: &str = "'); DROP TABLE answer; -- \" OR 1=1; ' OR '1'='1";

#[test]
fn quotes_and_statements_in_the_researchers_fields_stay_text() {
    let served = page();
    let mut researcher = served.researcher();
    let seal = researcher.get("/studies").field("seal");
    let make = |researcher: &mut crate::client::Visitor, field: &str| {
        let mut fields = vec![("seal", &*seal), ("sample", "1"), ("annotators", "6")];
        fields.retain(|(name, _)| *name != field);
        fields.push((field, SQL));
        researcher.post("/studies", &fields).status
    };
    // Texts are kept as they are; numbers that are none are refused; other choices mean the default.
    for (field, status) in [
        ("name", 303),
        ("set", 303),
        ("split", 303),
        ("modes", 303),
        ("sample", 200),
        ("annotators", 200),
        ("shared", 200),
        ("times", 200),
        ("seed", 200),
    ] {
        assert_eq!(make(&mut researcher, field), status, "{field}");
    }
    assert_eq!(served.count("study"), 4);
    assert!(researcher.get("/studies/1").body.contains("DROP TABLE answer"));
    for field in ["action", "annotator"] {
        let reply = researcher.post("/studies/1", &[("seal", &seal), (field, SQL)]);
        assert!(matches!(reply.status, 400 | 422), "{field} {}", reply.status);
    }
}

#[test]
fn quotes_and_statements_in_an_annotators_fields_stay_text() {
    let served = page();
    let mut researcher = served.researcher();
    let code = served.study(Mode::Query);
    let mut taker = served.visitor();
    assert_eq!(taker.join(&code, SQL).status, 303);
    let escaped = crate::client::encoded(&[("", SQL)]).replace('+', "%20");
    let escaped = escaped.trim_start_matches('=');
    assert_eq!(served.visitor().get(&format!("/study/{escaped}")).status, 404);
    assert_eq!(served.visitor().get(&format!("/return/{escaped}")).status, 404);
    assert!(matches!(researcher.get(&format!("/studies/{escaped}")).status, 400 | 404));
    let mut stranger = served.visitor();
    stranger.cookies.insert("goldilocks_annotator".to_owned(), "' OR '1'='1".to_owned());
    assert_eq!(stranger.get("/test").status, 403);
    let shown = taker.get("/test");
    for field in ["item", "shown", "seal", "choice"] {
        let value = |name: &str| match (name == field, name) {
            (true, _) => SQL.to_owned(),
            (false, "choice") => "0".to_owned(),
            (false, name) => shown.field(name),
        };
        let values = ["item", "shown", "seal", "choice"].map(|name| (name, value(name)));
        let fields: Vec<(&str, &str)> = values.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let status = taker.post("/test", &fields).status;
        assert!(matches!(status, 403 | 422), "{field} {status}");
    }
    assert_eq!(taker.choose(&shown, "0").status, 303);
    assert_eq!(served.count("answer"), 1);
    let name: String = served
        .store()
        .read(|connection| connection.query_row("SELECT name FROM annotator", [], |row| row.get(0)))
        .unwrap();
    assert_eq!(name, SQL);
}
