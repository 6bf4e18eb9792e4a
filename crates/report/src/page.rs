//! The HTML page: report → one self-contained file. First the picture that answers «does it
//! reproduce?», then the tables, the details, and how it was made.
//!
//! Everything from data is escaped: by the template engine, and in drawings by `chart::escape`.

mod alone;

use std::collections::BTreeMap;

use evaluation::breakdown;
use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;

use crate::chart::{Axis, Chart, ChartRow, Mark, Panel, Series, Shape};
use crate::curve::Curve;
use crate::details::people::{self, PeopleOfRow};
use crate::details::{Section, breakdowns, missed, pairs};
use crate::grid::Grid;
use crate::paper::PEOPLE_WITH_CONTEXT;
use crate::passage::Passage;
use crate::table::{Figures, Table, TableRow};
use crate::{Error, ExplainedQuestion, Report, Row, layout, number};

pub use alone::{bare, stand_alone};

/// How many questions that every model misses are shown.
const SHOWN_MISSED: usize = 5;

/// The page as the template reads it.
#[derive(Serialize)]
struct PageView<'a> {
    style: &'static str,
    picture_label: &'static str,
    script: &'static str,
    title: &'a str,
    verdict: Vec<String>,
    picture: Option<ChartView>,
    grids: Vec<GridView<'a>>,
    example: Option<Passage>,
    sections: Vec<SectionView<'a>>,
    missed: Option<MissedView<'a>>,
    people: Vec<PeopleOfRow>,
    explained: Vec<ExplainedView<'a>>,
    caption: String,
    made: MadeView<'a>,
}

/// Drawings: they are HTML already.
#[derive(Serialize)]
struct ChartView {
    wide: String,
    narrow: Vec<String>,
    legend: String,
}

/// A table; the widest figure makes room for the others.
#[derive(Serialize)]
struct GridView<'a> {
    name: &'a str,
    figure_width: usize,
    grid: &'a Grid,
}

#[derive(Serialize)]
struct SectionView<'a> {
    id: &'static str,
    title: &'static str,
    text: &'a str,
    chart: ChartView,
    table: GridView<'a>,
}

#[derive(Serialize)]
struct MissedView<'a> {
    n: String,
    models: usize,
    shows_all: bool,
    shown: Vec<MissedQuestion<'a>>,
}

#[derive(Serialize)]
struct MissedQuestion<'a> {
    passage: Passage,
    answers: Vec<(&'a str, &'a str)>,
}

/// What a model looked at.
#[derive(Serialize)]
struct ExplainedView<'a> {
    label: &'a str,
    questions: Vec<ExplainedFigure>,
}

/// The figure is HTML already.
#[derive(Serialize)]
struct ExplainedFigure {
    summary: String,
    figure: String,
}

/// How it was made.
#[derive(Serialize)]
struct MadeView<'a> {
    source: &'static str,
    splits: String,
    data_hash: &'a str,
    version: &'a str,
    date: &'a str,
    resamples: String,
    commands: &'a [String],
    rows: Vec<MadeRow<'a>>,
}

#[derive(Serialize)]
struct MadeRow<'a> {
    name: &'a str,
    settings: String,
    seeds: String,
    version: &'a str,
    files: String,
}

