//! The kinds of things that modules contribute to events.

use svc_core::Kind;

/// An event that the module publishes.
pub const EVENT: Kind = Kind::new("events");
/// What whoever reads an event must be permitted, where its module says so.
pub const EVENT_PERMISSION: Kind = Kind::new("permissions of events");
/// A handler of changes or events; several may hear one event.
pub const HANDLER: Kind = Kind::new("handlers").repeatable();
