//! Every event type that the application can send, for suggestions and documentation.

mod entity;
pub(crate) mod openapi;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value as Json, json};
use svc_core::{App, Result};
use svc_data::{Catalogue, ChangeKind};
use svc_events::{EventKind, Events};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::events::OPERATIONAL;
use crate::set::{self, MARK};
use crate::settings::WebhooksSettings;
use crate::subscription::TEST_EVENT;

/// A known event type.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = WebhookEventType)]
pub(crate) struct EventTypeInfo {
    /// Its name, as endpoints list it.
    pub(crate) name: String,
    /// What it tells.
    pub(crate) description: String,
    /// The JSON Schema of `data`, where it is asked for and known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) schema: Option<Json>,
    /// Such data, where it is asked for and known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) example: Option<Json>,
    /// What whoever saves an endpoint must be permitted for it to be told, where the event's module says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) permission: Option<String>,
    /// Whether the envelope may carry `changes`.
    #[serde(skip)]
    pub(crate) is_update: bool,
}

/// All event types in the order of their names.
pub(crate) fn of(app: &App) -> Result<Vec<EventTypeInfo>> {
    let mut types = BTreeMap::new();
    let mut add = |info: EventTypeInfo| drop(types.insert(info.name.clone(), info));
    let catalogue = app.service::<Catalogue>()?;
    for (model, served) in catalogue.sets().filter_map(|model| Some((model, model.set.as_ref()?))) {
        if !served.is_marked(MARK) {
            continue;
        }
        for (kind, what) in set::KINDS {
            add(EventTypeInfo {
                name: format!("{}.{}", served.event_name, kind.as_str()),
                description: format!("An entity of {} was {what}", served.name),
                schema: Some(entity::schema(model, kind)),
                example: Some(entity::example(model, kind)),
                permission: None,
                is_update: kind == ChangeKind::Updated,
            });
        }
        add(EventTypeInfo {
            name: format!("{}.{}", served.event_name, set::SNAPSHOT),
            description: format!(
                "An entity of {} as it is, where all of them are asked for",
                served.name
            ),
            schema: Some(entity::schema(model, ChangeKind::Created)),
            example: Some(entity::example(model, ChangeKind::Created)),
            permission: None,
            is_update: false,
        });
    }
    let events = app.service::<Events>()?;
    let published = events.all().iter().filter(|event| event.kind == EventKind::Application);
    let published = published.map(|event| (event.name.clone(), event));
    let domain_events = &app.settings::<WebhooksSettings>().domain_events;
    // A domain event of a module that is absent never comes.
    let operational = OPERATIONAL.iter().filter(|(name, _)| !domain_events.contains_key(*name));
    let mapped =
        domain_events.iter().map(|(domain, event_type)| (domain.as_str(), event_type.as_str()));
    let mapped = mapped.chain(operational.copied()).filter_map(|(domain, event_type)| {
        let event = events.find(domain).filter(|event| event.kind == EventKind::Domain)?;
        Some((event_type.to_owned(), event))
    });
    for (name, event) in published.chain(mapped) {
        add(EventTypeInfo {
            name,
            description: event.description.clone(),
            schema: event.schema.clone(),
            example: event.example.clone(),
            permission: event.permission.clone(),
            is_update: false,
        });
    }
    add(test_event());
    Ok(types.into_values().collect())
}

/// The data of a test event.
pub(crate) fn test_data(endpoint: Uuid) -> Json {
    json!({"message": "This is a test event.", "endpointId": endpoint})
}

fn test_event() -> EventTypeInfo {
    EventTypeInfo {
        name: TEST_EVENT.to_owned(),
        description: "A test event that was sent by hand".to_owned(),
        schema: Some(json!({
            "type": "object",
            "required": ["message", "endpointId"],
            "properties": {
                "message": {"type": "string"},
                "endpointId": {"type": "string", "format": "uuid"},
            },
        })),
        example: Some(test_data(entity::EXAMPLE_ID)),
        permission: None,
        is_update: false,
    }
}
