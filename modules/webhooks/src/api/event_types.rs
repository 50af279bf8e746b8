use axum::Json;
use serde::{Deserialize, Serialize};
use svc_http::{ApiQuery, ApiResult, May};
use utoipa::{IntoParams, ToSchema};

use crate::event_catalogue::{self, EventTypeInfo};
use crate::permissions::Manage;
use crate::service::Service;

/// A known event type.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookEventType)]
pub(crate) struct EventTypeBody {
    /// Its name, as endpoints list it.
    name: String,
    /// What it tells.
    description: String,
    /// The JSON Schema of `data`, where it is asked for and known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    schema: Option<serde_json::Value>,
    /// Such data, where it is asked for and known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    example: Option<serde_json::Value>,
}

/// The known event types.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookEventTypes)]
pub(crate) struct EventTypesBody {
    /// The event types, in the order of their names.
    items: Vec<EventTypeBody>,
    /// Always null: there is one page.
    next: Option<String>,
}

/// What to tell of event types.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct EventTypesQuery {
    /// Whether to add the JSON Schema of each type's data, and an example.
    details: bool,
}

/// Lists the known event types.
#[utoipa::path(
    get,
    path = "/webhooks/event-types",
    tag = "webhooks",
    params(EventTypesQuery),
    responses((status = 200, description = "The event types.", body = EventTypesBody)),
)]
pub(crate) async fn list_webhook_event_types(
    May { ctx, .. }: May<Manage>,
    ApiQuery(query): ApiQuery<EventTypesQuery>,
) -> ApiResult<Json<EventTypesBody>> {
    Service::of(&ctx)?;
    let body = |info: EventTypeInfo| EventTypeBody {
        name: info.name,
        description: info.description,
        schema: info.schema.filter(|_| query.details),
        example: info.example.filter(|_| query.details),
    };
    let items = event_catalogue::of(ctx.app())?.into_iter().map(body).collect();
    Ok(Json(EventTypesBody { items, next: None }))
}