/// The page, from a report and its tables.
///
/// # Errors
/// [`Error::Evaluation`] where predictions give no figure or disagree about a question.
pub fn write(
    report: &Report<'_>,
    tables: &[Table],
    grids: &[(&'static str, Grid)],
) -> Result<String, Error> {
    let mut sections = Vec::new();
    let mut missed_all = None;
    // Without a model of ours there is nothing to compare or to break down.
    let first = tables.first();
    if let Some(first) = first {
        sections.extend(pairs::pairs(report, first)?);
        sections.extend(breakdowns::breakdowns(report, first));
        missed_all = Some(missed::missed(report, first)?);
    }
    let curve = first.and_then(Curve::of);
    let missed = missed_all.as_ref().filter(|missed| !missed.models.is_empty());
    let view = PageView {
        style: alone::STYLE,
        script: include_str!("page/page.js"),
        title: &report.title,
        verdict: first.map(|table| verdict(table, curve.as_ref())).unwrap_or_default(),
        picture: first.filter(|table| !table.rows.is_empty()).map(|table| match &curve {
            Some(curve) => curve_view(curve),
            None => chart_view(&picture(table)),
        }),
        picture_label: if curve.is_some() {
            "the Goldilocks curve"
        } else {
            "ours and the paper’s"
        },
        grids: grids.iter().map(|(name, grid)| grid_view(name, grid)).collect(),
        example: first.and_then(|table| example(report, table)),
        sections: sections.iter().map(section_view).collect(),
        missed: missed.map(missed_view),
        people: people::people(report)?,
        explained: first.map(|table| explained_views(report, table)).unwrap_or_default(),
        caption: first.map(caption).unwrap_or_default(),
        made: made(report, tables),
    };
    let mut environment = Environment::new();
    let template = include_str!("page/page.html");
    environment.add_template("page.html", template).expect("the page's template parses");
    let page = environment.get_template("page.html").expect("it was added above");
    let page = page.render(Serde(view));
    Ok(page.expect("the page's template renders for every report"))
}

fn grid_view<'a>(name: &'a str, grid: &'a Grid) -> GridView<'a> {
    let cells = grid.rows.iter().flat_map(|row| &row.cells);
    let figures = cells.flat_map(|cell| &cell.lines).map(|line| line.figure.chars().count());
    GridView { name, figure_width: figures.max().unwrap_or(0), grid }
}

fn chart_view(chart: &Chart) -> ChartView {
    ChartView { wide: chart.wide(), narrow: chart.narrow(), legend: chart.legend() }
}

fn curve_view(curve: &Curve) -> ChartView {
    ChartView { wide: curve.wide(), narrow: curve.narrow(), legend: curve.legend() }
}

fn explained_views<'a>(report: &Report<'_>, table: &'a Table) -> Vec<ExplainedView<'a>> {
    let view = |(number, row): (usize, &'a TableRow)| {
        let explained = &report.rows[row.ours?].explained;
        let question = |(place, explained): (usize, &ExplainedQuestion)| ExplainedFigure {
            summary: format!(
                "{}: {}, {}",
                explained.class.map_or("Question", questions::WordClass::label),
                explained.candidates[explained.predicted],
                explained.verdict()
            ),
            figure: explained.figure(&format!("looked-{number}-{place}")),
        };
        let questions: Vec<ExplainedFigure> = explained.iter().enumerate().map(question).collect();
        (!questions.is_empty()).then_some(ExplainedView { label: &row.label, questions })
    };
    table.rows.iter().enumerate().filter_map(view).collect()
}

fn section_view(section: &Section) -> SectionView<'_> {
    let Section { title, text, chart, grid } = section;
    SectionView {
        id: chart.id,
        title,
        text,
        chart: chart_view(chart),
        table: grid_view(chart.id, grid),
    }
}

/// The caption of every picture, so that it can be used outside the page.
fn caption(table: &Table) -> String {
    let source = table.provenance.source.label();
    format!("Questions: {source}. {}", layout::made(&table.provenance, &table.seeds))
}

/// The first sentences of the page: what the picture shows, in words.
fn verdict(table: &Table, curve: Option<&Curve>) -> Vec<String> {
    if let Some(curve) = curve {
        let mut sentences = curve.verdict();
        sentences.push(table.provenance.source.sentence().to_owned());
        return sentences;
    }
    let (mut inside, mut above, mut below) = (0, 0, 0);
    for difference in table.differences() {
        match difference {
            _ if difference.is_inside() => inside += 1,
            _ if difference.difference > 0.0 => above += 1,
            _ => below += 1,
        }
    }
    let n_judged = inside + above + below;
    let models = || table.rows.iter().filter(|row| !row.is_people);
    let n_run = models().filter(|row| row.ours.is_some()).count();
    let answer = match (n_run, n_judged) {
        (0, _) => "No model has been run yet.".to_owned(),
        _ if table.kind.published().rows.is_empty() => {
            "The paper prints no figures for these rows.".to_owned()
        }
        (_, 0) => {
            "No figure is judged against the paper’s: the questions are not the paper’s.".to_owned()
        }
        _ => format!(
            "{inside} of {n_judged} figures agree with the paper’s as far as two samples can tell; {above} are \
             above it, {below} below."
        ),
    };
    let mut sentences = vec![answer];
    let n_not_run = models().count() - n_run;
    if n_run > 0 && n_not_run > 0 {
        let n_published = table.kind.published().rows.iter().filter(|row| !row.is_people()).count();
        sentences.push(format!("Not run yet: {n_not_run} of the paper’s {n_published} rows."));
    }
    sentences.push(table.provenance.source.sentence().to_owned());
    sentences
}

/// The picture: ours filled, the paper's hollow, people as a line across.
fn picture(table: &Table) -> Chart {
    let rows: Vec<&TableRow> = table.rows.iter().filter(|row| !row.is_people).collect();
    let people =
        table.rows.iter().find(|row| row.paper_row.as_deref() == Some(PEOPLE_WITH_CONTEXT));
    let of_people = |column: usize| {
        let Figures { ours, paper, .. } = &people?.cells[column];
        ours.or(*paper).map(|accuracy| accuracy.accuracy)
    };
    let is_ours = people.is_some_and(|row| row.ours.is_some());
    let columns = table.columns().iter();
    let mut n_published: Vec<String> = columns.map(|column| number::count(column.n)).collect();
    n_published.dedup();
    let panel = |column: usize| Panel {
        title: table.heading(column),
        rule: of_people(column),
        marks: rows.iter().enumerate().flat_map(|(place, row)| marks(row, column, place)).collect(),
    };
    let starts_block = |place: usize| place > 0 && rows[place].block != rows[place - 1].block;
    Chart {
        id: "picture",
        title: format!("{}: ours and the paper's", table.kind.published().title),
        description:
            "Accuracy of each method with its 95 % interval, one panel per column of the table; \
                      all figures are in the table below."
                .into(),
        axis: Axis::shares(),
        series: vec![
            Series { label: "ours, 95 % interval".into(), shape: Shape::Disc },
            Series {
                label: format!("the paper’s, 95 % interval, n = {}", n_published.join(" and ")),
                shape: Shape::Ring,
            },
        ],
        rule: people.map(|_| {
            format!(
                "people who read the context ({})",
                if is_ours { "ours" } else { "the paper’s" }
            )
        }),
        rows: (0..rows.len())
            .map(|place| ChartRow {
                label: rows[place].label.clone(),
                starts_block: starts_block(place),
            })
            .collect(),
        panels: (0..table.columns().len()).map(panel).collect(),
    }
}

fn marks(row: &TableRow, column: usize, place: usize) -> Vec<Mark> {
    let Figures { ours, paper, .. } = &row.cells[column];
    let figures = [(0, "ours", ours), (1, "the paper’s", paper)];
    let mark = |(series, whose, accuracy): (usize, &str, &Option<evaluation::Accuracy>)| {
        let accuracy = accuracy.as_ref()?;
        let figure = number::share(accuracy.accuracy);
        let tip = format!("{}, {whose}: {figure} ({})", row.label, number::interval(accuracy));
        let evaluation::Accuracy { accuracy: at, low, high, .. } = *accuracy;
        Some(Mark { row: place, series, at, low, high, tip })
    };
    figures.into_iter().filter_map(mark).collect()
}

/// The question drawn as in Figure 1: the first of the table's split with a known answer.
fn example(report: &Report<'_>, table: &Table) -> Option<Passage> {
    let column = table.columns().first()?;
    let of_column = |&index: &usize| {
        report.set.example(index).class == column.class
            && report.set.example(index).answer.is_some()
    };
    let index = report.set.of_split(column.split).into_iter().find(of_column)?;
    Some(Passage::of(&report.set.example(index)))
}

/// A handful of the questions that every model misses, of all classes in turn.
fn missed_view<'a>(missed: &'a missed::MissedByAll<'_, '_>) -> MissedView<'a> {
    let questions = &missed.questions;
    let mut of_class: BTreeMap<_, usize> = BTreeMap::new();
    let mut rank = |question: &breakdown::MissedQuestion<'_>| {
        let rank = of_class.entry(question.example.class).or_default();
        *rank += 1;
        *rank
    };
    let mut ranked: Vec<_> = questions.iter().map(|question| (rank(question), question)).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let shown = ranked.into_iter().take(SHOWN_MISSED).map(|(_, question)| {
        let predicted = question.predicted.iter().map(String::as_str);
        let answers = missed.models.iter().copied().zip(predicted).collect();
        MissedQuestion { passage: Passage::of(&question.example), answers }
    });
    MissedView {
        n: number::count(questions.len()),
        models: missed.models.len(),
        shows_all: questions.len() <= SHOWN_MISSED,
        shown: shown.collect(),
    }
}

