//! Values: primitive types, enumerations, collections, null.

use std::fmt::Write as _;

use crate::csdl::visible;
use crate::model::{EnumType, OperationType, PrimitiveType, Property, PropertyType, Schema};

use super::names::{Names, text, union_of};
use super::push_doc;

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

fn alias(primitive: PrimitiveType) -> Option<&'static str> {
    ALIASES.iter().find(|(known, ..)| *known == primitive).map(|(_, name, ..)| *name)
}

/// The aliases that the service's entities and operations need.
pub(super) fn push_aliases(out: &mut String, schema: &dyn Schema) {
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

/// An enumeration. Members of one with flags can stand together, with commas between.
pub(super) fn push_enum(out: &mut String, names: &Names, enum_type: &EnumType) {
    let name = names.of_enum(enum_type);
    let members = union_of(enum_type.members.iter().map(|member| member.name.as_str()));
    out.push('\n');
    push_doc(out, "", enum_type.description.clone());
    let _ = if enum_type.flags {
        writeln!(out, "export type {name} = {members} | `${{{members}}},${{string}}`;")
    } else {
        writeln!(out, "export type {name} = {members};")
    };
}

/// The type of a property's values.
pub(super) fn of_property(schema: &dyn Schema, names: &Names, property: &Property) -> String {
    let one = allowed(property).unwrap_or_else(|| of(schema, names, property.ty));
    with_null(one, property.collection, property.nullable)
}

/// The only values that a property can have, if these are known.
fn allowed(property: &Property) -> Option<String> {
    let PropertyType::Primitive(primitive) = property.ty else { return None };
    let values: Option<Vec<String>> = property
        .allowed_values
        .iter()
        .map(|allowed| match primitive {
            PrimitiveType::String => Some(text(&allowed.value)),
            ty if ty.is_integer() => {
                allowed.value.parse::<i64>().ok().map(|number| number.to_string())
            }
            _ => None,
        })
        .collect();
    values.filter(|values| !values.is_empty()).map(|values| values.join(" | "))
}

/// The type of an operation's parameter or result.
pub(super) fn of_operation(schema: &dyn Schema, names: &Names, ty: OperationType) -> String {
    match ty {
        OperationType::Value { ty, collection, nullable } => {
            with_null(of(schema, names, ty), collection, nullable)
        }
        OperationType::Entity { entity_type, collection, nullable } => {
            with_null(names.of_type(entity_type).entity.clone(), collection, nullable)
        }
    }
}

fn with_null(one: String, collection: bool, nullable: bool) -> String {
    match (collection, nullable) {
        (false, false) => one,
        (false, true) if one == "unknown" => one,
        (false, true) => format!("{one} | null"),
        (true, false) if !one.contains('|') => format!("{one}[]"),
        (true, false) => format!("({one})[]"),
        (true, true) => format!("({one} | null)[]"),
    }
}

fn of(schema: &dyn Schema, names: &Names, ty: PropertyType) -> String {
    let PropertyType::Primitive(primitive) = ty else {
        return match ty {
            PropertyType::Enum(index) => names.of_enum(schema.model().enum_type(index)).to_owned(),
            // What `unknown` holds, null is part of.
            _ => "unknown".to_owned(),
        };
    };
    if let Some(alias) = alias(primitive) {
        return alias.to_owned();
    }
    match primitive {
        PrimitiveType::Boolean => "boolean",
        PrimitiveType::String => "string",
        _ => "number",
    }
    .to_owned()
}
