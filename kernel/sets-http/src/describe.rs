//! Describes the sets in the OpenAPI document, for people and for generated clients.
//!
//! It is the whole of what the sets offer, whoever asks: what a person may see of it is decided per
//! request. Only what a set can do is described.
//!
//! | File | What it describes |
//! | --- | --- |
//! | `operations` | actions and functions |
//! | `options` | the query options and headers that requests take |
//! | `schemas` | entities, what is sent to create and change them, pages, errors |

mod operations;
mod options;
mod schemas;

use serde_json::{Map, Value, json};
use svc_core::App;
use svc_odata::model::{EntitySet, EntityType, Model, NavigationProperty, PrimitiveType};
use svc_sets::{ROOT, Sets};
use utoipa::openapi::path::PathItem;
use utoipa::openapi::tag::Tag;
use utoipa::openapi::{OpenApi, RefOr, Response};

use super::paths::{self, SetPaths};
use schemas::{body_of, page_of};

/// The tag of what belongs to no set.
const TAG: &str = "odata";

/// Adds the sets' addresses and entities.
pub(super) fn describe_sets(document: &mut OpenApi, app: &App, paths: &SetPaths) {
    let Some(sets) = app.find_service::<Sets>() else { return };
    let model = sets.model();
    if model.sets.is_empty() {
        return;
    }
    schemas::add_all(document, model);
    add_refusals(document);
    add_service(document);
    for set in &model.sets {
        add_tag(document, &set.name, set.description.as_deref());
        let entity_type = model.entity_type(set.entity_type);
        let address = format!("{ROOT}/{}", set.name);
        add_path(document, address.clone(), &collection(set, entity_type));
        if set.capabilities.readable && set.capabilities.countable {
            add_path(document, format!("{address}/$count"), &count(set));
        }
        let one = format!("{address}{}", key_template(entity_type));
        add_path(document, one.clone(), &single(set, entity_type));
        for navigation in &entity_type.navigations {
            if let Some(item) = related(model, set, navigation) {
                add_path(document, format!("{one}/{}", navigation.name), &item);
            }
        }
    }
    operations::describe_operations(document, model);
    for path in paths.all() {
        for set in &model.sets {
            if let Some((address, item)) = paths::described(path.as_ref(), set) {
                add_path(document, address, &item);
            }
        }
    }
}

/// What is built below is OpenAPI, so it is always read; a mistake would be seen in the snapshot.
fn add_path(document: &mut OpenApi, address: String, item: &Value) {
    if let Ok(item) = serde_json::from_value::<PathItem>(item.clone()) {
        document.paths.paths.insert(address, item);
    }
}

fn add_tag(document: &mut OpenApi, name: &str, description: Option<&str>) {
    let tags = document.tags.get_or_insert_default();
    if !tags.iter().any(|known| known.name == name) {
        let mut tag = Tag::new(name);
        tag.description = description.map(str::to_owned);
        tags.push(tag);
    }
}

