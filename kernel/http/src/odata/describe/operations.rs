//! Describes actions and functions in the OpenAPI document.

use serde_json::{Map, Value, json};
use svc_odata::model::{
    Model, Operation, OperationKind, OperationType, Parameter, Property, PropertyType,
};
use utoipa::openapi::OpenApi;

use super::super::request::ROOT;
use super::{READ_REFUSALS, WRITE_REFUSALS, add_path, property_schema, responses};

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
        (Some(_), Some(set)) => format!("{set}({{key}})/"),
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
    let mut entry = Map::new();
    entry.insert("tags".into(), json!([set.unwrap_or("operations")]));
    let id = format!("call{}{}", set.unwrap_or_default(), operation.name);
    let of_all = operation.binding.is_some_and(|binding| binding.collection);
    entry.insert("operationId".into(), json!(if of_all { format!("{id}OfAll") } else { id }));
    let summary = operation.description.clone().unwrap_or_else(|| operation.name.clone());
    entry.insert("summary".into(), json!(summary));
    entry.insert(
        "security".into(),
        json!([{"bearer": operation.permission.iter().collect::<Vec<_>>()}]),
    );
    let mut parameters = Vec::new();
    if operation.kind == OperationKind::Function {
        parameters.extend(operation.parameters.iter().map(url_parameter));
    } else if !operation.parameters.is_empty() {
        let content = json!({"application/json": {"schema": body_schema(operation)}});
        let required = operation.parameters.iter().any(|parameter| !is_nullable(parameter.ty));
        entry.insert("requestBody".into(), json!({"required": required, "content": content}));
    }
    if let Some(key) = key_parameter(model, operation) {
        parameters.push(key);
    }
    if !parameters.is_empty() {
        entry.insert("parameters".into(), json!(parameters));
    }
    let mut refusals = match operation.kind {
        OperationKind::Action => WRITE_REFUSALS.to_vec(),
        OperationKind::Function => READ_REFUSALS.to_vec(),
    };
    if operation.binding.is_some_and(|binding| !binding.collection) {
        refusals.push(("404", "There is no such entity."));
    }
    entry.insert("responses".into(), responses(success(model, operation), &refusals));
    Value::Object(entry)
}

fn key_parameter(model: &Model, operation: &Operation) -> Option<Value> {
    let binding = operation.binding.filter(|binding| !binding.collection)?;
    let entity_type = model.entity_type(binding.entity_type);
    let schema = property_schema(entity_type.property(*entity_type.key.first()?));
    Some(json!({"name": "key", "in": "path", "required": true, "schema": schema}))
}

fn is_nullable(ty: OperationType) -> bool {
    match ty {
        OperationType::Value { nullable, .. } | OperationType::Entity { nullable, .. } => nullable,
    }
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

fn value_schema(ty: PropertyType, collection: bool, nullable: bool) -> Value {
    let property = Property::new("", ty);
    if collection {
        return json!({"type": "array", "items": property_schema(&property)});
    }
    property_schema(&if nullable { property.nullable() } else { property })
}

fn schema_of(model: &Model, ty: OperationType) -> Value {
    match ty {
        OperationType::Value { ty, collection, nullable } => value_schema(ty, collection, nullable),
        OperationType::Entity { entity_type, .. } => {
            let name = &model.entity_type(entity_type).name;
            json!({"$ref": format!("#/components/schemas/{name}")})
        }
    }
}

fn body_schema(operation: &Operation) -> Value {
    let mut properties = Map::new();
    for Parameter { name, ty, description } in &operation.parameters {
        let OperationType::Value { ty, collection, nullable } = *ty else { continue };
        let mut schema = value_schema(ty, collection, nullable);
        if let (Some(schema), Some(text)) = (schema.as_object_mut(), description) {
            schema.insert("description".into(), json!(text));
        }
        properties.insert(name.clone(), schema);
    }
    let required = operation.parameters.iter().filter(|parameter| !is_nullable(parameter.ty));
    let required: Vec<&str> = required.map(|parameter| parameter.name.as_str()).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

fn success(model: &Model, operation: &Operation) -> Value {
    let Some(returns) = operation.returns else {
        return json!({"204": {"description": "It was done."}});
    };
    let schema = schema_of(model, returns);
    let schema = match returns {
        OperationType::Entity { collection: false, .. } => schema,
        OperationType::Entity { .. } => json!({
            "type": "object", "required": ["value"],
            "properties": {"value": {"type": "array", "items": schema}},
        }),
        OperationType::Value { .. } => {
            json!({"type": "object", "required": ["value"], "properties": {"value": schema}})
        }
    };
    let content = json!({"application/json": {"schema": schema}});
    json!({
        "200": {"description": "What it returns.", "content": content},
        "204": {"description": "It returns nothing, or what the caller doesn't see or want."},
    })
}
