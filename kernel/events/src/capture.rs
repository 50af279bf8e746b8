//! Turns what a unit of work captured into rows of the outbox, just before the commit.

use std::sync::Arc;

use async_trait::async_trait;
use svc_core::trace::{TraceContext, is_exporting};
use svc_core::{Actor, Error, OrganisationId, Result};
use svc_data::{Captured, Change, CommitHook, RaisedEvent, UnitOfWork};
use tracing::{Instrument as _, Span};
use uuid::Uuid;

use crate::WAKE_TOPIC;
use crate::catalogue::{EventKind, RegisteredHandler};
use crate::message::{Payload, RecordChange};
use crate::registration::Collected;
use crate::store::{self, NewRow, Stored};

/// Stores messages with the changes and events that they tell of.
pub(crate) struct Capture(pub(crate) Collected);

#[async_trait]
impl CommitHook for Capture {
    async fn before_commit(&self, uow: &UnitOfWork, captured: &Captured) -> Result<()> {
        let Rows { all, span, .. } = self.rows(uow, captured)?;
        if all.is_empty() {
            return Ok(());
        }
        span.record("messages", all.len());
        store::insert(uow, &all).instrument(span).await?;
        uow.wake_after_commit(WAKE_TOPIC);
        Ok(())
    }
}

/// The span in which messages are stored, and to which the spans of their handling will link.
fn span() -> Span {
    if !is_exporting() {
        return Span::none();
    }
    tracing::info_span!("outbox.store", otel.kind = "producer", messages = tracing::field::Empty)
}

type Handlers<'a> = Vec<&'a Arc<RegisteredHandler>>;

impl Capture {
    fn rows<'a>(&self, uow: &'a UnitOfWork, captured: &Captured) -> Result<Rows<'a>> {
        let mut rows = Rows { uow, span: Span::none(), trace: None, all: Vec::new() };
        for change in &captured.changes {
            let Some((name, handlers)) = self.handlers_of_change(change) else { continue };
            let Some(told) = RecordChange::of(change) else { continue };
            let payload = Payload::Change(told);
            let actor = change.author.actor.clone();
            rows.add(&handlers, &name, (change.organisation, actor), payload)?;
        }
        for event in &captured.events {
            let (kind, handlers) = self.handlers_of_event(event);
            if handlers.is_empty() {
                continue;
            }
            let payload = match kind {
                EventKind::Application => Payload::Application(event.data.clone()),
                EventKind::Domain => Payload::Domain(event.data.clone()),
            };
            rows.add(&handlers, &event.name, (event.organisation, event.actor.clone()), payload)?;
        }
        Ok(rows)
    }

    /// The name of a change and who wants it; none when it is of no set, or nobody does.
    fn handlers_of_change(&self, change: &Change) -> Option<(String, Handlers<'_>)> {
        let set = change.model.set.as_ref()?;
        let all = self.0.complete().handlers.iter();
        let mut handlers: Handlers<'_> =
            all.filter(|handler| handler.subscription.has_changes_of(set)).collect();
        if handlers.is_empty() {
            return None;
        }
        let name = format!("{}.{}", set.event_name, change.kind.as_str());
        handlers.retain(|handler| handler.handler.wants(&name));
        (!handlers.is_empty()).then_some((name, handlers))
    }

    fn handlers_of_event(&self, event: &RaisedEvent) -> (EventKind, Handlers<'_>) {
        let events = self.0.complete();
        // A name that nobody registered was chosen at run time, by the application.
        let kind = events.find(&event.name).map_or(EventKind::Application, |event| event.kind);
        let wants = |registered: &&Arc<RegisteredHandler>| {
            let subscription = &registered.subscription;
            let subscribed = match kind {
                EventKind::Application => subscription.has_application_event(&event.name),
                EventKind::Domain => subscription.has_domain_event(&event.name),
            };
            subscribed && registered.handler.wants(&event.name)
        };
        (kind, events.handlers.iter().filter(wants).collect())
    }
}

/// The rows of one commit.
struct Rows<'a> {
    uow: &'a UnitOfWork,
    /// The span that they are stored in, from the first row on.
    span: Span,
    trace: Option<TraceContext>,
    all: Vec<NewRow>,
}

impl Rows<'_> {
    /// Adds one message for each handler, all with one identifier.
    fn add(
        &mut self,
        handlers: &[&Arc<RegisteredHandler>],
        name: &str,
        (organisation, actor): (Option<OrganisationId>, Actor),
        body: Payload,
    ) -> Result<()> {
        if self.all.is_empty() {
            self.span = span();
            self.trace = TraceContext::of(&self.span);
        }
        let ctx = self.uow.context();
        let id: Uuid = ctx.clock().new_id();
        let stored = Stored { actor, trace: self.trace, body };
        let content = serde_json::to_string(&stored).map_err(|error| {
            Error::internal(format!("the message `{name}` can't be made JSON")).caused_by(error)
        })?;
        for handler in handlers {
            self.all.push(NewRow {
                id,
                handler: handler.name.clone(),
                name: name.to_owned(),
                organisation,
                content: content.clone(),
            });
        }
        Ok(())
    }
}
