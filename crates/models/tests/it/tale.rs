//! A set in the manner of the Children's Book Test, small enough to train any model in a test.

use questions::{BLANK, BookText, NewQuestion, QuestionSet, Split, WordClass};

const TRAIN: &str = "\
Pim the hedgehog lived under the mill with his sister Tuva .
Every morning the miller Brun came down the stairs with a lamp .
`` Good morning , Pim , '' said Brun , and put a dish of milk on the step .
Pim drank the milk and Tuva ate the crumbs .
One day the crow Odda flew over the mill with a letter in her beak .
Odda dropped the letter into the dish .
`` Bother , '' said Odda , `` now the letter is wet . ''
Pim took the letter under the stairs and dried it by the lamp .
Tuva could read , and she read the letter to Pim .
The letter was from the queen of the river .
The queen asked for a lamp , for it was dark in the river .
`` We have no lamp , '' said Tuva , `` but Brun has one . ''
So Pim went to Brun and asked for the lamp .
Brun was asleep on a sack with his boots on .
Pim pulled at the boots and Brun woke .
`` Take the lamp , Pim , '' said Brun , `` but bring it back . ''
Odda carried the lamp in her beak and Pim ran behind her .
Tuva stayed at the mill with Brun and the dish of milk .
At the river the queen sat on a stone in the reeds .
The queen was a frog , and her crown was a buttercup .
Odda put the lamp on the stone and the river was bright .
`` Thank you , Odda , '' said the queen , `` and thank you , Pim . ''
Pim saw a boat in the reeds , and in the boat was a drum .
`` Whose drum is that ? '' said Pim to the queen .
`` It is Brun 's drum , '' said the queen , `` he lost it in the flood . ''
In the evening Pim and Odda pushed the boat down the river to the mill .
The drum lay in the boat , and Odda sat on the drum .
Tuva saw the boat from the step and called Brun .
Brun came down the stairs with his boots in his hand .
`` My drum ! '' said Brun , and he took the drum out of the boat .
Brun beat the drum all night , and Tuva danced on the step with Odda .
Pim could not sleep , so he drank the milk that Tuva had left .
With the morning came a letter from the queen .
Tuva read the letter to Pim and to Odda .
The queen asked them to bring the drum to the river , for the lamp was bright but it was quiet in the reeds .
Brun put the drum into the boat and Odda sat on the drum .
Pim and Tuva pushed the boat with a stick .
At the river Brun beat the drum and the queen danced on the stone with her crown on .
Odda held the lamp over the stone and Pim ate crumbs in the boat .
`` Now it is neither dark nor quiet , '' said the queen to Brun .
Brun gave the queen his lamp , and the queen gave Brun a dish of silver for the milk .
With the dish on his knees Brun sat in the boat , and Odda slept on the drum .
Tuva and Pim pushed the boat down the river to the mill under the stars .";

const VALID: &str = "\
In the town there was a clock that the boy Jesper wound every evening .
Jesper had a goat called Malin , and Malin ate hay on the roof .
One evening Malin ate the key of the clock with the hay .
`` Where is the key ? '' said Jesper to the baker Dora .
Dora looked in the oven and under the bread .
`` The key is not in the oven , '' said Dora , and gave Jesper some bread .
Jesper gave the bread to Malin , for Malin looked unhappy .
The clock stopped , and the town was quiet .
Dora did not know when to take the bread out of the oven .
The bread burned , and Dora threw the bread at the clock .
Malin came down from the roof and ate the burned bread .
Then Malin coughed , and the key flew out of Malin and onto the roof .
`` The key ! '' said Jesper , and climbed onto the roof in his socks .
With the key in his hand Jesper ran to the clock .
Jesper wound the clock and Dora put new bread into the oven .
Malin went back to the hay on the roof with a piece of bread .
In the evening Dora came with bread for Jesper and hay for Malin .
`` Keep the key in your socks , '' said Dora to Jesper .";

