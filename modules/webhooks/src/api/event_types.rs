use axum::Json;
use serde::{Deserialize, Serialize};
use svc_http::{ApiQuery, ApiResult, May};
use utoipa::{IntoParams, ToSchema};

use crate::event_catalogue::{self, EventTypeInfo};
use crate::permissions::Manage;
use crate::service::Service;

/// The known event types.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookEventTypes)]
pub(crate) struct EventTypesBody {
    /// The event types, in the order of their names.
    items: Vec<EventTypeInfo>,
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
    let mut items = event_catalogue::of(ctx.app())?;
    if !query.details {
        for info in &mut items {
            (info.schema, info.example) = (None, None);
        }
    }
    Ok(Json(EventTypesBody { items, next: None }))
}
