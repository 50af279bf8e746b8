//! From an event to the deliveries of it.
//!
//! The outbox hands over messages of one organisation within a unit of work. All of them together
//! cost one look-up of endpoints, one look-up of rights for each owner, one question to the rules
//! of a set for each owner, and two or three INSERTs, however many endpoints there are. Deliveries
//! whose endpoints have room go to this node's dispatcher in memory once that is committed, and are
//! told of by one row ([`crate::hand_over`]).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use svc_core::{Directory, OrganisationId, Principal, Result, UserId};
use svc_data::UnitOfWork;
use svc_events::{EventKind, Events, Handler, Message, Payload};
use uuid::Uuid;

use crate::dispatcher;
use crate::hand_over::{HandOver, Handed, HandedDelivery};
use crate::in_flight::Ticket;
use crate::model::{Lane, Status};
use crate::settings::WebhooksSettings;
use crate::store::claim::{Claim, Claimed};
use crate::store::hand_overs;
use crate::store::insert::{self, NewDelivery, NewMessage};
use crate::store::{micros, read_all};
use crate::subscription::EventType;
use crate::view::{self, Reader};

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

/// An endpoint that listed a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is a wish of its own of the endpoint")]
struct Subscriber {
    endpoint: Uuid,
    organisation: OrganisationId,
    owner: UserId,
    is_active: bool,
    includes_changes: bool,
    is_ordered: bool,
    has_pace: bool,
    version: i64,
}

/// Who gets a view of an event: endpoints with one owner and the same wishes get the same bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Audience {
    organisation: OrganisationId,
    owner: UserId,
    includes_changes: bool,
}

/// The endpoints that want an event, by who they are for.
type Audiences = BTreeMap<Audience, Vec<Subscriber>>;

#[async_trait]
impl Handler for FanOut {
    async fn handle(&self, uow: &UnitOfWork, messages: &[Message]) -> Result<()> {
        let events: Vec<(EventType, &Message)> = messages
            .iter()
            .filter_map(|message| Some((self.event_type(message)?, message)))
            .collect();
        let subscribers = Subscribers::find(uow, &events).await?;
        if subscribers.0.is_empty() {
            return Ok(());
        }
        let hand_over = self.configured.get().map(|configured| &configured.hand_over);
        let mut batch = Batch::new(uow, &events, hand_over)?;
        let audiences = subscribers.by_type(&events);
        batch.prepare(&audiences).await?;
        for (place, (event_type, message)) in events.iter().enumerate() {
            if let Some(audiences) = audiences.get(event_type) {
                batch.add(place, event_type, message, audiences).await?;
            }
        }
        batch.store().await
    }

    async fn room(&self) -> usize {
        match self.configured.get() {
            Some(configured) => configured.hand_over.room().await,
            None => usize::MAX,
        }
    }

    /// Of domain events, those that the settings map.
    fn wants(&self, name: &str) -> bool {
        let is_domain_event = |events: &Arc<Events>| {
            events.find(name).is_some_and(|event| event.kind == EventKind::Domain)
        };
        let Some(Configured { domain_events, events, .. }) = self.configured.get() else {
            return true;
        };
        !is_domain_event(events) || domain_events.contains_key(name)
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
            Payload::Change(_) | Payload::Application(_) => &message.name,
            Payload::Domain(_) => self.configured.get()?.domain_events.get(&message.name)?,
        };
        match EventType::parse(name.as_str()) {
            Ok(event_type) => Some(event_type),
            Err(error) => {
                tracing::warn!(%error, "an event can't be sent to webhooks");
                None
            }
        }
    }
}

/// The endpoints by the patterns that they listed.
struct Subscribers(HashMap<String, Vec<Subscriber>>);

