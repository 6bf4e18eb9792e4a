//! The page in a real browser: a short test taken, stopped, taken up, ended, exported and evaluated; questions
//! explored; a passage pasted; on phones and wide screens, light and dark.

use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use crate::run::goldilocks;
use crate::serving::{Serving, make_study};
use crate::webdriver::{Browser, missing};

const PHONE: (u32, u32) = (390, 844);
const DESK: (u32, u32) = (1440, 900);

/// What the annotators of a test agree to.
const CONSENT: &str = "We keep your answers and the name that you give.";

/// Pictures of the pages are left here, to be looked at.
fn picture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"))
}

/// What a script can find wrong with a page for people: elements without a name, text of too little
/// contrast (WCAG 2.1, 1.4.3: 4.5), a page wider than its window.
const FAULTS: &str = r#"
const faults = [];
if (document.documentElement.scrollWidth > document.documentElement.clientWidth) faults.push(`wider than the window: ${document.documentElement.scrollWidth}`);
if (!document.title) faults.push("no title");
if (!document.documentElement.lang) faults.push("no language");
if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
if (!document.querySelector("main")) faults.push("no main");
for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
  if (!field.labels.length && !field.ariaLabel) faults.push(`no label: ${field.name || field.className}`);
for (const element of document.querySelectorAll("button, a"))
  if (!element.textContent.trim() && !element.ariaLabel) faults.push("no name: " + element.outerHTML.slice(0, 60));
const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
if (new Set(ids).size !== ids.length) faults.push("an id twice");
const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (element) => {
  const layers = [];
  for (; element; element = element.parentElement) {
    const [r, g, b, alpha = 1] = parse(getComputedStyle(element).backgroundColor);
    layers.push([r, g, b, alpha]);
    if (alpha === 1) break;
  }
  const over = (below, [r, g, b, alpha]) => [r, g, b].map((v, i) => v * alpha + below[i] * (1 - alpha));
  return layers.reverse().reduce(over, [255, 255, 255]);
};
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = texts.nextNode(); node; node = texts.nextNode()) {
  const element = node.parentElement;
  if (!node.textContent.trim() || !element.checkVisibility()) continue;
  const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(ground(element))];
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(1)}: ${node.textContent.trim().slice(0, 30)}`);
}
return faults;
"#;

/// Looks at a page light and dark: nothing may be wrong with it, and nothing may be asked of another machine.
fn check(browser: &Browser, base: &str, name: &str) {
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        let faults = browser.run(FAULTS);
        assert_eq!(faults.as_array().map(Vec::len), Some(0), "{name}, {scheme}: {faults}");
        browser.screenshot(&picture(&format!("{name}-{scheme}")));
    }
    for message in browser.log("performance") {
        let event: Value = serde_json::from_str(&message).unwrap();
        let asked = event["message"]["params"]["request"]["url"].as_str().unwrap_or(base);
        // The browser's own pages (`chrome://`) are no other machine's.
        assert!(asked.starts_with(base) || !asked.starts_with("http"), "{name}: asked for {asked}");
    }
    // The browser asks for an icon by itself; a breach of the policy would be listed here too.
    let messages: Vec<String> =
        browser.log("browser").into_iter().filter(|line| !line.contains("favicon.ico")).collect();
    assert!(messages.is_empty(), "{name}: {messages:?}");
}

fn question(browser: &Browser) -> String {
    browser.text("p.query") + &browser.text(".choices")
}

/// Agrees to the text of the study, and gives a name.
fn join(browser: &Browser, name: &str) {
    assert_eq!(browser.text(".consent"), CONSENT);
    browser.click("#consent");
    browser.type_into("#name", name);
    browser.follow_click("form button");
}

/// The question that does not count.
fn practise(browser: &Browser, base: &str, name: &str) {
    assert!(browser.text("h1").contains("does not count"), "{}", browser.text("main"));
    check(browser, base, name);
    browser.follow_click(".choices li:nth-child(1) button");
    assert!(browser.text("main").contains("Yes: the word in the story is Anna"));
    browser.follow_click("a.button");
}

