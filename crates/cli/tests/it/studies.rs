//! `goldilocks study` and `serve` as a script uses them, and what they say when they can't.

use expect_test::expect;
use tempfile::TempDir;

use crate::run::goldilocks;
use crate::serving::Serving;

#[test]
fn what_cannot_be_drawn_shared_out_or_exported_is_told() {
    let folder = TempDir::new().unwrap();
    goldilocks(folder.path(), &["build", "-o", "tales"]);
    let run = |command: &str| {
        let said = goldilocks(folder.path(), &command.split_whitespace().collect::<Vec<_>>());
        format!("$ {command}\n{said}")
    };
    let said = [
        run("study export study.db -o people"),
        run("study create study.db tales --annotators 3"),
        run("study create study.db tales --sample 200"),
        run("study export study.db -o people"),
        run("study create study.db tales --sample 2 --annotators 6 --seed 3"),
        run("study export study.db -o people"),
        run("study create study.db tales --mode query --sample 2 --annotators 4"),
        run("study export study.db -o people"),
        run("study export study.db -o people --id 7"),
        run("serve tales --study tales/manifest.toml --port 0"),
    ];
    expect![[r#"
        $ study export study.db -o people
        exit 1
        error: study.db: no such file or folder
        hint: check the spelling of the name
        $ study create study.db tales --annotators 3
        exit 1
        error: annotators: expected from 6 to 10,000 in 2 modes, found 3
        hint: each annotator answers a shared question once: ask for more annotators, or share fewer questions
        $ study create study.db tales --sample 200
        exit 1
        error: Common Nouns: expected 200 questions, found 155
        hint: draw fewer of each class with `--sample 155`
        $ study export study.db -o people
        exit 1
        error: study.db: no such file or folder
        hint: check the spelling of the name
        $ study create study.db tales --sample 2 --annotators 6 --seed 3
        exit 0
        study 1 in study.db: 8 questions for 6 annotators, 8 to 8 each
        $ study export study.db -o people
        exit 1
        error: study.db: no answers yet
        hint: `goldilocks serve --study FILE` prints the address to give to annotators
        $ study create study.db tales --mode query --sample 2 --annotators 4
        exit 0
        study 2 in study.db: 8 questions for 4 annotators, 6 to 6 each
        $ study export study.db -o people
        exit 1
        error: study: study.db: expected one study, found 1, 2; `--id N` names one
        $ study export study.db -o people --id 7
        exit 1
        error: study.db: no study 7
        $ serve tales --study tales/manifest.toml --port 0
        exit 1
        error: tales/manifest.toml: file is not a database
    "#]]
    .assert_eq(&said.concat());
}

/// The status of an address for somebody who has nothing but the address.
fn status(address: &str) -> u16 {
    let config = ureq::Agent::config_builder().max_redirects(0).http_status_as_error(false);
    let agent: ureq::Agent = config.build().into();
    agent.get(address).call().unwrap().status().as_u16()
}

#[test]
fn a_token_is_asked_for_wherever_others_could_come() {
    let folder = TempDir::new().unwrap();
    let here = Serving::start(folder.path(), &[]);
    assert_eq!(status(&here.researcher), 200);
    let listening = Serving::start(folder.path(), &["--listen", "0.0.0.0"]);
    let page = listening.base().replace("0.0.0.0", "127.0.0.1");
    for path in ["/", "/questions", "/own"] {
        assert_eq!(status(&format!("{page}{path}")), 303, "{path} leads to the door");
    }
    assert_eq!(status(&listening.researcher.replace("0.0.0.0", "127.0.0.1")), 303);
    let short = folder.path().join("token");
    std::fs::write(&short, "guess me").unwrap();
    let said = goldilocks(folder.path(), &["serve", "--token-file", "token", "--port", "0"]);
    assert_eq!(said, "exit 1\nerror: token: token: expected 20 characters or more\n");
}
