//! The shapes that are sent to create and change entities, with what they are related to.
//!
//! A related entity is named in one of three ways: by the property that holds its key, by
//! `@odata.bind` with its address, or, where an entity is created, by a new entity within it. Where
//! one of them is needed the type is a union of the three.

use std::fmt::Write as _;

use crate::model::{
    NavigationProperty, Property, PropertyIndex, RelatedWrites, Schema, TypeIndex, related_writes,
};

use super::comment::push_doc;
use super::names::{Names, member, union_of};
use super::values;

/// The shape of a new entity.
pub(super) fn push_create(
    out: &mut String,
    schema: &dyn Schema,
    names: &Names,
    index: TypeIndex,
    properties: &[&Property],
) {
    let entity_type = schema.model().entity_type(index);
    let shapes = names.of_type(index);
    let related = related_writes(schema, index);
    let needed = |own: &[PropertyIndex]| match own {
        [only] => Some(*only).filter(|&only| !entity_type.property(only).may_be_left_out()),
        _ => None,
    };
    // What has to be said in one way or another, by the property that holds the key.
    let mut choices: Vec<(PropertyIndex, Vec<String>)> = Vec::new();
    let mut lines = String::new();
    for (navigation, writes) in &related {
        let ways = ways_to_create(names, navigation, writes);
        match needed(&writes.own) {
            Some(own) if !ways.is_empty() => {
                let others = ways.iter().map(|(name, ty)| field(name, ty));
                if let Some((_, known)) = choices.iter_mut().find(|(it, _)| *it == own) {
                    known.extend(others);
                } else {
                    let property = entity_type.property(own);
                    let ty = values::of_property(schema, names, property);
                    let by_key = field(&member(&property.name), &ty);
                    choices.push((own, std::iter::once(by_key).chain(others).collect()));
                }
            }
            _ => {
                for (name, ty) in &ways {
                    let null = if writes.nullable { " | null" } else { "" };
                    let _ = writeln!(lines, "  {name}?: {ty}{null};");
                }
            }
        }
    }
    let is_chosen = |property: &Property| {
        choices.iter().any(|(own, _)| entity_type.property(*own).name == property.name)
    };
    let own: String = properties
        .iter()
        .filter(|property| property.is_sent_on_create() && !is_chosen(property))
        .map(|property| line(schema, names, index, property, property.may_be_left_out()))
        .collect();
    let lines = own + &lines;
    let _ = writeln!(out, "\n/** A new `{}`, as sent. */", shapes.entity);
    if choices.is_empty() {
        push_interface(out, &shapes.create, &lines);
        return;
    }
    let _ = write!(out, "export type {} = {{\n{lines}}}", shapes.create);
    for (_, ways) in &choices {
        let _ = write!(out, " & OneOf<{{ {} }}>", ways.join(" "));
    }
    out.push_str(";\n");
}

/// The shape of the changes of an entity.
pub(super) fn push_update(
    out: &mut String,
    schema: &dyn Schema,
    names: &Names,
    index: TypeIndex,
    properties: &[&Property],
) {
    let entity_type = schema.model().entity_type(index);
    let shapes = names.of_type(index);
    let mut lines: String = properties
        .iter()
        .filter(|property| entity_type.can_change(property))
        .map(|property| line(schema, names, index, property, true))
        .collect();
    for (navigation, writes) in related_writes(schema, index) {
        if writes.rebind {
            let null = if writes.nullable { " | null" } else { "" };
            let (name, ty) = bind(navigation);
            let _ = writeln!(lines, "  {name}?: {ty}{null};");
        }
    }
    let _ = writeln!(out, "\n/** The changes of a `{}`, as sent. */", shapes.entity);
    push_interface(out, &shapes.update, &lines);
}

fn push_interface(out: &mut String, name: &str, lines: &str) {
    let _ = if lines.is_empty() {
        writeln!(out, "export type {name} = Record<string, never>;")
    } else {
        writeln!(out, "export interface {name} {{\n{lines}}}")
    };
}

/// The members by which a create says where a navigation property leads, with their types.
fn ways_to_create(
    names: &Names,
    navigation: &NavigationProperty,
    writes: &RelatedWrites,
) -> Vec<(String, String)> {
    let mut ways = Vec::new();
    if writes.insert {
        ways.push((member(&navigation.name), nested(names, navigation, writes)));
    }
    ways.extend(writes.bind.then(|| bind(navigation)));
    ways
}

fn bind(navigation: &NavigationProperty) -> (String, String) {
    let ty = if navigation.collection { "string[]" } else { "string" };
    (member(&format!("{}@odata.bind", navigation.name)), ty.to_owned())
}

/// The type of new entities within another: without what leads back to it.
fn nested(names: &Names, navigation: &NavigationProperty, writes: &RelatedWrites) -> String {
    let create = &names.of_type(navigation.target).create;
    let one = if writes.back.is_empty() {
        create.clone()
    } else {
        format!("Within<{create}, {}>", union_of(writes.leads_back.iter().map(String::as_str)))
    };
    if navigation.collection { format!("{one}[]") } else { one }
}

fn field(name: &str, ty: &str) -> String {
    format!("{name}: {ty};")
}

fn line(
    schema: &dyn Schema,
    names: &Names,
    of: TypeIndex,
    property: &Property,
    optional: bool,
) -> String {
    let mut line = String::new();
    push_doc(&mut line, "  ", values::facts(schema, of, property));
    let optional = if optional { "?" } else { "" };
    let (name, ty) = (member(&property.name), values::of_property(schema, names, property));
    let _ = writeln!(line, "  {name}{optional}: {ty};");
    line
}
