//! Describes the sets in the OpenAPI document, for people and for generated clients.

mod operations;

use super::request::ROOT;
use serde_json::{Map, Value, json};
use svc_core::App;
use svc_data::Sets;
use svc_odata::model::{Access, EntitySet, EntityType, PrimitiveType, Property, PropertyType};
use utoipa::openapi::OpenApi;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::PathItem;
use utoipa::openapi::schema::Schema;

/// Adds the sets' addresses and entities.
pub(super) fn describe_sets(document: &mut OpenApi, app: &App) {
    let Some(sets) = app.find_service::<Sets>() else { return };
    let model = sets.model();
    for set in &model.sets {
        let entity_type = model.entity_type(set.entity_type);
        let address = format!("{ROOT}/{}", set.name);
        let can = &set.capabilities;
        let mut many = collection(set, entity_type);
        keep(&mut many, &[("post", can.insertable)]);
        add_path(document, address.clone(), &many);
        let mut one = single(set, entity_type);
        let verbs = [("patch", can.updatable), ("put", can.updatable), ("delete", can.deletable)];
        keep(&mut one, &verbs);
        add_path(document, format!("{address}({{key}})"), &one);
        add_schema(document, &entity_type.name, &schema(entity_type, false));
        add_schema(document, &format!("{}Changes", entity_type.name), &schema(entity_type, true));
    }
    operations::describe_operations(document, model);
}

/// Takes away what a set can't do.
fn keep(item: &mut Value, verbs: &[(&str, bool)]) {
    let Some(item) = item.as_object_mut() else { return };
    item.retain(|verb, _| verbs.iter().all(|(known, can)| known != verb || *can));
}

/// What is built below is OpenAPI, so it is always read; a mistake would be seen in the snapshot.
fn add_path(document: &mut OpenApi, address: String, item: &Value) {
    if let Ok(item) = serde_json::from_value::<PathItem>(item.clone()) {
        document.paths.paths.insert(address, item);
    }
}

fn add_schema(document: &mut OpenApi, name: &str, schema: &Value) {
    if let Ok(schema) = serde_json::from_value::<RefOr<Schema>>(schema.clone()) {
        let components = document.components.get_or_insert_default();
        components.schemas.insert(name.to_owned(), schema);
    }
}

fn operation(
    set: &EntitySet,
    id: &str,
    summary: &str,
    permission: Option<&String>,
) -> Map<String, Value> {
    let mut operation = Map::new();
    operation.insert("tags".into(), json!([set.name]));
    operation.insert("operationId".into(), json!(id));
    operation.insert("summary".into(), json!(summary));
    operation
        .insert("security".into(), json!([{"bearer": permission.into_iter().collect::<Vec<_>>()}]));
    operation
}

fn with(mut operation: Map<String, Value>, members: Value) -> Value {
    if let Value::Object(members) = members {
        operation.extend(members);
    }
    Value::Object(operation)
}

fn responses(success: Value, codes: &[(&str, &str)]) -> Value {
    let mut responses = Map::new();
    if let Value::Object(success) = success {
        responses.extend(success);
    }
    for (code, description) in codes {
        responses.insert((*code).to_owned(), json!({"description": description}));
    }
    Value::Object(responses)
}

fn body_of(name: &str) -> Value {
    json!({"application/json": {"schema": {"$ref": format!("#/components/schemas/{name}")}}})
}

const READ_REFUSALS: &[(&str, &str)] = &[
    ("400", "An option is not understood, or names what is not there."),
    ("401", "Nobody is signed in."),
    ("403", "The permission is missing."),
    ("501", "A part of OData that is not served."),
];

const WRITE_REFUSALS: &[(&str, &str)] = &[
    ("400", "The body can't be read, or names what is not there."),
    ("401", "Nobody is signed in."),
    ("403", "The permission is missing."),
    ("409", "It contradicts what is stored."),
    ("415", "The body is no JSON."),
    ("422", "A value is against the rules; `details` names the property."),
];

/// The options that a list takes.
fn list_options(set: &EntitySet) -> Vec<Value> {
    let option = |name: &str, schema: Value, description: &str| json!({"name": name, "in": "query", "required": false, "description": description, "schema": schema});
    let text = json!({"type": "string"});
    let whole = json!({"type": "integer", "minimum": 0});
    let mut parameters = vec![
        option(
            "$filter",
            text.clone(),
            "What the entities must hold, such as `price gt 5 and sku ne 'A'`.",
        ),
        option("$orderby", text.clone(), "How they are sorted, such as `name desc`."),
        option("$select", text.clone(), "The properties to return."),
        option(
            "$expand",
            text.clone(),
            "The related entities to return with each, with options in parentheses.",
        ),
        option(
            "$compute",
            text.clone(),
            "Values to compute for each, such as `price mul 2 as double`.",
        ),
        option(
            "$apply",
            text.clone(),
            "What to make of them, such as `groupby((region),aggregate($count as n))`.",
        ),
        option("$top", whole.clone(), "How many to return at most."),
        option("$skip", whole, "How many to leave out first."),
        option("$count", json!({"type": "boolean"}), "Whether to say how many there are in all."),
        option(
            "$skiptoken",
            text.clone(),
            "Where the page before ended; `@odata.nextLink` carries it.",
        ),
    ];
    if set.capabilities.searchable {
        parameters.push(option(
            "$search",
            text,
            "Words that must stand in them, with `AND`, `OR` and `NOT`.",
        ));
    }
    parameters
}

