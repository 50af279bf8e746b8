//! What a module says about events: `registry.event::<…>("stock.low", "…")` and so on.

use std::any::{TypeId, type_name};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

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
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that was registered. Modules are configured before anything is committed, so what the
    /// first caller finds is complete.
    pub(crate) fn complete(&self) -> &Arc<Events> {
        self.0.complete.get_or_init(|| Arc::new(std::mem::take(&mut *self.open())))
    }
}

/// The event part's words in a module's `configure`.
pub trait EventsRegistry {
    /// Registers an application event under its name, such as `stock.low`, with what it tells.
    /// The answer takes a schema and an example, for those who receive it.
    fn event<T: Serialize + 'static>(
        &mut self,
        name: &str,
        description: &str,
    ) -> EventBuilder<'_, T>;

    /// Registers an application event that is published by name
    /// ([`Publish::publish_as`](crate::Publish::publish_as)), so that it is listed.
    fn named_event(&mut self, name: &str, description: &str) -> EventBuilder<'_, Json>;

    /// Registers a domain event under the name of its type, with what it tells.
    fn domain_event<T: Serialize + 'static>(&mut self, description: &str) -> EventBuilder<'_, T>;

    /// Hands messages to `handler`. Its name (`<module>.<what it does>`) is stored with each
    /// message that waits for it, so it stays the same for as long as the handler lives.
    fn handler(&mut self, name: &str, subscription: Subscription, handler: Arc<dyn Handler>);
}

impl EventsRegistry for Registry {
    fn event<T: Serialize + 'static>(
        &mut self,
        name: &str,
        description: &str,
    ) -> EventBuilder<'_, T> {
        let ty = Some((TypeId::of::<T>(), type_name::<T>()));
        add_event(self, ty, EventKind::Application, name, description)
    }

    fn named_event(&mut self, name: &str, description: &str) -> EventBuilder<'_, Json> {
        add_event(self, None, EventKind::Application, name, description)
    }

    fn domain_event<T: Serialize + 'static>(&mut self, description: &str) -> EventBuilder<'_, T> {
        let ty = type_name::<T>();
        let id = Some((TypeId::of::<T>(), ty));
        add_event(self, id, EventKind::Domain, last_part(ty), description)
    }

    fn handler(&mut self, name: &str, subscription: Subscription, handler: Arc<dyn Handler>) {
        self.contribute(kinds::HANDLER, name, subscription.to_string());
        if !is_name(name) {
            self.problem(format!("`{name}` is no handler name; {NAME_RULE}"));
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

/// Says more about an event that was just registered; each word takes effect at once.
pub struct EventBuilder<'a, T> {
    registry: &'a mut Registry,
    index: usize,
    data: PhantomData<fn(T)>,
}

#[expect(
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "each word has taken effect"
)]
impl<T: Serialize> EventBuilder<'_, T> {
    /// Gives the JSON Schema of the event's data, which people who receive it are shown.
    pub fn schema(mut self, schema: Json) -> Self {
        if schema.is_object() {
            self.change(|event| event.schema = Some(schema));
        } else {
            self.problem("the schema is no JSON object");
        }
        self
    }

    /// Gives an example of the event, which people who receive it are shown.
    pub fn example(mut self, event: T) -> Self {
        match serde_json::to_value(&event) {
            Ok(example) => self.change(|event| event.example = Some(example)),
            Err(error) => self.problem(&format!("the example can't be made JSON: {error}")),
        }
        self
    }

    /// Says what whoever reads the event must be permitted: it tells of what not everybody in the organisation
    /// may see. Without this word it is for everybody.
    pub fn permission(mut self, permission: &str) -> Self {
        let mut name = String::new();
        self.change(|event| {
            event.permission = Some(permission.to_owned());
            name.clone_from(&event.name);
        });
        self.registry.asks_for_permission(permission, format!("event `{name}`"));
        self.registry.contribute(kinds::EVENT_PERMISSION, name, permission);
        self
    }

    fn change(&mut self, change: impl FnOnce(&mut EventInfo)) {
        let collected = self.registry.part::<Collected>().clone();
        change(&mut collected.open().all[self.index]);
    }

    fn problem(&mut self, what: &str) {
        let mut name = String::new();
        self.change(|event| name.clone_from(&event.name));
        self.registry.problem(format!("event `{name}`: {what}"));
    }
}

fn add_event<'a, T>(
    registry: &'a mut Registry,
    ty: Option<(TypeId, &'static str)>,
    kind: EventKind,
    name: &str,
    description: &str,
) -> EventBuilder<'a, T> {
    registry.contribute(kinds::EVENT, name, description);
    if !is_name(name) {
        registry.problem(format!("`{name}` is no event name; {NAME_RULE}"));
    }
    let module = registry.module().to_owned();
    let collected = registry.part::<Collected>().clone();
    let mut events = collected.open();
    let index = events.all.len();
    events.all.push(EventInfo {
        name: name.to_owned(),
        kind,
        description: description.to_owned(),
        module,
        schema: None,
        example: None,
        permission: None,
    });
    events.by_name.insert(name.to_owned(), index);
    if let Some((id, ty)) = ty
        && let Some(first) = events.by_type.insert(id, index)
    {
        let first = &events.all[first].name;
        registry.problem(format!(
            "`{ty}` is already registered as the event `{first}`; register each type once"
        ));
    }
    drop(events);
    EventBuilder { registry, index, data: PhantomData }
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
