//! A study from its making to its table, over real connections and without a script.

use crate::Limits;
use crate::client::{Reply, Served, Visitor, served, served_in_a_moment, unanswered};
use crate::study::{self, Mode};

/// Answers until the end or until `n` questions are done; returns how many there were.
fn answer(visitor: &mut Visitor, at_most: usize) -> usize {
    for n in 0..at_most {
        let shown = visitor.get("/test");
        if !shown.body.contains("name=\"choice\"") {
            return n;
        }
        assert_eq!(visitor.choose(&shown, "0").header("location"), Some("/test"));
    }
    at_most
}

fn address_of(reply: &Reply) -> String {
    format!("/return/{}", reply.after("/return/"))
}

fn made(served: &Served) -> (Visitor, String) {
    let mut researcher = served.researcher();
    let seal = researcher.get("/studies").field("seal");
    let fields = [
        ("seal", &*seal),
        ("name", "Bears"),
        ("sample", "2"),
        ("annotators", "4"),
        ("shared", "1"),
        ("times", "2"),
        ("modes", "both"),
    ];
    let made = researcher.post("/studies", &fields);
    assert_eq!(made.header("location"), Some("/studies/1"));
    let page = researcher.get("/studies/1");
    let code = page.after("/study/");
    (researcher, code)
}

#[test]
fn a_study_is_made_taken_stopped_taken_up_ended_and_exported() {
    let served = served(Limits::default());
    let (mut researcher, code) = made(&served);
    let mut wren = served.visitor();
    wren.join(&code, "  Wren   Small ");
    assert_eq!(answer(&mut wren, 2), 2);
    let stopped = wren.get("/test/pause");
    assert!(stopped.body.contains("2 of 6 questions"), "{}", stopped.body);
    // On another device, with the address alone.
    let mut elsewhere = served.visitor();
    assert_eq!(elsewhere.get(&address_of(&stopped)).status, 303);
    assert_eq!(answer(&mut elsewhere, 99), 4);
    let end = wren.get("/test");
    assert!(end.body.contains("Wren Small") && end.body.contains("of 6"), "{}", end.body);
    for name in ["Finch", "Lark", "Rook"] {
        let mut visitor = served.visitor();
        visitor.join(&code, name);
        assert_eq!(answer(&mut visitor, 99), 6, "{name}");
    }
    // All shares are given out.
    let mut late = served.visitor();
    assert!(late.join(&code, "Heron").body.contains("no more questions for you"));
    let study = study::study(served.store(), 1).unwrap();
    let by_mode = study::by_mode(served.store(), &study).unwrap();
    // Two of each class, one of them answered twice: 12 answers to 8 questions in each mode.
    let sizes: Vec<_> = by_mode.iter().map(|(m, p)| (*m, p.len(), p.people().len())).collect();
    assert_eq!(sizes, [(Mode::Query, 8, 12), (Mode::ContextQuery, 8, 12)]);
    for (mode, predictions) in &by_mode {
        let file = researcher.get(&format!("/studies/1/export/{}", mode.file()));
        assert_eq!(file.body, predictions.to_text());
        let results = evaluation::evaluate(predictions).unwrap().remove(0);
        // Everybody chose the first word, which is the answer of the first class alone.
        assert_eq!(results.classes.all.accuracy, 0.25);
        let people = results.people.unwrap();
        let agreement = people.agreement.unwrap();
        assert_eq!((agreement.questions, agreement.pairs, agreement.kappa), (4, 4, 1.0));
        assert!(people.median_seconds > 0.0);
    }
    let results = researcher.get("/studies/1/results").body;
    assert!(results.contains("On 4 shared questions 1.000 of 4 pairs agree"), "{results}");
}

