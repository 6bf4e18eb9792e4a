//! The HTML page: report → one self-contained file. First the finding and its picture, then the tables, the details, and
//! how it was made.
//!
//! Everything from data is escaped: by the template engine, and in drawings by `charts::escape`.

mod finding;
mod picture;
mod stand_alone;

use std::collections::BTreeMap;
use std::path::Path;

use evaluation::breakdown;
use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;

use crate::charts::{Curve, Drawing, LearningCurve, learning_curves};
use crate::details::people::{self, PeopleOfRow};
use crate::details::{Section, breakdowns, missed, pairs};
use crate::reading::{self, Passage, Reading};
use crate::tables::{self, Grid, Table, TableRow};
use crate::{Error, ExplainedQuestion, Report, Row, number};

use finding::finding;
use picture::picture;
pub use stand_alone::{ICON, STYLE, explained, stand_alone};

/// How many questions that every model misses are shown.
const SHOWN_MISSED: usize = 5;

/// The page as the template reads it.
#[derive(Serialize)]
struct PageView<'a> {
    style: String,
    script: &'static str,
    icon: String,
    title: &'a str,
    finding: Vec<String>,
    note: Vec<String>,
    picture: Option<Drawing>,
    picture_label: String,
    caption: String,
    grids: Vec<GridView<'a>>,
    explained: Vec<ExplainedView<'a>>,
    example: Option<Passage>,
    sections: Vec<SectionView<'a>>,
    training: Vec<LearningCurve>,
    missed: Option<MissedView<'a>>,
    people: Vec<PeopleOfRow>,
    made: MadeView<'a>,
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
    chart: Drawing,
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

/// What a model looked at in some questions.
#[derive(Serialize)]
struct ExplainedView<'a> {
    label: &'a str,
    questions: Vec<ExplainedFigure>,
}

#[derive(Serialize)]
struct ExplainedFigure {
    id: String,
    summary: String,
    reading: Reading,
}

/// How it was made.
#[derive(Serialize)]
struct MadeView<'a> {
    source: &'static str,
    splits: String,
    data_hash: &'a str,
    version: &'a str,
    date: &'a str,
    statistics: Option<String>,
    folder: String,
    commands: &'a [String],
    rows: Vec<MadeRow<'a>>,
}

#[derive(Serialize)]
struct MadeRow<'a> {
    name: &'a str,
    settings: String,
    seeds: String,
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
    let explained = first.map(|table| explained_views(report, table)).unwrap_or_default();
    let has_pairs = !sections.is_empty();
    let view = PageView {
        style: [STYLE, include_str!("report.css")].concat(),
        script: concat!(include_str!("report.js"), include_str!("../reading/reading.js")),
        icon: stand_alone::icon_address(),
        title: &report.title,
        finding: first
            .map(|table| finding(report, table, curve.as_ref()))
            .transpose()?
            .unwrap_or_default(),
        note: first.map(note).unwrap_or_default(),
        picture: first.filter(|table| !table.rows.is_empty()).map(|table| match &curve {
            Some(curve) => curve.drawing(),
            None => picture(table).drawing(),
        }),
        picture_label: first.map(Table::title).unwrap_or_default(),
        caption: first.map(caption).unwrap_or_default(),
        grids: grids.iter().map(|(name, grid)| grid_view(name, grid)).collect(),
        example: first.filter(|_| explained.is_empty()).and_then(|table| example(report, table)),
        explained,
        sections: sections.iter().map(section_view).collect(),
        training: learning_curves(&report.rows),
        missed: missed.map(missed_view),
        people: people::people(report)?,
        made: made(report, tables, has_pairs),
    };
    Ok(render("report.html", include_str!("report.html"), Serde(view)))
}

/// A page from a template of this crate.
fn render(name: &str, template: &str, view: impl Into<minijinja::Value>) -> String {
    let mut environment = Environment::new();
    for (name, template) in [("reading.html", reading::TEMPLATE), (name, template)] {
        environment.add_template(name, template).expect("the templates of the page parse");
    }
    let page = environment.get_template(name).expect("it was added above");
    page.render(view).expect("the templates of the page render for every view")
}

fn grid_view<'a>(name: &'a str, grid: &'a Grid) -> GridView<'a> {
    let cells = grid.rows.iter().flat_map(|row| &row.cells);
    let figures = cells.flat_map(|cell| &cell.lines).map(|line| line.figure.chars().count());
    GridView { name, figure_width: figures.max().unwrap_or(0), grid }
}

