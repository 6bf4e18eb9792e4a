//! What leaves the report's page: a drawing as a file, a figure as a page of its own. Both bring their style along.

use crate::chart::escape;

/// The style of a page: that of its drawings first.
pub const STYLE: &str = concat!(include_str!("drawing.css"), include_str!("page.css"));

/// A drawing as a file of its own: with its name space and its style.
pub fn stand_alone(svg: &str) -> String {
    let style = include_str!("drawing.css");
    let svg = svg.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    let end = svg.find('>').expect("a drawing begins with a tag") + 1;
    format!("{}<style>\n{style}</style>{}\n", &svg[..end], &svg[end..])
}

/// A page with a heading and what is HTML already.
pub fn bare(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         {body}</main>\n</body>\n</html>\n"
    )
}
