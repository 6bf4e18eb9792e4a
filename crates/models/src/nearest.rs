//! The known name that somebody may have meant.

/// The known name most like `name`, if any is like it at all.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let alike = known.into_iter().map(|other| (strsim::jaro_winkler(name, other), other));
    let (likeness, best) = alike.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness > 0.7).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_nonsense_finds_none() {
        let known = ["max_penalty", "window", "dim"];
        assert_eq!(nearest("max-penalty", known), Some("max_penalty"));
        assert_eq!(nearest("windw", known), Some("window"));
        assert_eq!(nearest("qqq", known), None);
        assert_eq!(nearest("dim", []), None);
    }
}
