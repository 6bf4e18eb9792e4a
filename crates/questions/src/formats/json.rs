//! Lines of JSON → objects, or what is wrong with them in words: shared by all readers of JSON lines.

use serde::Deserialize;
use serde_json::Value;

use crate::LineError;
use crate::error::shown;

/// The type of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    List,
    Text,
    TextOrNone,
}

/// A line as an object that has these keys.
pub(crate) fn parse<'a, T: Deserialize<'a>>(
    text: &'a str,
    keys: &[(&'static str, Kind)],
) -> Result<T, LineError> {
    let text = text.trim_ascii();
    // A list of values in the right order would do for `serde`.
    if !text.starts_with('{') {
        return Err(LineError::Json { reason: "it does not begin with `{`".to_owned() });
    }
    serde_json::from_str(text).map_err(|error| explain(text, &error, keys))
}

/// Which key of a line is wrong: a line that could not be read is parsed again, more slowly.
fn explain(text: &str, error: &serde_json::Error, keys: &[(&'static str, Kind)]) -> LineError {
    let (message, column) = syntax_error(error);
    let other = LineError::Json { reason: format!("{message} at column {column}") };
    let Ok(Value::Object(object)) = serde_json::from_str(text) else { return other };
    let is_list =
        |value: &Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
    let wrong = |&(key, kind): &(&'static str, Kind)| {
        let value = object.get(key);
        let (fits, expected) = match kind {
            Kind::List => (value.is_some_and(is_list), "a list of strings"),
            Kind::Text => (value.is_some_and(Value::is_string), "a string"),
            Kind::TextOrNone => {
                (value.is_none_or(|value| value.is_string() || value.is_null()), "a string or null")
            }
        };
        let found = value.map_or("nothing".to_owned(), describe);
        (!fits).then_some(LineError::Value { key, expected, found })
    };
    keys.iter().find_map(wrong).unwrap_or(other)
}

/// What a value is, for a message: `` `3` ``, `` the string `bear` ``, `a list with null in it`.
pub fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
        Value::String(text) if text.is_empty() => "an empty string".to_owned(),
        Value::String(text) => format!("the string {}", shown(text)),
        Value::Array(list) => match list.iter().find(|element| !element.is_string()) {
            Some(element) => format!("a list with {} in it", describe(element)),
            None => "a list".to_owned(),
        },
        Value::Object(_) => "an object".to_owned(),
    }
}

/// The message of a syntax error without its position, and the column, from 1; the line is that of the file.
pub fn syntax_error(error: &serde_json::Error) -> (String, usize) {
    let position = format!(" at line {} column {}", error.line(), error.column());
    (error.to_string().trim_end_matches(&position).to_owned(), error.column().max(1))
}