fn made<'a>(report: &'a Report<'_>, tables: &[Table]) -> MadeView<'a> {
    let row = |row: &'a Row<'_>| {
        let settings = layout::settings(&row.settings);
        let seeds: Vec<String> = row.runs.iter().map(|run| run.seed.to_string()).collect();
        let files: Vec<&str> =
            row.runs.iter().map(|run| run.predictions.predictions().name()).collect();
        MadeRow {
            name: &row.name,
            settings: if settings.is_empty() { "defaults".to_owned() } else { settings },
            seeds: seeds.join(", "),
            version: row.runs.first().map_or("", |run| &run.version),
            files: files.join(", "),
        }
    };
    let columns = tables.iter().flat_map(|table| table.columns());
    let mut splits: Vec<_> = columns.map(|column| column.split).collect();
    splits.sort_unstable();
    splits.dedup();
    let splits: Vec<&str> = splits.into_iter().map(questions::Split::code).collect();
    let provenance = &report.provenance;
    MadeView {
        source: provenance.source.label(),
        splits: splits.join(", "),
        data_hash: &provenance.data_hash,
        version: &provenance.version,
        date: &provenance.date,
        resamples: number::count(evaluation::bootstrap::RESAMPLES),
        commands: &provenance.commands,
        rows: report.rows.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, HOSTILE};

    fn page() -> String {
        let set = fixture::set();
        written(&fixture::report(&set))
    }

    fn written(report: &Report<'_>) -> String {
        let tables = crate::tables(report).unwrap();
        write(report, &tables, &crate::grids(report, &tables, |_| true)).unwrap()
    }

    /// The tags of a page in order; panics where one is left open or closed without being open.
    fn balanced_tags(html: &str) -> Vec<String> {
        const VOID: [&str; 2] = ["meta", "!DOCTYPE"];
        let (mut open, mut tags) = (Vec::new(), Vec::new());
        let mut rest = html;
        while let Some(start) = rest.find('<') {
            let end = start + rest[start..].find('>').expect("every tag ends");
            let tag = &rest[start + 1..end];
            rest = &rest[end + 1..];
            let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap().to_owned();
            assert_eq!(tag.matches('"').count() % 2, 0, "quotes are balanced in <{tag}>");
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name.clone()), "</{name}> closes what is open");
            } else if !tag.ends_with('/') && !VOID.contains(&name.as_str()) {
                open.push(name.clone());
                // Style and script are no markup.
                if name == "script" || name == "style" {
                    let closing = rest.find(&format!("</{name}>")).expect("it is closed");
                    rest = &rest[closing..];
                }
            }
            tags.push(tag.to_owned());
        }
        assert!(open.is_empty(), "left open: {open:?}");
        tags
    }

    #[test]
    fn the_page_is_well_formed_and_loads_nothing() {
        let page = page();
        let tags = balanced_tags(&page);
        assert!(tags.iter().all(|tag| !tag.contains("src=") && !tag.contains("href=")));
        assert!(!page.contains("http://") && !page.contains("https://"));
        assert!(!page.contains("@import") && !page.contains("url("));
        let ids: Vec<&str> = tags.iter().filter_map(|tag| tag.split(" id=\"").nth(1)).collect();
        let mut distinct = ids.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(ids.len(), distinct.len(), "ids are unique");
    }

    #[test]
    fn every_drawing_has_a_title_and_a_description() {
        let page = page();
        let drawings: Vec<&str> = page.split("<svg ").skip(1).collect();
        assert!(drawings.len() > 10);
        for drawing in drawings {
            let tag = drawing.split('>').next().unwrap();
            let inside = drawing.split("</svg>").next().unwrap();
            let is_described = tag.contains("role=\"img\"")
                && inside.contains("<title id=")
                && inside.contains("<desc id=");
            assert!(is_described || tag.contains("aria-hidden=\"true\""), "{tag}");
        }
    }

    #[test]
    fn hostile_text_is_escaped_wherever_it_stands() {
        let page = page();
        assert!(!page.contains(HOSTILE));
        assert!(!page.contains("<img"));
        assert!(!page.contains("<more>"));
        let escaped = "&lt;&#x2f;script&gt;&lt;img&#x2f;src=x&gt;&quot;&#x27;&amp;|*_";
        let of_template = [
            format!("<title>Small {escaped}</title>"),
            format!("<code>goldilocks report &quot;{escaped}&quot;"),
            format!("<li><span class=\"candidate\">{escaped}</span> saw "),
            format!("<td class=\"story\">{escaped}</td>"),
        ];
        for text in of_template {
            assert!(page.contains(&text), "{text}");
        }
        // In drawings, by our own hand: a book's title and a tip.
        assert!(page.contains(">&lt;/script&gt;&lt;img/src=x&gt;&quot;&#39;&amp;|*</text>"));
        assert!(page.contains("ours &amp; &lt;more&gt;, ours: .000"));
        assert_eq!(page.matches("</script>").count(), 1);
    }

    #[test]
    fn the_same_report_gives_the_same_bytes() {
        assert_eq!(page(), page());
    }

    #[test]
    fn a_report_without_a_model_shows_the_papers_figures_alone() {
        let set = fixture::set();
        let report = crate::Report { rows: Vec::new(), ..fixture::report(&set) };
        let page = written(&report);
        balanced_tags(&page);
        assert!(page.contains(".581"));
        assert!(!page.contains("What every model misses"));
    }

    #[test]
    fn table_1_alone_makes_a_page() {
        let set = fixture::set();
        let report = Report { tables: Vec::new(), statistics: true, ..fixture::report(&set) };
        let page = written(&report);
        balanced_tags(&page);
        let vocabulary = crate::number::count(crate::Statistics::of(&set).vocabulary);
        assert!(page.contains("53,628") && page.contains(&vocabulary));
    }
}
