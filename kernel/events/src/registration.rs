//! What a module says about events: `registry.event::<…>("stock.low", "…", |event| event)` and so on.

use std::any::{TypeId, type_name};
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use serde_json::Value as Json;
use svc_core::Registry;

use crate::catalogue::{EventInfo, EventKind, Events, RegisteredHandler};
use crate::kinds;
use crate::message::Handler;
use crate::subscription::Subscription;

/// What modules have registered so far, shared with the commit hook that needs all of it later.
#[derive(Clone, Default)]
pub(crate) struct Collected(Arc<Shared>);

#[derive(Default)]
struct Shared {
    open: Mutex<Events>,
    complete: OnceLock<Arc<Events>>,
}

impl Collected {
    fn open(&self) -> MutexGuard<'_, Events> {
        self.0.open.lock()
    }

    /// All that was registered. Modules are configured before anything is committed, so what the
    /// first caller finds is complete.
    pub(crate) fn complete(&self) -> &Arc<Events> {
        self.0.complete.get_or_init(|| Arc::new(std::mem::take(&mut *self.open())))
    }
}

/// The event part's words in a module's `configure`.
pub trait EventsRegistry {
    /// Registers an application event under its name, such as `stock.low`, with what it tells, and with
    /// what `say` says besides, for those who receive it: `|event| event.schema(…).example(…)`, or
    /// `|event| event`.
    fn event<T: Serialize + 'static>(
        &mut self,
        name: &str,
        description: &str,
        say: impl FnOnce(EventBuilder<T>) -> EventBuilder<T>,
    );

    /// Registers an application event that is published by name
    /// ([`Publish::publish_as`](crate::Publish::publish_as)), so that it is listed.
    fn named_event(
        &mut self,
        name: &str,
        description: &str,
        say: impl FnOnce(EventBuilder<Json>) -> EventBuilder<Json>,
    );

    /// Registers a domain event under the name of its type, with what it tells.
    fn domain_event<T: Serialize + 'static>(
        &mut self,
        description: &str,
        say: impl FnOnce(EventBuilder<T>) -> EventBuilder<T>,
    );

    /// Hands messages to `handler`. Its name (`<module>.<what it does>`) is stored with each
    /// message that waits for it, so it stays the same for as long as the handler lives.
    fn handler(&mut self, name: &str, subscription: Subscription, handler: Arc<dyn Handler>);
}

impl EventsRegistry for Registry {
    fn event<T: Serialize + 'static>(
        &mut self,
        name: &str,
        description: &str,
        say: impl FnOnce(EventBuilder<T>) -> EventBuilder<T>,
    ) {
        let ty = Some((TypeId::of::<T>(), type_name::<T>()));
        say(EventBuilder::new(EventKind::Application, name, description)).register(self, ty);
    }

    fn named_event(
        &mut self,
        name: &str,
        description: &str,
        say: impl FnOnce(EventBuilder<Json>) -> EventBuilder<Json>,
    ) {
        say(EventBuilder::new(EventKind::Application, name, description)).register(self, None);
    }

    fn domain_event<T: Serialize + 'static>(
        &mut self,
        description: &str,
        say: impl FnOnce(EventBuilder<T>) -> EventBuilder<T>,
    ) {
        let ty = type_name::<T>();
        let id = Some((TypeId::of::<T>(), ty));
        say(EventBuilder::new(EventKind::Domain, last_part(ty), description)).register(self, id);
    }

    fn handler(&mut self, name: &str, subscription: Subscription, handler: Arc<dyn Handler>) {
        self.contribute(kinds::HANDLER, name, subscription.to_string());
        if !is_name(name) {
            self.problem(format!("`{name}` isn't a handler name; {NAME_RULE}"));
        }
        if subscription.is_empty() {
            self.problem(format!("handler `{name}` subscribes to nothing; name what it hears of"));
        }
        let collected = self.part::<Collected>().clone();
        if collected.open().handler_names().any(|other| other == name) {
            self.problem(format!("there are two handlers `{name}`; give one another name"));
        }
        let registered = RegisteredHandler { name: name.to_owned(), subscription, handler };
        collected.open().handlers.push(Arc::new(registered));
    }
}