/// The questions that models explain, the best model first.
fn explained_views<'a>(report: &Report<'_>, table: &'a Table) -> Vec<ExplainedView<'a>> {
    let view = |(number, row): (usize, &'a TableRow)| {
        let explained = &report.rows[row.ours?].explained;
        let question = |(index, explained): (usize, &ExplainedQuestion)| ExplainedFigure {
            id: format!("looked-{number}-{index}"),
            summary: format!(
                "{} · {}",
                explained.class.map_or("Question", questions::WordClass::label),
                explained.verdict()
            ),
            reading: explained.reading(),
        };
        // That a model chose the answer with another capital letter says nothing about where it looked.
        let shown = explained.iter().filter(|question| !question.is_case_twin());
        let questions: Vec<ExplainedFigure> = shown.enumerate().map(question).collect();
        (!questions.is_empty())
            .then_some((row.mean(), ExplainedView { label: &row.label, questions }))
    };
    let mut views: Vec<(f64, ExplainedView<'_>)> =
        table.rows.iter().enumerate().filter_map(view).collect();
    views.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    views.into_iter().map(|(_, view)| view).collect()
}

fn section_view(section: &Section) -> SectionView<'_> {
    let Section { title, text, chart, grid } = section;
    SectionView {
        id: chart.id,
        title,
        text,
        chart: chart.drawing(),
        table: grid_view(chart.id, grid),
    }
}

/// The caption of every picture, so that it can be used outside the page.
fn caption(table: &Table) -> String {
    let source = table.provenance.source.label();
    format!("Questions: {source}. {}", tables::made(&table.provenance, &table.seeds))
}

/// What a reader should know before comparing the figures with others.
fn note(table: &Table) -> Vec<String> {
    let mut note = vec![table.provenance.source.sentence().to_owned()];
    if table.kind.published().rows.is_empty() {
        note.push("The paper prints no figures for this.".to_owned());
    } else if !table.is_comparable {
        note.push("Not comparable with the paper: different questions.".to_owned());
    }
    note
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

/// A handful of the questions that every model misses, of all classes in turn; not those that are missed by a capital
/// letter alone.
fn missed_view<'a>(missed: &'a missed::MissedByAll<'_, '_>) -> MissedView<'a> {
    let questions = &missed.questions;
    let mut of_class: BTreeMap<_, usize> = BTreeMap::new();
    let mut rank = |question: &breakdown::MissedQuestion<'_>| {
        let rank = of_class.entry(question.example.class).or_default();
        *rank += 1;
        *rank
    };
    let shown = questions.iter().filter(|question| !has_case_twin(question));
    let mut ranked: Vec<_> = shown.map(|question| (rank(question), question)).collect();
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

/// Returns whether some model chose the answer but for its capital letters.
fn has_case_twin(missed: &breakdown::MissedQuestion<'_>) -> bool {
    let question = &missed.example.question;
    let answer = missed.example.answer.map(|answer| question.word(question.candidates[answer]));
    answer.is_some_and(|answer| {
        missed.predicted.iter().any(|chosen| chosen.to_lowercase() == answer.to_lowercase())
    })
}

