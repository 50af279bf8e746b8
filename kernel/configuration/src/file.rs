//! Reads a configuration file into a tree that knows its lines.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::problem::SettingProblem;
use crate::source::Source;
use crate::tree::{Content, Entry, Node, Scalar, same_key};

/// Reads the file at `path`, which messages call `name`; none when there is no such file.
pub(crate) fn read(
    path: &Path,
    name: &str,
    problems: &mut Vec<SettingProblem>,
) -> Option<Result<Node, ()>> {
    match fs::read_to_string(path) {
        Ok(text) => Some(parse(&text, name, problems)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            let message = format!("the file cannot be read: {error}");
            problems.push(SettingProblem::of_source(name, message));
            Some(Err(()))
        }
    }
}

/// Parses a file. Where its syntax is wrong nothing of it is used, for the rest would only raise
/// problems that vanish with the first.
pub(crate) fn parse(
    text: &str,
    name: &str,
    problems: &mut Vec<SettingProblem>,
) -> Result<Node, ()> {
    let mut parser = Parser { text, name: Arc::from(name), problems };
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        let content = parser.table("", table.get_ref());
        return Ok(Node { source: parser.source(0), content });
    }
    for error in errors {
        let source = parser.source(error.span().map_or(0, |span| span.start));
        // The parser's own display quotes the line, which may hold a secret.
        let reason = error.message().lines().collect::<Vec<_>>().join(", ");
        parser.problems.push(SettingProblem::of_source(source, format!("invalid TOML: {reason}")));
    }
    Err(())
}

struct Parser<'a> {
    text: &'a str,
    name: Arc<str>,
    problems: &'a mut Vec<SettingProblem>,
}

impl Parser<'_> {
    fn source(&self, offset: usize) -> Source {
        let before = self.text.as_bytes().iter().take(offset);
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        Source::File { path: Arc::clone(&self.name), line }
    }

    /// The table at the key `path`, which is empty at the root and else ends in a colon.
    fn table(&mut self, path: &str, table: &DeTable<'_>) -> Content {
        let mut entries: Vec<Entry> = Vec::new();
        for (key, value) in table {
            let source = self.source(key.span().start);
            let name: &str = key.get_ref();
            let full_key = format!("{path}{name}");
            if let Some(other) = entries.iter().find(|entry| same_key(&entry.key, name)) {
                let message = format!("given twice, also in {}; keep one", other.node.source);
                self.problems.push(SettingProblem::of_key(full_key, &source, message));
                continue;
            }
            let content = self.content(&format!("{full_key}:"), value.get_ref());
            entries.push(Entry { key: name.to_owned(), node: Node { source, content } });
        }
        Content::Table(entries)
    }

    fn list(&mut self, path: &str, list: &DeArray<'_>) -> Content {
        let mut items = Vec::new();
        for (index, item) in list.iter().enumerate() {
            items.push(self.item(&format!("{path}{index}:"), item));
        }
        Content::List(items)
    }

    fn item(&mut self, path: &str, item: &Spanned<DeValue<'_>>) -> Node {
        let source = self.source(item.span().start);
        Node { source, content: self.content(path, item.get_ref()) }
    }

    fn content(&mut self, path: &str, value: &DeValue<'_>) -> Content {
        Content::Value(match value {
            DeValue::Table(table) => return self.table(path, table),
            DeValue::Array(list) => return self.list(path, list),
            DeValue::String(text) => Scalar::Text(text.to_string()),
            DeValue::Integer(number) => {
                // A number beyond `i128` is beyond every setting, too.
                let parsed = i128::from_str_radix(number.as_str(), number.radix());
                Scalar::Integer(parsed.unwrap_or(i128::MAX))
            }
            DeValue::Float(number) => Scalar::Float(number.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(value) => Scalar::Boolean(*value),
            DeValue::Datetime(value) => Scalar::DateTime(value.to_string()),
        })
    }
}
