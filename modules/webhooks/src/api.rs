//! The management API below `/api/v1/webhooks`.

mod backfills;
mod deliveries;
mod endpoints;
mod event_types;
mod feed;
mod health;
mod job_started;
mod limits;

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
        .routes(routes!(endpoints::rotate_webhook_key_pair))
        .routes(routes!(endpoints::test_webhook))
        .routes(routes!(endpoints::recover_webhook))
        .routes(routes!(endpoints::cancel_webhook_deliveries))
        .routes(routes!(backfills::backfill_webhook, backfills::list_webhook_backfills))
        .routes(routes!(backfills::cancel_webhook_backfill))
        .routes(routes!(feed::fetch_webhook_feed))
        .routes(routes!(limits::get_webhook_limits))
        .routes(routes!(event_types::list_webhook_event_types))
        .routes(routes!(deliveries::list_webhook_deliveries))
        .routes(routes!(deliveries::get_webhook_delivery))
        .routes(routes!(deliveries::redeliver_webhook_delivery))
        .routes(routes!(deliveries::cancel_webhook_delivery))
        .routes(routes!(deliveries::redeliver_webhook_deliveries))
        .routes(routes!(health::get_webhook_health))
}
