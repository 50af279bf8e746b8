//! What one owner may see of an event.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value as Json};
use svc_core::{Error, ErrorKind, OrganisationId, Principal, Result, UserId};
use svc_data::{ChangeKind, Context, EntityModel, Record, Sets, UnitOfWork};
use svc_events::{Message, Payload, RecordChange};

use crate::envelope::{Changes, Envelope};
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
    /// By owner and organisation.
    images: HashMap<(Option<UserId>, Option<OrganisationId>), Images>,
}

impl<'a> Reader<'a> {
    /// Prepares for the events of a batch.
    pub(crate) fn new(uow: &'a UnitOfWork, messages: Vec<&'a Message>) -> Result<Self> {
        let mut records = HashMap::new();
        for (place, message) in messages.iter().enumerate() {
            let Some(change) = message.change() else { continue };
            let model = change.model(uow.context().catalogue())?;
            let before = change.record_before(model)?;
            let read = match change.kind {
                ChangeKind::Deleted => before.map(|told| Read { model, told, before: None }),
                ChangeKind::Created | ChangeKind::Updated => {
                    change.record_after(model)?.map(|told| Read { model, told, before })
                }
            };
            records.extend(read.map(|read| (place, read)));
        }
        Ok(Self { uow, messages, records, images: HashMap::new() })
    }

    /// Asks the rules of sets about the records of the events at these places, for one owner. So
    /// each owner costs a statement for many events, and not one for each.
    pub(crate) async fn prepare(
        &mut self,
        owner: &Arc<Principal>,
        places: &[usize],
        with_changes: bool,
    ) -> Result<()> {
        let context = self.uow.context().acting_as(Arc::clone(owner));
        let told = self.read(&context, places, |read| Some(&read.told)).await?;
        let before = if with_changes {
            self.read(&context, places, |read| read.before.as_ref()).await?
        } else {
            HashMap::new()
        };
        let images = self.images.entry((owner.user_id(), owner.organisation())).or_default();
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

    /// What an owner for whom the event was prepared may see of it; none when that is nothing.
    pub(crate) async fn view(
        &self,
        place: usize,
        owner: &Arc<Principal>,
        includes_changes: bool,
    ) -> Result<Option<View>> {
        let message = self.messages[place];
        match &message.payload {
            Payload::Change(change) => Ok(self.change(place, owner, change, includes_changes)),
            Payload::Application(data) => Ok(Some(View::of(data.clone()))),
            Payload::Domain(data) => {
                let context = self.uow.context().acting_as(Arc::clone(owner));
                let sees = self.sees_subject(&context, data).await?;
                Ok(sees.then(|| View::of(data.clone())))
            }
        }
    }

    /// The record's state at the commit, as the rules of its set show it.
    fn change(
        &self,
        place: usize,
        owner: &Principal,
        change: &RecordChange,
        includes_changes: bool,
    ) -> Option<View> {
        let model = self.records.get(&place)?.model;
        let images = self.images.get(&(owner.user_id(), owner.organisation()))?;
        let data = images.told.get(&place)?;
        // Of a record that is gone for good only the key is told.
        if change.kind == ChangeKind::Deleted && change.after.is_none() {
            let key = &model.key().property;
            let only_key = data.get(key).map(|value| (key.clone(), value.clone()));
            return Some(View::of(Json::Object(only_key.into_iter().collect())));
        }
        let changes = (includes_changes && change.kind == ChangeKind::Updated)
            .then(|| changes(model, change, data, images.before.get(&place)));
        Some(View { data: Json::Object(data.clone()), changes })
    }

    /// Whether the owner may see the entity that a domain event is about, where it names one of a
    /// set. Events about nothing in particular, or about what is no set, are for everybody.
    async fn sees_subject(&self, context: &Context, data: &Json) -> Result<bool> {
        let Some((kind, id)) = subject(data) else { return Ok(true) };
        let sets = context.app().service::<Sets>()?;
        let catalogue = context.catalogue();
        let named = |model: &&Arc<EntityModel>| {
            let Some(set) = &model.set else { return false };
            let singular = sets.find(&set.name).ok().map(|index| {
                let described = sets.model();
                described.entity_type(described.set(index).entity_type).name.clone()
            });
            let names =
                [Some(set.name.as_str()), Some(set.event_name.as_str()), singular.as_deref()];
            let kind = kind.rsplit(['.', ':']).next().unwrap_or(kind);
            names.into_iter().flatten().any(|name| name.eq_ignore_ascii_case(kind))
        };
        let Some(model) = catalogue.sets().find(named) else { return Ok(true) };
        let Ok(key) = model.key().kind.parse_json(id) else { return Ok(false) };
        let index = sets.find(model.name())?;
        match sets.read_one(context, index, &key, None).await {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
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

/// The type and the identifier of the entity that a domain event carries.
fn subject(data: &Json) -> Option<(&str, &Json)> {
    let member = |name: &str| {
        let members = data.as_object()?;
        members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    };
    Some((member("entityType")?.as_str()?, member("entityId")?))
}

/// The entity that an event is about, as a text that tells entities apart; none where it is about
/// nothing in particular.
pub(crate) fn subject_of(message: &Message) -> Option<String> {
    let subject = |kind: &str, id: &Json| match id {
        Json::String(id) => format!("{kind}/{id}"),
        id => format!("{kind}/{id}"),
    };
    match &message.payload {
        Payload::Change(change) => Some(subject(&change.set, &change.key)),
        Payload::Application(data) | Payload::Domain(data) => {
            self::subject(data).map(|(kind, id)| subject(kind, id))
        }
    }
}

impl View {
    pub(crate) fn of(data: Json) -> Self {
        Self { data, changes: None }
    }
}

/// The bytes that are sent, as text.
pub(crate) fn body(
    event_type: &EventType,
    message: &Message,
    organisation: OrganisationId,
    view: &View,
) -> Result<String> {
    let envelope = Envelope {
        id: message.id,
        event_type,
        time: message.time,
        tenant: organisation.0,
        data: &view.data,
        changes: view.changes.as_ref(),
    };
    text(&envelope)
}

/// The bytes of an envelope as text.
pub(crate) fn text<T: Serialize>(envelope: &Envelope<'_, T>) -> Result<String> {
    serde_json::to_string(envelope).map_err(|error| {
        Error::internal("the body of an event can't be made JSON").caused_by(error)
    })
}
