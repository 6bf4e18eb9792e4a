//! Networks that can look far back know a word that is only there; one that can't, doesn't.
//!
//! A tale names somebody, continues with other words, and asks for the name.

use goldilocks_neural::{
    Attention, Cloze, ClozeScorer, Initial, LexicalConfig, LexicalMemory, LstmConfig, LstmLm,
    Merge, Method, Result, Runs, Streams, Text, Trainer as _, Training, TrainingConfig,
};
use numerics::device::Cpu;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const END: u32 = 0;
const WHO: u32 = 1;
const NAMES: std::ops::Range<u32> = 2..8;
const WORDS: u32 = 20;

struct Tale {
    sentences: Vec<Vec<u32>>,
    name: u32,
}

fn tale(rng: &mut ChaCha8Rng) -> Tale {
    let mut below = |n: u32| rng.next_u32() % n;
    let name = NAMES.start + below(NAMES.len() as u32);
    let mut sentences = vec![vec![name]];
    for _ in 0..3 {
        sentences.push((0..4).map(|_| NAMES.end + below(WORDS - NAMES.end)).collect());
    }
    sentences.push(vec![WHO, name]);
    Tale { sentences, name }
}

fn tales(n: usize, seed: u64) -> Vec<Tale> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..n).map(|_| tale(&mut rng)).collect()
}

fn text(tales: &[Tale]) -> Text {
    let mut text = Text::new(END);
    tales.iter().for_each(|tale| text.push(tale.sentences.iter().map(|s| s.iter().copied())));
    text
}

/// Asks for the name, with all of the tale before it, and as a context.
fn question(tale: &Tale) -> Cloze {
    let beginning = &tale.sentences[..4];
    let before: Vec<u32> = beginning.iter().flat_map(|s| [&[END], &s[..]].concat()).collect();
    Cloze {
        context: before[1..].to_vec(),
        before: [&before[..], &[END, WHO]].concat(),
        candidates: NAMES.map(|name| vec![name]).collect(),
        after: vec![END],
    }
}

/// The share of names that are known.
fn accuracy(network: &impl ClozeScorer) -> Result<f64> {
    let tales = tales(200, 77);
    let questions: Vec<Cloze> = tales.iter().map(question).collect();
    let scores = network.score(&questions)?;
    let is_right = |(scores, tale): (&Vec<f64>, &Tale)| {
        let best = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        best.map(|best| NAMES.start + best as u32) == Some(tale.name)
    };
    let n_right = scores.iter().zip(&tales).filter(|&pair| is_right(pair)).count();
    Ok(n_right as f64 / 200.0)
}

/// Windows are so short that no gradient reaches back to the name.
fn lstm(attention: Option<Attention>, epochs: usize, seed: u64) -> Result<f64> {
    let config = LstmConfig {
        words: WORDS as usize,
        units: 24,
        attention,
        is_tied: false,
        initial: Initial::Uniform(0.2),
        dropout: 0.0,
    };
    let adam = TrainingConfig { method: Method::adam(0.0), clip: 10.0, seed };
    let network = LstmLm::new(config, None);
    let mut network = Training::new(&Cpu::<f32>::default(), network, adam)?;
    let text = text(&tales(800, 1));
    let streams = Streams::new(&text, 16, 5);
    for _ in 0..epochs {
        for number in 0..streams.len() {
            network.step(&streams.window_with_contexts(number, 20, 40), 0.01)?;
        }
    }
    accuracy(&network.into_answering())
}

#[test]
fn a_contextual_lstm_knows_what_a_plain_one_does_not() {
    let attention = |merge| Some(Attention { window: 1, merge });
    // From some first weights the attention never begins to look: then a second seed is tried.
    let knows = |attention: Option<Attention>, epochs| {
        [1, 2].into_iter().any(|seed| lstm(attention, epochs, seed).unwrap() > 0.95)
    };
    let plain = lstm(None, 20, 1).unwrap();
    assert!(plain < 0.5, "{plain}");
    assert!(knows(attention(Merge::Sum), 20));
    assert!(knows(attention(Merge::Concat), 40));
}

/// Remembers `memories` words; the name is 18 words back.
fn lexical(memories: usize, length: usize) -> Result<f64> {
    let config = LexicalConfig {
        words: WORDS as usize,
        dim: 24,
        memories,
        hops: 3,
        initial: Initial::Normal(0.1),
        dropout: 0.0,
    };
    let adam = TrainingConfig { method: Method::adam(0.0), clip: 50.0, seed: 4 };
    let network = LexicalMemory::new(config, None);
    let mut network = Training::new(&Cpu::<f32>::default(), network, adam)?;
    let text = text(&tales(800, 1));
    let places = Runs::places(&text, length);
    for _ in 0..6 {
        for batch in places.chunks(64 / length) {
            network.step(&Runs::of_text(&text, memories, length, batch), 0.01)?;
        }
    }
    accuracy(&network.into_answering())
}

#[test]
fn a_lexical_memory_knows_what_it_remembers() {
    let [long, single, short] =
        [(24, 8), (24, 1), (10, 8)].map(|(memories, length)| lexical(memories, length).unwrap());
    assert!(long > 0.95 && single > 0.95 && short < 0.4, "{long}, {single}; short: {short}");
}
