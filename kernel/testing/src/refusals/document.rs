//! What the OpenAPI document says of an operation, as far as it takes to call it.

use http::Method;
use serde_json::{Map, Value as Json, json};

/// How deep examples of bodies go, so that schemas which contain themselves have one too.
const DEPTH: usize = 6;

/// A key that nobody has.
const UNKNOWN: &str = "01990000-0000-7000-8000-00000000ffff";

/// The same where keys are numbers.
const NO_NUMBER: &str = "1999999999";

/// An operation of the document.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) method: Method,
    /// The address, with its parameters in braces.
    pub(super) path: String,
    /// The permissions that it names; none for whoever is signed in.
    pub(super) needs: Vec<String>,
    /// Whether it serves everybody.
    pub(super) is_public: bool,
    /// Why it serves everybody.
    pub(super) reason: Option<String>,
    /// A key in its address that nobody has.
    pub(super) unknown: &'static str,
    /// The parameters that must stand in the query, with a value.
    pub(super) query: Vec<(String, String)>,
    /// A body as the schema has it.
    pub(super) body: Option<Json>,
}

impl Operation {
    pub(super) fn has_parameters(&self) -> bool {
        self.path.contains('{')
    }

    /// Whether keys in its address are numbers, which say too little to be found in an answer.
    pub(super) fn is_numbered(&self) -> bool {
        self.unknown == NO_NUMBER
    }

    /// The operation as a person reads it.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// All operations of a document.
pub(super) fn operations(document: &Json) -> Vec<Operation> {
    let by_default = names_nobody(&document["security"]);
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let Ok(method) = method.to_uppercase().parse::<Method>() else { continue };
            if !KNOWN.contains(&method.as_str()) {
                continue;
            }
            let security = &operation["security"];
            let is_public = if security.is_null() { by_default } else { names_nobody(security) };
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let required = parameters.filter(|one| one["in"] == "query" && one["required"] == true);
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let numbered = [&item["parameters"], &operation["parameters"]]
                .into_iter()
                .flat_map(|parameters| parameters.as_array().into_iter().flatten())
                .any(|one| one["in"] == "path" && type_of(&one["schema"]) == "integer");
            found.push(Operation {
                method,
                path: path.clone(),
                needs: permissions(security),
                is_public,
                reason: operation["x-public"].as_str().map(str::to_owned),
                unknown: if numbered { NO_NUMBER } else { UNKNOWN },
                query: required.map(|one| query_value(document, one)).collect(),
                body: (!schema.is_null()).then(|| example(document, schema, DEPTH)),
            });
        }
    }
    found
}

const KNOWN: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];

/// Whether security asks for nothing.
fn names_nobody(security: &Json) -> bool {
    let requirements = security.as_array().into_iter().flatten();
    requirements.into_iter().all(|one| one.as_object().is_none_or(Map::is_empty))
}

fn permissions(security: &Json) -> Vec<String> {
    let requirements = security.as_array().into_iter().flatten();
    let scopes = requirements.flat_map(|one| one.as_object().into_iter().flatten());
    let names = scopes.flat_map(|(_, names)| names.as_array().into_iter().flatten());
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

fn query_value(document: &Json, parameter: &Json) -> (String, String) {
    let value = match example(document, &parameter["schema"], DEPTH) {
        Json::String(text) => text,
        other => other.to_string(),
    };
    (parameter["name"].as_str().unwrap_or_default().to_owned(), value)
}

/// A value as a schema has it: as little as it insists on.
pub(super) fn example(document: &Json, schema: &Json, depth: usize) -> Json {
    if depth == 0 {
        return Json::Null;
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#'));
        return target.map_or(Json::Null, |target| example(document, target, depth - 1));
    }
    if let Some(given) = schema.get("example").or_else(|| schema["examples"].get(0)) {
        return given.clone();
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let mut whole = Map::new();
        for part in parts {
            if let Json::Object(members) = example(document, part, depth - 1) {
                whole.extend(members);
            }
        }
        return Json::Object(whole);
    }
    for choice in ["oneOf", "anyOf"] {
        let mut choices = schema[choice].as_array().into_iter().flatten();
        if let Some(choice) = choices.find(|one| one["type"] != "null") {
            return example(document, choice, depth - 1);
        }
    }
    match type_of(schema) {
        "string" => json!(text(schema)),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        "boolean" => json!(true),
        "array" if schema["minItems"].as_u64().unwrap_or_default() > 0 => {
            json!([example(document, &schema["items"], depth - 1)])
        }
        "array" => json!([]),
        _ => {
            let required = schema["required"].as_array().into_iter().flatten();
            let names = required.filter_map(Json::as_str);
            let member = |name: &str| {
                (name.to_owned(), example(document, &schema["properties"][name], depth - 1))
            };
            Json::Object(names.map(member).collect())
        }
    }
}

fn type_of(schema: &Json) -> &str {
    let types = schema["type"].as_array().into_iter().flatten();
    let several = types.filter_map(Json::as_str).find(|name| *name != "null");
    schema["type"].as_str().or(several).unwrap_or("object")
}

fn text(schema: &Json) -> String {
    match schema["format"].as_str() {
        Some("uuid") => UNKNOWN.to_owned(),
        Some("date-time") => "2026-11-20T12:00:00Z".to_owned(),
        Some("date") => "2026-11-20".to_owned(),
        Some("email") => "eve@example.com".to_owned(),
        Some("uri" | "url") => "https://example.com/".to_owned(),
        _ => "x".repeat(usize::try_from(schema["minLength"].as_u64().unwrap_or(1)).unwrap_or(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_read_with_what_it_needs() {
        let document = json!({
            "security": [{"bearer": []}],
            "paths": {
                "/a": {"get": {}, "parameters": []},
                "/b/{id}": {"put": {
                    "security": [{"bearer": ["A.B"]}],
                    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/c/S"}}}},
                }},
                "/c": {"get": {"security": [{}], "x-public": "why"}},
            },
            "c": {"S": {
                "type": "object", "required": ["id", "list"],
                "properties": {
                    "id": {"type": ["string", "null"], "format": "uuid"},
                    "list": {"type": "array", "items": {"type": "integer"}},
                    "left": {"type": "string"},
                },
            }},
        });
        let found = operations(&document);
        let shown: Vec<_> = found.iter().map(|one| (one.name(), one.is_public)).collect();
        assert_eq!(
            shown,
            [("GET /a".into(), false), ("PUT /b/{id}".into(), false), ("GET /c".into(), true)]
        );
        assert_eq!(found[1].needs, ["A.B"]);
        let body = json!({"id": "01990000-0000-7000-8000-00000000ffff", "list": []});
        assert_eq!(found[1].body, Some(body));
        assert_eq!(found[2].reason.as_deref(), Some("why"));
    }
}
