//! What becomes of a full stop after a word: initials, acronyms and abbreviations keep it, and some of them
//! can end a sentence nevertheless.

use super::Scanner;

/// Abbreviations that something always follows, as they are written.
const TITLES: [&str; 46] = [
    "Adm", "Amb", "Atty", "Bldg", "Brig", "Capt", "Cmdr", "Col", "Comdr", "Cpl", "DR", "Dr", "Drs",
    "Fr", "Ft", "Gen", "Gov", "Hon", "Insp", "Lt", "MR", "MRS", "MS", "Maj", "Messrs", "Mlle",
    "Mme", "Mr", "Mrs", "Ms", "Mt", "Ph", "Pres", "Prof", "Pvt", "Rep", "Rev", "ST", "Sen", "Sgt",
    "St", "brig", "dr", "mr", "mrs", "vs",
];

/// Abbreviations that can end a sentence, as they are written: small letters make words of them (`ill`,
/// `miss`).
const PLACES: [&str; 39] = [
    "Ala", "Ariz", "Ark", "Ave", "Blvd", "Cal", "Calif", "Colo", "Conn", "Ct", "Dak", "Del", "Fla",
    "Ga", "Ill", "Ind", "Kans", "Ky", "La", "Mass", "Md", "Mich", "Minn", "Miss", "Mo", "Mont",
    "Neb", "Nev", "Okla", "Ore", "Pa", "Rd", "Tenn", "Tex", "Va", "Vt", "Wash", "Wis", "Wyo",
];

/// Abbreviations that can end a sentence, in any case: months, days, companies, what follows a name or a
/// list.
const ENDINGS: [&str; 35] = [
    "al", "apr", "assn", "aug", "bhd", "bros", "co", "corp", "dec", "dept", "esq", "etc", "feb",
    "fri", "inc", "jan", "jr", "jul", "jun", "ltd", "mar", "mon", "nov", "oct", "pte", "sep",
    "sept", "seq", "sr", "thu", "thurs", "tue", "tues", "univ", "wed",
];

/// Abbreviations in front of a number only, in any case.
const NUMBERED: [&str; 12] =
    ["app", "art", "ca", "ch", "ext", "fig", "no", "nos", "op", "p", "pp", "vol"];

/// Words that start a sentence after an initial or an acronym, when white space follows them.
const STARTERS: [&str; 56] = [
    "a", "about", "after", "although", "an", "as", "at", "both", "but", "did", "each", "first",
    "from", "he", "her", "here", "how", "however", "if", "in", "it", "its", "last", "many", "more",
    "most", "not", "now", "once", "one", "only", "other", "our", "over", "she", "since", "so",
    "some", "such", "that", "the", "their", "then", "there", "these", "they", "this", "under",
    "until", "we", "what", "when", "while", "why", "yet", "you",
];

impl Scanner<'_> {
    /// A full stop after an unbroken word: the end of the token if the full stop belongs to it.
    pub(super) fn full_stop(&mut self, start: usize, stop: usize) -> Option<usize> {
        let word = &self.text[start..stop];
        let after = stop + 1;
        let next = self.at(after);
        let is_in = |list: &[&str]| list.iter().any(|entry| word.eq_ignore_ascii_case(entry));
        if is_one_letter(word) {
            // An initial, or the `I` of a chapter or of `So do I`, which a starter distinguishes.
            // The letter takes the first of several dots: `I...` gives `I. . .`
            let end = if self.starter_follows(after) { stop } else { after };
            self.push(start, end);
            return Some(end);
        }
        if TITLES.contains(&word) {
            self.push(start, after);
            return Some(after);
        }
        if PLACES.contains(&word) || is_in(&ENDINGS) {
            self.push(start, after);
            if self.sentence_may_end(after) {
                self.push_as(".");
            }
            return Some(after);
        }
        if next.is_alphabetic() {
            // A web address, to Stanford's: `p1.jpg`, and `horrid.magic` as well.
            let end = self.dotted(after);
            self.push(start, end);
            return Some(end);
        }
        let keeps =
            matches!(next, ',' | ';' | ':') || is_in(&NUMBERED) && self.digit_follows(after);
        keeps.then(|| {
            self.push(start, after);
            after
        })
    }

    /// The end of words with single full stops between them.
    fn dotted(&self, start: usize) -> usize {
        let mut end = self.run(start, char::is_alphanumeric);
        while self.at(end) == '.' && self.at(end + 1).is_alphabetic() {
            end = self.run(end + 1, char::is_alphanumeric);
        }
        end
    }

    /// Two or more single letters with full stops between them (`P.S.`, `B.A`), or `Ph.D.`
    pub(super) fn acronym(&mut self, start: usize) -> Option<usize> {
        let first =
            if self.text[start..].starts_with("Ph.") { start + 2 } else { self.after(start) };
        let mut end = first;
        while self.at(end) == '.' && self.is_lone_letter(end + 1) {
            end = self.after(end + 1);
        }
        if end == first {
            return None;
        }
        let has_stop = self.at(end) == '.';
        end += usize::from(has_stop);
        self.push(start, end);
        if has_stop && self.starter_follows(end) {
            self.push_as(".");
        }
        Some(end)
    }

    fn is_lone_letter(&self, offset: usize) -> bool {
        self.at(offset).is_alphabetic() && !self.at(self.after(offset)).is_alphabetic()
    }

    /// Returns whether white space, a starter with a capital and white space again follow, or nothing more.
    fn starter_follows(&self, offset: usize) -> bool {
        let start = self.run(offset, char::is_whitespace);
        if start == self.text.len() {
            return true;
        }
        if start == offset || !self.at(start).is_ascii_uppercase() {
            return false;
        }
        const LONGEST: usize = 8;
        let letters = self.text.as_bytes()[start..].iter().take(LONGEST + 1);
        let end = start + letters.take_while(|byte| byte.is_ascii_alphabetic()).count();
        self.at(end).is_whitespace()
            && STARTERS.iter().any(|starter| self.text[start..end].eq_ignore_ascii_case(starter))
    }

    /// Returns whether an abbreviation can be the last word of its sentence: white space and a capital, or
    /// more white space, or nothing follows.
    fn sentence_may_end(&self, offset: usize) -> bool {
        let next = self.after(offset);
        offset == self.text.len()
            || self.at(offset).is_whitespace()
                && (next == self.text.len()
                    || self.at(next).is_whitespace()
                    || self.at(next).is_uppercase())
    }

    fn digit_follows(&self, offset: usize) -> bool {
        self.at(self.run(offset, char::is_whitespace)).is_ascii_digit()
    }
}

