//! Which values are in force, and where they come from.

use serde::Serialize;

/// One key of the configuration with the value in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Effective {
    /// The section: `Svc:Webhooks`.
    pub section: String,
    /// The full key: `Svc:Webhooks:Timeout`.
    pub key: String,
    /// The value on one line, masked where it is secret.
    pub value: String,
    /// Where the value was written, such as `svc.toml line 12`, or `default`. For a map all places
    /// are named that add to its default.
    pub source: String,
    /// The declared default, masked where it is secret.
    pub default: String,
    /// What a value looks like, bounds included.
    pub expected: String,
    /// What the setting means.
    pub doc: String,
}

/// Writes settings in three aligned columns: key, value, source.
#[must_use]
pub fn render_effective(settings: &[Effective]) -> String {
    let rows: Vec<[&str; 3]> = settings
        .iter()
        .map(|setting| [setting.key.as_str(), or_empty(&setting.value), setting.source.as_str()])
        .collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let (key_width, value_width) = (width(0), width(1));
    let mut text = String::new();
    for [key, value, source] in rows {
        text.push_str(&pad(key, key_width));
        text.push_str(&pad(value, value_width));
        text.push_str(source);
        text.push('\n');
    }
    text
}

/// A cell of this width and the gap behind it.
fn pad(cell: &str, width: usize) -> String {
    format!("{cell:width$}  ")
}

/// A value as a list shows it.
pub(crate) fn or_empty(value: &str) -> &str {
    if value.is_empty() { "\"\"" } else { value }
}
