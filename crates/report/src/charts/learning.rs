//! How training went: loss and validation accuracy per epoch, one small panel per trained model → SVG.

use std::fmt::Write;

use super::{Place, escape};
use crate::{Epoch, Row, number};

const WIDTH: f64 = 250.0;
const HEIGHT: f64 = 96.0;
const LEFT: f64 = 10.0;
const RIGHT: f64 = 64.0;
const TOP: f64 = 8.0;

/// A trained model and its two curves, the drawings as HTML.
#[derive(Debug, serde::Serialize)]
pub struct LearningCurve {
    /// The label of the row, as in the table.
    pub label: String,
    /// The last loss, the best validation, the epoch that was kept, in words.
    pub text: String,
    /// Loss and validation accuracy by epoch.
    pub svg: String,
}

/// The learning curves of the rows that have one.
pub fn learning_curves(rows: &[Row<'_>]) -> Vec<LearningCurve> {
    let curve = |(index, row): (usize, &Row<'_>)| {
        let place = row.paper_row.as_deref().and_then(Place::from_id);
        let label = place.map_or_else(|| row.label.clone(), Place::label);
        (!row.training.is_empty()).then(|| LearningCurve {
            text: in_words(&row.training),
            svg: draw(index, &label, &row.training),
            label,
        })
    };
    rows.iter().enumerate().filter_map(curve).collect()
}

/// One of the curves of a panel.
struct Line {
    class: &'static str,
    points: Vec<(usize, f64)>,
    label: fn(f64) -> String,
}

fn lines(training: &[Epoch]) -> Vec<Line> {
    let of = |value: fn(&Epoch) -> Option<f64>| -> Vec<(usize, f64)> {
        training.iter().filter_map(|epoch| Some((epoch.number, value(epoch)?))).collect()
    };
    let loss = |value: f64| format!("{value:.2}");
    let lines = [
        Line { class: "loss", points: of(|epoch| Some(epoch.loss)), label: loss },
        Line { class: "valid-loss", points: of(|epoch| epoch.valid_loss), label: loss },
        Line { class: "valid", points: of(|epoch| epoch.valid_accuracy), label: number::share },
    ];
    let is_drawn = |line: &Line| line.points.iter().any(|(_, value)| value.is_finite());
    lines.into_iter().filter(is_drawn).collect()
}

fn in_words(training: &[Epoch]) -> String {
    let n = training.len();
    let last = training.last().map_or(f64::NAN, |epoch| epoch.loss);
    let kept = training.iter().rfind(|epoch| epoch.is_kept);
    let validation = kept.and_then(|epoch| {
        let accuracy =
            epoch.valid_accuracy.map(|share| format!("accuracy {}", number::share(share)));
        accuracy.or(epoch.valid_loss.map(|loss| format!("loss {loss:.3}")))
    });
    let kept = kept.map_or(String::new(), |epoch| match validation {
        Some(validation) => format!("; epoch {} kept, validation {validation}", epoch.number),
        None => format!("; epoch {} kept", epoch.number),
    });
    let epochs = if n == 1 { "epoch" } else { "epochs" };
    format!("{n} {epochs}, last loss {last:.3}{kept}")
}

/// Each curve on a scale of its own, labelled at its end; the kept epoch is a line across.
fn draw(index: usize, label: &str, training: &[Epoch]) -> String {
    let (id, label) = (format!("training-{index}"), escape(label));
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-labelledby=\"{id}-title {id}-description\">\
         <title id=\"{id}-title\">Training of {label}</title><desc id=\"{id}-description\">{}</desc>",
        HEIGHT + 34.0,
        escape(&in_words(training)),
    );
    let last = training.iter().map(|epoch| epoch.number).max().unwrap_or(1).max(2);
    let x =
        |epoch: usize| LEFT + (epoch as f64 - 1.0) / (last as f64 - 1.0) * (WIDTH - LEFT - RIGHT);
    let (bottom, right) = (TOP + HEIGHT, WIDTH - RIGHT);
    let _ = write!(svg, "<path class=\"grid\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>");
    if let Some(kept) = training.iter().rfind(|epoch| epoch.is_kept) {
        let at = x(kept.number);
        let _ = write!(svg, "<path class=\"kept\" d=\"M{at:.1} {TOP}V{bottom}\"/>");
    }
    let (start, end, below) = (x(1), x(last), bottom + 16.0);
    let _ = write!(
        svg,
        "<text class=\"tick\" x=\"{start:.1}\" y=\"{below}\">epoch 1</text>\
         <text class=\"tick\" x=\"{end:.1}\" y=\"{below}\" text-anchor=\"middle\">{last}</text>"
    );
    let mut taken: Vec<f64> = Vec::new();
    for line in lines(training) {
        let values = || line.points.iter().map(|(_, value)| *value).filter(|v| v.is_finite());
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let room = if high > low { high - low } else { 1.0 };
        let y = |value: f64| bottom - 4.0 - (value - low) / room * (HEIGHT - 8.0);
        let points: Vec<String> = line
            .points
            .iter()
            .filter(|(_, value)| value.is_finite())
            .map(|&(epoch, value)| format!("{:.1} {:.1}", x(epoch), y(value)))
            .collect();
        let Some(end) = values().next_back() else { continue };
        let marks: String = points
            .iter()
            .filter_map(|point| point.split_once(' '))
            .map(|(x, y)| format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"1.6\"/>"))
            .collect();
        // Labels that would lie on one another are moved apart, away from the axis.
        let mut label_y = y(end) + 4.0;
        let step = if label_y > TOP + HEIGHT / 2.0 { -14.0 } else { 14.0 };
        while taken.iter().any(|other| (other - label_y).abs() < 14.0) {
            label_y += step;
        }
        taken.push(label_y);
        let (class, label, label_x) = (line.class, (line.label)(end), right + 6.0);
        let _ = write!(
            svg,
            "<g class=\"training {class}\"><path d=\"M{}\"/>{marks}\
             <text x=\"{label_x}\" y=\"{label_y:.1}\">{label}</text></g>",
            points.join("L"),
        );
    }
    svg + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn epoch(number: usize, loss: f64, valid_accuracy: Option<f64>, is_kept: bool) -> Epoch {
        Epoch { number, loss, valid_accuracy, valid_loss: None, is_kept }
    }

    #[test]
    fn a_trained_model_has_a_curve_of_loss_and_one_of_validation() {
        let set = fixture::set();
        let mut rows = fixture::report(&set).rows;
        assert!(learning_curves(&rows).is_empty());
        rows[0].training = vec![
            epoch(1, 2.0, Some(0.25), false),
            epoch(2, 1.0, Some(0.5), true),
            epoch(3, 0.5, Some(0.375), false),
        ];
        let curves = learning_curves(&rows);
        assert_eq!(curves.len(), 1);
        assert_eq!(
            curves[0].text,
            "3 epochs, last loss 0.500; epoch 2 kept, validation accuracy .500"
        );
        // The loss falls through the whole height, half-way after a third of its fall is left: 2 → 1 → .5.
        assert!(curves[0].svg.contains("M10.0 12.0L98.0 70.7L186.0 100.0"), "{}", curves[0].svg);
        // Validation is best in the middle.
        assert!(curves[0].svg.contains("M10.0 100.0L98.0 12.0L186.0 56.0"), "{}", curves[0].svg);
        // On the Goldilocks curve every row is one model; its place tells which.
        rows[0].paper_row = Some("goldilocks/positions/5".to_owned());
        assert_eq!(learning_curves(&rows)[0].label, "b = 5, positions");
    }

    #[test]
    fn one_epoch_and_a_loss_that_is_no_number_are_drawn_without_harm() {
        let set = fixture::set();
        let mut rows = fixture::report(&set).rows;
        rows[0].training = vec![epoch(1, f64::NAN, None, true)];
        rows[1].training = vec![epoch(1, 1.5, None, true)];
        let curves = learning_curves(&rows);
        assert!(!curves[0].svg.contains("NaN\""), "{}", curves[0].svg);
        assert_eq!(curves[1].text, "1 epoch, last loss 1.500; epoch 1 kept");
    }
}
