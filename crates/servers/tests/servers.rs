//! Every protocol against a language model in memory, and servers that do something wrong.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use base::Split;
use expect_test::expect;
use goldilocks_servers::testing::{Fake, Fault};
use goldilocks_servers::{
    CandidateScore, ChoiceOutcome, Error, FilledQuestion, Kind, Method, MultipleChoice, Probe,
    RequestOptions, Result, Scoring, ServerSettings, TextForm, probe, score_pieces,
};
use questions::{NewQuestion, QuestionSet};

const OPTIONS: RequestOptions = RequestOptions { slot: 0, may_cache: true };

fn set() -> QuestionSet {
    let mut set = QuestionSet::default();
    let context =
        ["The hen saw the fox .", "`` Do n't run , '' said the owl , and smiled in the café ."];
    for sentence in context {
        let words: Vec<_> = sentence.split(' ').map(|word| set.intern(word)).collect();
        set.push_sentence(words);
    }
    for query in ["Then the XXXXX ran away -- far away .", "XXXXX ran ."] {
        let query: Vec<_> = query.split(' ').map(|word| set.intern(word)).collect();
        let candidates: Vec<_> =
            ["hen", "fox", "owl", "café"].iter().map(|word| set.intern(word)).collect();
        let question = NewQuestion {
            context: 0..2,
            query: &query,
            candidates: &candidates,
            answer: Some(1),
            class: None,
            split: Some(Split::Test),
            book: None,
        };
        set.push(question).unwrap();
    }
    set
}

fn untrained(method: Method) -> ServerSettings {
    ServerSettings { method, untrained: true, ..ServerSettings::default() }
}

fn scores(fake: &Fake, method: Method, filled: &FilledQuestion) -> Result<Vec<CandidateScore>> {
    let Probe { protocol, .. } = probe(fake, &untrained(method), false)?;
    let (pieces, _) = protocol.expect("log-probabilities").score(fake, filled, OPTIONS)?;
    score_pieces(filled, &pieces)
}

#[test]
fn a_question_becomes_one_plain_text_per_candidate() {
    let set = set();
    let filled = FilledQuestion::new(&set.example(0).question, TextForm::Plain, 0);
    let expected = "The hen saw the fox. \"Don't run,\" said the owl, and smiled in the café. Then the fox ran away--far away.";
    assert_eq!(filled.texts[1], expected);
    assert_eq!(filled.texts[1][filled.candidates[1].clone()], *" fox");
    let cut = FilledQuestion::new(&set.example(0).question, TextForm::Tokens, 1);
    assert_eq!(
        cut.texts[0],
        "`` Do n't run , '' said the owl , and smiled in the café . Then the hen ran away -- far away ."
    );
    let alone = FilledQuestion::new(&set.example(1).question, TextForm::Plain, 2);
    assert_eq!(alone.texts[2], "\nowl ran.");
    assert_ne!(alone.key(), cut.key());
}

#[test]
fn all_protocols_give_the_same_scores() {
    let set = set();
    for (index, n_cut) in [(0, 0), (0, 2), (1, 0), (1, 2)] {
        let filled = FilledQuestion::new(&set.example(index).question, TextForm::Plain, n_cut);
        for has_bos in [true, false] {
            let ways = [
                (Kind::LlamaServer, Method::Forced),
                (Kind::Vllm, Method::Echo),
                (Kind::OpenAiLike, Method::Auto),
                (Kind::Vllm, Method::PromptLogprobs),
                (Kind::Sglang, Method::Spans),
            ];
            let all: Vec<Vec<CandidateScore>> = ways
                .iter()
                .map(|&(kind, method)| {
                    scores(&Fake { has_bos, ..Fake::new(kind) }, method, &filled).unwrap()
                })
                .collect();
            for other in &all[1..] {
                for (one, other) in all[0].iter().zip(other) {
                    assert!((one.query - other.query).abs() < 1e-9, "{one:?} {other:?}");
                    assert_eq!(one.n_tokens, other.n_tokens);
                }
            }
            // The candidate is a part of the query.
            assert!(all[0].iter().all(|score| score.query < score.candidate));
        }
    }
}

