//! Nobody gets in: one test for each way of trying, over real connections.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use questions::WordClass;

use crate::Limits;
use crate::client::{Reply, Served, TOKEN, exchange, free, read, served};
use crate::fixture::HOSTILE;
use crate::study::Mode;

/// Every address that is not an annotator's.
const GUARDED: [&str; 8] = [
    "/",
    "/questions",
    "/questions/0123456789abcdef",
    "/own",
    "/studies",
    "/studies/1",
    "/studies/1/results",
    "/studies/1/export/humans-query.jsonl",
];

fn page() -> Served {
    served(Limits::default())
}

/// The pages of a test from its first question to the one before the end, each answered with the first word.
fn whole_test(served: &Served, code: &str, name: &str) -> (Vec<Reply>, Reply) {
    let mut visitor = served.visitor();
    let mut pages = vec![visitor.get(&format!("/study/{code}")), visitor.join(code, name)];
    loop {
        let shown = visitor.get("/test");
        if !shown.body.contains("name=\"seal\"") {
            return (pages, shown);
        }
        pages.push(visitor.get("/test/pause"));
        pages.push(visitor.choose(&shown, "0"));
        pages.push(shown);
    }
}

#[test]
fn test_takers_reach_their_study_and_nothing_else() {
    let served = page();
    let code = served.study(Mode::Query);
    let mut taker = served.visitor();
    assert_eq!(taker.join(&code, "Wren").status, 303);
    for path in GUARDED {
        let reply = taker.get(path);
        assert_eq!(reply.status, 401, "{path}");
        assert!(!reply.body.contains("bear"), "{path} {}", reply.body);
        let status = taker.post(path, &[("seal", "")]).status;
        assert!(matches!(status, 401 | 405), "{path} {status}");
    }
    assert_eq!(taker.get("/test").status, 200);
}

#[test]
fn only_the_right_token_opens_the_researchers_side() {
    let served = page();
    let mut visitor = served.visitor();
    for wrong in ["", "wrong", &TOKEN[1..], &format!("{TOKEN} x"), "' OR 1=1 --"] {
        assert_eq!(visitor.post("/enter", &[("token", wrong)]).status, 401, "{wrong}");
        let query = serde_urlencoded::to_string([("token", wrong)]).unwrap();
        assert_eq!(visitor.get(&format!("/enter?{query}")).status, 401, "{wrong}");
    }
    for forged in ["", "true", TOKEN, &"0".repeat(64)] {
        visitor.cookies.insert("goldilocks_researcher".to_owned(), forged.to_owned());
        assert_eq!(visitor.get("/").status, 401, "{forged}");
    }
    let reply = visitor.post("/enter", &[("token", TOKEN)]);
    let cookie = reply.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(TOKEN));
    assert_eq!(visitor.get("/").status, 200);
    // Another store's researcher is a stranger here.
    let other = page();
    let mut stranger = other.visitor();
    stranger.cookies.clone_from(&visitor.cookies);
    assert_eq!(stranger.get("/").status, 401);
}

#[test]
fn without_studies_the_page_is_free_at_this_machine() {
    let served = free();
    let mut visitor = served.visitor();
    for path in ["/", "/questions", "/own"] {
        assert_eq!(visitor.get(path).status, 200, "{path}");
    }
    for path in ["/studies", "/studies/1", "/study/x", "/return/x", "/test/pause"] {
        let status = visitor.get(path).status;
        assert!(status == 404 || status == 403, "{path} {status}");
    }
}

#[test]
fn a_name_that_somebody_else_gave_this_machine_is_refused() {
    let served = free();
    let mut visitor = served.visitor();
    for host in ["evil.example", "evil.example:8080", "localhost.evil.example"] {
        let reply = visitor.send("GET", "/questions", &[("Host", host)], "");
        assert_eq!(reply.status, 421, "{host}");
        assert!(!reply.body.contains("bear"));
    }
    let nameless = exchange(served.address, b"GET / HTTP/1.0\r\n\r\n");
    assert_eq!(nameless.status, 421);
}

#[test]
fn forged_forms_change_nothing() {
    let served = page();
    let code = served.study(Mode::Query);
    let mut researcher = served.researcher();
    let mut taker = served.visitor();
    taker.join(&code, "Wren");
    let shown = taker.get("/test");
    let seal = researcher.get("/studies").field("seal");
    let taker_seal = shown.field("seal");
    let counts = || ["study", "annotator", "answer", "share"].map(|table| served.count(table));
    let before = counts();
    let mut visitor = served.visitor();
    for wrong in ["", &seal, &taker_seal, &"0".repeat(64)] {
        // Whoever is not the researcher gets no further than the door; see above.
        if wrong != seal {
            assert_eq!(researcher.post("/studies", &[("seal", wrong)]).status, 403, "{wrong}");
            let close = [("seal", wrong), ("action", "close")];
            assert_eq!(researcher.post("/studies/1", &close).status, 403, "{wrong}");
            assert_eq!(researcher.post("/own", &[("seal", wrong), ("text", "A.")]).status, 403);
        }
        let join = [("seal", wrong), ("name", "Finch")];
        assert_eq!(visitor.post(&format!("/study/{code}"), &join).status, 403, "{wrong}");
        if wrong != taker_seal {
            let (item, at) = (shown.field("item"), shown.field("shown"));
            let answer = [("item", &*item), ("shown", &at), ("choice", "0"), ("seal", wrong)];
            assert_eq!(taker.post("/test", &answer).status, 403, "{wrong}");
        }
    }
    // The right seal, but sent by another site's page.
    for header in [
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        let close = [("seal", &*seal), ("action", "close")];
        assert_eq!(researcher.post_with("/studies/1", &close, &[header]).status, 403, "{header:?}");
    }
    assert_eq!(counts(), before);
    let ours = format!("http://{}", served.address);
    let close = [("seal", &*seal), ("action", "close")];
    let headers = [("Origin", &*ours), ("Sec-Fetch-Site", "same-origin")];
    assert_eq!(researcher.post_with("/studies/1", &close, &headers).status, 303);
}

