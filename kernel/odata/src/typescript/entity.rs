//! Entities, as answers hold them.

use std::fmt::Write as _;

use crate::model::{
    EntityType, NavigationProperty, PrimitiveType, Property, PropertyType, Schema, TypeIndex,
};

use super::comment::push_doc;
use super::names::{Names, member, union_of};
use super::{relating, values};

/// Everything of one entity type.
pub(super) fn push(
    out: &mut String,
    schema: &dyn Schema,
    names: &Names,
    index: TypeIndex,
    entity_type: &EntityType,
) {
    let shapes = names.of_type(index);
    let all = schema.properties(index);
    // A stream is no part of its entity's JSON.
    let properties: Vec<&Property> = all
        .iter()
        .map(|(_, property)| *property)
        .filter(|property| property.ty != PropertyType::Primitive(PrimitiveType::Stream))
        .collect();
    out.push('\n');
    push_doc(out, "", described(schema, index, entity_type));
    let _ = writeln!(out, "export interface {} extends Control {{", shapes.entity);
    for property in &properties {
        push_doc(out, "  ", values::facts(schema, index, property));
        let readonly = if entity_type.can_change(property) { "" } else { "readonly " };
        let may_be_absent = property.read_permission.is_some() || property.on_request;
        let optional = if may_be_absent { "?" } else { "" };
        let (name, ty) = (member(&property.name), values::of_property(schema, names, property));
        let _ = writeln!(out, "  {readonly}{name}{optional}: {ty};");
    }
    let navigations = schema.navigations(index);
    for (_, navigation) in &navigations {
        push_navigation(out, names, navigation);
    }
    out.push_str("}\n");
    let sets = || crate::csdl::visible::sets(schema).into_iter();
    let can: Vec<_> =
        sets().filter(|set| set.entity_type == index).map(|set| &set.capabilities).collect();
    // What no set takes has no shape; what belongs to no set is written within others.
    if can.is_empty() || can.iter().any(|can| can.insertable) {
        relating::push_create(out, schema, names, index, &properties);
    }
    if can.is_empty() || can.iter().any(|can| can.updatable) {
        relating::push_update(out, schema, names, index, &properties);
    }
    let of_properties = union_of(properties.iter().map(|property| property.name.as_str()));
    let of_navigations = union_of(navigations.iter().map(|(_, found)| found.name.as_str()));
    let _ = write!(
        out,
        "\n/** The names of the properties of `{entity}`. */\nexport type {} = {of_properties};\n\
         \n/** The names of what leads from `{entity}` to other entities. */\nexport type {} = {of_navigations};\n",
        shapes.property,
        shapes.navigation,
        entity = shapes.entity,
    );
}

/// What the type is, or which sets hold it.
fn described(schema: &dyn Schema, index: TypeIndex, entity_type: &EntityType) -> Vec<String> {
    let sets = crate::csdl::visible::sets(schema).into_iter();
    let sets: Vec<String> =
        sets.filter(|set| set.entity_type == index).map(|set| format!("`{}`", set.name)).collect();
    let of = (!sets.is_empty()).then(|| format!("One of {}", sets.join(", ")));
    entity_type.description.clone().into_iter().chain(of).collect()
}

fn push_navigation(out: &mut String, names: &Names, navigation: &NavigationProperty) {
    let target = &names.of_type(navigation.target).entity;
    let ty = match (navigation.collection, navigation.nullable) {
        (true, _) => format!("{target}[]"),
        (false, true) => format!("{target} | null"),
        (false, false) => target.clone(),
    };
    let sentences =
        [navigation.description.clone().unwrap_or_default(), "With `$expand`".to_owned()];
    push_doc(out, "  ", sentences);
    let _ = writeln!(out, "  {}?: {ty};", member(&navigation.name));
}

/// The type of a key: of its one property, or an object of several.
pub(super) fn key_type(schema: &dyn Schema, names: &Names, entity_type: &EntityType) -> String {
    let parts = entity_type.key.iter().map(|&index| entity_type.property(index));
    let parts: Vec<&Property> = parts.collect();
    match &parts[..] {
        [] => "never".to_owned(),
        [only] => values::of_property(schema, names, only),
        _ => {
            let parts = parts.iter().map(|part| {
                format!("{}: {}", member(&part.name), values::of_property(schema, names, part))
            });
            format!("{{ {} }}", parts.collect::<Vec<_>>().join("; "))
        }
    }
}
