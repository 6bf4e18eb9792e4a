//! The day of a run, for manifests and reports: the one place that asks the clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today in UTC as `2016-05-02`.
#[expect(
    clippy::disallowed_methods,
    reason = "the program may record when it ran; libraries may not"
)]
pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    civil(since.as_secs() / 86_400)
}

/// The time in Unix seconds.
#[expect(clippy::disallowed_methods, reason = "the page records when an answer came")]
pub fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Days since 1970-01-01 → a date of the Gregorian calendar, counted in 400-year cycles from March.
/// (Howard Hinnant, «chrono-Compatible Low-Level Date Algorithms», `civil_from_days`.)
fn civil(days: u64) -> String {
    let days = days + 719_468;
    let (cycle, day_of_cycle) = (days / 146_097, days % 146_097);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524
        - day_of_cycle / 146_096)
        / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = 400 * cycle + year_of_cycle + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        // date -d '1970-01-01 + N days' +%F
        for (days, date) in [
            (0, "1970-01-01"),
            (11_016, "2000-02-29"),
            (16_923, "2016-05-02"),
            (20_772, "2026-11-15"),
        ] {
            assert_eq!(civil(days), date);
        }
    }
}
