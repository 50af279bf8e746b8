//! What a batch of events becomes: messages, and deliveries of them that are stored or handed over.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use svc_core::{OrganisationId, Result, micros};
use svc_data::UnitOfWork;
use svc_events::{Message, Payload};
use uuid::Uuid;

use super::judged::Judged;
use crate::entity::Entity;
use crate::hand_over::{HandOver, Handed, HandedDelivery};
use crate::in_flight::Ticket;
use crate::limits::Limits;
use crate::message::{self, HELD_BODY};
use crate::model::{Detail, Lane, Status};
use crate::owner::{Owner, Standing};
use crate::standings::{self, Standings};
use crate::store::claim::{Claim, Claimed};
use crate::store::insert::{self, Content, NewDelivery, NewMessage};
use crate::store::subscribers::{Audiences, Subscriber};
use crate::store::{hand_overs, owners, queues};
use crate::subscription::EventType;
use crate::view::{self, Reader, Told};

/// Bytes of bodies that a unit of work holds before it stores them.
const HELD_BYTES: usize = 8 << 20;

/// Stores the deliveries of a batch of events, or hands them over.
pub(super) async fn tell(
    uow: &UnitOfWork,
    events: &[(EventType, &Message)],
    audiences: &HashMap<EventType, Audiences>,
    hand_over: Option<&Arc<HandOver>>,
) -> Result<()> {
    let mut batch = Batch::new(uow, events, hand_over)?;
    batch.prepare(audiences).await?;
    for (place, (event_type, message)) in events.iter().enumerate() {
        if let Some(audiences) = audiences.get(event_type) {
            batch.add(place, event_type, message, audiences).await?;
        }
    }
    batch.store().await
}

/// The endpoint that an event is about: it isn't told of itself.
fn about_endpoint(event_type: &EventType, message: &Message) -> Option<Uuid> {
    match &message.payload {
        Payload::Domain(data) if event_type.is_operational() => {
            data.get("endpointId")?.as_str()?.parse().ok()
        }
        _ => None,
    }
}

