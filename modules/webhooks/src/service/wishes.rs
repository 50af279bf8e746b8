//! What an endpoint wants of events, as far as one wish must fit another.

use std::collections::BTreeSet;

use svc_core::{App, Error, Result};
use svc_data::Context;

use crate::event_catalogue::{self, EventTypeInfo};
use crate::filter::Filter;
use crate::input::refusal;
use crate::model::Format;
use crate::model::endpoint::ActiveModel;
use crate::subscription::{EventPatterns, EventType, TEST_EVENT};

/// Properties that a refusal lists.
const LISTED: usize = 20;

/// Checks what is about to be stored. What is said alone was checked before.
pub(super) fn check(app: &App, record: &ActiveModel) -> Result<()> {
    let refuse = |field: &str, message: String| Err(refusal(field, message));
    if *record.format.as_ref() == Format::CloudEvents && *record.includes_changes.as_ref() {
        let message = "a CloudEvent has no place for `changes`; choose the format `standard`";
        return refuse("includesChanges", message.to_owned());
    }
    let Some(text) = record.filter.as_ref() else { return Ok(()) };
    let filter = match Filter::parse(text) {
        Ok(filter) => filter,
        Err(error) => return refuse("filter", error.to_string()),
    };
    let patterns: Vec<String> = serde_json::from_str(record.events.as_ref()).unwrap_or_default();
    let Ok(subscription) = EventPatterns::parse(&patterns) else { return Ok(()) };
    let types = event_catalogue::of(app)?;
    let Some(known) = properties(&types, &subscription) else { return Ok(()) };
    for name in filter.properties() {
        if !known.contains(name) {
            let listed: Vec<&str> = known.iter().map(String::as_str).take(LISTED).collect();
            let message = format!(
                "no event that the endpoint lists has a property `{name}`; there are `{}`",
                listed.join("`, `")
            );
            return refuse("filter", message);
        }
    }
    // Whether one of some words comes before another nobody sees by the words.
    let words = of_some_words(&types, &subscription);
    if let Some(name) = filter.ordered().into_iter().find(|name| words.contains(*name)) {
        let message = format!(
            "`{name}` is one of some words, which have no order in an event; compare it with `eq`, `ne` or `in`"
        );
        return refuse("filter", message);
    }
    Ok(())
}

/// Refuses what whoever calls would never be told: a pattern of which every event asks for a permission that they
/// don't hold. Of one that matches others too the endpoint gets these.
pub(super) fn check_permitted(ctx: &Context, subscription: &EventPatterns) -> Result<()> {
    let types = event_catalogue::of(ctx.app())?;
    for pattern in subscription.patterns() {
        let alone = EventPatterns::parse([pattern]).map_err(|error| {
            Error::internal("a pattern that was checked is none").caused_by(error)
        })?;
        let mut named = types.iter().filter(|info| is_named(info, &alone)).peekable();
        let lacks = |info: &EventTypeInfo| {
            let permission = info.permission.as_ref();
            permission.filter(|permission| !ctx.principal().can(permission)).cloned()
        };
        let Some(permission) = named.peek().and_then(|first| lacks(first)) else { continue };
        if named.all(|info| lacks(info).is_some()) {
            let message = format!(
                "`{pattern}` is told to whoever holds `{permission}`, and to nobody else; leave it out, or have \
                 somebody save the endpoint who does"
            );
            return Err(refusal("events", message));
        }
    }
    Ok(())
}

/// The properties of data that a subscription names which are one of some words: members of an enumeration.
fn of_some_words(types: &[EventTypeInfo], subscription: &EventPatterns) -> BTreeSet<String> {
    let schemas = types.iter().filter(|info| is_named(info, subscription));
    let properties =
        schemas.filter_map(|info| info.schema.as_ref()?.get("properties")?.as_object());
    let words = properties.flatten().filter(|(_, schema)| schema.get("enum").is_some());
    words.map(|(name, _)| name.clone()).collect()
}

/// Whether a subscription names a type of events.
fn is_named(info: &EventTypeInfo, subscription: &EventPatterns) -> bool {
    info.name != TEST_EVENT
        && EventType::parse(info.name.as_str()).is_ok_and(|name| subscription.matches(&name))
}

/// The properties of all data that a subscription names; none where one of its events may have others.
fn properties(types: &[EventTypeInfo], subscription: &EventPatterns) -> Option<BTreeSet<String>> {
    let mut known = BTreeSet::new();
    for info in types.iter().filter(|info| is_named(info, subscription)) {
        let properties = info.schema.as_ref()?.get("properties")?.as_object()?;
        known.extend(properties.keys().cloned());
    }
    (!known.is_empty()).then_some(known)
}
