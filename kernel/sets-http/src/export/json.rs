//! A list of JSON objects, each on a line of its own.

use svc_core::Result;
use svc_odata::json::push_string;
use svc_odata::value::{Value as Literal, write_text};
use svc_sets::ReadingColumn;

use super::{ExportFile, ExportFormat};

/// `format=json`.
pub(crate) struct JsonFile;

impl ExportFormat for JsonFile {
    fn name(&self) -> &'static str {
        "json"
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn schema(&self) -> serde_json::Value {
        serde_json::json!({"type": "array", "items": {"type": "object"}})
    }

    fn begin(&self, columns: &[ReadingColumn], out: &mut Vec<u8>) -> Box<dyn ExportFile> {
        out.push(b'[');
        let names = columns.iter().map(|column| {
            let mut name = String::new();
            push_string(&mut name, &column.name);
            name
        });
        Box::new(Objects { names: names.collect(), any: false })
    }
}

/// A file of objects.
struct Objects {
    /// The names as JSON.
    names: Vec<String>,
    any: bool,
}

impl ExportFile for Objects {
    fn row(&mut self, values: &[Literal], out: &mut Vec<u8>) -> Result<()> {
        let mut text = if self.any { ",\n{" } else { "\n{" }.to_owned();
        self.any = true;
        for (place, (name, value)) in self.names.iter().zip(values).enumerate() {
            if place > 0 {
                text.push(',');
            }
            text.push_str(name);
            text.push(':');
            push_value(value, &mut text);
        }
        text.push('}');
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(b"\n]\n");
        Ok(())
    }
}

fn push_value(value: &Literal, out: &mut String) {
    match value {
        Literal::Null => out.push_str("null"),
        Literal::Boolean(_)
        | Literal::Integer(_)
        | Literal::Decimal(_)
        | Literal::BigDecimal(_) => {
            out.push_str(&write_text(value));
        }
        Literal::Double(number) if number.is_finite() => out.push_str(&write_text(value)),
        Literal::Json(json) => out.push_str(&json.to_string()),
        Literal::Collection(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                push_value(item, out);
            }
            out.push(']');
        }
        other => push_string(out, &write_text(other)),
    }
}
