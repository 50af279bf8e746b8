use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value as Json;
use svc_core::{Error, Principal, Result};

use crate::message::Handler;
use crate::subscription::Subscription;

/// Who an event is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// Published by the application on purpose; it may leave the application.
    Application,
    /// Raised by a module for other modules.
    Domain,
}

/// A registered event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventInfo {
    /// The name, such as `stock.low` or `WorkflowTransitioned`.
    pub name: String,
    /// Who it is meant for.
    pub kind: EventKind,
    /// What it tells, in one line.
    pub description: String,
    /// The module that registered it.
    pub module: String,
    /// The JSON Schema of its data, where it was given.
    pub schema: Option<Json>,
    /// Data as it may be, where it was given.
    pub example: Option<Json>,
    /// What whoever reads it must be permitted; none where it is for everybody.
    pub permission: Option<String>,
}

impl EventInfo {
    /// Whether somebody may read it, as far as its module says by whom it may be.
    #[must_use]
    pub fn is_for(&self, reader: &Principal) -> bool {
        self.permission.as_ref().is_none_or(|permission| reader.can(permission))
    }
}

/// A registered handler.
pub(crate) struct RegisteredHandler {
    pub(crate) name: String,
    pub(crate) subscription: Subscription,
    pub(crate) handler: Arc<dyn Handler>,
}

/// The registered events and handlers; a service of the application.
#[derive(Default)]
pub struct Events {
    pub(crate) all: Vec<EventInfo>,
    pub(crate) by_type: HashMap<TypeId, usize>,
    pub(crate) by_name: HashMap<String, usize>,
    pub(crate) handlers: Vec<Arc<RegisteredHandler>>,
}

impl Events {
    /// The events, in the order they were registered.
    #[must_use]
    pub fn all(&self) -> &[EventInfo] {
        &self.all
    }

    /// The event of a name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&EventInfo> {
        self.by_name.get(name).map(|index| &self.all[*index])
    }

    /// The names of the handlers.
    pub fn handler_names(&self) -> impl Iterator<Item = &str> {
        self.handlers.iter().map(|handler| handler.name.as_str())
    }

    /// The name that `T` is registered under as an event of this kind.
    pub(crate) fn name_of<T: 'static>(&self, kind: EventKind) -> Result<&str> {
        let (word, verb) = match kind {
            EventKind::Application => ("event::<…>(\"…\", \"…\")", "publish"),
            EventKind::Domain => ("domain_event::<…>(\"…\")", "raise_domain"),
        };
        let ty = type_name::<T>();
        let Some(index) = self.by_type.get(&TypeId::of::<T>()) else {
            return Err(Error::internal(format!(
                "`{ty}` is not registered; call `registry.{word}` in a module's `configure`"
            )));
        };
        let event = &self.all[*index];
        if event.kind == kind {
            return Ok(&event.name);
        }
        let other = match event.kind {
            EventKind::Application => "an application event; use `publish`",
            EventKind::Domain => "a domain event; use `raise_domain`",
        };
        Err(Error::internal(format!("`{ty}` can't be used with `{verb}`: it is {other}")))
    }
}
