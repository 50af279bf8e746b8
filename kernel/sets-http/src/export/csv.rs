//! Comma-separated values (RFC 4180), as spreadsheets open them: UTF-8 with a mark at its beginning, a
//! line of names, then a line for each entity.
//!
//! No value is an empty field, an empty text is `""`. A text that begins with `=`, `+`, `-`, `@`, a tab or a line
//! break gets an apostrophe before it, since spreadsheets would take it for a formula and run what somebody else
//! has written.

use svc_core::Result;
use svc_odata::value::{Value as Literal, write_text};
use svc_sets::ReadingColumn;

use super::{ExportFile, ExportFormat};

/// `format=csv`.
pub(crate) struct Csv;

impl ExportFormat for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn media_type(&self) -> &'static str {
        "text/csv; charset=utf-8; header=present"
    }

    fn begin(&self, columns: &[ReadingColumn], out: &mut Vec<u8>) -> Box<dyn ExportFile> {
        out.extend_from_slice("\u{feff}".as_bytes());
        push_line(columns.iter().map(|column| quoted_where_needed(&column.name)), out);
        Box::new(Lines)
    }
}

/// A file of lines.
struct Lines;

impl ExportFile for Lines {
    fn row(&mut self, values: &[Literal], out: &mut Vec<u8>) -> Result<()> {
        push_line(values.iter().map(field), out);
        Ok(())
    }

    fn end(&mut self, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }
}

fn push_line(fields: impl Iterator<Item = String>, out: &mut Vec<u8>) {
    for (place, field) in fields.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.extend_from_slice(field.as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}

fn field(value: &Literal) -> String {
    match value {
        Literal::Null => String::new(),
        Literal::String(text) if text.is_empty() => "\"\"".to_owned(),
        Literal::String(text) if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) => {
            quoted_where_needed(&format!("'{text}"))
        }
        other => quoted_where_needed(&write_text(other)),
    }
}

fn quoted_where_needed(text: &str) -> String {
    if text.contains([',', '"', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_what_spreadsheets_read_back() {
        let text = |text: &str| field(&Literal::String(text.to_owned()));
        for (value, written) in [
            ("Saw", "Saw"),
            ("", "\"\""),
            ("a,b", "\"a,b\""),
            ("he said \"no\"", "\"he said \"\"no\"\"\""),
            ("two\r\nlines", "\"two\r\nlines\""),
            (" far ", "\" far \""),
            ("=1+1", "'=1+1"),
            ("@SUM(A1,A2)", "\"'@SUM(A1,A2)\""),
            ("-5", "'-5"),
        ] {
            assert_eq!(text(value), written);
        }
        assert_eq!(field(&Literal::Null), "");
        assert_eq!(field(&Literal::Integer(-5)), "-5");
        assert_eq!(field(&Literal::Boolean(true)), "true");
    }
}
