//! Outgoing webhooks: one signed HTTP POST per event and subscribed endpoint.
//!
//! An application adds the module [`Webhooks`] and says of each entity set whose changes are sent
//! that they are, with [`WebhookSet::webhooks`]. How a delivery travels, who moves it and what a
//! crash leaves stands in the crate's README.
//!
//! This file puts the parts together, and no other file needs it: which part is where, and which needs
//! which, stands in the README, too. The crate is built around a pure heart that needs neither database nor
//! network:
//!
//! - [`signing`]: Standard Webhooks signatures and the secrets that make them;
//! - [`backoff`]: when a failed delivery is tried again;
//! - [`subscription`]: which endpoint wants which event type;
//! - [`envelope`]: the body bytes of an event, built once;
//! - [`log_text`]: what of a request and a response goes into the delivery log.
//!
//! What an endpoint's address may be, and how a request gets there, is `svc_client`'s.

pub mod backoff;
pub mod envelope;
pub mod log_text;
pub mod signing;
pub mod subscription;

mod allowance;
mod api;
mod command;
mod credentials;
mod dispatcher;
mod endpoint;
mod entity;
pub mod errors;
mod event_catalogue;
mod events;
mod fan_out;
mod filter;
mod hand_over;
mod headers;
mod hosts;
mod in_flight;
mod input;
mod limits;
mod message;
mod metrics;
mod model;
mod names;
mod owner;
mod pace;
mod permissions;
mod receiver;
mod retention;
mod retired;
mod schedule;
mod sealed;
mod service;
mod set;
mod settings;
mod standings;
mod store;
mod view;

use std::borrow::Cow;
use std::sync::Arc;

use svc_client::{Client, ClientOptions, OutboundSettings, Resolve, SystemResolver};
use svc_core::{App, Error, Module, Registry, Result, Worker};
use svc_data::DataRegistry as _;
use svc_database::{Database, Migration};
use svc_events::{EventKind, Events, EventsRegistry as _, Subscription, WhichSets};
use svc_http::HttpRegistry as _;
use svc_jobs::JobsRegistry as _;

use dispatcher::Dispatcher;
use endpoint::Endpoints;
use hand_over::HandOver;
use in_flight::InFlight;
use limits::OrganisationLimits;
use metrics::DeliveryMetrics;
use names::HANDLER;
use retention::{DeleteDeliveries, DeleteOldDeliveries};
use service::Service;
use service::backfill::{self, TellSet};
use service::cancel::{self, CancelWaiting};
use service::recovery::{self, RecoverDeliveries, RedeliverMany};
use standings::Standings;
use subscription::EventType;

pub use events::{
    WebhookEndpointDisabled, WebhookEndpointFailing, WebhookEndpointOwnerGone, WebhookLimitReached,
};
pub use permissions::{MANAGE, RECEIVE};
pub use set::{MARK, WebhookSet};
pub use settings::WebhooksSettings;

/// Outgoing webhooks as a module.
pub struct Webhooks;

