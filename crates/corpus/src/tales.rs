//! The fourteen tales in the binary: the default of every command that wants books, and the tests' fixture.

/// A tale written for this project (CC BY 4.0, see `crates/corpus/tales/README.md`).
pub struct Tale {
    /// The name of its file in the repository, with its ending.
    pub name: &'static str,
    /// Its whole text: title, chapters, paragraphs.
    pub text: &'static str,
}

macro_rules! tale {
    ($name:literal) => {
        Tale { name: $name, text: include_str!(concat!("../tales/", $name)) }
    };
}

/// All tales in the order of their names.
pub static TALES: &[Tale] = &[
    tale!("candle_hall.txt"),
    tale!("good_evening_number_one.txt"),
    tale!("old_martha_holds_her_breath.txt"),
    tale!("pimpernel_on_the_line.txt"),
    tale!("seven_days_aboard_the_thimble.txt"),
    tale!("supper_at_starveacre_halt.txt"),
    tale!("the_admiral_of_spindle_lane.txt"),
    tale!("the_bell_at_crookapple_school.txt"),
    tale!("the_hive_called_thursday.txt"),
    tale!("the_jar_with_the_black_wax.txt"),
    tale!("the_letter_in_the_watering_can.txt"),
    tale!("the_smallest_kite_in_tansy_dale.txt"),
    tale!("the_well_diggers_bill.txt"),
    tale!("the_whale_on_the_tide_clock.txt"),
];

/// Which tale is in which split: lines of `split TAB file name`.
pub const SPLITS: &str = include_str!("../tales/splits.tsv");