/// What a batch of events becomes.
struct Batch<'a> {
    uow: &'a UnitOfWork,
    reader: Reader<'a>,
    types: Vec<&'a EventType>,
    /// Where the events happened.
    organisation: Option<OrganisationId>,
    /// Whether the owners are there now, and with which rights.
    owners: HashMap<Owner, Standing>,
    /// Endpoints whose owners are gone, where that is not noted yet.
    gone: BTreeMap<Uuid, Owner>,
    /// Endpoints of which it is noted, and whose owners are there again.
    returned: BTreeSet<Uuid>,
    /// Messages that are not stored yet.
    messages: Vec<NewMessage>,
    /// The bytes of their contents.
    bytes: usize,
    /// Deliveries of them that are stored, and wait.
    deliveries: Vec<NewDelivery>,
    /// The endpoints of all that wait.
    waiting: BTreeSet<Uuid>,
    /// Deliveries of them that have room on this node.
    reserved: Vec<Reserved>,
    /// The short way to the dispatcher, with the claim under which it gets deliveries.
    hand_over: Option<(&'a Arc<HandOver>, Claim)>,
    /// Organisations whose limits are asked about with each claim.
    bounded: BTreeSet<OrganisationId>,
    /// Deliveries that have room on this node, whose messages are stored.
    handed: Vec<(NewDelivery, message::Message, Ticket)>,
    /// How many deliveries there are in all.
    made: usize,
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
            organisation: events.first().and_then(|(_, message)| message.organisation),
            types: events.iter().map(|(event_type, _)| event_type).collect(),
            owners: HashMap::new(),
            gone: BTreeMap::new(),
            returned: BTreeSet::new(),
            messages: Vec::new(),
            bytes: 0,
            deliveries: Vec::new(),
            waiting: BTreeSet::new(),
            reserved: Vec::new(),
            hand_over: hand_over.map(|hand_over| (hand_over, hand_over.claim(clock))),
            bounded: BTreeSet::new(),
            handed: Vec::new(),
            made: 0,
            versions: HashMap::new(),
        })
    }

    /// Looks up the owners, and asks what each may see of the events that it gets.
    async fn prepare(&mut self, audiences: &HashMap<EventType, Audiences>) -> Result<()> {
        let mut wanted: BTreeMap<Owner, (Vec<usize>, Detail)> = BTreeMap::new();
        for (place, event_type) in self.types.iter().enumerate() {
            for audience in audiences.get(event_type).into_iter().flat_map(BTreeMap::keys) {
                let (places, detail) = wanted.entry(audience.owner).or_default();
                // One owner may have endpoints with and without changes.
                if places.last() != Some(&place) {
                    places.push(place);
                }
                detail.join(audience.detail);
            }
        }
        if let Some((hand_over, claim)) = self.hand_over {
            let organisations: BTreeSet<OrganisationId> =
                wanted.keys().map(|owner| owner.organisation).collect();
            for organisation in organisations {
                let app = self.uow.context().app();
                let limits = Limits::in_organisation(app, organisation).await?;
                if limits.per_second.is_some() || hand_over.is_spent(organisation.0, claim.now_us) {
                    self.bounded.insert(organisation);
                }
            }
        }
        for (owner, (places, detail)) in wanted {
            if let Standing::Here(principal) = self.standing(owner).await? {
                self.reader.prepare(owner, &principal, &places, detail).await?;
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
        let hashes = RandomState::new();
        let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut judged = Judged::default();
        let time_us = micros::of_time(message.time);
        let entity = Entity::of(self.uow.context(), message)?;
        let about_endpoint = about_endpoint(event_type, message);
        for (audience, subscribers) in audiences {
            let is_meant = |one: &&Subscriber| {
                one.created_us <= time_us && Some(one.endpoint) != about_endpoint
            };
            let mut began: Vec<&Subscriber> = subscribers.iter().filter(is_meant).collect();
            if began.is_empty() {
                continue;
            }
            let owner = audience.owner;
            let standing = self.standing(owner).await?;
            let (organisation, entity) = (owner.organisation, entity.as_ref());
            let told =
                Told { app: self.uow.context().app(), event_type, message, organisation, entity };
            let content = match &standing {
                Standing::Here(principal) => {
                    if began.iter().any(|subscriber| subscriber.filter.is_some()) {
                        let data = self.reader.data(place, owner);
                        judged.retain(owner, data.as_ref(), &mut began).await;
                    }
                    if began.is_empty() {
                        continue;
                    }
                    let view = self.reader.view(place, owner, principal, audience.detail);
                    let Some(view) = view.await? else { continue };
                    Content::Body(told.body(&view, audience.detail.format)?)
                }
                Standing::Gone | Standing::KeyEnded => Content::Source(view::source(message)?),
            };
            let alike = known.entry(hashes.hash_one((organisation, &content))).or_default();
            let same = |index: &&usize| {
                let message = &self.messages[**index];
                message.organisation == organisation && message.content == content
            };
            let index = if let Some(known) = alike.iter().find(same) {
                *known
            } else {
                let index = self.add_message(told, content);
                alike.push(index);
                index
            };
            let is_here = matches!(standing, Standing::Here(_));
            for subscriber in began {
                self.note_standing(subscriber, is_here);
                self.add_delivery(subscriber, is_here, index, entity);
            }
            if self.bytes > HELD_BYTES {
                self.store_messages().await?;
                known.clear();
            }
        }
        Ok(())
    }

    fn note_standing(&mut self, subscriber: &Subscriber, is_here: bool) {
        match (is_here, subscriber.is_known_gone) {
            (false, false) => drop(self.gone.insert(subscriber.endpoint, subscriber.owner)),
            (true, true) => drop(self.returned.insert(subscriber.endpoint)),
            _ => {}
        }
    }

    fn add_delivery(
        &mut self,
        subscriber: &Subscriber,
        is_here: bool,
        message_index: usize,
        entity: Option<&Entity>,
    ) {
        let event = self.messages[message_index].event_id;
        let order =
            entity.filter(|_| subscriber.is_ordered).map(|entity| (entity.order_key(), event));
        let is_sent = is_here && subscriber.is_active;
        // What has an order or a pace needs a look at the others.
        let is_small = self.messages[message_index].content.body().len() <= HELD_BODY;
        let has_pace = subscriber.has_pace || self.bounded.contains(&subscriber.owner.organisation);
        let is_plain = is_sent && is_small && order.is_none() && !has_pace;
        let hand_over = self.hand_over.filter(|_| is_plain);
        let organisation = subscriber.owner.organisation;
        let ticket = hand_over
            .and_then(|(way, _)| way.in_flight.reserve(subscriber.endpoint, organisation.0));
        let delivery = NewDelivery {
            id: self.uow.context().clock().new_id(),
            organisation,
            endpoint: subscriber.endpoint,
            message: self.messages[message_index].id,
            status: if is_sent { Status::Queued } else { Status::Missed },
            lane: if order.is_some() { Lane::Ordered } else { Lane::Ordinary },
            redelivery_of: None,
            order,
        };
        self.made += 1;
        if let Some(ticket) = ticket {
            self.versions.insert(subscriber.endpoint, subscriber.version);
            self.reserved.push(Reserved { delivery, message: message_index, ticket });
        } else {
            if delivery.status == Status::Queued {
                self.waiting.insert(delivery.endpoint);
            }
            self.deliveries.push(delivery);
        }
    }

    /// Answers with its place.
    fn add_message(&mut self, told: Told<'_>, content: Content) -> usize {
        self.bytes += content.bytes();
        self.messages.push(told.message(self.uow.context().clock().new_id(), content));
        self.messages.len() - 1
    }

    async fn standing(&mut self, owner: Owner) -> Result<Standing> {
        if let Some(known) = self.owners.get(&owner) {
            return Ok(known.clone());
        }
        let standings = self.uow.context().app().service::<Standings>()?;
        let standing = standings.anew(owner).await?;
        self.owners.insert(owner, standing.clone());
        Ok(standing)
    }

    /// Notes endpoints whose owners are gone, or there again, and tells administrators of the first.
    async fn tell_of_owners(&self) -> Result<()> {
        if !self.returned.is_empty() {
            owners::note_return(self.uow, self.returned.iter().copied()).await?;
        }
        let standing = |owner: &Owner| Some((*owner, self.owners.get(owner)?.clone()));
        let gone = self.gone.iter().filter_map(|(id, owner)| Some((*id, standing(owner)?)));
        standings::note_gone(self.uow, &gone.collect()).await
    }

    /// Stores the messages made so far, and the deliveries that wait.
    async fn store_messages(&mut self) -> Result<()> {
        insert::messages(self.uow, &self.messages).await?;
        if !self.deliveries.is_empty() {
            insert::untouched(self.uow, &self.deliveries).await?;
            self.deliveries.clear();
        }
        self.bytes = 0;
        let messages: Vec<message::Message> =
            self.messages.drain(..).map(message::Message::from).collect();
        let handed = self.reserved.drain(..).map(|Reserved { delivery, message, ticket }| {
            (delivery, messages[message].clone(), ticket)
        });
        self.handed.extend(handed);
        Ok(())
    }

    async fn store(mut self) -> Result<()> {
        if let Some((hand_over, _)) = self.hand_over {
            hand_over.note_spread(self.organisation, self.types.len(), self.made);
        }
        self.tell_of_owners().await?;
        self.store_messages().await?;
        let now_us = self.uow.context().clock().now_us();
        let waiting = std::mem::take(&mut self.waiting);
        let touched = waiting.into_iter().map(|endpoint| (endpoint, now_us));
        let Some((hand_over, claim)) = self.hand_over.filter(|_| !self.handed.is_empty()) else {
            return queues::touch(self.uow, touched).await;
        };
        hand_overs::store(self.uow, claim, self.handed.iter().map(|(delivery, ..)| delivery))
            .await?;
        queues::touch(self.uow, touched).await?;
        let handed = |(delivery, message, ticket): (NewDelivery, message::Message, Ticket)| {
            let NewDelivery { id, organisation, endpoint, message: message_id, lane, .. } =
                delivery;
            let organisation = organisation.0;
            let claimed = Claimed {
                id,
                organisation,
                endpoint,
                message: message_id,
                attempts: 0,
                lane,
                queued_us: micros::of_id(id),
                claim,
            };
            HandedDelivery { claimed, message, ticket }
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