/// The first takes the test on a telephone, without a script, and stops after two questions; gives the address
/// to continue at.
fn begin_without_script(serving: &Serving) -> String {
    let phone = Browser::open(PHONE.0, PHONE.1, false);
    phone.go(&serving.studies[0]);
    assert_eq!(phone.text("h1"), "Noon");
    join(&phone, "Wren");
    practise(&phone, serving.base(), "practice-phone");
    let first = question(&phone);
    assert!(!phone.has(".undo"), "there is nothing to take back");
    // An answer is taken back for some seconds: the question is there again.
    phone.follow_click(".choices li:nth-child(1) button");
    assert_ne!(question(&phone), first);
    check(&phone, serving.base(), "test-undo-phone");
    phone.follow_click(".undo button");
    assert_eq!(question(&phone), first);
    assert!(!phone.has(".undo") && phone.text(".foot").contains("1 of 4"), "it was taken back");
    for _ in 0..2 {
        phone.follow_click(".choices li:nth-child(3) button");
    }
    assert_ne!(question(&phone), first);
    // Keys are the script's.
    phone.press("1");
    phone.follow_click(".foot a");
    assert!(phone.text("main").contains("2 of 4 questions are answered"), "{}", phone.text("main"));
    let address = phone.run("return document.querySelector('.address').value");
    phone.go(&serving.studies[0]);
    assert!(phone.text("main").contains("Welcome back, Wren"));
    address.as_str().unwrap().to_owned()
}

/// Then continues at a desk, by keys.
fn go_on_by_keys(base: &str, address: &str) {
    let desk = Browser::open(DESK.0, DESK.1, true);
    desk.go(address);
    assert!(desk.text(".foot").contains("3 of 4"), "{}", desk.text(".foot"));
    check(&desk, base, "test-query-desk");
    desk.follow_key("1");
    assert!(desk.text(".foot").contains("4 of 4"), "{}", desk.text(".foot"));
    desk.follow_key("0");
    assert!(desk.text("main").contains("Thank you, Wren"), "{}", desk.text("main"));
    check(&desk, base, "test-end-desk");
}

/// The second has the context to read, on a telephone with a script.
fn take_with_context(serving: &Serving) {
    let phone = Browser::open(PHONE.0, PHONE.1, true);
    phone.go(&serving.studies[0]);
    check(&phone, serving.base(), "join-phone");
    join(&phone, "Finch");
    practise(&phone, serving.base(), "practice-context-phone");
    assert!(phone.has("p.context"), "the second share is in the other mode");
    check(&phone, serving.base(), "test-context-phone");
    for _ in 0..4 {
        phone.follow_click(".choices li:nth-child(1) button");
    }
    let end = phone.text("main");
    assert!(
        end.contains("Thank you, Finch") && end.contains("Your completion code is NOON-7"),
        "{end}"
    );
    assert_eq!(
        phone.run("return document.querySelector('a.button').href"),
        "https://example.org/done"
    );
    assert_eq!(phone.run("return document.querySelectorAll('.solutions li b').length"), 4);
    check(&phone, serving.base(), "test-end-phone");
}

#[test]
fn a_short_test_is_taken_stopped_taken_up_ended_exported_and_evaluated() {
    if missing() {
        return;
    }
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("consent.txt"), CONSENT).unwrap();
    let settings = "--sample 1 --shared 1 --times 1 --annotators 2 --name Noon --consent consent.txt \
                    --completion-code NOON-7 --return-to https://example.org/done";
    make_study(folder.path(), settings);
    let serving = Serving::start(folder.path(), &["--study", "study.db", "tales"]);
    let address = begin_without_script(&serving);
    go_on_by_keys(serving.base(), &address);
    take_with_context(&serving);
    let run =
        |command: &str| goldilocks(folder.path(), &command.split_whitespace().collect::<Vec<_>>());
    assert_eq!(
        run("study export study.db -o people"),
        "exit 0\n4 answers in people/humans-query.jsonl\n4 answers in people/humans-context-query.jsonl\n"
    );
    let said = run("evaluate people/humans-context-query.jsonl --questions tales");
    assert!(said.contains("4 answers by 1 person") && said.contains("Finch"), "{said}");
    let said = run("report people/humans-context-query.jsonl --questions tales");
    assert!(said.contains("Humans (context+query)"), "{said}");
    let report = std::fs::read_to_string(folder.path().join("report/index.html")).unwrap();
    assert!(report.contains("4 answers by one person"), "the report mentions the people");
}