fn made<'a>(report: &'a Report<'_>, tables: &[Table], has_pairs: bool) -> MadeView<'a> {
    let paths = report.rows.iter().flat_map(|row| &row.runs);
    let folder = common_folder(paths.map(|run| run.predictions.predictions().name()));
    let row = |row: &'a Row<'_>| {
        let settings = tables::settings(&row.settings);
        let seeds: Vec<String> = row.runs.iter().map(|run| run.seed.to_string()).collect();
        let file = |run: &'a crate::Run<'_>| {
            let path = run.predictions.predictions().name();
            path.strip_prefix(folder).unwrap_or(path)
        };
        let files: Vec<&str> = row.runs.iter().map(file).collect();
        MadeRow {
            name: &row.name,
            settings: if settings.is_empty() { "defaults".to_owned() } else { settings },
            seeds: seeds.join(", "),
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
        statistics: (!tables.is_empty()).then(|| statistics(tables, has_pairs)),
        folder: folder.to_owned(),
        commands: &provenance.commands,
        rows: report.rows.iter().map(row).collect(),
    }
}

/// How the figures on the page were computed.
fn statistics(tables: &[Table], has_pairs: bool) -> String {
    let mut parts = vec!["Wilson intervals at 95 %; a tie among k best counts 1/k".to_owned()];
    if tables
        .iter()
        .any(|table| [true, false].iter().any(|&marked| table.agreement(marked).n() > 0))
    {
        parts.push("differences from the paper by Newcombe’s method 10".to_owned());
    }
    if has_pairs {
        let resamples = number::count(evaluation::bootstrap::RESAMPLES);
        parts.push(format!(
            "pairs by McNemar’s exact test and {resamples} bootstrap resamples of books, seed 1"
        ));
    }
    parts.join("; ") + "."
}

/// The folder that all paths begin with, with its last separator; empty where they have none in common.
fn common_folder<'p>(paths: impl Iterator<Item = &'p str>) -> &'p str {
    let folder = |path: &'p str| {
        let name = Path::new(path).file_name().map_or(0, |name| name.len());
        &path[..path.len() - name]
    };
    let mut folders = paths.map(folder);
    let first = folders.next().unwrap_or_default();
    if folders.all(|other| other == first) { first } else { "" }
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
        let tables = crate::tables_of(report).unwrap();
        write(report, &tables, &crate::grids_of(report, &tables)).unwrap()
    }

    /// The tags of a page in order; panics where one is left open or closed without being open.
    fn balanced_tags(html: &str) -> Vec<String> {
        const VOID: [&str; 3] = ["meta", "link", "!DOCTYPE"];
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
        assert!(tags.iter().all(|tag| !tag.contains("src=")));
        // The icon is in the page, and links lead to places in it.
        let links = tags.iter().filter_map(|tag| tag.split("href=\"").nth(1));
        for link in links {
            assert!(link.starts_with('#') || link.starts_with("data:image/svg+xml,"), "{link}");
        }
        let without_icon = page.replace(&stand_alone::icon_address(), "");
        assert!(!without_icon.contains("http://") && !without_icon.contains("https://"));
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
    fn hostile_text_is_escaped_everywhere() {
        let page = page();
        assert!(!page.contains(HOSTILE));
        assert!(!page.contains("<img"));
        assert!(!page.contains("<more>"));
        let escaped = "&lt;&#x2f;script&gt;&lt;img&#x2f;src=x&gt;&quot;&#x27;&amp;|*_";
        let of_template = [
            format!("<title>Small {escaped}</title>"),
            format!("<code>goldilocks report &quot;{escaped}&quot;"),
            format!("<span class=\"candidate\">{escaped}</span> saw "),
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
        let report =
            crate::Report { rows: Vec::new(), beside_paper: true, ..fixture::report(&set) };
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

    #[test]
    fn the_finding_comes_first_and_settings_and_folders_once() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        for row in &mut report.rows {
            let run = &mut row.runs[0];
            let rows: Vec<_> = run.predictions.predictions().iter().cloned().collect();
            let name = format!("out/predictions/{}.jsonl", row.name);
            let predictions = evaluation::Predictions::new(name, rows).unwrap();
            run.predictions = evaluation::check_against(predictions, &set).unwrap();
        }
        let page = written(&report);
        let found = page.find("The window memory with self-supervision answers names best");
        assert!(found.unwrap() < page.find("<figure").unwrap());
        assert_eq!(page.matches("dim=20").count(), 1);
        assert_eq!(page.matches("out&#x2f;predictions&#x2f;").count(), 1);
        assert!(page.contains("<code>memnn-window.jsonl</code>"));
    }

    #[test]
    fn one_explanation_is_open_and_capital_letters_are_no_showcase() {
        let set = fixture::set();
        let mut report = fixture::report(&set);
        let explained = crate::explained::tests::explained();
        let mut twin = explained.clone();
        twin.candidates = ["milk", "Milk", "hen"].map(str::to_owned).to_vec();
        report.rows[1].explained = vec![twin, explained.clone(), explained.clone()];
        report.rows[0].explained = vec![explained];
        let page = written(&report);
        balanced_tags(&page);
        assert!(!page.contains("Milk"));
        assert_eq!(page.matches("<details class=\"looked\" open>").count(), 1);
        // The better model's comes first, and the question of Figure 1 is not shown as well.
        let looked =
            page.split("id=\"looked\"").nth(1).unwrap().split("</section>").next().unwrap();
        assert_eq!(looked.matches("class=\"reading\"").count(), 3);
        assert!(looked.find("self-sup.").unwrap() < looked.find("(window mem.)").unwrap());
        assert!(!page.contains("<h2>A question</h2>"));
    }

    #[test]
    fn a_question_has_a_page_of_its_own_that_names_the_model() {
        let page = explained(&crate::explained::tests::explained());
        balanced_tags(&page);
        assert!(page.contains("<title>What memnn-window-selfsup looked at</title>"));
        assert!(page.contains("Named Entities · valid · The Two Hens"), "{page}");
        assert!(page.contains("class=\"box chosen level5\"") && page.contains("★"));
    }
}
