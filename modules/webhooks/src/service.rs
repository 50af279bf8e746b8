//! The commands and queries behind the management API.
//!
//! Whoever has the service by [`Service::of`] may manage webhooks; what receivers fetch ([`feed`]) wants
//! `Webhooks.Receive` instead, on which its route insists. Every function stays within the organisation
//! of its caller.

pub(crate) mod backfill;
pub(crate) mod cancel;
pub(crate) mod deliveries;
pub(crate) mod endpoints;
pub(crate) mod feed;
pub(crate) mod health;
pub(crate) mod limits;
pub(crate) mod recovery;
pub(crate) mod shown;
mod test_event;
mod walk;
mod wishes;

use std::sync::Arc;

use svc_core::settings::WebUrl;
use svc_core::{Error, KeyRing, Result};
use svc_data::{Context, UnitOfWork};
use uuid::Uuid;

use crate::endpoint::Endpoints;
use crate::in_flight::InFlight;
use crate::names::ENDPOINTS_TOPIC;
use crate::permissions::MANAGE;
use crate::settings::WebhooksSettings;

/// Manages endpoints and deliveries; a service of the application.
pub(crate) struct Service {
    settings: Arc<WebhooksSettings>,
    endpoints: Arc<Endpoints>,
    in_flight: Arc<InFlight>,
}

impl Service {
    pub(crate) fn new(
        settings: Arc<WebhooksSettings>,
        endpoints: Arc<Endpoints>,
        in_flight: Arc<InFlight>,
    ) -> Self {
        Self { settings, endpoints, in_flight }
    }

    /// Has nothing sent any more that was prepared for an endpoint before a version of it: on this node
    /// from the commit on, and so from the answer on; on others when they hear of it.
    fn turn_away_after_commit(&self, uow: &UnitOfWork, endpoint: Uuid, version: i64) {
        let in_flight = Arc::clone(&self.in_flight);
        uow.after_commit(move || in_flight.turn_away(endpoint, version));
        uow.wake_after_commit(ENDPOINTS_TOPIC);
    }

    /// The service of the caller's application, for a caller who may manage webhooks.
    pub(crate) fn of(ctx: &Context) -> Result<Arc<Self>> {
        ctx.require(MANAGE)?;
        ctx.app().service::<Self>()
    }
}

/// The address under which callers reach the application, which endpoints may not name.
pub(crate) fn public_url(app: &svc_core::App) -> Option<WebUrl> {
    app.settings::<svc_http::HttpSettings>().public_url.clone()
}

fn key_ring(ctx: &Context) -> Result<Arc<KeyRing>> {
    ctx.app().service::<KeyRing>()
}

fn no_endpoint() -> Error {
    Error::not_found("there is no such endpoint")
}