#[test]
fn an_answer_counts_for_its_own_annotator_and_question_alone() {
    let served = page();
    let code = served.study(Mode::Query);
    let (mut wren, mut finch) = (served.visitor(), served.visitor());
    wren.join(&code, "Wren");
    finch.join(&code, "Finch");
    let shown = wren.get("/test");
    // Somebody else sends the form, or it says another time, item, or a choice that is none.
    assert_eq!(finch.choose(&shown, "0").status, 403);
    let (item, at, seal) = (shown.field("item"), shown.field("shown"), shown.field("seal"));
    let next = (item.parse::<i64>().unwrap() + 1).to_string();
    for (item, at) in [(&next, &at), (&item, &"0".to_owned())] {
        let fields = [("item", &**item), ("shown", at), ("choice", "0"), ("seal", &seal)];
        assert_eq!(wren.post("/test", &fields).status, 403);
    }
    assert_eq!(wren.choose(&shown, "4").status, 400);
    for choice in ["-1", "x", "99999999999999999999"] {
        assert_eq!(wren.choose(&shown, choice).status, 422, "{choice}");
    }
    assert_eq!(served.count("answer"), 0);
    // Sent twice, it counts once, as it was first.
    assert_eq!(wren.choose(&shown, "1").status, 303);
    assert_eq!(wren.choose(&shown, "2").status, 303);
    assert_eq!(served.count("answer"), 1);
    let chosen: i64 = served
        .store()
        .read(|connection| connection.query_row("SELECT chosen FROM answer", [], |row| row.get(0)))
        .unwrap();
    assert_eq!(chosen, 1);
}

#[test]
fn nothing_tells_the_answer_or_the_class_before_the_end() {
    for mode in Mode::ALL {
        let served = page();
        let code = served.study(mode);
        let (pages, end) = whole_test(&served, &code, "Wren");
        assert!(pages.len() > 12);
        for page in &pages {
            let text = format!("{}\n{}", page.head, page.body);
            for class in WordClass::ALL {
                assert!(!text.contains(class.label()), "{text}");
                assert!(!text.contains(&format!("\"{}\"", class.code())), "{text}");
            }
            assert!(!text.contains("is_answer") && !text.contains("data-answer"), "{text}");
            // Buttons differ in their number and word alone.
            let buttons: Vec<&str> = page.body.matches("<li><button name=\"choice\"").collect();
            assert!(buttons.is_empty() || buttons.len() == 4);
        }
        for shown in pages.iter().filter(|page| page.body.contains("choices")) {
            let list = shown.body.split("<ol class=\"choices\">").nth(1).unwrap();
            let list = list.split("</ol>").next().unwrap();
            let markup =
                |line: &str| line.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
            let mut markups: Vec<String> = list
                .lines()
                .skip(1)
                .map(|line| {
                    let word =
                        line.split("<span>").nth(1).unwrap().split("</span>").next().unwrap();
                    markup(&line.replace(&format!("<span>{word}</span>"), ""))
                })
                .collect();
            markups.dedup();
            assert_eq!(markups.len(), 1, "{list}");
            // The context is there in one mode only, the book in none.
            assert_eq!(shown.body.contains("saw"), mode == Mode::ContextQuery);
        }
        assert!(
            end.body.contains("Verbs") && end.body.contains("That was the last one"),
            "{}",
            end.body
        );
    }
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
    let id = served.site.shelf.sets[0].ids[0].clone();
    let query = serde_urlencoded::to_string([
        ("search", HOSTILE),
        ("book", HOSTILE),
        ("set", HOSTILE),
        ("model", HOSTILE),
    ])
    .unwrap();
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
    // A passage that fits the body but not the page is answered kindly.
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
    let escaped = serde_urlencoded::to_string([("", SQL)]).unwrap().replace('+', "%20");
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

#[test]
fn every_response_forbids_what_it_can_and_asks_nothing_of_others() {
    let served = page();
    let code = served.study(Mode::ContextQuery);
    let mut researcher = served.researcher();
    let (mut pages, end) = whole_test(&served, &code, "Wren");
    pages.push(end);
    pages.push(researcher.get("/page.css"));
    pages.push(researcher.get("/page.js"));
    pages.push(served.visitor().send("GET", "/", &[("Host", "evil.example")], ""));
    for path in GUARDED {
        pages.push(researcher.get(path));
        pages.push(served.visitor().get(path));
    }
    pages.push(researcher.send("DELETE", "/questions", &[], ""));
    for page in &pages {
        let policy = page.header("content-security-policy").unwrap_or_else(|| panic!("{page:?}"));
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert_eq!(page.header("access-control-allow-origin"), None);
        // The policy would stop inline code and styles; there are none to be stopped.
        for inline in ["<style", " style=", " onclick=", "javascript:"] {
            assert!(!page.body.contains(inline), "{inline} in {}", page.body);
        }
        // No address of another machine is loaded or sent to.
        for attribute in ["src=\"", "href=\"", "action=\""] {
            for address in page.body.split(attribute).skip(1) {
                assert!(
                    address.starts_with(['/', '?', '#']) && !address.starts_with("//"),
                    "{address:.40}"
                );
            }
        }
    }
}
