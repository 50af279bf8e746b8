//! Actions and functions.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::csdl::visible;
use crate::model::{Operation, OperationKind, Schema};

use super::comment::push_doc;
use super::names::{Names, member, text};
use super::values;

/// The operations by their qualified names; those that share a name are alternatives.
pub(super) fn push(out: &mut String, schema: &dyn Schema, names: &Names) {
    let mut by_name: BTreeMap<String, Vec<&Operation>> = BTreeMap::new();
    for operation in visible::operations(schema) {
        by_name.entry(schema.model().qualified(&operation.name)).or_default().push(operation);
    }
    out.push_str(
        "\n/** The actions (`POST`) and functions (`GET`) by name: what each is called on, what it \
         takes and returns. */\n",
    );
    if by_name.is_empty() {
        out.push_str("export type Operations = Record<never, never>;\n");
        return;
    }
    out.push_str("export interface Operations {\n");
    for (name, overloads) in by_name {
        let sentences = overloads.iter().flat_map(|operation| {
            let needs = operation.permission.as_ref().map(|name| format!("Needs `{name}`"));
            operation.description.clone().into_iter().chain(needs)
        });
        push_doc(out, "  ", sentences);
        let shapes: Vec<String> =
            overloads.iter().map(|operation| shape(schema, names, operation)).collect();
        let _ = writeln!(out, "  {}: {};", text(&name), shapes.join(" | "));
    }
    out.push_str("}\n");
}

fn shape(schema: &dyn Schema, names: &Names, operation: &Operation) -> String {
    let kind = match operation.kind {
        OperationKind::Action => "action",
        OperationKind::Function => "function",
    };
    let binding = operation.binding.map_or("null".to_owned(), |binding| {
        let entity = &names.of_type(binding.entity_type).entity;
        if binding.collection { format!("{entity}[]") } else { entity.clone() }
    });
    let parameters: Vec<String> = operation
        .parameters
        .iter()
        .filter(|parameter| schema.sees_parameter(parameter))
        .map(|parameter| {
            let ty = values::of_operation(schema, names, parameter.ty);
            let optional = if parameter.may_be_left_out() { "?" } else { "" };
            format!("{}{optional}: {ty}", member(&parameter.name))
        })
        .collect();
    let parameters = match &parameters[..] {
        [] => "Record<string, never>".to_owned(),
        some => format!("{{ {} }}", some.join("; ")),
    };
    let returns = operation
        .returns
        .map_or("void".to_owned(), |returns| values::of_operation(schema, names, returns));
    format!(
        "{{ kind: \"{kind}\"; binding: {binding}; parameters: {parameters}; returns: {returns} }}"
    )
}
