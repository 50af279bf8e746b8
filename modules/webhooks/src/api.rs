//! The management API below `/api/v1/webhooks`.

mod deliveries;
mod endpoints;
mod event_types;

use serde::{Deserialize, Deserializer};
use svc_http::{HttpState, OpenApiRouter, routes};

/// The routes.
pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::new()
        .routes(routes!(endpoints::list_webhooks, endpoints::create_webhook))
        .routes(routes!(
            endpoints::get_webhook,
            endpoints::change_webhook,
            endpoints::delete_webhook
        ))
        .routes(routes!(endpoints::get_webhook_secret))
        .routes(routes!(endpoints::rotate_webhook_secret))
        .routes(routes!(endpoints::test_webhook))
        .routes(routes!(endpoints::recover_webhook))
        .routes(routes!(event_types::list_webhook_event_types))
        .routes(routes!(deliveries::list_webhook_deliveries))
        .routes(routes!(deliveries::get_webhook_delivery))
        .routes(routes!(deliveries::redeliver_webhook_delivery))
}

/// Reads a field that may be left out, but not be null.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
