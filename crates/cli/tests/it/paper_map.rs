//! `docs/paper-map.md` leads to files that cite the paper in the words it gives.

use std::path::Path;

#[test]
fn every_row_of_the_paper_map_leads_to_its_place() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let map = std::fs::read_to_string(repository.join("docs/paper-map.md")).unwrap();
    let rows: Vec<Vec<&str>> = map
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains(".rs`"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    assert!(rows.len() > 15, "only {} rows", rows.len());
    for row in rows {
        let [place, cited, file] = row[..] else { panic!("not three columns: {row:?}") };
        let path = repository.join(file.trim_matches('`'));
        let source = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{place}: {}: {error}", path.display()));
        assert!(source.contains(cited), "{place}: {file} does not say `{cited}`");
    }
}