fn is_one_letter(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(char::is_alphabetic) && chars.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::super::tests::line;

    #[test]
    fn initials_keep_their_full_stop() {
        assert_eq!(line("A. B. Bear, Esq., and C."), "A. B. Bear , Esq. , and C .");
        assert_eq!(line("É. Ours, &c. more"), "É. Ours , & c. more");
    }

    #[test]
    fn an_initial_before_a_starter_ends_a_sentence() {
        assert_eq!(line("So do I. But"), "So do I. But");
        assert_eq!(line("So do I. But not"), "So do I . But not");
        assert_eq!(line("CHAPTER V. THE BEARS"), "CHAPTER V . THE BEARS");
        assert_eq!(line("So do I. That's all."), "So do I. That 's all .");
        assert_eq!(line("Mr. J. A. Bear"), "Mr. J. A. Bear");
    }

    #[test]
    fn a_letter_takes_the_first_of_three_dots() {
        assert_eq!(line("\"Nor I...\""), "`` Nor I. . . ''");
    }

    #[test]
    fn titles_keep_their_full_stop() {
        assert_eq!(line("Mr. and Mrs. Bear of St. Ives"), "Mr. and Mrs. Bear of St. Ives");
    }

    #[test]
    fn an_abbreviation_that_may_end_a_sentence_gives_a_second_full_stop() {
        assert_eq!(line("bowls, etc. She slept"), "bowls , etc. . She slept");
        assert_eq!(line("bowls, etc.\n\n\"I slept"), "bowls , etc. . `` I slept");
        assert_eq!(line("bowls, etc. and beds, etc.; Pa."), "bowls , etc. and beds , etc. ; Pa. .");
        assert_eq!(
            line("to wed. She to mar.\" He was ill. So"),
            "to wed. . She to mar. '' He was ill . So"
        );
    }

    #[test]
    fn numbered_things_keep_their_full_stop_before_a_number() {
        assert_eq!(line("No. 5, pp. 6-7. No. Never"), "No. 5 , pp. 6-7 . No . Never");
    }

    #[test]
    fn any_word_keeps_its_full_stop_before_a_comma() {
        assert_eq!(line("Bear II., the prep.; so"), "Bear II. , the prep. ; so");
    }

    #[test]
    fn words_with_a_full_stop_between_them_are_one() {
        assert_eq!(
            line("p1.jpg www.bears.example. A bowl.it fell"),
            "p1.jpg www.bears.example . A bowl.it fell"
        );
        assert_eq!(line("LL.D."), "LL.D .");
    }

    #[test]
    fn acronyms_are_one_token() {
        assert_eq!(
            line("P.S. On the U.S. and a B.A, Ph.D."),
            "P.S. On the U.S. and a B.A , Ph.D. ."
        );
        assert_eq!(line("in the P.S. The bear"), "in the P.S. . The bear");
        assert_eq!(line("A.B.Bear"), "A.B. Bear");
    }
}
