//! What one owner may see of an event.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value as Json};
use svc_core::{App, Error, OrganisationId, Principal, Result, micros};
use svc_data::{ChangeKind, Context, EntityModel, Record, UnitOfWork};
use svc_events::{Events, Message, Payload, RecordChange};
use svc_http::HttpSettings;
use svc_sets::{ROOT, Sets};
use uuid::Uuid;

use crate::entity::{Entity, Subject, set_named, subject};
use crate::envelope::{Changes, Envelope};
use crate::model::{Detail, Format};
use crate::owner::Owner;
use crate::store::insert::{Content, NewMessage};
use crate::subscription::EventType;

/// An event as one owner sees it.
pub(crate) struct View {
    data: Json,
    changes: Option<Changes>,
}

/// A record of an event, read once for all owners.
struct Read<'a> {
    model: &'a Arc<EntityModel>,
    /// What is told: the record after the change, or the one that was deleted.
    told: Record,
    /// The record before an update.
    before: Option<Record>,
}

impl<'a> Read<'a> {
    /// The record of an event; none where it is about none. Fails where it can't be read any more: its set is no
    /// longer served, or a value is of another type now.
    fn of(uow: &'a UnitOfWork, message: &Message) -> Result<Option<Self>> {
        let Some(change) = message.change() else { return Ok(None) };
        let model = change.model(uow.context().catalogue())?;
        let before = change.record_before(model)?;
        Ok(match change.kind {
            ChangeKind::Deleted => before.map(|told| Self { model, told, before: None }),
            ChangeKind::Created | ChangeKind::Updated => {
                change.record_after(model)?.map(|told| Self { model, told, before })
            }
        })
    }
}

/// What one owner may see of records, by the place of the event among those of the batch.
#[derive(Default)]
struct Images {
    told: HashMap<usize, Map<String, Json>>,
    /// Of records before updates; only read where somebody asked for changes.
    before: HashMap<usize, Map<String, Json>>,
}

/// Reads the events of a batch as their owners.
pub(crate) struct Reader<'a> {
    uow: &'a UnitOfWork,
    messages: Vec<&'a Message>,
    /// By the place of the event; those that are about no record have none.
    records: HashMap<usize, Read<'a>>,
    images: HashMap<Owner, Images>,
}

impl<'a> Reader<'a> {
    /// Prepares for the events of a batch.
    pub(crate) fn new(uow: &'a UnitOfWork, messages: Vec<&'a Message>) -> Result<Self> {
        let mut records = HashMap::new();
        for (place, message) in messages.iter().enumerate() {
            records.extend(Read::of(uow, message)?.map(|read| (place, read)));
        }
        Ok(Self { uow, messages, records, images: HashMap::new() })
    }

    /// Asks the rules of sets about the records of the events at these places, for one owner. So
    /// each owner costs a statement for many events, and not one for each.
    pub(crate) async fn prepare(
        &mut self,
        owner: Owner,
        principal: &Arc<Principal>,
        places: &[usize],
        detail: Detail,
    ) -> Result<()> {
        let context = self.uow.context().acting_as(Arc::clone(principal));
        let told = self.read(&context, places, |read| Some(&read.told)).await?;
        let before = if detail.tells_what_was() {
            self.read(&context, places, |read| read.before.as_ref()).await?
        } else {
            HashMap::new()
        };
        let images = self.images.entry(owner).or_default();
        images.told.extend(told);
        images.before.extend(before);
        Ok(())
    }

    async fn read(
        &self,
        context: &Context,
        places: &[usize],
        pick: impl for<'r> Fn(&'r Read<'a>) -> Option<&'r Record>,
    ) -> Result<HashMap<usize, Map<String, Json>>> {
        let sets = context.app().service::<Sets>()?;
        let mut by_entity: BTreeMap<&str, (&EntityModel, Vec<usize>, Vec<&Record>)> =
            BTreeMap::new();
        for place in places {
            let Some(read) = self.records.get(place) else { continue };
            let Some(record) = pick(read) else { continue };
            let entity = by_entity
                .entry(read.model.name())
                .or_insert_with(|| (read.model, Vec::new(), Vec::new()));
            entity.1.push(*place);
            entity.2.push(record);
        }
        let mut images = HashMap::new();
        for (model, places, records) in by_entity.into_values() {
            let read = sets.read_images(context, model, &records).await?;
            let seen = places.into_iter().zip(read);
            images.extend(seen.filter_map(|(place, image)| Some((place, image?))));
        }
        Ok(images)
    }

