//! Names for the values that JSON has no type for.

use std::fmt::Write as _;

use crate::csdl::visible;
use crate::model::{OperationType, PrimitiveType, PropertyType, Schema};

use super::comment::push_doc;

/// The primitive types that JSON has no type for: the name, the type in JSON, and what it is.
pub(super) const ALIASES: [(PrimitiveType, &str, &str, &str); 9] = [
    (PrimitiveType::Binary, "Binary", "string", "Bytes in base64url"),
    (PrimitiveType::Date, "DateOnly", "string", "A day, such as `2026-11-20`"),
    (
        PrimitiveType::DateTimeOffset,
        "DateTimeOffset",
        "string",
        "A moment, such as `2026-11-20T12:00:00Z`",
    ),
    (
        PrimitiveType::Decimal,
        "Decimal",
        "number",
        "An exact number; JavaScript keeps 15 of its digits. With `IEEE754Compatible=true` it is a text",
    ),
    (PrimitiveType::Duration, "Duration", "string", "A length of time, such as `PT1H30M`"),
    (
        PrimitiveType::Guid,
        "Guid",
        "string",
        "An identifier, such as `01234567-89ab-cdef-0123-456789abcdef`; in addresses and filters \
         without quotes",
    ),
    (
        PrimitiveType::Int64,
        "Int64",
        "number",
        "A whole number; JavaScript keeps 15 of its digits. With `IEEE754Compatible=true` it is a text",
    ),
    (PrimitiveType::Stream, "Stream", "never", "Bytes that are read and written on their own"),
    (PrimitiveType::TimeOfDay, "TimeOfDay", "string", "A time of day, such as `18:30:00`"),
];

/// The name of a type that JSON has none for.
pub(super) fn alias(primitive: PrimitiveType) -> Option<&'static str> {
    ALIASES.iter().find(|(known, ..)| *known == primitive).map(|(_, name, ..)| *name)
}

/// The aliases that the service's entities and operations need.
pub(super) fn push(out: &mut String, schema: &dyn Schema) {
    let mut used = Vec::new();
    let mut add = |ty: PropertyType| match ty {
        PropertyType::Primitive(primitive) => used.push(primitive),
        PropertyType::Enum(_) | PropertyType::Untyped => {}
    };
    for (index, _) in visible::types(schema) {
        schema.properties(index).iter().for_each(|(_, property)| add(property.ty));
    }
    for operation in visible::operations(schema) {
        let parameters = operation.parameters.iter().map(|parameter| &parameter.ty);
        for ty in parameters.chain(operation.returns.as_ref()) {
            if let OperationType::Value { ty, .. } = ty {
                add(*ty);
            }
        }
    }
    for (primitive, name, json, description) in ALIASES {
        if used.contains(&primitive) {
            out.push('\n');
            push_doc(out, "", [description.to_owned()]);
            let _ = writeln!(out, "export type {name} = {json};");
        }
    }
}
