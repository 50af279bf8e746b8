//! The section `webhooks` of the OpenAPI document: what receivers are sent, by event type.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};
use svc_core::{App, Result};

use super::EventTypeInfo;
use super::entity::EXAMPLE_ID;

/// How receivers know that a request is genuine.
const SIGNATURE: &str = "\
The signatures of the request, separated by single spaces, each as `<scheme>,<base64>` (Standard \
Webhooks). What is signed is `<webhook-id>.<webhook-timestamp>.<body as it came>`.

- `v1`: HMAC-SHA256, with the bytes that the endpoint's secret holds in base64 behind `whsec_`. \
While a secret is being replaced there are two, one with the new and one with the old secret.
- `v1a`: Ed25519, to verify with the endpoint's `publicKey`, where that was asked for.

Accept the request when any of them is right, and answer 401 otherwise. Verify the bytes before \
reading them as JSON, compare in constant time, and refuse a `webhook-timestamp` that is more than \
five minutes away.";

/// The header parameters by their names among the document's components.
const HEADERS: [(&str, &str, &str); 3] = [
    ("WebhookId", "webhook-id", "The event: the same for every retry and redelivery."),
    ("WebhookTimestamp", "webhook-timestamp", "When this attempt was made, in Unix seconds."),
    ("WebhookSignature", "webhook-signature", SIGNATURE),
];

/// Adds an entry for each event type.
pub(crate) fn describe(document: &mut Json, app: &App) -> Result<()> {
    let types = super::of(app)?;
    let section: Map<String, Json> =
        types.iter().map(|info| (info.name.clone(), json!({"post": operation(info)}))).collect();
    document["webhooks"] = section.into();
    for (component, name, description) in HEADERS {
        document["components"]["parameters"][component] = json!({
            "name": name,
            "in": "header",
            "required": true,
            "description": description,
            "schema": {"type": "string"},
            "example": header_example(name),
        });
    }
    Ok(())
}

fn header_example(name: &str) -> String {
    match name {
        "webhook-id" => EXAMPLE_ID.to_string(),
        "webhook-timestamp" => "1769860800".to_owned(),
        _ => "v1,<base64 of the HMAC>".to_owned(),
    }
}

fn operation(info: &EventTypeInfo) -> Json {
    let references: Vec<Json> = HEADERS
        .iter()
        .map(|(component, ..)| json!({"$ref": format!("#/components/parameters/{component}")}))
        .collect();
    let mut content = json!({"schema": envelope_schema(info)});
    if let Some(example) = &info.example {
        content["example"] = envelope_example(info, example);
    }
    let mut description = "Sent to each endpoint that asks for it, at least once. Drop what comes \
                           again by its `id`."
        .to_owned();
    if let Some(permission) = &info.permission {
        let _ = write!(description, " Only whoever holds `{permission}` is told.");
    }
    json!({
        "tags": ["webhooks"],
        "operationId": format!("receive.{}", info.name),
        "summary": info.description,
        "description": description,
        "security": [],
        "parameters": references,
        "requestBody": {
            "required": true,
            "content": {"application/json": content},
        },
        "responses": {
            "2XX": {"description": "It was received, and is not sent again."},
            "401": {"description": "No signature is right. It is sent again later."},
            "default": {
                "description": "It was not received, and is sent again later. Redirects are not \
                                followed; `Retry-After` of 429 and 503 is heeded.",
            },
        },
    })
}

fn envelope_schema(info: &EventTypeInfo) -> Json {
    let text = |format: &str, description: &str| json!({"type": "string", "format": format, "description": description});
    let mut schema = json!({
        "type": "object",
        "required": ["id", "type", "time", "tenant", "data"],
        "properties": {
            "id": text("uuid", "The event, as in `webhook-id`."),
            "type": {"const": info.name},
            "time": text("date-time", "When the change was committed, in UTC."),
            "tenant": text("uuid", "The organisation that it belongs to."),
            "data": info.schema.clone().unwrap_or_else(|| json!({})),
        },
    });
    if info.is_update {
        schema["properties"]["changes"] = json!({
            "type": "object",
            "description": "What was changed, where the endpoint asks for it (`includesChanges`).",
            "required": ["properties"],
            "properties": {
                "properties": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "The names of the properties.",
                },
                "previous": {
                    "type": "object",
                    "description": "Their values before, where the endpoint's owner could see them.",
                },
            },
        });
    }
    schema
}

fn envelope_example(info: &EventTypeInfo, data: &Json) -> Json {
    json!({
        "id": EXAMPLE_ID,
        "type": info.name,
        "time": "2026-01-31T12:00:00.000000+00:00",
        "tenant": "01934a1c-0000-7000-8000-000000000001",
        "data": data,
    })
}
