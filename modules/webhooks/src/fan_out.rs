//! From an event to the deliveries of it.
//!
//! The outbox hands over messages of one organisation within a unit of work. All of them together
//! cost one look-up of endpoints, one look-up of rights for each owner, one question to the rules
//! of a set for each owner, and two or three INSERTs, however many endpoints there are. Deliveries
//! whose endpoints have room go to this node's dispatcher in memory once that is committed, and are
//! told of by one row ([`crate::hand_over`]). What becomes more deliveries than one unit of work
//! makes ([`batch`]) is told step by step, by a job ([`wide`]).
//!
//! Where the owner is gone nobody's rights say what the endpoint may see. The event itself is kept
//! then, once for each organisation, and `missed` deliveries of it: whoever becomes the owner
//! recovers them, as far as the rights of that time reach.

mod batch;
mod judged;
mod wide;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use svc_core::{OrganisationId, Result};
use svc_data::UnitOfWork;
use svc_events::{EventKind, Events, Handler, Message, Payload};

use crate::events;
use crate::hand_over::HandOver;
use crate::settings::WebhooksSettings;
use crate::store;
use crate::store::insert::AT_ONCE;
use crate::store::subscribers::{Subscribers, count};
use crate::subscription::EventType;

use batch::tell;

pub(crate) use wide::{TellAll, tell_all};

/// Makes deliveries of changes and events.
#[derive(Default)]
pub(crate) struct FanOut {
    /// What is known once the application is built.
    configured: OnceLock<Configured>,
}

struct Configured {
    /// The short way to the dispatcher.
    hand_over: Arc<HandOver>,
    /// Event types by the names of domain events.
    domain_events: BTreeMap<String, String>,
    /// The registered events.
    events: Arc<Events>,
}

#[async_trait]
impl Handler for FanOut {
    async fn handle(&self, uow: &UnitOfWork, messages: &[Message]) -> Result<()> {
        let events: Vec<(EventType, &Message)> = messages
            .iter()
            .filter_map(|message| Some((self.event_type(message)?, message)))
            .collect();
        let hand_over = self.configured.get().map(|configured| &configured.hand_over);
        let mut deliveries = usize::MAX;
        if let Some(found) = Subscribers::find(uow, &events).await? {
            let audiences = found.by_type(&events);
            let wanted = events.iter().filter_map(|(event_type, _)| audiences.get(event_type));
            deliveries = wanted.map(count).sum();
            if deliveries == 0 {
                return Ok(());
            }
            // Whoever wants order doesn't get what comes later before what is still being told.
            let waits = found.has_ordered() && store::wide::is_any(uow).await?;
            if deliveries <= AT_ONCE && !waits {
                return tell(uow, &events, &audiences, hand_over).await;
            }
        }
        if let Some(hand_over) = hand_over {
            let organisation = messages.first().and_then(|message| message.organisation);
            let made = deliveries.min(events.len() * AT_ONCE);
            hand_over.note_spread(organisation, events.len(), made);
        }
        wide::put_off(uow, &events).await
    }

    async fn room(&self, organisation: Option<OrganisationId>) -> usize {
        match self.configured.get() {
            Some(configured) => configured.hand_over.room(organisation),
            None => usize::MAX,
        }
    }

    /// Of domain events, those that the settings map, and those about endpoints.
    fn wants(&self, name: &str) -> bool {
        let is_domain_event = |known: &Arc<Events>| {
            known.find(name).is_some_and(|event| event.kind == EventKind::Domain)
        };
        let Some(Configured { domain_events, events: known, .. }) = self.configured.get() else {
            return true;
        };
        !is_domain_event(known)
            || domain_events.contains_key(name)
            || events::operational(name).is_some()
    }
}

impl FanOut {
    /// Takes what is known once the application is built.
    pub(crate) fn configure(
        &self,
        settings: &WebhooksSettings,
        events: Arc<Events>,
        hand_over: Arc<HandOver>,
    ) {
        let domain_events = settings.domain_events.clone();
        self.configured.get_or_init(|| Configured { hand_over, domain_events, events });
    }

    /// The event type of a message; none when it becomes no webhook event.
    fn event_type(&self, message: &Message) -> Option<EventType> {
        let name = match &message.payload {
            // Without an organisation there is nobody whom it could be meant for.
            Payload::Application(_) | Payload::Domain(_) if message.organisation.is_none() => {
                return None;
            }
            Payload::Change(_) | Payload::Application(_) => message.name.as_str(),
            Payload::Domain(_) => {
                let mapped = self.configured.get()?.domain_events.get(&message.name);
                mapped.map(String::as_str).or_else(|| events::operational(&message.name))?
            }
        };
        match EventType::parse(name) {
            Ok(event_type) => Some(event_type),
            Err(error) => {
                tracing::warn!(%error, "an event can't be sent to webhooks");
                None
            }
        }
    }
}
