//! The known name that somebody may have meant.

/// The known name most like `name`, if any is like it at all.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The first is good at a name cut short, the second at letters swapped or a beginning left out.
    let likeness = |other: &str| {
        strsim::jaro_winkler(name, other).max(strsim::normalized_damerau_levenshtein(name, other))
    };
    let alike = known.into_iter().map(|other| (likeness(other), other));
    let (likeness, best) = alike.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness > 0.6).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_nonsense_finds_none() {
        let known = ["max_penalty", "window", "dim"];
        assert_eq!(nearest("max-penalty", known), Some("max_penalty"));
        assert_eq!(nearest("penalty", known), Some("max_penalty"));
        assert_eq!(nearest("max", known), Some("max_penalty"));
        assert_eq!(nearest("dmi", known), Some("dim"));
        assert_eq!(nearest("windw", known), Some("window"));
        assert_eq!(nearest("qqq", known), None);
        assert_eq!(nearest("dim", []), None);
    }
}