#[test]
fn a_study_is_made_and_watched_on_the_page() {
    if missing() {
        return;
    }
    let folder = TempDir::new().unwrap();
    make_study(folder.path(), "--sample 1 --annotators 6");
    let serving = Serving::start(folder.path(), &["--study", "study.db", "tales"]);
    let base = serving.base();
    let desk = Browser::open(DESK.0, DESK.1, true);
    desk.go(&format!("{base}/questions"));
    assert!(desk.text("main").contains("asks for the token"), "{}", desk.text("main"));
    desk.log("browser");
    desk.go(&serving.researcher);
    assert!(!desk.address().contains("token"), "{}", desk.address());
    desk.follow_click("nav a[href='/studies']");
    check(&desk, base, "studies-desk");
    desk.type_into("input[name=name]", "Tales at night");
    desk.type_into("input[name=sample]", "2");
    desk.follow_click(".form button");
    assert_eq!(desk.text("h1"), "Tales at night");
    assert!(desk.text("main").contains("Nobody has joined yet"));
    let address = desk.run("return document.querySelector('#address').value");
    let phone = Browser::open(PHONE.0, PHONE.1, true);
    phone.go(address.as_str().unwrap());
    phone.type_into("#name", "Lark");
    phone.follow_click("form button");
    practise(&phone, base, "practice-on-the-page");
    phone.follow_click(".choices button");
    desk.go(&desk.address());
    assert!(desk.text("table").contains("Lark"), "{}", desk.text("table"));
    check(&desk, base, "study-desk");
    desk.follow_click("a[href$='/results']");
    assert!(desk.text("main").contains("1 answer,"), "{}", desk.text("main"));
    check(&desk, base, "results-desk");
}

#[test]
fn questions_are_explored_by_keys_and_a_passage_is_pasted() {
    if missing() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let serving = Serving::start(folder.path(), &[]);
    let base = serving.base();
    for (name, (width, height)) in [("desk", DESK), ("phone", PHONE)] {
        let browser = Browser::open(width, height, true);
        browser.go(&serving.researcher);
        check(&browser, base, &format!("home-{name}"));
        browser.go(&format!("{base}/questions?class=NE&split=valid"));
        check(&browser, base, &format!("questions-{name}"));
        browser.follow_click(".questions a");
        assert!(browser.text("h1").starts_with("Named Entities"), "{}", browser.text("h1"));
        check(&browser, base, &format!("question-{name}"));
        let first = browser.address();
        browser.follow_key("\u{e014}");
        assert_ne!(browser.address(), first, "the right arrow opens the next question");
        browser.follow_key("\u{e012}");
        assert_eq!(browser.address(), first, "the left arrow goes back");
        // A window of the list lights up its box, under the pointer and with the focus.
        browser.point_at(".windows li");
        assert!(browser.comes(".box.lit"), "under the pointer");
        browser.point_at("h1");
        assert!(browser.goes(".box.lit"), "the pointer has left");
        browser.tab_to(".windows a");
        assert!(browser.comes(".box.lit"), "with the focus");
        browser.follow_key("\u{e013}");
        assert!(
            browser.address().contains("/questions?class=NE&split=valid"),
            "{}",
            browser.address()
        );
        browser.press("/");
        assert_eq!(browser.run("return document.activeElement.name"), "search");

        browser.go(&format!("{base}/own"));
        check(&browser, base, &format!("own-empty-{name}"));
        browser.type_into("textarea", "Anna gave the hen some corn. The hen looked at Peter, and Peter looked at the pond. Then Peter gave the corn to Anna, and the hen ran to the pond.");
        browser.follow_click(".paste button");
        browser.follow(|browser| {
            browser.run("[...document.querySelectorAll('button.word')].findLast((word) => word.textContent === 'hen').click()");
        });
        assert!(browser.text(".scores").contains("hen answer"), "{}", browser.text(".scores"));
        assert!(browser.has(".gap") && browser.has(".windows li"));
        check(&browser, base, &format!("own-{name}"));
    }
}
