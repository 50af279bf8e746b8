//! What settings there are, and what they mean.

use crate::declare::SectionDeclaration;
use crate::effective::or_empty;

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
