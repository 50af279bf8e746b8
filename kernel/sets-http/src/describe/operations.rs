//! Describes actions and functions in the OpenAPI document.

use serde_json::{Map, Value, json};
use svc_odata::model::{
    Model, Operation, OperationKind, OperationType, Parameter, Property, PropertyType,
};
use utoipa::openapi::OpenApi;

use super::schemas::{body_of, of_property, page_of};
use super::{
    READ_REFUSALS, TAG, WRITE_REFUSALS, add_path, key_parameters, key_template,
    operation as entry_of, responses, with,
};
use svc_sets::ROOT;

/// Adds the addresses of all operations.
pub(super) fn describe_operations(document: &mut OpenApi, model: &Model) {
    for operation in &model.operations {
        let method = match operation.kind {
            OperationKind::Action => "post",
            OperationKind::Function => "get",
        };
        add_path(document, address(model, operation), &json!({method: entry(model, operation)}));
    }
}

fn set_name<'m>(model: &'m Model, operation: &Operation) -> Option<&'m str> {
    let binding = operation.binding?;
    let mut sets = model.sets.iter();
    sets.find(|set| set.entity_type == binding.entity_type).map(|set| set.name.as_str())
}

fn address(model: &Model, operation: &Operation) -> String {
    let own = match operation.binding {
        Some(_) => model.qualified(&operation.name),
        None => operation.name.clone(),
    };
    let place = match (operation.binding, set_name(model, operation)) {
        (Some(binding), Some(set)) if binding.collection => format!("{set}/"),
        (Some(binding), Some(set)) => {
            format!("{set}{}/", key_template(model.entity_type(binding.entity_type)))
        }
        _ => String::new(),
    };
    let parameters = match operation.kind {
        OperationKind::Action => String::new(),
        OperationKind::Function => {
            let named = |parameter: &Parameter| format!("{0}={{{0}}}", parameter.name);
            let named: Vec<String> = operation.parameters.iter().map(named).collect();
            format!("({})", named.join(","))
        }
    };
    format!("{ROOT}/{place}{own}{parameters}")
}

fn entry(model: &Model, operation: &Operation) -> Value {
    let set = set_name(model, operation);
    let id = format!("call{}{}", set.unwrap_or_default(), operation.name);
    let of_all = operation.binding.is_some_and(|binding| binding.collection);
    let id = if of_all { format!("{id}OfAll") } else { id };
    let summary = operation.description.clone().unwrap_or_else(|| operation.name.clone());
    let mut members = Map::new();
    let mut parameters = Vec::new();
    if operation.kind == OperationKind::Function {
        parameters.extend(operation.parameters.iter().map(url_parameter));
    } else if !operation.parameters.is_empty() {
        let content = json!({"application/json": {"schema": body_schema(model, operation)}});
        let required = operation.parameters.iter().any(|parameter| !parameter.may_be_left_out());
        members.insert("requestBody".into(), json!({"required": required, "content": content}));
    }
    let one = operation.binding.filter(|binding| !binding.collection);
    if let Some(binding) = one {
        parameters.extend(key_parameters(model.entity_type(binding.entity_type)));
    }
    if !parameters.is_empty() {
        members.insert("parameters".into(), json!(parameters));
    }
    let mut refusals = match operation.kind {
        OperationKind::Action => WRITE_REFUSALS.to_vec(),
        OperationKind::Function => READ_REFUSALS.to_vec(),
    };
    refusals.extend(one.map(|_| "404"));
    members.insert("responses".into(), responses(success(model, operation), &refusals));
    let entry = entry_of(set.unwrap_or(TAG), &id, &summary, operation.permission.as_ref());
    with(entry, Value::Object(members))
}

/// In a URL every parameter has a place, and a literal of OData stands in it.
fn url_parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "in": "path",
        "required": true,
        "description": parameter.description,
        "schema": {"type": "string", "description": "A literal of OData: a text stands in single quotes."},
    })
}

fn value_schema(model: &Model, ty: PropertyType, collection: bool, nullable: bool) -> Value {
    let property = Property { collection, ..Property::new("", ty) };
    of_property(model, &if nullable { property.nullable() } else { property })
}

fn body_schema(model: &Model, operation: &Operation) -> Value {
    let mut properties = Map::new();
    for parameter in &operation.parameters {
        let OperationType::Value { ty, collection, nullable } = parameter.ty else { continue };
        let mut schema = value_schema(model, ty, collection, nullable);
        let hidden = parameter.property.and_then(|(entity_type, property)| {
            model.entity_type(entity_type).property(property).read_permission.as_ref()
        });
        let hidden = hidden.map(|name| format!("Only for those with `{name}`."));
        let texts: Vec<String> = parameter.description.iter().cloned().chain(hidden).collect();
        if let (Some(schema), false) = (schema.as_object_mut(), texts.is_empty()) {
            schema.insert("description".into(), json!(texts.join(" ")));
        }
        properties.insert(parameter.name.clone(), schema);
    }
    let required = operation.parameters.iter().filter(|parameter| !parameter.may_be_left_out());
    let required: Vec<&str> = required.map(|parameter| parameter.name.as_str()).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

fn success(model: &Model, operation: &Operation) -> Value {
    let Some(returns) = operation.returns else {
        return json!({"204": {"description": "It was done."}});
    };
    let content = match returns {
        OperationType::Entity { entity_type, collection, .. } => {
            let name = &model.entity_type(entity_type).name;
            if collection { page_of(name) } else { body_of(name) }
        }
        OperationType::Value { ty, collection, nullable } => {
            let schema = value_schema(model, ty, collection, nullable);
            let schema =
                json!({"type": "object", "required": ["value"], "properties": {"value": schema}});
            json!({"application/json": {"schema": schema}})
        }
    };
    json!({
        "200": {"description": "What it returns.", "content": content},
        "204": {"description": "It returns nothing, or what the caller doesn't see or want."},
    })
}
