//! How wide words are in Times and the fonts made to its measure, so that boxes can be drawn around them.

/// Widths of the characters from space to `~`, in thousandths of the font's size (Adobe's metrics of Times-Roman).
#[rustfmt::skip]
const WIDTHS: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278,
    500, 500, 500, 500, 500, 500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444,
    921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889, 722, 722,
    556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500,
    333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500,
    500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541,
];

/// The width of a text.
pub fn width(text: &str, font_size: f64) -> f64 {
    let character = |c: char| match c {
        ' '..='~' => f64::from(WIDTHS[c as usize - ' ' as usize]),
        '“' | '”' => 444.0,
        '‘' | '’' => 333.0,
        '—' => 1000.0,
        // Letters with accents are about as wide as those without.
        _ => 500.0,
    };
    text.chars().map(character).sum::<f64>() * font_size / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_wide_as_its_characters() {
        // i 278, W 944, ~ 541; “ 444 and an em dash.
        assert_eq!(width("iW~", 10.0), 17.63);
        assert_eq!(width("“—", 1000.0), 1444.0);
    }
}
