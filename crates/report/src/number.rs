//! Figures as they are printed: `.476`, `.456–.496`, `−.009`, `2,500`.

use evaluation::Accuracy;
use questions::WordClass;

/// A share without its leading zero: `.476`, `1.000`.
pub fn share(value: f64) -> String {
    share_of(value, 3)
}

/// Both ends of an interval of shares: `.456–.496`.
pub fn interval(accuracy: &Accuracy) -> String {
    format!("{}–{}", share(accuracy.low), share(accuracy.high))
}

/// A difference with its sign: `+.012`, `−.009`, `±.000`.
pub fn difference(value: f64) -> String {
    let text = share(value.abs());
    let sign = match text.as_str() {
        ".000" => '±',
        _ if value < 0.0 => '−',
        _ => '+',
    };
    format!("{sign}{text}")
}

/// A number's text with a real minus sign.
pub fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// A weight or score on a model's own scale: `.41`, `−.08`, `−7`, `12.35`, `−152`.
pub fn weight(value: f64) -> String {
    let text = match value.abs() {
        small if small <= 1.0 => {
            let text = share_of(small, 2);
            let sign = if value < 0.0 && text != ".00" { "−" } else { "" };
            return format!("{sign}{text}");
        }
        large if large >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    };
    minus(text.strip_suffix(".00").unwrap_or(&text))
}

/// A number from 0 to 1 without its leading zero.
fn share_of(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    text.strip_prefix('0').map_or(text.clone(), str::to_owned)
}

/// A whole number with its thousands apart: `669,343`.
pub fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How many questions a figure is over: `n = 2,500`.
pub fn questions(n: usize) -> String {
    format!("n = {}", count(n))
}

/// A class of questions within a sentence: `names`, `common nouns`.
pub fn class_in_words(class: WordClass) -> &'static str {
    match class {
        WordClass::NamedEntity => "names",
        WordClass::CommonNoun => "common nouns",
        WordClass::Verb => "verbs",
        WordClass::Preposition => "prepositions",
    }
}

/// A p value: `.032`, `< .001`.
pub fn p_value(p: f64) -> String {
    if p < 0.0005 { "< .001".to_owned() } else { share(p) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_no_leading_zero_and_keep_their_sign() {
        assert_eq!([0.4761, 0.0, 1.0, 0.0004].map(share), [".476", ".000", "1.000", ".000"]);
        assert_eq!(
            [0.012, -0.009, -0.0001, -1.0].map(difference),
            ["+.012", "−.009", "±.000", "−1.000"]
        );
        assert_eq!([0, 999, 1000, 669_343].map(count), ["0", "999", "1,000", "669,343"]);
        assert_eq!([0.0004, 0.0005, 1.0].map(p_value), ["< .001", ".001", "1.000"]);
        let weights = [0.684, 1.0, 0.0, -0.084, -7.0, 12.345, -152.3].map(weight);
        assert_eq!(weights, [".68", "1.00", ".00", "−.08", "−7", "12.35", "−152"]);
    }
}