fn operation(
    tag: &str,
    id: &str,
    summary: &str,
    permission: Option<&String>,
) -> Map<String, Value> {
    let mut operation = Map::new();
    operation.insert("tags".into(), json!([tag]));
    operation.insert("operationId".into(), json!(id));
    operation.insert("summary".into(), json!(summary));
    if let Some(permission) = permission {
        let needs = format!("Needs the permission `{permission}`.");
        operation.insert("description".into(), json!(needs));
    }
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

/// The answers of an operation: those of success, and refusals in OData's format by status.
fn responses(success: Value, refusals: &[&str]) -> Value {
    let mut responses = Map::new();
    if let Value::Object(success) = success {
        responses.extend(success);
    }
    for status in refusals.iter().chain(ANYWHERE) {
        let shared = json!({"$ref": format!("#/components/responses/{}", refusal(status))});
        responses.insert((*status).to_owned(), shared);
    }
    Value::Object(responses)
}

/// The name of a refusal that operations share.
fn refusal(status: &str) -> String {
    format!("OData{status}")
}

fn add_refusals(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    for (status, description) in REFUSALS {
        let response = json!({"description": description, "content": body_of(schemas::ERROR)});
        if let Ok(response) = serde_json::from_value::<RefOr<Response>>(response) {
            components.responses.insert(refusal(status), response);
        }
    }
}

/// What requests are refused with, in OData's format.
const REFUSALS: [(&str, &str); 14] = [
    ("400", "The request can't be understood, or names what is not there; `target` says where."),
    ("401", "Nobody is signed in."),
    ("403", "A permission is missing, which `message` names."),
    ("404", "There is no such entity, or it is not the caller's to see."),
    ("406", "The answer can't be had in a form that the request accepts."),
    ("409", "It contradicts what is stored."),
    ("412", "It was changed since the version that `If-Match` names."),
    ("413", "The body is larger than allowed."),
    ("415", "The body isn't JSON, or it is compressed."),
    ("422", "Values are against the rules; `details` names the properties."),
    ("428", "The service insists on `If-Match`."),
    ("500", "A fault of the server, which its log tells by `traceId`."),
    ("501", "A part of OData that is not served, which `message` names."),
    ("503", "Not at the moment; `Retry-After` may say when."),
];

/// What any request can be answered with.
const ANYWHERE: &[&str] = &["500", "503"];
const READ_REFUSALS: &[&str] = &["400", "401", "403", "406", "501"];
const WRITE_REFUSALS: &[&str] = &["400", "401", "403", "409", "413", "415", "422", "501"];
const CHANGE_REFUSALS: &[&str] = &["404", "412", "428"];

/// The service document, the metadata and batches, which belong to no set.
fn add_service(document: &mut OpenApi) {
    add_tag(document, TAG, Some("What the entity sets have in common"));
    let read = |id: &str, summary: &str| operation(TAG, id, summary, None);
    let refusals = ["400", "401", "406"];
    let sets = json!({"200": {"description": "The sets.", "content": body_of(schemas::SERVICE)}});
    let service = with(
        read("listEntitySets", "Lists the entity sets that the caller may read."),
        json!({"responses": responses(sets, &refusals)}),
    );
    add_path(document, format!("{ROOT}/"), &json!({"get": service}));
    let text = json!({"schema": {"type": "string"}});
    let any = json!({"schema": {"type": "object"}});
    let csdl = json!({
        "200": {
            "description": "The metadata document, CSDL.",
            "content": {"application/xml": text, "application/json": any},
        },
        "304": {"description": "The caller has it already (`If-None-Match`)."},
    });
    let format = options::format(&["xml", "json"]);
    let metadata = with(
        read("getMetadata", "Describes the sets as far as the caller may know of them."),
        json!({"parameters": [format], "responses": responses(csdl, &refusals)}),
    );
    add_path(document, format!("{ROOT}/$metadata"), &json!({"get": metadata}));
    let content = json!({"application/json": any, "multipart/mixed": text});
    let batch = with(
        read("sendBatch", "Performs several requests; those of a group as one."),
        json!({
            "requestBody": {"required": true, "content": content},
            "responses": responses(
                json!({"200": {"description": "The answers, in order.", "content": content}}),
                &["400", "401", "413", "415"],
            ),
        }),
    );
    add_path(document, format!("{ROOT}/$batch"), &json!({"post": batch}));
}

/// The options of a list that an export takes.
pub(super) fn of_export(set: &EntitySet) -> Vec<Value> {
    options::of_list(set)
        .into_iter()
        .filter(|option| !UNEXPORTED.iter().any(|name| option["name"] == *name))
        .collect()
}

/// The options of a list that a file has no place for.
const UNEXPORTED: [&str; 5] = ["$expand", "$select", "$count", "$format", "Prefer"];

/// The answers of a read.
pub(super) fn read_responses(success: Value) -> Value {
    responses(success, READ_REFUSALS)
}

fn collection(set: &EntitySet, entity_type: &EntityType) -> Value {
    let name = &entity_type.name;
    let mut item = Map::new();
    if set.capabilities.readable {
        let found = json!({"200": {"description": "A page.", "content": page_of(name)}});
        let list = operation(
            &set.name,
            &format!("list{}", set.name),
            &format!("Lists {}.", set.name),
            set.permissions.read.as_ref(),
        );
        let members = json!({
            "parameters": options::of_list(set),
            "responses": responses(found, READ_REFUSALS),
        });
        item.insert("get".into(), with(list, members));
    }
    if set.capabilities.insertable {
        let created = json!({
            "201": {
                "description": "It was created.",
                "headers": options::answered(true),
                "content": body_of(name),
            },
            "204": options::minimal("It was created"),
        });
        let create = operation(
            &set.name,
            &format!("create{name}"),
            &format!("Creates one of {}.", set.name),
            set.permissions.insert.as_ref(),
        );
        let members = json!({
            "parameters": [options::prefer_return()],
            "requestBody": {"required": true, "content": body_of(&format!("{name}Create"))},
            "responses": responses(created, WRITE_REFUSALS),
        });
        item.insert("post".into(), with(create, members));
    }
    Value::Object(item)
}

fn count(set: &EntitySet) -> Value {
    let number = json!({"200": {
        "description": "The number.",
        "content": {"text/plain": {"schema": {"type": "integer", "minimum": 0}}},
    }});
    let count = operation(
        &set.name,
        &format!("count{}", set.name),
        &format!("Counts {}.", set.name),
        set.permissions.read.as_ref(),
    );
    let members = json!({
        "parameters": options::of_count(set),
        "responses": responses(number, READ_REFUSALS),
    });
    json!({"get": with(count, members)})
}

/// The key as it stands in an address: texts in quotes, several parts by name.
fn key_template(entity_type: &EntityType) -> String {
    let quoted = |name: &str, place: &svc_odata::model::PropertyIndex| {
        let is_text = entity_type.property(*place).ty == PrimitiveType::String.into();
        if is_text { format!("'{{{name}}}'") } else { format!("{{{name}}}") }
    };
    match &entity_type.key[..] {
        [only] => format!("({})", quoted("key", only)),
        several => {
            let parts = several.iter().map(|place| {
                let name = &entity_type.property(*place).name;
                format!("{name}={}", quoted(name, place))
            });
            format!("({})", parts.collect::<Vec<_>>().join(","))
        }
    }
}

fn key_parameters(entity_type: &EntityType) -> Vec<Value> {
    let parts = entity_type.key.iter().map(|place| {
        let property = entity_type.property(*place);
        let name = if entity_type.key.len() == 1 { "key" } else { &property.name };
        json!({
            "name": name, "in": "path", "required": true,
            "description": format!("The `{}` of the entity.", property.name),
            "schema": schemas::of_key(property),
        })
    });
    parts.collect()
}

fn single(set: &EntitySet, entity_type: &EntityType) -> Value {
    let name = &entity_type.name;
    let can = &set.capabilities;
    let verb = |prefix: &str, summary: &str, permission: Option<&String>| {
        let id = format!("{prefix}{name}");
        operation(&set.name, &id, &format!("{summary} one of {}.", set.name), permission)
    };
    let entity = |description: &str| {
        let headers = options::answered(false);
        json!({"description": description, "headers": headers, "content": body_of(name)})
    };
    let mut item = Map::new();
    item.insert("parameters".into(), key_parameters(entity_type).into());
    if can.readable && can.readable_by_key {
        let found = json!({
            "200": entity("The entity."),
            "304": {"description": "It is as `If-None-Match` says."},
        });
        let members = json!({
            "parameters": options::of_entity(set),
            "responses": responses(found, &[READ_REFUSALS, &["404"]].concat()),
        });
        item.insert(
            "get".into(),
            with(verb("get", "Reads", set.permissions.read.as_ref()), members),
        );
    }
    let refusals = [WRITE_REFUSALS, CHANGE_REFUSALS].concat();
    if can.updatable {
        let verbs = [
            ("patch", "change", "Changes some properties of", "It was changed", "Update"),
            ("put", "replace", "Replaces", "It was replaced", "Replace"),
        ];
        for (method, prefix, summary, done, shape) in verbs {
            let changed = json!({
                "200": entity(&format!("{done}.")),
                "204": options::minimal(done),
            });
            let members = json!({
                "parameters": [options::if_match(), options::prefer_return()],
                "requestBody": {"required": true, "content": body_of(&format!("{name}{shape}"))},
                "responses": responses(changed, &refusals),
            });
            let operation = verb(prefix, summary, set.permissions.update.as_ref());
            item.insert(method.into(), with(operation, members));
        }
    }
    if can.deletable {
        let refusals = [&["400", "401", "403", "409"], CHANGE_REFUSALS].concat();
        let members = json!({
            "parameters": [options::if_match()],
            "responses": responses(json!({"204": {"description": "It is gone."}}), &refusals),
        });
        let operation = verb("delete", "Deletes", set.permissions.delete.as_ref());
        item.insert("delete".into(), with(operation, members));
    }
    Value::Object(item)
}

/// Reading what an entity leads to; nothing for what is in no set.
fn related(model: &Model, set: &EntitySet, navigation: &NavigationProperty) -> Option<Value> {
    let target = model.set(navigation.target_set?);
    if !(set.capabilities.readable_by_key && target.capabilities.readable) {
        return None;
    }
    let entity_type = model.entity_type(set.entity_type);
    let name = &model.entity_type(target.entity_type).name;
    let mut letters = navigation.name.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let id = format!("get{}{first}{}", entity_type.name, letters.as_str());
    let summary = format!("Reads what `{}` of one of {} leads to.", navigation.name, set.name);
    let mut read = operation(&set.name, &id, &summary, target.permissions.read.as_ref());
    let needs: Vec<&String> =
        [&set.permissions.read, &target.permissions.read].into_iter().flatten().collect();
    read.insert("security".into(), json!([{"bearer": needs}]));
    let named: Vec<String> = needs.iter().map(|name| format!("`{name}`")).collect();
    if !named.is_empty() {
        let needs = format!("Needs the permissions {}.", named.join(" and "));
        read.insert("description".into(), json!(needs));
    }
    let (parameters, found) = if navigation.collection {
        let page = json!({"200": {"description": "A page.", "content": page_of(name)}});
        (options::of_list(target), page)
    } else {
        let one = json!({
            "200": {"description": "The entity.", "content": body_of(name)},
            "204": {"description": "It leads to none."},
        });
        (options::of_entity(target), one)
    };
    let members = json!({
        "parameters": parameters,
        "responses": responses(found, &[READ_REFUSALS, &["404"]].concat()),
    });
    Some(json!({"parameters": key_parameters(entity_type), "get": with(read, members)}))
}