impl Subscribers {
    /// Finds the endpoints for all events of a batch with one statement.
    async fn find(uow: &UnitOfWork, events: &[(EventType, &Message)]) -> Result<Self> {
        let patterns: HashSet<String> =
            events.iter().flat_map(|(event_type, _)| event_type.patterns()).collect();
        let mut by_pattern: HashMap<String, Vec<Subscriber>> = HashMap::new();
        if patterns.is_empty() {
            return Ok(Self(by_pattern));
        }
        let patterns: Vec<String> = patterns.into_iter().collect();
        let marks = vec!["?"; patterns.len().next_power_of_two()].join(", ");
        let padding = patterns.len().next_power_of_two() - patterns.len();
        let mut values: Vec<sea_orm::Value> =
            patterns.iter().map(|text| text.as_str().into()).collect();
        values.extend(std::iter::repeat_n(sea_orm::Value::from(""), padding));
        let mut sql = format!(
            "SELECT s.pattern, e.id, e.organisation_id, e.owner_id, e.is_active, \
             e.includes_changes, e.is_ordered, e.max_per_second, e.version FROM webhooks_subscriptions s \
             JOIN webhooks_endpoints e ON e.id = s.endpoint_id WHERE s.pattern IN ({marks})"
        );
        // A record that belongs to all organisations is told to all of them.
        if let Some(organisation) = uow.context().principal().organisation() {
            sql.push_str(" AND s.organisation_id = ?");
            values.push(organisation.0.into());
        }
        let rows = uow.rows(uow.context().database().statement(&sql, values)).await?;
        let found = read_all(&rows, |row| {
            let subscriber = Subscriber {
                endpoint: row.try_get_by_index(1)?,
                organisation: OrganisationId(row.try_get_by_index(2)?),
                owner: UserId(row.try_get_by_index(3)?),
                is_active: row.try_get_by_index(4)?,
                includes_changes: row.try_get_by_index(5)?,
                is_ordered: row.try_get_by_index(6)?,
                has_pace: row.try_get_by_index::<Option<i32>>(7)?.is_some(),
                version: row.try_get_by_index(8)?,
            };
            Ok((row.try_get_by_index::<String>(0)?, subscriber))
        })?;
        for (pattern, subscriber) in found {
            by_pattern.entry(pattern).or_default().push(subscriber);
        }
        Ok(Self(by_pattern))
    }

    /// The endpoints that want the events of a batch, by the event's type.
    fn by_type(&self, events: &[(EventType, &Message)]) -> HashMap<EventType, Audiences> {
        let types: HashSet<&EventType> = events.iter().map(|(event_type, _)| event_type).collect();
        types.into_iter().map(|event_type| (event_type.clone(), self.of(event_type))).collect()
    }

    /// The endpoints that want an event, each once, by who they are for.
    fn of(&self, event_type: &EventType) -> Audiences {
        let mut seen = HashSet::new();
        let mut audiences = Audiences::new();
        for pattern in event_type.patterns() {
            for subscriber in self.0.get(&pattern).into_iter().flatten() {
                if seen.insert(subscriber.endpoint) {
                    let audience = Audience {
                        organisation: subscriber.organisation,
                        owner: subscriber.owner,
                        includes_changes: subscriber.includes_changes,
                    };
                    audiences.entry(audience).or_default().push(*subscriber);
                }
            }
        }
        audiences
    }
}

/// What a batch of events becomes.
struct Batch<'a> {
    uow: &'a UnitOfWork,
    reader: Reader<'a>,
    types: Vec<&'a EventType>,
    /// The owners' rights now; none for one who is disabled or has left.
    owners: HashMap<(UserId, OrganisationId), Option<Arc<Principal>>>,
    messages: Vec<NewMessage>,
    /// Deliveries that are stored, and wait.
    deliveries: Vec<NewDelivery>,
    /// The short way to the dispatcher, with the claim under which it gets deliveries.
    hand_over: Option<(&'a Arc<HandOver>, Claim)>,
    handed: Vec<Reserved>,
    /// The versions of endpoints whose deliveries are handed over.
    versions: HashMap<Uuid, i64>,
}

/// A delivery that has room on this node.
struct Reserved {
    delivery: NewDelivery,
    /// The place of its message among the messages.
    message: usize,
    ticket: Ticket,
}

