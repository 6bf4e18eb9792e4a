//! Tokens that start with an apostrophe: clipped words (`'em`), clitics (`'ll`), and single quotation marks.

use super::{Scanner, is_apostrophe};

/// Clipped words that are taken only when no letter follows.
const CLIPPED: [&str; 3] = ["cause", "till", "til"];

impl Scanner<'_> {
    pub(super) fn apostrophe(&mut self, start: usize) -> usize {
        let next = self.after(start);
        let found = self
            .it_is(next)
            .or_else(|| self.them(next))
            .or_else(|| self.clipped(next))
            .or_else(|| self.and(next))
            .or_else(|| self.years(next))
            .or_else(|| self.clitic(start));
        if let Some(end) = found {
            self.push(start, end);
            return end;
        }
        if is_apostrophe(self.at(next)) {
            self.push_as("''");
            return self.after(next);
        }
        self.push_as(if self.opens(start, next) { "`" } else { "'" });
        next
    }

    /// `'t|is` and `'t|was`, whatever follows: Stanford's takes `'tist` apart as well.
    fn it_is(&self, next: usize) -> Option<usize> {
        (self.reads(next, "tis") || self.reads(next, "twas")).then_some(next + 1)
    }

    /// `'em`, whatever follows: `'Emil` gives `'Em il`.
    fn them(&self, next: usize) -> Option<usize> {
        self.reads(next, "em").then_some(next + 2)
    }

    fn clipped(&self, next: usize) -> Option<usize> {
        let word = CLIPPED
            .iter()
            .find(|word| self.reads(next, word) && !self.at(next + word.len()).is_alphabetic())?;
        Some(next + word.len())
    }

    /// `'n` and `'n'`, in small letters only: `sha'n't` gives `sha 'n' t`.
    fn and(&self, next: usize) -> Option<usize> {
        let end = next + 1;
        match self.at(next) {
            'n' if is_apostrophe(self.at(end)) => Some(self.after(end)),
            'n' if !self.at(end).is_alphabetic() => Some(end),
            _ => None,
        }
    }

    /// `'90s` and, before white space only, `'76`.
    fn years(&self, next: usize) -> Option<usize> {
        let digits = self.run(next, |c| c.is_ascii_digit()) - next;
        let end = next + 2;
        if digits != 2 {
            return None;
        }
        if self.at(end) == 's' && self.at(next + 1) == '0' && !self.at(end + 1).is_alphabetic() {
            return Some(end + 1);
        }
        self.at(end).is_whitespace().then_some(end)
    }

    /// The end of `'s` `'m` `'d` `'ll` `'re` `'ve`, in either case, where an apostrophe starts one and no
    /// letter follows.
    pub(super) fn clitic(&self, start: usize) -> Option<usize> {
        let next = self.after(start);
        let length = match self.at(next).to_ascii_lowercase() {
            's' | 'm' | 'd' => 1,
            'l' if self.reads(next, "ll") => 2,
            'r' if self.reads(next, "re") => 2,
            'v' if self.reads(next, "ve") => 2,
            _ => return None,
        };
        let end = next + length;
        (!self.at(end).is_alphabetic()).then_some(end)
    }

    /// Returns whether an apostrophe opens a quotation: Stanford's asks for a letter and something after it,
    /// whatever comes before. So `'I am` opens none, and the apostrophe of `gen'leman` does.
    fn opens(&self, start: usize, next: usize) -> bool {
        let second = next + 1;
        self.at(start) == '\''
            && self.at(next).is_ascii_alphabetic()
            && second < self.text.len()
            && !self.at(second).is_whitespace()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::line;

    #[test]
    fn it_is_and_it_was_are_taken_apart() {
        assert_eq!(line("'Tis so, 'twas so, ’tis"), "'T is so , 't was so , 't is");
        assert_eq!(line("if 'tisn't so"), "if 't is n't so");
        assert_eq!(line("'twere better"), "` twere better");
    }

    #[test]
    fn them_is_found_even_in_front_of_more_letters() {
        assert_eq!(line("eat 'em! 'Emma"), "eat 'em ! 'Em ma");
    }

    #[test]
    fn clipped_words_are_whole() {
        assert_eq!(line("'Cause I wait 'till ten 'til"), "'Cause I wait 'till ten 'til");
        assert_eq!(line("'tills"), "` tills");
    }

    #[test]
    fn a_clipped_and_has_small_letters() {
        assert_eq!(line("hotter'n soup 'n' bread"), "hotter 'n soup 'n' bread");
        assert_eq!(line("I sha'n't"), "I sha 'n' t");
        assert_eq!(line("BO'S'N!"), "BO 'S ` N !");
    }

    #[test]
    fn years_are_whole_before_white_space() {
        assert_eq!(line("in '76 or the '90s"), "in '76 or the '90s");
        assert_eq!(line("in '76, '765 "), "in ' 76 , ' 765");
    }

    #[test]
    fn clitics_are_cut_off() {
        assert_eq!(
            line("she's I'm he'd we'll you're I’ve BEAR'S"),
            "she 's I 'm he 'd we 'll you 're I 've BEAR 'S"
        );
        assert_eq!(line("'d 'dare"), "'d ` dare");
    }

    #[test]
    fn a_quotation_opens_before_a_letter_that_is_not_alone() {
        assert_eq!(line("'Hush,' he said. 'I know.'"), "` Hush , ' he said . ' I know . '");
        assert_eq!(line("a gen'leman's"), "a gen ` leman 's");
        assert_eq!(line("the bears' beds, ''soft''"), "the bears ' beds , '' soft ''");
    }
}
