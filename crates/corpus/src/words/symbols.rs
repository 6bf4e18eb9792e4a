//! Tokens that start with neither letter, digit nor apostrophe: quotation marks, dashes, dots, brackets and
//! the rest.

use super::Scanner;

impl Scanner<'_> {
    pub(super) fn symbol(&mut self, start: usize) -> usize {
        let first = self.at(start);
        let next = self.after(start);
        let replacement = match first {
            '"' => return self.double_quote(next),
            '.' => return self.dots(start),
            '-' => return self.hyphens(start),
            '`' => return self.backquotes(next),
            '–' | '—' | '―' | '‒' | '\u{96}' | '\u{97}' => {
                self.push_as("--");
                return self.run(next, |c| c == first);
            }
            '!' | '?' => return self.push_run(start, |c| matches!(c, '!' | '?')),
            '*' | '_' | '~' => return self.push_run(start, |c| c == first),
            ':' if matches!(self.at(next), ']' | ')') => {
                // A smiling face, to Stanford's: `[Illustration:]`.
                self.push(start, next + 1);
                return next + 1;
            }
            '“' | '„' | '«' => "``",
            '”' | '»' => "''",
            '‘' | '‛' => "`",
            '…' => "...",
            '(' => "-LRB-",
            ')' => "-RRB-",
            '[' => "-LSB-",
            ']' => "-RSB-",
            '{' => "-LCB-",
            '}' => "-RCB-",
            '£' => "#",
            _ => return self.push_run(start, |_| false),
        };
        self.push_as(replacement);
        next
    }

    /// Pushes the first character and the run of such characters after it.
    fn push_run(&mut self, start: usize, belongs: impl Fn(char) -> bool) -> usize {
        let end = self.run(self.after(start), belongs);
        self.push(start, end);
        end
    }

    /// `"` opens before a letter, a digit or `$`, whatever comes before it: `"_So` and `"'Tis` have closing
    /// marks.
    fn double_quote(&mut self, next: usize) -> usize {
        let opens = self.at(next).is_alphanumeric() || self.at(next) == '$';
        self.push_as(if opens { "``" } else { "''" });
        next
    }

    fn backquotes(&mut self, next: usize) -> usize {
        let is_double = self.at(next) == '`';
        self.push_as(if is_double { "``" } else { "`" });
        next + usize::from(is_double)
    }

    /// One hyphen, `--` for two to four of them, more as they are. After white space one may be a minus.
    fn hyphens(&mut self, start: usize) -> usize {
        const LONGEST_DASH: usize = 4;
        let end = self.run(start, |c| c == '-');
        let is_first = start == 0 || self.before(start).is_whitespace();
        match end - start {
            1 if is_first && self.at(end).is_ascii_digit() => {
                let number_end = self.number_end(end);
                self.push(start, number_end);
                return number_end;
            }
            2..=LONGEST_DASH => self.push_as("--"),
            _ => self.push(start, end),
        }
        end
    }

    /// `.5`, an ellipsis, or one full stop.
    fn dots(&mut self, start: usize) -> usize {
        if self.at(start + 1).is_ascii_digit() && !self.before(start).is_alphanumeric() {
            let end = self.number_end(start + 1);
            self.push(start, end);
            return end;
        }
        let (end, dots) = self.ellipsis(start);
        if dots < 3 {
            self.push_as(".");
            return start + 1;
        }
        self.push_as("...");
        let next = self.run(end, char::is_whitespace);
        if dots > 3 && next > end && self.at(next).is_uppercase() {
            // One dot of four is the full stop, if a sentence can start after it.
            self.push_as(".");
        }
        end
    }

    /// The end and the number of dots that touch each other or have one space between them each.
    // Differs: the released text takes five at a time, which only a row of leaders shows; later versions of
    // Stanford's take them all.
    fn ellipsis(&self, start: usize) -> (usize, usize) {
        let adjacent = self.run(start, |c| c == '.');
        if adjacent > start + 1 {
            return (adjacent, adjacent - start);
        }
        let (mut end, mut dots) = (adjacent, 1);
        while matches!(self.at(end), ' ' | '\u{a0}') {
            let next = self.after(end);
            if self.at(next) != '.' {
                break;
            }
            end = next + 1;
            dots += 1;
        }
        (end, dots)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::line;

    #[test]
    fn double_quotes_look_forward_only() {
        assert_eq!(line("\"Oh!\" \"5\" said\"$5\""), "`` Oh ! '' `` 5 '' said `` $ 5 ''");
        assert_eq!(line("\"_So_ \"'Tis \"--"), "'' _ So _ '' 'T is '' --");
    }

    #[test]
    fn typographic_quotes_become_treebank_quotes() {
        assert_eq!(line("“Oh,” ‘so,’ «ici» ``old''"), "`` Oh , '' ` so , ' `` ici '' `` old ''");
    }

    #[test]
    fn dashes_have_two_hyphens() {
        assert_eq!(line("a--b---c----d"), "a -- b -- c -- d");
        assert_eq!(line("a—b – c——d ------"), "a -- b -- c -- d ------");
    }

    #[test]
    fn a_hyphen_before_a_number_is_a_minus_after_white_space() {
        assert_eq!(line("at -5 degrees - 5"), "at -5 degrees - 5");
        assert_eq!(line("(-5)"), "-LRB- - 5 -RRB-");
    }

    #[test]
    fn three_dots_or_more_are_an_ellipsis() {
        assert_eq!(
            line("so... she... No. . . well … . . . . . 9"),
            "so ... she ... No ... well ... ... 9"
        );
        assert_eq!(line("home.. .then"), "home . . . then");
    }

    #[test]
    fn the_last_of_four_dots_ends_a_sentence_before_a_capital() {
        assert_eq!(line("asleep.... She"), "asleep ... . She");
        assert_eq!(line("asleep. . . .\nShe"), "asleep ... . She");
        assert_eq!(line("asleep....\" she"), "asleep ... '' she");
    }

    #[test]
    fn a_number_may_start_with_a_dot() {
        assert_eq!(line("a .5 and .3,954"), "a .5 and .3,954");
    }

    #[test]
    fn marks_and_rules_stay_together() {
        assert_eq!(line("What?! ** ____ ~~ =="), "What ?! ** ____ ~~ = =");
    }

    #[test]
    fn brackets_are_spelled_out() {
        assert_eq!(line("(a) [b] {c}"), "-LRB- a -RRB- -LSB- b -RSB- -LCB- c -RCB-");
        assert_eq!(line("[Picture:]"), "-LSB- Picture :]");
        assert_eq!(line("£5"), "# 5");
    }
}