#[test]
fn an_answer_can_be_taken_back_for_some_seconds_until_the_end_shows_all() {
    let served = served_in_a_moment();
    let (_, code) = made(&served);
    let mut wren = served.visitor();
    wren.join(&code, "Wren");
    let first = wren.get("/test");
    assert!(!first.body.contains("/test/undo"), "{}", first.body);
    wren.choose(&first, "0");
    let second = wren.get("/test");
    let undo = second.body.split("action=\"/test/undo\"").nth(1).unwrap();
    let value = |name: &str| {
        let rest = undo.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let (item, seal) = (value("item"), value("seal"));
    assert_eq!(wren.post("/test/undo", &[("item", &item), ("seal", "forged")]).status, 403);
    assert_eq!(served.count("answer"), 1);
    let back = wren.post("/test/undo", &[("item", &item), ("seal", &seal)]);
    assert_eq!(back.header("location"), Some("/test"));
    assert_eq!(served.count("answer"), 0);
    assert_eq!(wren.get("/test").field("item"), first.field("item"));
    assert_eq!(answer(&mut wren, 99), 6);
    // The end shows the answers, and takes none back.
    let end = wren.get("/test").body;
    assert_eq!(end.matches("✓ <b>").count() + end.matches("✗ you chose").count(), 6, "{end}");
    wren.post("/test/undo", &[("item", &item), ("seal", &seal)]);
    assert_eq!(served.count("answer"), 6);
}

#[test]
fn consent_practice_attention_checks_and_the_completion_code_come_in_their_places() {
    let served = served(Limits::default());
    let mut researcher = served.researcher();
    let seal = researcher.get("/studies").field("seal");
    let fields = [
        ("seal", &*seal),
        ("sample", "2"),
        ("annotators", "2"),
        ("shared", "0"),
        ("modes", "context-query"),
        ("consent", "We keep <nothing> else."),
        ("practice", "yes"),
        ("check_every", "3"),
        ("completion_code", "C1A2"),
        ("return_to", "https://platform.example/done?x=1"),
    ];
    researcher.post("/studies", &fields);
    let code = researcher.get("/studies/1").after("/study/");
    let mut wren = served.visitor();
    let welcome = wren.get(&format!("/study/{code}?name=W%2217"));
    assert!(welcome.body.contains("We keep &lt;nothing&gt; else."), "{}", welcome.body);
    assert!(welcome.body.contains("value=\"W&quot;17\""), "{}", welcome.body);
    assert!(wren.join(&code, "Wren").body.contains("please agree"));
    assert_eq!(served.count("annotator"), 0);
    let seal = welcome.field("seal");
    let form = [("name", "Wren"), ("seal", &*seal), ("consent", "yes")];
    let joined = wren.post(&format!("/study/{code}"), &form);
    assert_eq!(joined.header("location"), Some("/test/practice"));
    assert!(wren.get("/test/practice").body.contains("this answer does not count"));
    let solved = wren.post("/test/practice", &[("choice", "2")]).body;
    assert!(
        solved.contains("You chose <i>Peter</i>; the word in the story is <b>Anna</b>"),
        "{solved}"
    );
    assert_eq!(wren.post("/test/practice", &[("choice", "10")]).status, 400);
    assert_eq!(served.count("answer"), 0);
    // Four questions, a check after the third.
    assert_eq!(answer(&mut wren, 3), 3);
    let check = wren.get("/test");
    assert!(check.body.contains("please choose the word"), "{}", check.body);
    let (number, seal) = (check.field("number"), check.field("seal"));
    let wanted = check.body.split("the word <b>").nth(1).unwrap().split('<').next().unwrap();
    let before = check.body.split(&format!("<span>{wanted}</span>")).next().unwrap();
    let choice = before.rsplit("value=\"").next().unwrap().split('"').next().unwrap().to_owned();
    let form = |seal: &str, choice: &str| {
        [("number", number.clone()), ("choice", choice.to_owned()), ("seal", seal.to_owned())]
    };
    let send = |visitor: &mut Visitor, form: [(&str, String); 3]| {
        let fields = form.each_ref().map(|(name, value)| (*name, value.as_str()));
        visitor.post("/test/check", &fields).status
    };
    assert_eq!(send(&mut wren, form("forged", &choice)), 403);
    assert_eq!(send(&mut wren, form(&seal, &choice)), 303);
    // A second answer changes nothing.
    assert_eq!(send(&mut wren, form(&seal, "99")), 303);
    assert_eq!(answer(&mut wren, 99), 1);
    let end = wren.get("/test").body;
    assert!(end.contains("C1A2") && end.contains("platform.example"), "{end}");
    assert!(researcher.get("/studies/1").body.contains("<td>1 of 1</td>"));
}

#[test]
fn a_name_is_given_once_and_a_browser_joins_once() {
    let served = served(Limits::default());
    let (_, code) = made(&served);
    let mut wren = served.visitor();
    wren.join(&code, "Wren");
    assert!(served.visitor().join(&code, "wren").body.contains("Somebody has that name"));
    for name in ["", "   ", &"x".repeat(61), "a\u{7}b"] {
        assert!(served.visitor().join(&code, name).body.contains("1 to 60 characters"), "{name}");
    }
    let again = wren.get(&format!("/study/{code}"));
    assert!(again.body.contains("Welcome back, Wren"), "{}", again.body);
    assert_eq!(served.count("annotator"), 1);
}

#[test]
fn nobody_gets_a_question_in_both_modes_even_in_two_studies() {
    let served = served(Limits::default());
    let mut researcher = served.researcher();
    let seal = researcher.get("/studies").field("seal");
    let mut study = |modes: &str, annotators: &str| {
        let fields =
            [("sample", "2"), ("shared", "0"), ("modes", modes), ("annotators", annotators)];
        let made = researcher.post("/studies", &[&fields[..], &[("seal", &*seal)]].concat());
        researcher.get(made.header("location").unwrap()).after("/study/")
    };
    // The same questions, shared out in the same way.
    let [query, context] = ["query", "context-query"].map(|modes| study(modes, "2"));
    let status = |code: &str, name: &str| served.visitor().join(code, name).status;
    assert_eq!([status(&query, "Wren"), status(&query, "Finch")], [303, 303]);
    // Each gets the other's share.
    assert_eq!([status(&context, "wren"), status(&context, "FINCH")], [303, 303]);
    let twice = "SELECT count(*) FROM annotator JOIN item USING (share)
                 JOIN annotator AS again ON again.name = annotator.name AND again.id > annotator.id
                 JOIN item AS other ON other.share = again.share
                 WHERE other.question_id = item.question_id";
    let twice: i64 = served
        .store()
        .read(|connection| connection.query_row(twice, [], |row| row.get(0)))
        .unwrap();
    assert_eq!(twice, 0);
    // Everything in the other mode is for somebody else.
    let all = study("context-query", "1");
    assert!(served.visitor().join(&all, "Wren").body.contains("no more questions for you"));
    assert_eq!(served.visitor().join(&all, "Rook").status, 303);
}

#[test]
fn whoever_joins_another_study_is_told_how_to_go_on_with_the_first() {
    let served = served(Limits::default());
    let [first, second] = Mode::ALL.map(|mode| served.study(mode));
    let mut visitor = served.visitor();
    assert!(!visitor.get(&format!("/study/{first}")).body.contains("elsewhere"));
    visitor.join(&first, "Wren");
    let back = address_of(&visitor.get(&format!("/study/{second}")));
    visitor.join(&second, "Lark");
    assert!(visitor.get("/test/pause").body.contains("Lark"));
    assert_eq!(visitor.get(&back).status, 303);
    assert!(visitor.get("/test/pause").body.contains("Wren"));
}

#[test]
fn a_closed_study_takes_no_answers_until_it_is_opened_again() {
    let served = served(Limits::default());
    let (mut researcher, code) = made(&served);
    let mut wren = served.visitor();
    wren.join(&code, "Wren");
    let shown = wren.get("/test");
    let seal = researcher.get("/studies").field("seal");
    researcher.post("/studies/1", &[("seal", &seal), ("action", "close")]);
    wren.choose(&shown, "0");
    assert_eq!(served.count("answer"), 0);
    assert!(wren.get("/test").body.contains("The study has been closed"));
    assert!(served.visitor().get(&format!("/study/{code}")).body.contains("The study is closed"));
    researcher.post("/studies/1", &[("seal", &seal), ("action", "open")]);
    wren.choose(&shown, "0");
    assert_eq!(served.count("answer"), 1);
}

#[test]
fn what_somebody_leaves_can_be_given_to_somebody_else() {
    let served = served(Limits::default());
    let (mut researcher, code) = made(&served);
    for name in ["Wren", "Finch", "Lark", "Rook"] {
        let mut visitor = served.visitor();
        visitor.join(&code, name);
        answer(&mut visitor, if name == "Wren" { 1 } else { 99 });
    }
    let page = researcher.get("/studies/1");
    let (seal, annotator) = (page.field("seal"), page.field("annotator"));
    let release = [("seal", &*seal), ("annotator", &*annotator), ("action", "release")];
    researcher.post("/studies/1", &release);
    // A second time there is nothing left to give.
    researcher.post("/studies/1", &release);
    assert_eq!(served.count("share"), 5);
    let mut heron = served.visitor();
    assert_eq!(heron.join(&code, "Heron").status, 303);
    assert_eq!(answer(&mut heron, 99), 5);
    assert_eq!(served.count("answer"), served.count("item"));
}

#[test]
fn questions_are_explored_with_their_ranks_and_windows() {
    let served = served(Limits::default());
    let mut researcher = served.researcher();
    let list = researcher.get("/questions?class=V");
    assert!(list.body.contains("4 questions"), "{}", list.body);
    let id = &served.site.catalogue.sets[0].ids[6];
    assert!(list.body.contains(&format!("/questions/{id}?class=V")));
    let page = researcher.get(&format!("/questions/{id}?class=V"));
    for part in [
        "Verbs",
        "bear6",
        "class=\"answer\"",
        "What word-distance looked at",
        "rel=\"next\"",
        "rel=\"prev\"",
    ] {
        assert!(page.body.contains(part), "{part} in {}", page.body);
    }
    let count = |query: &str| {
        let body = researcher.get(&format!("/questions?{query}")).body;
        let n = body.split("role=\"status\">").nth(1).unwrap().split(' ').next().unwrap();
        n.parse::<usize>().unwrap()
    };
    let mut count = count;
    assert_eq!(count("right=word-distance") + count("wrong=word-distance"), 16);
    assert_eq!(researcher.get("/questions/0000000000000000").status, 404);
}

#[test]
fn a_pasted_passage_is_blanked_and_answered() {
    let served = served(Limits::default());
    let mut researcher = served.researcher();
    let seal = researcher.get("/own").field("seal");
    let text = "Anna gave the hen some corn. The hen looked at Peter, and Peter looked at Anna. Then the hen ate the corn.";
    let words = researcher.post("/own", &[("seal", &seal), ("text", text)]);
    assert!(words.body.contains("Click an underlined word to hide it."), "{}", words.body);
    let gap = words.body.split("class=\"word\">hen<").next().unwrap();
    let gap = gap.rsplit("value=\"").next().unwrap().split('"').next().unwrap();
    let answered = researcher.post("/own", &[("seal", &seal), ("text", text), ("gap", gap)]);
    assert!(answered.body.contains("hen <span class=\"tag\">answer</span>"), "{}", answered.body);
    assert!(answered.body.contains("What word-distance looked at"));
    // The passage is there once, and can be clicked on.
    assert_eq!(answered.body.matches("<p class=\"story").count(), 1, "{}", answered.body);
    assert_eq!(answered.body.matches("class=\"gap\"").count(), 1);
    assert!(answered.body.contains("class=\"word\">Peter<"));
}

#[test]
fn the_first_page_shows_accuracies_and_an_example_can_be_tried() {
    let served = served(Limits::default());
    let mut researcher = served.researcher();
    let home = researcher.get("/").body;
    for part in ["Accuracy on bears, test questions", "n = 4", "Named Entities", "word-distance"] {
        assert!(home.contains(part), "{part} in {home}");
    }
    // A figure leads to what the model has wrong.
    let query = "set=bears&amp;class=V&amp;split=test&amp;wrong=word-distance";
    assert!(home.contains(query), "{home}");
    let example = researcher.get("/own?example=1").body;
    assert!(example.contains("class=\"word\""), "{example}");
    assert!(example.matches("<p class=\"story\">").count() > 2, "it keeps its paragraphs");
}

#[test]
fn without_a_model_the_first_page_says_how_to_have_one() {
    let home = unanswered().visitor().get("/").body;
    assert!(home.contains("start the page with <code>--models</code>"), "{home}");
    assert!(
        home.contains("16 questions from 1 book.") && !home.contains("looked at.</a>"),
        "{home}"
    );
}

#[test]
fn a_chip_asks_for_right_then_wrong_then_either() {
    let served = served(Limits::default());
    let mut researcher = served.researcher();
    let mut chip = |query: &str| {
        let body = researcher.get(&format!("/questions?{query}")).body;
        let chip = body.split("class=\"chip ").nth(1).unwrap().to_owned();
        chip.split("</a>").next().unwrap().to_owned()
    };
    assert!(chip("class=V").starts_with("any\" href=\"/questions?class=V&amp;right=word-distance"));
    assert!(
        chip("right=word-distance").starts_with("right\" href=\"/questions?wrong=word-distance")
    );
    assert!(chip("wrong=word-distance").starts_with("wrong\" href=\"/questions?\""));
}
