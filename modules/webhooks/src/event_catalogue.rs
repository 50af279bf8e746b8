//! Every event type that the application can send, for suggestions and documentation.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use svc_core::{App, Result};
use svc_data::value::ValueKind;
use svc_data::{Catalogue, Column, EntityModel, Exposure};
use svc_events::{EventKind, Events};

use crate::settings::WebhooksSettings;
use crate::subscription::TEST_EVENT;
use crate::{MARK, set};

/// A known event type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EventTypeInfo {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The JSON Schema of the event's data, where it is known.
    pub(crate) schema: Option<Json>,
}

/// All event types in the order of their names.
pub(crate) fn of(app: &App, catalogue: &Catalogue) -> Result<Vec<EventTypeInfo>> {
    let mut types = BTreeMap::new();
    let mut add = |name: String, description: String, schema: Option<Json>| {
        types.insert(name.clone(), EventTypeInfo { name, description, schema });
    };
    for (model, served) in catalogue.sets().filter_map(|model| Some((model, model.set.as_ref()?))) {
        if !served.is_marked(MARK) {
            continue;
        }
        for (kind, what) in set::KINDS {
            let name = format!("{}.{}", served.event_name, kind.as_str());
            let description = format!("An entity of {} was {what}", served.name);
            add(name, description, Some(schema(model, kind)));
        }
    }
    let events = app.service::<Events>()?;
    for event in events.all().iter().filter(|event| event.kind == EventKind::Application) {
        add(event.name.clone(), event.description.clone(), None);
    }
    for (domain, event_type) in &app.settings::<WebhooksSettings>().domain_events {
        // A domain event of a module that is absent never comes.
        if let Some(known) = events.find(domain) {
            add(event_type.clone(), known.description.clone(), None);
        }
    }
    add(
        TEST_EVENT.to_owned(),
        "A test event that was sent by hand".to_owned(),
        Some(test_schema()),
    );
    Ok(types.into_values().collect())
}

fn test_schema() -> Json {
    json!({
        "type": "object",
        "required": ["message", "endpointId"],
        "properties": {
            "message": {"type": "string"},
            "endpointId": {"type": "string", "format": "uuid"},
        },
    })
}

/// The data of an entity's event. What is hidden from some is in the schema, but not required.
fn schema(model: &EntityModel, kind: svc_data::ChangeKind) -> Json {
    let is_deletion = kind == svc_data::ChangeKind::Deleted && !model.deletes_softly();
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (index, column) in model.columns.iter().enumerate() {
        if column.exposure == Exposure::Internal || (is_deletion && index != model.key_index()) {
            continue;
        }
        properties.insert(column.property.clone(), property_schema(column));
        if column.hidden_unless.is_empty() {
            required.push(column.property.clone());
        }
    }
    json!({"type": "object", "required": required, "properties": properties})
}

fn property_schema(column: &Column) -> Json {
    let (kind, format) = match column.kind {
        ValueKind::Boolean => ("boolean", None),
        ValueKind::Int16 | ValueKind::Int32 | ValueKind::Int64 => ("integer", None),
        ValueKind::Double | ValueKind::Decimal { .. } => ("number", None),
        ValueKind::Text { .. } => ("string", None),
        ValueKind::Uuid => ("string", Some("uuid")),
        ValueKind::Timestamp => ("string", Some("date-time")),
        ValueKind::Date => ("string", Some("date")),
        ValueKind::Time => ("string", Some("time")),
        ValueKind::Bytes => ("string", Some("byte")),
        // Any JSON.
        ValueKind::Json => return json!({}),
    };
    let mut schema = Map::new();
    let kind = if column.nullable { json!([kind, "null"]) } else { json!(kind) };
    schema.insert("type".to_owned(), kind);
    if let Some(format) = format {
        schema.insert("format".to_owned(), format.into());
    }
    if let ValueKind::Text { max: Some(max) } = column.kind {
        schema.insert("maxLength".to_owned(), max.into());
    }
    Json::Object(schema)
}
