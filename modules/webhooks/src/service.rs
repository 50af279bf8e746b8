//! The commands and queries behind the management API.
//!
//! Every function insists on the permission `Webhooks.Manage` and stays within the organisation
//! of its caller.

mod deliveries;
mod endpoints;
mod health;
mod owner;
mod recovery;
mod test_event;

use std::sync::Arc;

use svc_core::settings::WebUrl;
use svc_core::{Error, KeyRing, Result};
use svc_data::Context;

use crate::MANAGE;
use crate::endpoint::Endpoints;
use crate::settings::WebhooksSettings;

pub(crate) use deliveries::{Delivery, DeliveryDetail, DeliveryFilter};
pub(crate) use endpoints::{EndpointChange, NewEndpoint, Stored};
pub(crate) use health::{Health, Span};
pub(crate) use recovery::{
    RecoverDeliveries, RedeliverMany, Selection, recover_deliveries, redeliver_many,
};

/// Manages endpoints and deliveries; a service of the application.
pub(crate) struct Service {
    settings: Arc<WebhooksSettings>,
    endpoints: Arc<Endpoints>,
}

impl Service {
    pub(crate) fn new(settings: Arc<WebhooksSettings>, endpoints: Arc<Endpoints>) -> Self {
        Self { settings, endpoints }
    }

    /// The service of the caller's application, for a caller who may manage webhooks.
    pub(crate) fn of(ctx: &Context) -> Result<Arc<Self>> {
        ctx.require(MANAGE)?;
        ctx.app().service::<Self>()
    }

    pub(crate) fn settings(&self) -> &WebhooksSettings {
        &self.settings
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