/// Says more about an event.
#[must_use = "answer with it"]
pub struct EventBuilder<T> {
    event: EventInfo,
    /// What is wrong with what was said.
    problems: Vec<String>,
    data: PhantomData<fn(T)>,
}

impl<T: Serialize> EventBuilder<T> {
    fn new(kind: EventKind, name: &str, description: &str) -> Self {
        let event = EventInfo {
            name: name.to_owned(),
            kind,
            description: description.to_owned(),
            module: String::new(),
            schema: None,
            example: None,
            permission: None,
        };
        Self { event, problems: Vec::new(), data: PhantomData }
    }

    /// Gives the JSON Schema of the event's data, which people who receive it are shown.
    pub fn schema(mut self, schema: Json) -> Self {
        if schema.is_object() {
            self.event.schema = Some(schema);
        } else {
            self.problems.push("the schema isn't a JSON object".to_owned());
        }
        self
    }

    /// Gives an example of the event, which people who receive it are shown.
    pub fn example(mut self, event: T) -> Self {
        match serde_json::to_value(&event) {
            Ok(example) => self.event.example = Some(example),
            Err(error) => {
                self.problems.push(format!("the example can't be made JSON: {error}"));
            }
        }
        self
    }

    /// Says what whoever reads the event must be permitted: it tells of what not everybody in the organisation
    /// may see. Without this word it is for everybody.
    pub fn permission(mut self, permission: &str) -> Self {
        self.event.permission = Some(permission.to_owned());
        self
    }

    /// Registers the event of a type, or of none.
    fn register(self, registry: &mut Registry, ty: Option<(TypeId, &'static str)>) {
        let Self { event, problems, .. } = self;
        let event = EventInfo { module: registry.module().to_owned(), ..event };
        let name = event.name.clone();
        registry.contribute(kinds::EVENT, &name, &event.description);
        if !is_name(&name) {
            registry.problem(format!("`{name}` isn't an event name; {NAME_RULE}"));
        }
        for problem in problems {
            registry.problem(format!("event `{name}`: {problem}"));
        }
        if let Some(permission) = &event.permission {
            registry.asks_for_permission(permission, format!("event `{name}`"));
            registry.contribute(kinds::EVENT_PERMISSION, &name, permission);
        }
        let collected = registry.part::<Collected>().clone();
        let mut events = collected.open();
        let index = events.all.len();
        events.all.push(event);
        events.by_name.insert(name, index);
        if let Some((id, ty)) = ty
            && let Some(first) = events.by_type.insert(id, index)
        {
            let first = &events.all[first].name;
            registry.problem(format!(
                "`{ty}` is already registered as the event `{first}`; register each type once"
            ));
        }
    }
}

const NAME_RULE: &str = "use 1 to 100 letters, digits, `.`, `_` and `-`";

/// Whether a text can name an event or a handler.
pub(crate) fn is_name(name: &str) -> bool {
    let allowed =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    (1..=100).contains(&name.len()) && name.chars().all(allowed)
}

/// The type's own name, without its path and type parameters.
fn last_part(type_name: &str) -> &str {
    let plain = type_name.split('<').next().unwrap_or(type_name);
    plain.rsplit("::").next().unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_event_is_named_as_its_type() {
        assert_eq!(last_part("svc_workflow::events::WorkflowTransitioned"), "WorkflowTransitioned");
        assert_eq!(last_part("a::Moved<b::Thing>"), "Moved");
    }

    #[test]
    fn names_are_short_and_plain() {
        assert!(is_name("stock.low") && is_name("WorkflowTransitioned") && is_name("a-1_b"));
        assert!(
            !is_name("") && !is_name("stock low") && !is_name("ä") && !is_name(&"x".repeat(101))
        );
    }
}