impl Module for Webhooks {
    fn name(&self) -> Cow<'static, str> {
        "webhooks".into()
    }

    fn requires(&self) -> &'static [&'static str] {
        &["data", "client", "events", "jobs", "http", "settings"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.settings::<WebhooksSettings>();
        registry.migrations([Migration::new(
            "0001_webhooks",
            include_str!("../migrations/0001_webhooks.sql"),
        )]);
        registry.entity::<model::endpoint::Entity>();
        registry.errors([
            errors::BEING_SENT,
            errors::NOT_POLLED,
            errors::NOT_RECEIVER,
            errors::NOT_UNDER_WAY,
            errors::NOT_WAITING,
            errors::OWNER_GONE,
            errors::TOO_MANY_ENDPOINTS,
            errors::TOO_MANY_KEYS,
        ]);
        hosts::declare(registry);
        limits::declare(registry);
        registry.permission(MANAGE, "manage webhooks, with their secrets and deliveries");
        registry
            .permission(RECEIVE, "fetch what polled webhook endpoints are told, as their receiver");
        events::declare(registry);
        let wanted = Subscription::new()
            .changes(WhichSets::Marked(MARK))
            .application_events()
            .domain_events();
        let fan_out = Arc::new(fan_out::FanOut::default());
        registry.handler(HANDLER, wanted, Arc::clone(&fan_out) as _);
        registry.job::<fan_out::TellAll>(fan_out::tell_all);
        registry.job::<DeleteOldDeliveries>(retention::delete_old_deliveries);
        registry.job::<DeleteDeliveries>(retention::delete_deliveries);
        registry.schedule("webhooks.retention", "0 17 3 * * *", || DeleteOldDeliveries {});
        registry.job::<RecoverDeliveries>(recovery::recover_deliveries);
        registry.job::<RedeliverMany>(recovery::redeliver_many);
        registry.job::<TellSet>(backfill::tell_set);
        registry.job::<CancelWaiting>(cancel::cancel_waiting);
        registry.command(
            "webhooks",
            "Show what an endpoint is told whose receiver fetches, and pass it on",
            command::run,
        );
        registry.routes(api::routes());
        registry.openapi_json(event_catalogue::openapi::describe);
        registry.closed_to_tools();
        let metrics = Arc::new(DeliveryMetrics::default());
        registry.metrics(Arc::clone(&metrics) as _);
        registry.worker("webhooks", "sends deliveries", move |app| {
            start(app, &fan_out, metrics).map(|worker| Some(Arc::new(worker) as Arc<dyn Worker>))
        });
    }
}

/// Refuses events of the application that could never be sent, since no endpoint can list them.
fn check_names(events: &Events) -> Result<()> {
    for event in events.all().iter().filter(|event| event.kind == EventKind::Application) {
        EventType::parse(event.name.as_str()).map_err(|error| {
            Error::internal(format!("an event can't be sent to webhooks: {error}"))
        })?;
    }
    Ok(())
}

/// Provides the module's services, and answers with the worker that sends.
fn start(
    app: &App,
    fan_out: &fan_out::FanOut,
    metrics: Arc<DeliveryMetrics>,
) -> Result<Dispatcher> {
    let settings = app.settings::<WebhooksSettings>();
    let lease = settings.lease();
    let (concurrency, per_endpoint) = (settings.concurrency, settings.concurrency_per_endpoint);
    app.provide(Arc::new(OrganisationLimits::new(app)));
    let in_flight = InFlight::new(concurrency.into(), per_endpoint.into(), lease);
    let hand_over = Arc::new(HandOver::new(Arc::clone(&in_flight), lease));
    let events = app.service::<Events>()?;
    check_names(&events)?;
    fan_out.configure(&settings, events, Arc::clone(&hand_over));
    let outbound = app.settings::<OutboundSettings>();
    let policy = settings.address_policy(service::public_url(app).as_ref(), &outbound);
    let options = ClientOptions {
        policy: policy.clone(),
        timeout: settings.timeout,
        // As many bytes as so many characters can have.
        kept_bytes: settings.log_limit().saturating_mul(4),
        proxy: outbound.proxy(),
        additional_roots: outbound.additional_roots(),
        ..ClientOptions::default()
    };
    let unusable = |what: &str, error: &dyn std::error::Error| {
        Error::internal(format!("webhooks can't be sent: {what}: {error}"))
    };
    let resolver = SystemResolver::from_system()
        .map_err(|error| unusable("the system's name servers can't be read", &error))?;
    let resolver: Arc<dyn Resolve> = Arc::new(resolver);
    let client = |options| {
        Client::new(options, Arc::clone(&resolver))
            .map_err(|error| unusable("TLS can't be prepared", &error))
    };
    // A token is longer than what the log keeps may be.
    let tokens = client(ClientOptions { kept_bytes: usize::MAX, ..options.clone() })?;
    let sender = client(options)?;
    let endpoints = Arc::new(Endpoints::new(policy));
    app.provide(Arc::new(Standings::new(app)));
    let database = Database::clone(&*app.service::<Database>()?);
    app.provide(Arc::new(Service::new(settings, Arc::clone(&endpoints), in_flight)));
    Dispatcher::new(app, database, (sender, tokens), endpoints, hand_over, metrics)
}
