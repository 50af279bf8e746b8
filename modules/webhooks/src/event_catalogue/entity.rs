//! The data of entities' events: its schema and an example, derived from the entity's columns.

use sea_orm::Value;
use sea_orm::entity::prelude::Decimal;
use serde_json::{Map, Value as Json, json};
use svc_data::value::{Enumeration, ValueKind, to_json};
use svc_data::{ChangeKind, Column, EntityModel, Exposure};
use time::macros::{date, datetime, time};
use uuid::Uuid;

/// The identifier that examples use.
pub(super) const EXAMPLE_ID: Uuid = Uuid::from_u128(0x0193_4a1c_7a3e_7def_8123_4567_89ab_cdef);

/// The JSON Schema of the data. What is hidden from some is in it, but not required.
pub(super) fn schema(model: &EntityModel, kind: ChangeKind) -> Json {
    let told = told(model, kind);
    let required: Vec<&str> = told
        .iter()
        .filter(|column| column.hidden_unless.is_empty())
        .map(|column| column.property.as_str())
        .collect();
    let properties: Map<String, Json> =
        told.iter().map(|column| (column.property.clone(), property_schema(column))).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

/// Data as it may be, as somebody sees it from whom nothing is hidden.
pub(super) fn example(model: &EntityModel, kind: ChangeKind) -> Json {
    let told = told(model, kind);
    told.iter().map(|column| (column.property.clone(), example_of(&column.kind))).collect()
}

/// The columns that an event tells; of an entity that is gone for good the key alone.
fn told(model: &EntityModel, kind: ChangeKind) -> Vec<&Column> {
    if kind == ChangeKind::Deleted && !model.deletes_softly() {
        return vec![model.key()];
    }
    model.columns.iter().filter(|column| column.exposure != Exposure::Internal).collect()
}

fn property_schema(column: &Column) -> Json {
    let (kind, format) = match column.kind {
        ValueKind::Boolean => ("boolean", None),
        ValueKind::Int16 | ValueKind::Int32 => ("integer", Some("int32")),
        ValueKind::Int64 => ("integer", Some("int64")),
        ValueKind::Double => ("number", Some("double")),
        ValueKind::Decimal { .. } => ("number", Some("decimal")),
        ValueKind::Text { .. } => ("string", None),
        ValueKind::Uuid => ("string", Some("uuid")),
        ValueKind::Timestamp => ("string", Some("date-time")),
        ValueKind::Date => ("string", Some("date")),
        // Without an offset, which `time` of JSON Schema insists on.
        ValueKind::Time => ("string", Some("time-local")),
        ValueKind::Bytes => ("string", Some("base64url")),
        // Any JSON.
        ValueKind::Json => return json!({}),
        ValueKind::Enumeration(enumeration) => return members_of(enumeration, column.nullable),
    };
    let mut schema = Map::new();
    let kind = if column.nullable { json!([kind, "null"]) } else { json!(kind) };
    schema.insert("type".to_owned(), kind);
    if let Some(format) = format {
        schema.insert("format".to_owned(), format.into());
    }
    if let ValueKind::Text { max: Some(max) } = column.kind {
        schema.insert("maxLength".to_owned(), max.into());
    }
    Json::Object(schema)
}

fn members_of(enumeration: &Enumeration, nullable: bool) -> Json {
    let names = enumeration.members().iter().map(|member| Json::from(member.name.as_str()));
    let names: Vec<Json> = names.chain(nullable.then_some(Json::Null)).collect();
    let kind = if nullable { json!(["string", "null"]) } else { json!("string") };
    json!({"type": kind, "enum": names})
}

/// A value of a kind, in the form in which an event would tell it.
fn example_of(kind: &ValueKind) -> Json {
    let value = match kind {
        ValueKind::Boolean => Value::from(true),
        ValueKind::Int16 => Value::from(1_i16),
        ValueKind::Int32 => Value::from(1_i32),
        ValueKind::Int64 => Value::from(1_i64),
        ValueKind::Double => Value::from(1.5),
        ValueKind::Decimal { precision, scale } => {
            let digits = 1_999 % 10_i64.pow((*precision).min(4));
            Value::from(Decimal::new(digits, *scale))
        }
        ValueKind::Text { max } => {
            let max = max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
            Value::from("some text".chars().take(max).collect::<String>())
        }
        ValueKind::Uuid => Value::from(EXAMPLE_ID),
        ValueKind::Timestamp => Value::from(datetime!(2026-01-31 12:00 UTC)),
        ValueKind::Date => Value::from(date!(2026 - 01 - 31)),
        ValueKind::Time => Value::from(time!(12:00)),
        ValueKind::Bytes => Value::from(vec![1_u8, 2, 3]),
        ValueKind::Json => return json!({}),
        ValueKind::Enumeration(enumeration) => {
            return enumeration.members().first().map(|member| member.name.as_str()).into();
        }
    };
    to_json(&value)
}
