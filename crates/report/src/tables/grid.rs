//! [`Grid`]: a table as it is printed, before any format. A writer per format turns it into text.

use serde::Serialize;

/// A printed table: a heading, rows in blocks, a last row below the rule, notes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Grid {
    /// The caption above the table.
    pub title: String,
    /// The headings, the rows' one first.
    pub head: Vec<String>,
    /// All between the head and the last rule.
    pub rows: Vec<GridRow>,
    /// A row below the last rule: the number of questions of each column. Empty where there is none.
    pub foot: Vec<String>,
    /// A sentence about the settings; the page has them in a table of their own.
    pub settings: Option<String>,
    /// Sentences under the table.
    pub notes: Vec<String>,
}

/// A row of one or two lines.
#[derive(Clone, Debug, Serialize)]
pub struct GridRow {
    /// What the row is about, line by line.
    pub label: Vec<String>,
    /// One cell for each heading but the first.
    pub cells: Vec<Cell>,
    /// Whether there is a rule above it.
    pub starts_block: bool,
}

/// A cell of as many lines as its row.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cell {
    /// As many as its row has, or fewer.
    pub lines: Vec<Line>,
    /// What the page sorts by.
    pub value: Option<f64>,
    /// Whether the first line is the best figure of its column.
    pub is_best: bool,
}

/// A figure, aligned on its decimal point, and what is printed next to it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Line {
    /// The figure; a dash where there is none.
    pub figure: String,
    /// Its interval, its difference: smaller, to the right.
    pub detail: String,
}

/// What is printed where there is no figure.
pub const NO_FIGURE: &str = "–";

impl Line {
    /// A figure and what is printed next to it.
    pub fn new(figure: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { figure: figure.into(), detail: detail.into() }
    }

    /// A line without a figure: a dash.
    pub fn none() -> Self {
        Self::new(NO_FIGURE, "")
    }
}

impl Cell {
    /// A cell of one line.
    pub fn single(line: Line, value: Option<f64>) -> Self {
        Self { lines: vec![line], value, is_best: false }
    }

    /// The line, or an empty one where the cell has fewer.
    pub fn line(&self, index: usize) -> Line {
        self.lines.get(index).cloned().unwrap_or_default()
    }
}

impl Grid {
    /// All sentences under the table, for files of one table; how it was made comes last.
    pub fn all_notes(&self) -> impl Iterator<Item = &String> {
        let (first, last) = self.notes.split_at(self.notes.len().saturating_sub(1));
        first.iter().chain(&self.settings).chain(last)
    }
}

impl GridRow {
    /// How many lines it takes.
    pub fn height(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.lines.len());
        cells.chain([self.label.len()]).max().unwrap_or(0)
    }

    /// A line of its label, empty where it has fewer.
    pub fn label_line(&self, index: usize) -> &str {
        self.label.get(index).map_or("", String::as_str)
    }
}