fn collection(set: &EntitySet, entity_type: &EntityType) -> Value {
    let page = json!({
        "type": "object",
        "required": ["value"],
        "properties": {
            "@odata.count": {"type": "integer"},
            "@odata.nextLink": {"type": "string"},
            "value": {
                "type": "array",
                "items": {"$ref": format!("#/components/schemas/{}", entity_type.name)},
            },
        },
    });
    let found = json!({"200": {"description": "A page.", "content": {"application/json": {"schema": page}}}});
    let created =
        json!({"201": {"description": "It was created.", "content": body_of(&entity_type.name)}});
    let list = operation(
        set,
        &format!("list{}", set.name),
        &format!("Lists {}.", set.name),
        set.permissions.read.as_ref(),
    );
    let create = operation(
        set,
        &format!("create{}", entity_type.name),
        &format!("Creates one of {}.", set.name),
        set.permissions.insert.as_ref(),
    );
    json!({
        "get": with(list, json!({
            "parameters": list_options(set),
            "responses": responses(found, READ_REFUSALS),
        })),
        "post": with(create, json!({
            "requestBody": {"required": true, "content": body_of(&entity_type.name)},
            "responses": responses(created, WRITE_REFUSALS),
        })),
    })
}

fn single(set: &EntitySet, entity_type: &EntityType) -> Value {
    let key = json!({
        "name": "key", "in": "path", "required": true,
        "schema": entity_type.key.first().map(|key| property_schema(entity_type.property(*key))),
    });
    let if_match = json!({
        "name": "If-Match", "in": "header", "required": false, "schema": {"type": "string"},
        "description": "The `@odata.etag` of the version that the change is meant for.",
    });
    let name = &entity_type.name;
    let entity =
        |description: &str| json!({"200": {"description": description, "content": body_of(name)}});
    let refusals = |own: &'static [(&'static str, &'static str)]| {
        let missing: &[(&str, &str)] = &[("404", "There is no such entity.")];
        [own, missing].concat()
    };
    let change_refusals =
        [refusals(WRITE_REFUSALS), vec![("412", "It was changed since.")]].concat();
    let verb = |prefix: &str, summary: &str, permission: Option<&String>| {
        operation(
            set,
            &format!("{prefix}{name}"),
            &format!("{summary} one of {}.", set.name),
            permission,
        )
    };
    let update = set.permissions.update.as_ref();
    let changes = body_of(&format!("{name}Changes"));
    json!({
        "parameters": [key],
        "get": with(verb("get", "Reads", set.permissions.read.as_ref()), json!({
            "responses": responses(entity("The entity."), &refusals(READ_REFUSALS)),
        })),
        "patch": with(verb("change", "Changes some properties of", update), json!({
            "parameters": [if_match],
            "requestBody": {"required": true, "content": changes},
            "responses": responses(entity("It was changed."), &change_refusals),
        })),
        "put": with(verb("replace", "Replaces", update), json!({
            "parameters": [if_match],
            "requestBody": {"required": true, "content": body_of(name)},
            "responses": responses(entity("It was replaced."), &change_refusals),
        })),
        "delete": with(verb("delete", "Deletes", set.permissions.delete.as_ref()), json!({
            "parameters": [if_match],
            "responses": responses(json!({"204": {"description": "It is gone."}}), &change_refusals),
        })),
    })
}

fn schema(entity_type: &EntityType, changes: bool) -> Value {
    let shown = |property: &&Property| !changes || property.access == Access::ReadWrite;
    let properties: Map<String, Value> = entity_type
        .properties
        .iter()
        .filter(shown)
        .map(|property| (property.name.clone(), property_schema(property)))
        .collect();
    let required: Vec<&str> = entity_type
        .properties
        .iter()
        .filter(|property| !changes && !property.nullable && !property.computed_default)
        .filter(|property| {
            property.access != Access::Computed && property.read_permission.is_none()
        })
        .map(|property| property.name.as_str())
        .collect();
    json!({"type": "object", "required": required, "properties": properties})
}

fn property_schema(property: &Property) -> Value {
    let (kind, format) = match property.ty {
        PropertyType::Primitive(primitive) => json_type(primitive),
        PropertyType::Enum(_) => ("string", None),
        PropertyType::Untyped => return json!({}),
    };
    let mut schema = Map::new();
    let kind = if property.nullable { json!([kind, "null"]) } else { json!(kind) };
    schema.insert("type".into(), kind);
    if let Some(format) = format {
        schema.insert("format".into(), json!(format));
    }
    if let Some(max) = property.max_length {
        schema.insert("maxLength".into(), json!(max));
    }
    if matches!(property.access, Access::Computed | Access::ReadOnly) {
        schema.insert("readOnly".into(), json!(true));
    }
    Value::Object(schema)
}

fn json_type(primitive: PrimitiveType) -> (&'static str, Option<&'static str>) {
    match primitive {
        PrimitiveType::Boolean => ("boolean", None),
        PrimitiveType::Int16 | PrimitiveType::Int32 => ("integer", Some("int32")),
        PrimitiveType::Int64 => ("integer", Some("int64")),
        PrimitiveType::Double => ("number", Some("double")),
        PrimitiveType::Decimal => ("number", Some("decimal")),
        PrimitiveType::Guid => ("string", Some("uuid")),
        PrimitiveType::DateTimeOffset => ("string", Some("date-time")),
        PrimitiveType::Date => ("string", Some("date")),
        PrimitiveType::TimeOfDay => ("string", Some("time")),
        PrimitiveType::Binary => ("string", Some("base64url")),
        _ => ("string", None),
    }
}
