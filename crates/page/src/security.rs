//! Nobody gets in and nothing is revealed: one test for each way of trying, over real connections.

use questions::WordClass;

use crate::Limits;
use crate::client::{Reply, Served, TOKEN, exchange, free, served};
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
        assert_eq!((reply.status, reply.header("location")), (303, Some("/enter")), "{path}");
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
        let query = crate::client::encoded(&[("token", wrong)]);
        // Without a token the door is just a page.
        let status = if wrong.is_empty() { 200 } else { 401 };
        assert_eq!(visitor.get(&format!("/enter?{query}")).status, status, "{wrong}");
    }
    for forged in ["", "true", TOKEN, &"0".repeat(64)] {
        visitor.cookies.insert("goldilocks_researcher".to_owned(), forged.to_owned());
        assert_eq!(visitor.get("/").header("location"), Some("/enter"), "{forged}");
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
    assert_eq!(stranger.get("/").header("location"), Some("/enter"));
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
fn every_response_forbids_what_it_can_and_asks_nothing_of_others() {
    let served = page();
    let code = served.study(Mode::ContextQuery);
    let mut researcher = served.researcher();
    let (mut pages, end) = whole_test(&served, &code, "Wren");
    pages.push(end);
    pages.push(researcher.get("/page.css"));
    pages.push(researcher.get("/page.js"));
    pages.push(researcher.get("/icon.svg"));
    pages.push(served.visitor().get("/enter"));
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