    /// What a filter is compared with: all that an owner for whom the event was prepared may see of it,
    /// whatever is told; none when that is nothing.
    pub(crate) fn data(&self, place: usize, owner: Owner) -> Option<Json> {
        match &self.messages[place].payload {
            Payload::Change(_) => {
                self.images.get(&owner)?.told.get(&place).cloned().map(Json::Object)
            }
            Payload::Application(data) | Payload::Domain(data) => Some(data.clone()),
        }
    }

    /// What an owner for whom the event was prepared may see of it; none when that is nothing.
    pub(crate) async fn view(
        &self,
        place: usize,
        owner: Owner,
        principal: &Arc<Principal>,
        detail: Detail,
    ) -> Result<Option<View>> {
        let message = self.messages[place];
        match &message.payload {
            Payload::Change(change) => self.change(place, owner, change, detail),
            Payload::Application(_) | Payload::Domain(_) if !self.is_for(message, principal)? => {
                Ok(None)
            }
            Payload::Application(data) => Ok(Some(View::of(data.clone()))),
            Payload::Domain(data) => {
                let context = self.uow.context().acting_as(Arc::clone(principal));
                let sees = self.sees_subject(&context, data).await?;
                Ok(sees.then(|| View::of(data.clone())))
            }
        }
    }

    /// Whether the owner is permitted what the event asks of whoever reads it.
    fn is_for(&self, message: &Message, principal: &Principal) -> Result<bool> {
        let events = self.uow.context().app().service::<Events>()?;
        Ok(events.find(&message.name).is_none_or(|event| event.is_for(principal)))
    }

    /// The record's state at the commit, as the rules of its set show it.
    fn change(
        &self,
        place: usize,
        owner: Owner,
        change: &RecordChange,
        detail: Detail,
    ) -> Result<Option<View>> {
        let Some(model) = self.records.get(&place).map(|read| read.model) else { return Ok(None) };
        let Some(images) = self.images.get(&owner) else { return Ok(None) };
        let Some(data) = images.told.get(&place) else { return Ok(None) };
        // Of a record that is gone for good only the key is told.
        if change.kind == ChangeKind::Deleted && change.after.is_none() {
            return Ok(Some(View::of(Json::Object(only_key(model, data)))));
        }
        let before = images.before.get(&place).filter(|_| detail.tells_what_was());
        let changes = (detail.includes_changes && change.kind == ChangeKind::Updated)
            .then(|| changes(model, change, data, before));
        let view = View::of_record(self.uow.context().app(), model, data, detail)?;
        Ok(Some(View { changes, ..view }))
    }

    /// Whether the owner may see the entity that a domain event is about, where it names one. One of
    /// no set is seen by nobody, since nothing says by whom it may be; an event about nothing in
    /// particular is for everybody.
    async fn sees_subject(&self, context: &Context, data: &Json) -> Result<bool> {
        let (kind, id) = match subject(data) {
            Subject::None => return Ok(true),
            Subject::Half => return Ok(false),
            Subject::Entity(kind, id) => (kind, id),
        };
        let Some(model) = set_named(context, kind)? else { return Ok(false) };
        let Ok(key) = model.key().kind.parse_json(id) else { return Ok(false) };
        let sets = context.app().service::<Sets>()?;
        let index = sets.find(model.name())?;
        sets.sees(context, index, &key).await
    }
}

/// The properties that an update changed, as far as the owner may see them. Their old values are
/// told only when the owner could see the record before.
fn changes(
    model: &EntityModel,
    change: &RecordChange,
    data: &Map<String, Json>,
    before: Option<&Map<String, Json>>,
) -> Changes {
    let property = |column: &String| {
        let index = model.column_index(column)?;
        Some(model.columns[index].property.as_str())
    };
    let changed = change.changed.iter().filter_map(property);
    let names: Vec<&str> = changed.filter(|name| data.contains_key(*name)).collect();
    let previous = before.map(|before| {
        let old = |name: &&str| Some(((*name).to_owned(), before.get(*name)?.clone()));
        names.iter().filter_map(old).collect()
    });
    Changes { properties: names.into_iter().map(str::to_owned).collect(), previous }
}

impl View {
    pub(crate) fn of(data: Json) -> Self {
        Self { data, changes: None }
    }

    /// A record of which an owner sees this.
    pub(crate) fn of_record(
        app: &App,
        model: &EntityModel,
        seen: &Map<String, Json>,
        detail: Detail,
    ) -> Result<Self> {
        if !detail.is_thin {
            return Ok(Self::of(Json::Object(seen.clone())));
        }
        let mut data = only_key(model, seen);
        let address = address(app, model, seen.get(&model.key().property))?;
        data.entry("url").or_insert(address.into());
        Ok(Self::of(Json::Object(data)))
    }

