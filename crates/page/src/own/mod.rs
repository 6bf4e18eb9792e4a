//! A passage of one's own: text → paragraphs of words, some of which can be hidden → a question (§2).

mod passage;
mod printed;

pub use passage::Passage;

/// The longest passage in bytes.
pub const LONGEST: usize = 32 * 1024;

/// How much of a tale the example shows, in bytes.
const EXAMPLE: usize = 2_200;

/// A passage to try: the beginning of a tale that no shipped model has learnt from.
pub fn example() -> String {
    let tales = corpus::tales::TALES;
    let tale = tales.iter().find(|tale| tale.name == "the_whale_on_the_tide_clock.txt");
    let text = tale.map_or("", |tale| tale.text);
    let mut passage = String::new();
    // Titles have no sentence.
    for paragraph in text.split("\n\n").filter(|paragraph| paragraph.contains(". ")) {
        if passage.len() + paragraph.len() > EXAMPLE {
            break;
        }
        passage += paragraph.trim();
        passage += "\n\n";
    }
    passage.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_some_paragraphs_with_words_to_hide() {
        let example = example();
        assert!(example.matches("\n\n").count() > 2, "{example}");
        let passage = Passage::of(&example);
        assert!(passage.askable().iter().map(|words| words.len()).sum::<usize>() > 20);
    }
}
