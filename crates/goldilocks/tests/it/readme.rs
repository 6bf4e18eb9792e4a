//! The console blocks of the documentation are what the program says.

#[test]
fn console_blocks_are_true() {
    let cases = trycmd::TestCases::new();
    cases.case("../../README.md").case("../../docs/*.md");
    cases.default_bin_path(env!("CARGO_BIN_EXE_goldilocks"));
}
