//! The Goldilocks curve for LaTeX: the same points as a group of `pgfplots`.

use evaluation::Accuracy;

use super::{Curve, ENCODINGS, Encoding, Panel, Point};

impl Curve {
    /// The picture for LaTeX.
    pub fn latex(&self) -> String {
        let mut lines = vec![
            "% Needs \\usepackage{pgfplots} and \\usepgfplotslibrary{groupplots}.".to_owned(),
            "\\begin{tikzpicture}".to_owned(),
            format!("\\begin{{groupplot}}[{}]", self.options()),
        ];
        for panel in &self.panels {
            let title = panel.title.split(',').next().unwrap_or_default();
            lines.push(format!("\\nextgroupplot[title={{{title}}}]"));
            lines.extend(ENCODINGS.into_iter().flat_map(|encoding| self.plots(panel, encoding)));
        }
        let [positions, bag] = ENCODINGS.map(Encoding::label);
        lines.extend([
            "\\end{groupplot}".to_owned(),
            "\\end{tikzpicture}".to_owned(),
            format!("% Solid: {positions}. Dashed: {bag}. Bars: 95 % intervals over questions."),
        ]);
        lines.join("\n") + "\n"
    }

    /// What all panels share.
    fn options(&self) -> String {
        let mut ticks: Vec<String> = self.sizes.iter().map(usize::to_string).collect();
        let mut labels = ticks.clone();
        if self.has_sentences {
            ticks.push(self.apart().to_string());
            labels.push("sentence".to_owned());
        }
        let n = self.panels.len();
        let (low, high) = (self.low, self.high);
        let (ticks, labels) = (ticks.join(","), labels.join(","));
        format!(
            "group style={{group size={n} by 1, y descriptions at=edge left, horizontal sep=8pt}}, \
             width=.3\\linewidth, height=5cm, xmode=log, ymin={low:.1}, ymax={high:.1}, \
             xtick={{{ticks}}}, xticklabels={{{labels}}}, xlabel={{$b$}}, \
             tick label style={{font=\\tiny}}, title style={{font=\\small}}"
        )
    }

    /// The position of whole sentences: a step beyond the largest window.
    fn apart(&self) -> usize {
        2 * self.sizes[self.sizes.len() - 1]
    }

    /// The line of an encoding, and its whole sentences.
    fn plots(&self, panel: &Panel, encoding: Encoding) -> Vec<String> {
        let style = ["mark=*, solid", "mark=square*, dashed"][encoding as usize];
        let mut of_encoding: Vec<&Point> =
            panel.points.iter().filter(|point| point.place.encoding == encoding).collect();
        of_encoding.sort_by_key(|point| point.place.size);
        let (sized, whole): (Vec<&Point>, Vec<&Point>) =
            of_encoding.into_iter().partition(|point| point.place.size.is_some());
        let plot = |(points, form): (Vec<&Point>, &str)| {
            let points: Vec<String> = points.into_iter().map(|p| self.coordinate(p)).collect();
            let points = points.join(" ");
            format!(
                "\\addplot+[{style}{form}, error bars/.cd, y dir=both, y explicit] coordinates {{{points}}};"
            )
        };
        let plots = [(sized, ""), (whole, ", only marks")];
        plots.into_iter().filter(|(points, _)| !points.is_empty()).map(plot).collect()
    }

    fn coordinate(&self, point: &Point) -> String {
        let Accuracy { accuracy, low, high, .. } = point.accuracy;
        let x = point.place.size.unwrap_or_else(|| self.apart());
        let (above, below) = (high - accuracy, accuracy - low);
        format!("({x},{accuracy:.4}) += (0,{above:.4}) -= (0,{below:.4})")
    }
}