#[test]
fn the_score_is_the_probability_of_the_text_less_a_constant() {
    let set = set();
    let fake = Fake::new(Kind::Vllm);
    let filled = FilledQuestion::new(&set.example(0).question, TextForm::Plain, 0);
    let protocol = probe(&fake, &untrained(Method::Echo), false).unwrap().protocol.unwrap();
    let (pieces, _) = protocol.score(&fake, &filled, OPTIONS).unwrap();
    let whole = |place: usize| pieces[place].iter().filter_map(|piece| piece.log_prob).sum::<f64>();
    let scores = score_pieces(&filled, &pieces).unwrap();
    for place in 1..4 {
        let (texts, tails) = (whole(place) - whole(0), scores[place].query - scores[0].query);
        assert!((texts - tails).abs() < 1e-9);
    }
}

fn refusal(kind: Kind, method: Method, fault: Fault) -> String {
    let fake = Fake::with(kind, fault);
    let result = probe(&fake, &untrained(method), false);
    let n_requests = fake.n_requests.load(std::sync::atomic::Ordering::SeqCst);
    assert!(n_requests <= 50, "{fault:?} was found after {n_requests} requests");
    match result {
        Ok(_) => panic!("{kind:?} {fault:?} was not refused"),
        Err(error) => format!("{kind:?} {fault:?}: {error}\n"),
    }
}

#[test]
fn each_misbehaviour_is_refused_with_the_sentence_that_says_why() {
    let mut text = String::new();
    for fault in [
        Fault::EchoIgnored,
        Fault::ChatForm,
        Fault::OneShort,
        Fault::DoubledBos,
        Fault::Shifted,
        Fault::NotANumber,
        Fault::Floor,
        Fault::ErrorWithStatus200,
        Fault::Truncates,
        Fault::Permutes,
        Fault::Noisy,
        Fault::NotJson,
    ] {
        text += &refusal(Kind::OpenAiLike, Method::Echo, fault);
    }
    for fault in [
        Fault::OneShort,
        Fault::DoubledBos,
        Fault::NotForced,
        Fault::Floor,
        Fault::NotANumber,
        Fault::Noisy,
    ] {
        text += &refusal(Kind::LlamaServer, Method::Forced, fault);
    }
    for fault in [Fault::OneShort, Fault::Floor] {
        text += &refusal(Kind::Sglang, Method::Spans, fault);
    }
    for fault in [Fault::Truncates, Fault::ChatForm, Fault::DoubledBos] {
        text += &refusal(Kind::Vllm, Method::PromptLogprobs, fault);
    }
    expect![[r#"
        OpenAiLike EchoIgnored: the server ignores `echo`: expected the log-probability of each token of a text of 36 characters, found 1
        OpenAiLike ChatForm: the server returns log-probabilities in the form of a chat (`content`): those of generated tokens, not of the text that was sent
        OpenAiLike OneShort: the server returned 15 log-probabilities for 16 tokens
        OpenAiLike DoubledBos: the server puts its first token `<s>` before the text twice
        OpenAiLike Shifted: the log-probability of the same token is -0.520 when it is generated and -0.915 when it is given: the server's list is shifted, or belongs to another text
        OpenAiLike NotANumber: /v1/completions: expected JSON with finite numbers, found "NaN"
        OpenAiLike Floor: the log-probability of ` we` is -9999: expected a finite number above -9000
        OpenAiLike ErrorWithStatus200: /v1/completions: the server answered 200: out of memory
        OpenAiLike Truncates: the server's tokens are not those of the text that was sent: expected `one two three four five six seven we`, found `ree four five six seven we th`
        OpenAiLike Permutes: the server's tokens are not those of the text that was sent: expected `one two three four five six seven eight.`, found `<s>one two three four five six seven che…`
        OpenAiLike Noisy: the same question gets scores that differ by 33.00 nats when it is asked again
        OpenAiLike NotJson: /v1/completions: expected JSON with finite numbers, found "<html>"
        LlamaServer OneShort: /completion: expected the log-probability of a generated token, found {"content":" we","tokens":[52459365],"completion_probabilities":[],"timings":{"cache_n":13,"prompt_n":1,"predicted_n":1}}
        LlamaServer DoubledBos: the server puts its first token `<s>` before the text twice
        LlamaServer NotForced: the server generated other tokens than those that it was forced to: expected [52454761, 57108596, 302], found [52459365, 52458600, 52458600]
        LlamaServer Floor: the log-probability of ` we` is -9999: expected a finite number above -9000
        LlamaServer NotANumber: /completion: expected JSON with finite numbers, found "NaN"
        LlamaServer Noisy: the same question gets scores that differ by 132.00 nats when it is asked again
        Sglang OneShort: the server returned 1 log-probabilities for 2 tokens
        Sglang Floor: the log-probability of ` we` is -9999: expected a finite number above -9000
        Vllm Truncates: the server returned 10 log-probabilities for 15 tokens
        Vllm ChatForm: the server returns log-probabilities in the form of a chat (`content`): those of generated tokens, not of the text that was sent
        Vllm DoubledBos: the server puts its first token `<s>` before the text twice
    "#]].assert_eq(&text);
}

#[test]
fn a_model_without_sense_is_refused_unless_that_is_meant() {
    for fault in [None, Some(Fault::AllEqual)] {
        let fake = Fake { fault, ..Fake::new(Kind::LlamaServer) };
        let error = probe(&fake, &ServerSettings::default(), false).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::NoSense { .. }), "{error}");
        assert!(error.remedy().unwrap().to_string().contains("untrained"));
    }
}

