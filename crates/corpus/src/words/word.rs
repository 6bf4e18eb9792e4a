//! Tokens that start with a letter or a digit: words, their hyphens and apostrophes, and numbers.

use super::{SOFT_HYPHEN, Scanner, is_apostrophe};

/// Two words grown together, the first of which has three letters.
// Chosen: `dunno` stays whole, as in the released text; later versions of Stanford's give `du n no`.
const GROWN_TOGETHER: [&str; 6] = ["cannot", "gonna", "gotta", "gimme", "lemme", "wanna"];

/// Words that keep an apostrophe at their end.
const OPEN_ENDED: [&str; 3] = ["ol", "somethin", "dunkin"];

/// Words that keep an apostrophe inside although no rule says so: what comes before it and after it.
const KEPT: [(&str, &str); 5] =
    [("e", "er"), ("li", "l"), ("nat", "l"), ("c", "mon"), ("nor", "easter")];

impl Scanner<'_> {
    pub(super) fn word(&mut self, start: usize) -> usize {
        if let Some(end) = self.acronym(start) {
            return end;
        }
        let end = self.unbroken(start);
        let next = self.at(end);
        if is_apostrophe(next) {
            return self.word_with_apostrophe(start, end);
        }
        if next == '-' && self.at(end + 1).is_alphanumeric() {
            return self.hyphenated(start, end);
        }
        if next == '.'
            && let Some(end) = self.full_stop(start, end)
        {
            return end;
        }
        if next == '!' && self.text[start..end].eq_ignore_ascii_case("e") {
            // `e!` is one token everywhere: the name of a television channel.
            self.push(start, end + 1);
            return end + 1;
        }
        self.push_whole(start, end);
        end
    }

    /// The end of a stretch of letters and digits with what joins them: `_`, `/`, `&` between capitals
    /// (`R&B`) and entities (`na&iuml;ve`).
    fn unbroken(&self, start: usize) -> usize {
        let mut end = start;
        loop {
            end = self.run(end, |c| c.is_alphanumeric() || is_part_of_letter(c));
            match self.at(end) {
                '_' if self.at(end + 1).is_alphanumeric() => end += 1,
                '/' if self.at(end + 1).is_alphabetic() => end += 1,
                '&' if self.before(end).is_uppercase() && self.at(end + 1).is_uppercase() => {
                    end += 1;
                }
                '&' => match self.entity(end) {
                    Some(after) => end = after,
                    None => return end,
                },
                _ => return end,
            }
        }
    }

    /// The end of an entity such as `&eacute;`.
    fn entity(&self, start: usize) -> Option<usize> {
        const LONGEST: usize = 10;
        let name = self.text.as_bytes()[start + 1..].iter().take(LONGEST);
        let length = name.take_while(|byte| byte.is_ascii_alphabetic()).count();
        let end = start + 1 + length;
        (length > 1 && self.at(end) == ';').then_some(end + 1)
    }

    /// A word without hyphen or apostrophe: whole, or split if it is two that have grown together.
    fn push_whole(&mut self, start: usize, end: usize) {
        let word = &self.text[start..end];
        if GROWN_TOGETHER.iter().any(|grown| word.eq_ignore_ascii_case(grown)) {
            self.push(start, start + 3);
            self.push(start + 3, end);
        } else {
            self.push(start, end);
        }
    }

    /// Unless a word keeps its apostrophe, it ends there and the rules for apostrophes continue.
    fn word_with_apostrophe(&mut self, start: usize, apostrophe: usize) -> usize {
        let tail = self.after(apostrophe);
        let word = &self.text[start..apostrophe];
        let is_not = self.reads(apostrophe - 1, "n") && self.reads(tail, "t");
        let end = if is_not && word.len() > 1 {
            // `could|n't`, whatever follows: `Gran'ther` gives `Gra n'ther`.
            apostrophe - 1
        } else if is_not && !self.at(tail + 1).is_alphabetic() {
            tail + 1
        } else if word.eq_ignore_ascii_case("cap") && self.at(tail) == 'n' {
            // `cap'n`, whatever follows: `cap'ns` gives `cap'n s`.
            tail + 1
        } else if self.clitic(apostrophe).is_some() {
            apostrophe
        } else if OPEN_ENDED.iter().any(|open| word.eq_ignore_ascii_case(open)) {
            tail
        } else if self.keeps_apostrophe(start, apostrophe) {
            // `T'ain't` gives `T'ain ' t`: no clitic is looked for in what follows.
            let end = self.run(tail, char::is_alphabetic);
            // Only after one letter does a word continue over hyphens: `o'er-kind`, but `ne'er - do-well`.
            let is_one_letter = word.len() == self.before(apostrophe).len_utf8();
            if is_one_letter && self.at(end) == '-' {
                return self.hyphenated(start, end);
            }
            end
        } else {
            self.push_whole(start, apostrophe);
            return apostrophe;
        };
        self.push(start, end);
        end
    }

    /// Returns whether the apostrophe after a word belongs to it: `o'clock`, `O'Hara`, `ma'am`.
    fn keeps_apostrophe(&self, start: usize, apostrophe: usize) -> bool {
        let word = &self.text[start..apostrophe];
        let tail = self.after(apostrophe);
        let first = self.at(tail);
        if !first.is_alphabetic() {
            return false;
        }
        let two_follow = self.at(self.after(tail)).is_alphabetic();
        let last = self.before(apostrophe);
        if word.len() == last.len_utf8() {
            // One letter: French articles, `o'clock`, `n'est`, and any capital but those of `I'll` and
            // `Y'all`.
            if matches!(last, 'd' | 'j' | 'l' | 'D' | 'J' | 'L') {
                return true;
            }
            if two_follow
                && (matches!(last, 'n' | 'o') || last.is_uppercase() && !matches!(last, 'I' | 'Y'))
            {
                return true;
            }
        } else if is_vowel(last)
            && (matches!(first, 'a' | 'e' | 'i' | 'o' | 'u') || first.is_uppercase())
        {
            // Two vowels: `ma'am`, `ne'er`; or a vowel and any capital: `HA'NTED`.
            return true;
        }
        KEPT.iter().any(|(head, rest)| {
            word.eq_ignore_ascii_case(head)
                && self.reads(tail, rest)
                && !self.at(tail + rest.len()).is_alphabetic()
        })
    }

    /// A first part, then `-` and more at `end`. A hyphenated word has no full-stop rules and no `n't`:
    /// `d-don't` gives `d-don ' t`. It keeps the apostrophe of `tam-o'shanter`.
    fn hyphenated(&mut self, start: usize, mut end: usize) -> usize {
        let mut part = start;
        while self.at(end) == '-' && self.at(end + 1).is_alphanumeric() {
            part = end + 1;
            end = self.unbroken(part);
        }
        if is_apostrophe(self.at(end)) && self.text[part..end].eq_ignore_ascii_case("o") {
            let tail = self.after(end);
            let tail_end = self.run(tail, char::is_alphabetic);
            if self.text[tail..tail_end].chars().nth(1).is_some() {
                end = tail_end;
            }
        }
        self.push(start, end);
        end
    }

    /// Digits and letters, joined by `,` `.` `:` `/` between digits and by `-` or `_`: `1,000`, `7:30`,
    /// `1871-72`, `6_s`.
    pub(super) fn number(&mut self, start: usize) -> usize {
        let end = self.number_end(start);
        self.push(start, end);
        end
    }

    /// Where the number ends that starts here or continues here.
    pub(super) fn number_end(&self, start: usize) -> usize {
        let mut end = self.run(start, |c| c.is_alphanumeric() || c == SOFT_HYPHEN);
        loop {
            let joins = match self.at(end) {
                ',' | '.' | ':' | '/' => {
                    self.before(end).is_ascii_digit() && self.at(end + 1).is_ascii_digit()
                }
                '-' | '_' => self.at(end + 1).is_alphanumeric(),
                _ => false,
            };
            if !joins {
                return end;
            }
            end = self.run(end + 1, |c| c.is_alphanumeric() || c == SOFT_HYPHEN);
        }
    }
}

