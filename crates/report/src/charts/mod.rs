//! Pictures: small multiples of marks, the Goldilocks curve and learning curves → SVG.

mod chart;
mod curve;
mod learning;

pub use chart::{Axis, Chart, ChartRow, Mark, Panel, Series, Shape};
pub use curve::{Curve, Place};
pub use learning::{LearningCurve, learning_curves};

/// A picture for the page: HTML that needs no escaping.
#[derive(Debug, serde::Serialize)]
pub struct Drawing {
    /// All panels side by side.
    pub wide: String,
    /// One drawing per panel, for narrow screens.
    pub narrow: Vec<String>,
    /// The names of the marks, as a list.
    pub legend: String,
}

/// Escapes text for an element or an attribute.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}
