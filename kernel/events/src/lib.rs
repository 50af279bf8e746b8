//! Changes and events that others hear of: stored with what caused them, handled once.
//!
//! A module says what it publishes and what it listens to; a command publishes within its unit of
//! work; the outbox does the rest.
//!
//! ```
//! use std::sync::Arc;
//! use async_trait::async_trait;
//! use serde::Serialize;
//! use svc_core::{Registry, Result};
//! use svc_data::UnitOfWork;
//! use svc_events::{EventsRegistry as _, Handler, Message, Publish as _, Subscription, WhichSets};
//!
//! #[derive(Serialize)]
//! #[serde(rename_all = "camelCase")]
//! struct StockLow {
//!     sku: String,
//!     quantity: u32,
//! }
//!
//! struct OrderSupplies;
//!
//! #[async_trait]
//! impl Handler for OrderSupplies {
//!     async fn handle(&self, uow: &UnitOfWork, messages: &[Message]) -> Result<()> {
//!         for message in messages {
//!             // What is written through `uow` is stored together with the message's removal.
//!             let _ = (message.name.as_str(), uow.context());
//!         }
//!         Ok(())
//!     }
//! }
//!
//! fn configure(registry: &mut Registry) {
//!     registry.event::<StockLow>("stock.low", "Stock of a product fell below its limit", |event| event);
//!     let wanted = Subscription::new().changes(WhichSets::named(["Products"])).event("stock.low");
//!     registry.handler("shop.order_supplies", wanted, Arc::new(OrderSupplies));
//! }
//!
//! async fn sell(uow: &UnitOfWork) -> Result<()> {
//!     uow.publish(StockLow { sku: "A-1".into(), quantity: 2 })
//! }
//! ```
//!
//! # Three kinds of messages
//!
//! - **Changes** of records of entity sets, captured by the unit of work: `products.updated` with
//!   the columns before and the row after. Nobody has to publish them.
//! - **Application events** ([`EventsRegistry::event`]), which the application publishes on
//!   purpose and which may leave it: `stock.low`.
//! - **Domain events** ([`EventsRegistry::domain_event`]), which modules tell each other:
//!   `WorkflowTransitioned`.
//!
//! An event that tells of what not everybody in the organisation may see says what whoever reads it must be
//! permitted ([`EventBuilder::permission`]). Handlers are of the application and hear all; one that passes events
//! on, as webhooks do, asks [`EventInfo::is_for`] of each reader. Without the word an event is for everybody.
//!
//! # The path of a message
//!
//! | State | Moved by | A crash right after leaves |
//! | --- | --- | --- |
//! | captured, in memory | the command | nothing; it is gone with the change it tells of |
//! | row `ready` for each handler that wants it | the commit, with the change | the row; found at the next start or by another node |
//! | row locked | a node's lane, in the handler's transaction | the row, unlocked with the lost connection |
//! | no row, effects stored | the commit of the handler's transaction | nothing to do |
//! | row `ready`, one attempt more, due later | a failure, in a transaction of its own | the row |
//! | row `dead` | the last attempt's failure | the row, until a person retries or discards it |
//!
//! A message becomes one row for each handler, so handlers succeed and fail apart. Nothing is
//! written where nobody listens. All rows of a commit are written by one INSERT.
//!
//! # Handled once
//!
//! Messages of one handler and one organisation are handed over in batches, within one unit of
//! work that locks the rows (`FOR UPDATE SKIP LOCKED`; SQLite has one writer anyway), runs the
//! handler, and deletes the rows. So the effects are stored if, and only if, the messages are gone,
//! and a row needs no lease: its lock ends with the transaction, or with the connection of a
//! process that died. The price is a rule for handlers: **write to the database, talk to nobody.**
//! What must call the world enqueues a background job. [`EventsSettings::handler_timeout`] ends a
//! handler that forgets it. A handler whose work goes on elsewhere says how much it takes at once
//! ([`Handler::room`]), so that a burst waits in the outbox and not behind it. Organisations take turns,
//! a batch each, so that the burst of one is no wait for another.
//!
//! When a batch fails it is rolled back, and its messages are handed over one by one, so a
//! poisoned message never holds up the others; it alone is tried again with doubling delays, and
//! set aside (one that a handler took off to do it step by step: by [`Undone::set_aside`]) as a dead letter after [`EventsSettings::max_attempts`]. A panic counts as a failure.
//!
//! A message whose handling *ends the process* can't be counted by the process that it ended. So
//! an attempt is counted before it begins wherever that may be what happened: for messages that
//! have failed before, and for all that were already waiting when the process started. New messages
//! take the short way: one transaction, no update.
//!
//! No order is promised between messages: retries, batches and nodes change it. The time of a
//! message and the version of its record say what came first.
//!
//! # Traces
//!
//! While traces are exported, a commit that writes messages has the span `outbox.store`, and each
//! message keeps the place of it. Handing messages over has a span of its own, which links to the
//! places of all of them.
//!
//! # Wake-ups
//!
//! A commit that wrote messages wakes the outbox of its own process at once, and that of other
//! nodes through PostgreSQL's NOTIFY, sent outside of the transaction (NOTIFY within one makes all
//! commits queue) and at most once in 20 ms for a topic. All topics of [`svc_core::Wakes`] travel
//! that way. A lost wake-up costs time, not messages: the outbox also looks by itself, every
//! [`EventsSettings::poll_interval`] and whenever a retry is due.

mod capture;
mod catalogue;
mod command;
mod dead_letter;
mod handling;
pub mod kinds;
mod message;
mod module;
mod outbox;
mod publish;
mod registration;
mod relay;
mod settings;
mod store;
mod subscription;
mod worker;

pub use catalogue::{EventInfo, EventKind, Events};
pub use dead_letter::{DeadLetter, DeadLetterPage, Selection, Undone};
pub use message::{Handler, Message, Payload, RecordChange};
pub use module::{EventsModule, provide_events};
pub use outbox::{HandlerStatistics, Outbox, Statistics};
pub use publish::Publish;
pub use registration::{EventBuilder, EventsRegistry};
pub use settings::EventsSettings;
pub use store::first_unhandled;
pub use subscription::{Subscription, WhichSets};

/// The topic that wakes the outbox.
pub const WAKE_TOPIC: &str = "outbox";