#[test]
fn servers_without_log_probabilities_are_named() {
    for kind in [Kind::Ollama, Kind::Anthropic] {
        let settings = ServerSettings { name: Some("m".to_owned()), ..ServerSettings::default() };
        let error =
            probe(&Fake::new(kind), &settings, kind == Kind::Anthropic).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::NoLogProbs { .. }), "{error}");
    }
}

#[test]
fn a_chat_chooses_by_letters_that_are_shuffled_by_the_seed() {
    let set = set();
    let question = set.example(0).question;
    let mut chosen = std::collections::BTreeSet::new();
    for kind in [Kind::OpenAiLike, Kind::Anthropic] {
        let settings = ServerSettings {
            scoring: Scoring::Choice,
            name: Some("m".into()),
            ..ServerSettings::default()
        };
        let fake = Fake::new(kind);
        let server = probe(&fake, &settings, kind == Kind::Anthropic).unwrap().server;
        for seed in 0..20 {
            let (replies, usage) =
                MultipleChoice::new(&server, seed, 1).ask(&fake, &question, 0).unwrap();
            assert_eq!((replies[0].letter, usage.requests), (Some('B'), 1));
            let ChoiceOutcome::Candidate(place) = replies[0].chosen else { panic!("{replies:?}") };
            chosen.insert(place);
        }
        // Four orders, each letter at another candidate.
        let (replies, _) = MultipleChoice::new(&server, 1, 4).ask(&fake, &question, 0).unwrap();
        let places: std::collections::BTreeSet<String> =
            replies.iter().map(|reply| format!("{:?}", reply.chosen)).collect();
        assert_eq!(places.len(), 4);
        let odd = Fake { reply: "I'm sorry, I can't.", ..Fake::new(kind) };
        assert_eq!(
            MultipleChoice::new(&server, 1, 1).ask(&odd, &question, 0).unwrap().0[0].chosen,
            ChoiceOutcome::Refused
        );
        let odd = Fake { reply: "hmm", ..Fake::new(kind) };
        assert_eq!(
            MultipleChoice::new(&server, 1, 1).ask(&odd, &question, 0).unwrap().0[0].chosen,
            ChoiceOutcome::Unparsable
        );
    }
    assert_eq!(chosen.len(), 4);
}

#[test]
fn settings_are_read_and_wrong_ones_named() {
    let mut settings = ServerSettings::default();
    for text in [
        "scoring=choice",
        "method=prompt-logprobs",
        "text=tokens",
        "rotations=3",
        "untrained=true",
        "name=x",
    ] {
        settings.set(text).unwrap();
    }
    assert_eq!((settings.rotations, settings.method), (3, Method::PromptLogprobs));
    let error = settings.set("scoring=best").unwrap_err().to_string();
    assert_eq!(error, "malformed setting `scoring=best`: expected query, candidate or choice");
    assert!(settings.set("colour=red").is_err());
    assert!(settings.set("rotations=0").is_err());
}
