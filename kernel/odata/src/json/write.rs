//! Values in response bodies.

use std::fmt::Write as _;

use crate::model::{EnumIndex, Model};
use crate::value::{Value, write_text};

/// How values are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JsonOptions {
    /// `Int64` and `Decimal` as strings (`IEEE754Compatible=true`), for clients that read numbers
    /// as binary64.
    pub ieee754_compatible: bool,
}

/// Appends a string with quotes and escapes.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(&text[plain..at]);
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
        plain = at + 1;
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

/// Appends the name of a member with its colon.
pub fn push_name(out: &mut String, name: &str) {
    push_string(out, name);
    out.push(':');
}

/// Appends a value. `wide` says that a number is an `Int64`, which 32 bits cannot hold.
pub fn push_value(
    out: &mut String,
    model: &Model,
    value: &Value,
    wide: bool,
    options: JsonOptions,
) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Integer(number) if wide && options.ieee754_compatible => {
            let _ = write!(out, "\"{number}\"");
        }
        Value::Integer(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Decimal(_) | Value::BigDecimal(_) if options.ieee754_compatible => {
            let _ = write!(out, "\"{}\"", write_text(value));
        }
        Value::Decimal(_) | Value::BigDecimal(_) => out.push_str(&write_text(value)),
        Value::Double(number) if number.is_finite() => out.push_str(&write_text(value)),
        Value::Json(json) => {
            let _ = write!(out, "{json}");
        }
        Value::Enum(index, number) => push_string(out, &enum_text(model, *index, *number)),
        Value::Collection(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                push_value(out, model, item, wide, options);
            }
            out.push(']');
        }
        Value::String(text) => push_string(out, text),
        // The other forms need no escapes.
        _ => {
            let _ = write!(out, "\"{}\"", write_text(value));
        }
    }
}

/// The names of the members that make up a number, or the number if they don't.
fn enum_text(model: &Model, index: EnumIndex, number: i64) -> String {
    let enum_type = model.enum_type(index);
    if let Some(member) = enum_type.members.iter().find(|member| member.value == number) {
        return member.name.clone();
    }
    let mut rest = number;
    let mut names = Vec::new();
    // Greater members first, so that one that combines others is preferred.
    let mut members: Vec<_> = enum_type.members.iter().filter(|member| member.value != 0).collect();
    members.sort_by_key(|member| std::cmp::Reverse(member.value));
    for member in members {
        if enum_type.flags && rest & member.value == member.value {
            rest &= !member.value;
            names.push(member.name.as_str());
        }
    }
    if rest != 0 || names.is_empty() {
        return number.to_string();
    }
    names.reverse();
    names.join(",")
}
