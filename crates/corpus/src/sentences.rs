//! Tokens → sentences, as Stanford's splitter cut the released CBT text (§2).
//!
//! A sentence ends with `.` or a token of `!` and `?`, and takes the closing quotation marks and brackets
//! that follow. Line ends and empty lines end nothing: a heading without a full stop belongs to the sentence
//! after it (`paragraphs.rs` is for books that are read otherwise). A quotation that ends in `!` or `?` ends its sentence even where `said the bear` continues it.

use std::borrow::Cow;

use crate::words;

/// A text as sentences of tokens, as CBT files have them.
///
/// ```
/// let sentences = goldilocks_corpus::tokenise("\"Who's there?\" said the bear. Nobody was.");
/// assert_eq!(sentences[0].join(" "), "`` Who 's there ? ''");
/// assert_eq!(sentences[1].join(" "), "said the bear .");
/// assert_eq!(sentences.len(), 3);
/// ```
pub fn tokenise(text: &str) -> Vec<Vec<String>> {
    let tokens = words::tokens(text);
    let mut sentences = Vec::new();
    let mut rest = tokens.as_slice();
    while !rest.is_empty() {
        let (sentence, after) = rest.split_at(sentence_end(rest));
        rest = after;
        // The `_` of `_italics_` are tokens until here: one between `.` and `''` keeps the mark for the next
        // sentence.
        let words = sentence.iter().filter(|token| *token != "_");
        let words: Vec<String> = words.map(|token| token.clone().into_owned()).collect();
        if !words.is_empty() {
            sentences.push(words);
        }
    }
    sentences
}

/// How many of the tokens belong to the first sentence.
fn sentence_end(tokens: &[Cow<'_, str>]) -> usize {
    let Some(end) = tokens.iter().position(|token| is_end(token)) else {
        return tokens.len();
    };
    // Differs: in the released text `! '' ? '` are two sentences, the one time that marks follow each other
    // so; with later versions of Stanford's, as here, they are one.
    let more = tokens[end..].iter().take_while(|token| is_end(token) || closes(token));
    end + more.count()
}

fn is_end(token: &str) -> bool {
    token == "." || token.bytes().all(|byte| matches!(byte, b'!' | b'?'))
}

fn closes(token: &str) -> bool {
    matches!(token, "''" | "'" | "-RRB-" | "-RSB-" | "-RCB-")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str) -> Vec<String> {
        tokenise(text).iter().map(|sentence| sentence.join(" ")).collect()
    }

    #[test]
    fn closing_marks_belong_to_the_sentence_that_they_close() {
        assert_eq!(lines("(\"So!\") He slept."), ["-LRB- `` So ! '' -RRB-", "He slept ."]);
    }

    #[test]
    fn marks_in_a_row_end_one_sentence() {
        assert_eq!(lines("Oh.. What?! \"No!\". Yes"), ["Oh . .", "What ?!", "`` No ! '' .", "Yes"]);
    }

    #[test]
    fn an_ellipsis_or_a_new_paragraph_ends_nothing() {
        assert_eq!(lines("THE BEARS\n\nOnce... there were"), ["THE BEARS Once ... there were"]);
    }

    #[test]
    fn an_abbreviation_can_end_a_sentence() {
        assert_eq!(lines("Bowls, etc. Mr. Bear slept."), ["Bowls , etc. .", "Mr. Bear slept ."]);
    }

    #[test]
    fn underscores_vanish_after_the_split() {
        assert_eq!(lines("_\"Oh_, _no!_\" He"), ["`` Oh , no !", "'' He"]);
        assert_eq!(lines("_Me._ _ ____"), ["Me .", "____"]);
    }

    #[test]
    fn a_text_without_words_has_no_sentences() {
        assert!(tokenise("").is_empty());
        assert!(tokenise(" \n_ ").is_empty());
    }

    proptest! {
        #[test]
        fn sentences_hold_all_tokens_but_underscores(text in "[a-c.!?'\"_ )]{0,40}") {
            let tokens: Vec<String> =
                words::tokens(&text).into_iter().map(Cow::into_owned).filter(|token| token != "_").collect();
            prop_assert_eq!(tokenise(&text).concat(), tokens);
        }
    }
}
