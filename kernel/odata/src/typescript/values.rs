//! Values: primitive types, enumerations, collections, null; and what is to be known of them besides.

use std::fmt::Write as _;

use crate::model::{
    EnumType, Measure, OperationType, PrimitiveType, Property, PropertyType, Schema, TypeIndex,
};

use super::aliases::alias;
use super::comment::push_doc;
use super::names::{Names, text, union_of};

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

/// What is to be known of a property besides its type; `of` is the type that it belongs to.
pub(super) fn facts(schema: &dyn Schema, of: TypeIndex, property: &Property) -> Vec<String> {
    let mut facts: Vec<String> = property.description.clone().into_iter().collect();
    let units = match property.ty {
        PropertyType::Primitive(PrimitiveType::Binary) => "byte",
        _ => "character",
    };
    facts.extend(
        property.max_length.map(|length| {
            format!("At most {length} {units}{}", if length == 1 { "" } else { "s" })
        }),
    );
    if let (Some(precision), Some(scale)) = (property.precision, property.scale) {
        facts.push(format!("{precision} digits, {scale} of them after the point"));
    }
    let measure = property.measure.as_ref().filter(|measure| measure.is_told(schema, of));
    facts.extend(measure.map(Measure::at_the_beginning));
    facts.extend(property.semantic_type.as_ref().map(|means| format!("Means `{means}`")));
    match (&property.minimum, &property.maximum) {
        (Some(least), Some(greatest)) => facts.push(format!("From {least} to {greatest}")),
        (Some(least), None) => facts.push(format!("At least {least}")),
        (None, Some(greatest)) => facts.push(format!("At most {greatest}")),
        (None, None) => {}
    }
    facts.extend(property.pattern.as_ref().map(|pattern| format!("Matches `{pattern}`")));
    facts.extend(
        property.default_value.as_ref().map(|value| format!("`{value}` where it is left out")),
    );
    facts.extend(property.on_request.then(|| "Only where `$select` names it".to_owned()));
    facts.extend(property.facet.then(|| "A facet: lists are narrowed by its values".to_owned()));
    facts.extend(
        property.read_permission.as_ref().map(|name| format!("Only for those with `{name}`")),
    );
    facts
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