impl<'a> Batch<'a> {
    fn new(
        uow: &'a UnitOfWork,
        events: &'a [(EventType, &'a Message)],
        hand_over: Option<&'a Arc<HandOver>>,
    ) -> Result<Self> {
        let messages = events.iter().map(|(_, message)| *message).collect();
        let clock = uow.context().clock();
        Ok(Self {
            uow,
            reader: Reader::new(uow, messages)?,
            types: events.iter().map(|(event_type, _)| event_type).collect(),
            owners: HashMap::new(),
            messages: Vec::new(),
            deliveries: Vec::new(),
            hand_over: hand_over.map(|hand_over| (hand_over, hand_over.claim(clock))),
            handed: Vec::new(),
            versions: HashMap::new(),
        })
    }

    /// Looks up the owners, and asks what each may see of the events that it gets.
    async fn prepare(&mut self, audiences: &HashMap<EventType, Audiences>) -> Result<()> {
        let mut wanted: BTreeMap<(UserId, OrganisationId), (Vec<usize>, bool)> = BTreeMap::new();
        for (place, event_type) in self.types.iter().enumerate() {
            for audience in audiences.get(event_type).into_iter().flat_map(BTreeMap::keys) {
                let owner = (audience.owner, audience.organisation);
                let (places, with_changes) = wanted.entry(owner).or_default();
                // One owner may have endpoints with and without changes.
                if places.last() != Some(&place) {
                    places.push(place);
                }
                *with_changes |= audience.includes_changes;
            }
        }
        for ((user, organisation), (places, with_changes)) in wanted {
            if let Some(owner) = self.owner(user, organisation).await? {
                self.reader.prepare(&owner, &places, with_changes).await?;
            }
        }
        Ok(())
    }

    async fn add(
        &mut self,
        place: usize,
        event_type: &EventType,
        message: &Message,
        audiences: &Audiences,
    ) -> Result<()> {
        // Views of one event that are the same bytes are stored once.
        let first = self.messages.len();
        for (audience, subscribers) in audiences {
            let Some(owner) = self.owner(audience.owner, audience.organisation).await? else {
                continue;
            };
            let view = self.reader.view(place, &owner, audience.includes_changes).await?;
            let Some(view) = view else { continue };
            let body = view::body(event_type, message, audience.organisation, &view)?;
            let known = self.messages[first..]
                .iter()
                .position(|known| known.organisation == audience.organisation && known.body == body)
                .map(|index| first + index);
            let index = match known {
                Some(known) => known,
                None => self.add_message(event_type, message, audience.organisation, body),
            };
            for subscriber in subscribers {
                self.add_delivery(subscriber, audience.organisation, index, message);
            }
        }
        Ok(())
    }

    fn add_delivery(
        &mut self,
        subscriber: &Subscriber,
        organisation: OrganisationId,
        message_index: usize,
        message: &Message,
    ) {
        let order = view::subject_of(message)
            .filter(|_| subscriber.is_ordered)
            .map(|subject| (subject, message.id));
        // What has an order or a pace needs a look at the others.
        let hand_over = self
            .hand_over
            .filter(|_| subscriber.is_active && order.is_none() && !subscriber.has_pace);
        let ticket = hand_over.and_then(|(way, _)| way.in_flight.reserve(subscriber.endpoint));
        let delivery = NewDelivery {
            id: self.uow.context().clock().new_id(),
            organisation,
            endpoint: subscriber.endpoint,
            message: self.messages[message_index].id,
            status: if subscriber.is_active { Status::Queued } else { Status::Missed },
            lane: if order.is_some() { Lane::Ordered } else { Lane::Ordinary },
            redelivery_of: None,
            order,
        };
        match ticket {
            Some(ticket) => {
                self.versions.insert(subscriber.endpoint, subscriber.version);
                self.handed.push(Reserved { delivery, message: message_index, ticket });
            }
            None => self.deliveries.push(delivery),
        }
    }

    /// Answers with its place.
    fn add_message(
        &mut self,
        event_type: &EventType,
        message: &Message,
        organisation: OrganisationId,
        body: String,
    ) -> usize {
        self.messages.push(NewMessage {
            id: self.uow.context().clock().new_id(),
            organisation,
            event_id: message.id,
            event_type: event_type.as_str().to_owned(),
            time_us: micros(message.time),
            trace: message.trace,
            body,
        });
        self.messages.len() - 1
    }

    async fn owner(
        &mut self,
        user: UserId,
        organisation: OrganisationId,
    ) -> Result<Option<Arc<Principal>>> {
        if let Some(known) = self.owners.get(&(user, organisation)) {
            return Ok(known.clone());
        }
        let directory = self.uow.context().app().service::<dyn Directory>()?;
        let principal = directory.principal(user, organisation).await?.map(Arc::new);
        self.owners.insert((user, organisation), principal.clone());
        Ok(principal)
    }

    async fn store(self) -> Result<()> {
        if let Some((hand_over, _)) = self.hand_over {
            hand_over.note_spread(self.types.len(), self.deliveries.len() + self.handed.len());
        }
        insert::messages(self.uow, &self.messages).await?;
        if !self.deliveries.is_empty() {
            insert::deliveries(self.uow, &self.deliveries).await?;
        }
        let Some((hand_over, claim)) = self.hand_over.filter(|_| !self.handed.is_empty()) else {
            return Ok(());
        };
        let handed = self.handed.iter().map(|reserved| &reserved.delivery);
        hand_overs::store(self.uow, claim, handed).await?;
        let messages: Vec<dispatcher::Message> =
            self.messages.into_iter().map(dispatcher::Message::from).collect();
        let handed = |reserved: Reserved| {
            let NewDelivery { id, organisation, endpoint, message, lane, .. } = reserved.delivery;
            let organisation = organisation.0;
            HandedDelivery {
                claimed: Claimed { id, organisation, endpoint, message, attempts: 0, lane, claim },
                message: messages[reserved.message].clone(),
                ticket: reserved.ticket,
            }
        };
        let handed = Handed {
            token: claim.token,
            deliveries: self.handed.into_iter().map(handed).collect(),
            versions: self.versions,
        };
        let hand_over = Arc::clone(hand_over);
        self.uow.after_commit(move || hand_over.deliver(handed));
        Ok(())
    }
}