const TEST: &str = "\
The whale Orm lived in the bay and sang every night .
On the shore stood the house of Ylva , and Ylva could not sleep for the song .
Ylva went to the shore with a horn and blew the horn at Orm .
Orm thought that the horn was a whale and sang all the more .
The gull Fitch sat on the house and laughed at Ylva .
`` Give the horn to me , '' said Fitch , `` and I will teach Orm to be quiet . ''
Ylva gave the horn to Fitch and went into the house .
Fitch flew over the bay with the horn and dropped the horn on Orm .
Orm took the horn in his mouth and could not sing for the horn .
The bay was quiet , and Ylva slept in the house on the shore .
In the morning Ylva missed the song of Orm .
`` Fitch , '' said Ylva , `` fetch the horn from Orm again . ''
With a laugh Fitch flew over the bay to Orm .
Orm gave the horn to Fitch and sang a song for Ylva .
On the shore Ylva blew the horn to the song of Orm .
Fitch sat on the house with her head under her wing and could not sleep .";

const NAMES: &[&str] =
    &["Pim", "Tuva", "Brun", "Odda", "Jesper", "Malin", "Dora", "Orm", "Ylva", "Fitch"];
const NOUNS: &[&str] = &[
    "letter", "lamp", "milk", "dish", "drum", "boat", "river", "queen", "mill", "stone", "reeds",
    "stairs", "step", "boots", "crumbs", "clock", "key", "bread", "oven", "hay", "roof", "socks",
    "horn", "bay", "shore", "house", "song", "whale",
];
const PREPOSITIONS: &[&str] = &["with", "With", "in", "In", "on", "On", "under", "over", "to"];

/// Questions with ten sentences of context about the names, nouns and prepositions of three tales.
pub fn set() -> QuestionSet {
    let mut set = QuestionSet::default();
    for (split, tale) in [(Split::Train, TRAIN), (Split::Valid, VALID), (Split::Test, TEST)] {
        let first = set.n_sentences();
        for line in tale.lines() {
            let words: Vec<_> = line.split(' ').map(|word| set.intern(word)).collect();
            set.push_sentence(words);
        }
        let sentences = first..set.n_sentences();
        let name = split.code().to_owned();
        let book = set.push_book(BookText { name, split: Some(split), sentences });
        for query in first + 10..set.n_sentences() {
            let classes = [WordClass::NamedEntity, WordClass::CommonNoun, WordClass::Preposition];
            for (class, words) in classes.into_iter().zip([NAMES, NOUNS, PREPOSITIONS]) {
                ask(&mut set, query, words, (class, split, book));
            }
        }
    }
    set
}

/// One question for each word of a class in a sentence that has another of that class before it.
fn ask(set: &mut QuestionSet, query: usize, words: &[&str], origin: (WordClass, Split, usize)) {
    let (class, split, book) = origin;
    let context = query - 10..query;
    let known: Vec<_> = words.iter().filter_map(|word| set.vocabulary().get(word)).collect();
    let asked = set.sentence(query).to_vec();
    let stands_in = |word, sentences: &[usize]| {
        sentences.iter().any(|&sentence| set.sentence(sentence).contains(&word))
    };
    let sentences: Vec<usize> = context.clone().collect();
    let mut candidates = known;
    candidates.retain(|&word| stands_in(word, &sentences));
    candidates.truncate(10);
    let answers: Vec<usize> =
        (0..candidates.len()).filter(|&place| asked.contains(&candidates[place])).collect();
    if candidates.len() < 3 {
        return;
    }
    for answer in answers {
        let mut query = asked.clone();
        let blank = query.iter().position(|&word| word == candidates[answer]);
        query[blank.expect("the answer is in the query")] = BLANK;
        set.push(NewQuestion {
            context: context.clone(),
            query: &query,
            candidates: &candidates,
            answer: Some(answer),
            class: Some(class),
            split: Some(split),
            book: Some(book),
        });
    }
}

#[test]
fn the_tale_has_questions_of_all_splits_and_case_twins_among_its_candidates() {
    let set = set();
    let counts = Split::ALL.map(|split| set.of_split(split).len());
    assert!(counts[0] > 80 && counts[1] > 15 && counts[2] > 10, "{counts:?}");
    let twins = |words: &[corpus::WordId]| {
        let word = |name| set.vocabulary().get(name).expect("it is in the tale");
        words.contains(&word("with")) && words.contains(&word("With"))
    };
    assert!(set.examples().any(|example| twins(example.question.candidates)));
}