    /// What is told.
    pub(crate) fn data(&self) -> &Json {
        &self.data
    }
}

/// The key of a record alone.
fn only_key(model: &EntityModel, seen: &Map<String, Json>) -> Map<String, Json> {
    let key = &model.key().property;
    let mut only_key = Map::new();
    only_key.extend(seen.get(key).map(|value| (key.clone(), value.clone())));
    only_key
}

/// Where whoever may see a record reads it: in full where the application knows its own address.
fn address(app: &App, model: &EntityModel, key: Option<&Json>) -> Result<String> {
    let sets = app.service::<Sets>()?;
    let key = model.key().kind.parse_json(key.unwrap_or(&Json::Null))?;
    let path = sets.address(sets.find(model.name())?, &key);
    Ok(format!("{}{ROOT}/{path}", base(app)))
}

/// The application's own address without a slash at its end; empty where it doesn't know it.
fn base(app: &App) -> String {
    let settings = app.settings::<HttpSettings>();
    settings.public_url.as_ref().map_or("", |url| url.as_str().trim_end_matches('/')).to_owned()
}

/// What a body is written of, besides its view.
#[derive(Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) app: &'a App,
    pub(crate) event_type: &'a EventType,
    pub(crate) message: &'a Message,
    pub(crate) organisation: OrganisationId,
    pub(crate) entity: Option<&'a Entity>,
}

impl Told<'_> {
    /// The bytes that are sent, as text.
    pub(crate) fn body(self, view: &View, format: Format) -> Result<String> {
        let envelope = Envelope {
            id: self.message.id,
            event_type: self.event_type,
            time: self.message.time,
            tenant: self.organisation.0,
            data: &view.data,
            changes: view.changes.as_ref(),
        };
        text(self.app, &envelope, format, self.entity)
    }

    /// What is stored of it, under an identifier.
    pub(crate) fn message(self, id: Uuid, content: Content) -> NewMessage {
        NewMessage {
            id,
            organisation: self.organisation,
            event_id: self.message.id,
            event_type: self.event_type.as_str().to_owned(),
            time_us: micros::of_time(self.message.time),
            trace: self.message.trace,
            entity: self.entity.cloned(),
            content,
        }
    }
}

/// A message of an envelope that is made by hand, under an identifier.
pub(crate) fn message<T: Serialize>(
    app: &App,
    id: Uuid,
    envelope: &Envelope<'_, T>,
    format: Format,
    entity: Option<Entity>,
) -> Result<NewMessage> {
    Ok(NewMessage {
        id,
        organisation: OrganisationId(envelope.tenant),
        event_id: envelope.id,
        event_type: envelope.event_type.as_str().to_owned(),
        time_us: micros::of_time(envelope.time),
        trace: None,
        content: Content::Body(text(app, envelope, format, entity.as_ref())?),
        entity,
    })
}

/// An event as it is kept for whoever becomes the owner.
pub(crate) fn source(message: &Message) -> Result<String> {
    serde_json::to_string(message)
        .map_err(|error| Error::internal("an event can't be made JSON").caused_by(error))
}

/// The event that [`source`] kept, with its type; fails where it can't be told to anybody any more.
pub(crate) fn of_source(
    uow: &UnitOfWork,
    event_type: &str,
    source: &str,
) -> Result<(EventType, Message)> {
    let unreadable = || Error::internal("an event that was kept can't be read");
    let event_type = EventType::parse(event_type).map_err(|error| unreadable().caused_by(error))?;
    let message = serde_json::from_str(source).map_err(|error| unreadable().caused_by(error))?;
    Read::of(uow, &message)?;
    Ok((event_type, message))
}

/// The bytes of an envelope as text.
fn text<T: Serialize>(
    app: &App,
    envelope: &Envelope<'_, T>,
    format: Format,
    entity: Option<&Entity>,
) -> Result<String> {
    let written = match format {
        Format::Standard => serde_json::to_string(envelope),
        Format::CloudEvents => {
            let source = format!("{}/", base(app));
            let subject = entity.map(|Entity { kind, id }| format!("{kind}/{id}"));
            serde_json::to_string(&envelope.to_cloud_event(&source, subject))
        }
    };
    written.map_err(|error| {
        Error::internal("the body of an event can't be made JSON").caused_by(error)
    })
}
