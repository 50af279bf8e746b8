//! Which values are in force, where they come from, and what they mean.

use serde::Serialize;

use super::declare::SectionDeclaration;

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

/// Writes the reference of sections in Markdown: a heading and a table for each, with the keys,
/// their defaults, what is accepted, and what they mean.
#[must_use]
pub fn render_reference(declarations: &[SectionDeclaration]) -> String {
    let sections: Vec<String> = declarations.iter().map(render_section).collect();
    sections.join("\n")
}

fn render_section(declaration: &SectionDeclaration) -> String {
    let mut text = format!("## `{}`\n\n{}\n\n", declaration.name(), declaration.doc());
    text.push_str("| Key | Default | Accepts | Meaning |\n|---|---|---|---|\n");
    for field in declaration.fields() {
        let default = field.default.as_deref().map(or_empty);
        let cells = [
            format!("`{}`", field.key),
            default.map_or_else(|| "required".to_owned(), |default| format!("`{default}`")),
            field.expected,
            field.doc,
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        text.push_str("| ");
        text.push_str(&cells.join(" | "));
        text.push_str(" |\n");
    }
    text
}

/// A cell of this width and the gap behind it.
fn pad(cell: &str, width: usize) -> String {
    format!("{cell:width$}  ")
}

fn or_empty(value: &str) -> &str {
    if value.is_empty() { "\"\"" } else { value }
}