/// Combining accents, and soft hyphens, which vanish from the token.
fn is_part_of_letter(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | SOFT_HYPHEN)
}

fn is_vowel(c: char) -> bool {
    matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

#[cfg(test)]
mod tests {
    use super::super::tests::line;

    #[test]
    fn words_grown_together_are_taken_apart() {
        assert_eq!(line("I cannot. Gimme! I dunno"), "I can not . Gim me ! I dunno");
        assert_eq!(line("'I cannot'"), "' I can not '");
    }

    #[test]
    fn not_is_cut_off_with_its_n() {
        assert_eq!(line("couldn't DON’T did n't"), "could n't DO N'T did n't");
        assert_eq!(line("Gran'ther"), "Gra n'ther");
        assert_eq!(line("d-don't go, T'ain't"), "d-don ' t go , T'ain ' t");
    }

    #[test]
    fn some_words_keep_their_apostrophe() {
        assert_eq!(line("o'clock O'Hara's d'ye ma'am"), "o'clock O'Hara 's d'ye ma'am");
        assert_eq!(line("ne'er HA'NTED e'er li'l"), "ne'er HA'NTED e'er li'l");
        assert_eq!(line("ol' man, somethin' good"), "ol' man , somethin' good");
        assert_eq!(line("Cap'n, cap'ns"), "Cap'n , cap'n s");
    }

    #[test]
    fn other_words_are_cut_at_their_apostrophe() {
        assert_eq!(line("s'pose S'pose y'see o't"), "s ` pose S'pose y ` see o ' t");
        assert_eq!(line("goin' home"), "goin ' home");
    }

    #[test]
    fn hyphens_join_unless_an_apostrophe_came_before() {
        assert_eq!(line("three-legged mother-in-law's"), "three-legged mother-in-law 's");
        assert_eq!(line("ne'er-do-well, child's-play"), "ne'er - do-well , child 's - play");
        assert_eq!(line("o'er-kind"), "o'er-kind");
        assert_eq!(line("tam-o'shanter will-o'-the-wisp"), "tam-o'shanter will-o ' - the-wisp");
    }

    #[test]
    fn some_marks_join() {
        assert_eq!(
            line("mis_understood R&B na&iuml;ve and/or _so_"),
            "mis_understood R&B na&iuml;ve and/or _ so _"
        );
        assert_eq!(line("a&b; &c &amp"), "a & b ; & c & amp");
    }

    #[test]
    fn a_lone_e_takes_the_mark() {
        assert_eq!(line("Whe--e! Oh!"), "Whe -- e! Oh !");
    }

    #[test]
    fn numbers_stay_whole() {
        assert_eq!(
            line("1,000, 7:30. 1871-72; 5th 6_s 1/2"),
            "1,000 , 7:30 . 1871-72 ; 5th 6_s 1/2"
        );
        assert_eq!(line("1860's 5' 3.87"), "1860 's 5 ' 3.87");
    }
}
