//! Tables of accuracies and of statistics, before any format: report → [`Table`] → [`Grid`].

mod grid;
mod layout;
pub mod statistics;
mod table;

pub use grid::{Cell, Grid, GridRow, Line};
pub use layout::{ACCURACY, agreement, grid, head, made, settings};
pub use table::{Figures, Table, TableRow};
