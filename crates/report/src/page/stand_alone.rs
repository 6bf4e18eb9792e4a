//! What leaves the report's page: a picture as a file, an explained question as a page of its own. Both bring their style
//! along.

use minijinja::context;
use minijinja::value::Serde;

use crate::ExplainedQuestion;
use crate::reading;

/// Colours, fonts and drawings; text, tables and details; stories and boxes. The style sheet of every page begins with it.
pub const STYLE: &str = concat!(
    include_str!("../style/drawing.css"),
    include_str!("../style/base.css"),
    include_str!("../reading/reading.css")
);

/// The icon of all pages: three bowls, the middle one just right.
pub const ICON: &str = concat!(
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 32 32\">",
    "<path fill=\"#0072b2\" d=\"M0 12h16a8 8 0 0 1-16 0z\"/>",
    "<path fill=\"#d55e00\" d=\"M16.5 15h9.6a4.8 4.8 0 0 1-9.6 0z\"/>",
    "<path fill=\"#009e73\" d=\"M26.6 17h5.4a2.7 2.7 0 0 1-5.4 0z\"/></svg>"
);

/// The icon as an address that a page can carry.
pub fn icon_address() -> String {
    let escaped = ICON.replace('%', "%25").replace('#', "%23").replace('"', "'");
    format!("data:image/svg+xml,{}", escaped.replace('<', "%3C").replace('>', "%3E"))
}

/// A drawing as a file of its own: with its name space and its style.
pub fn stand_alone(svg: &str) -> String {
    let style = include_str!("../style/drawing.css");
    let svg = svg.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    let end = svg.find('>').expect("a drawing begins with a tag") + 1;
    format!("{}<style>\n{style}</style>{}\n", &svg[..end], &svg[end..])
}

/// An explained question as a page of its own.
pub fn explained(explained: &ExplainedQuestion) -> String {
    let view = context! {
        style => STYLE,
        icon => icon_address(),
        script => reading::SCRIPT,
        title => explained.title(),
        heading => explained.heading(),
        id => explained.id.clone(),
        reading => Serde(reading::Reading::of(explained)),
    };
    super::render("explained.html", include_str!("explained.html"), view)
}
