//! What one owner may see of an event.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value as Json};
use svc_core::{Error, ErrorKind, OrganisationId, Principal, Result};
use svc_data::{ChangeKind, Context, EntityModel, Record, Sets, UnitOfWork};
use svc_events::{Message, Payload, RecordChange};

use crate::envelope::{Changes, Envelope};
use crate::subscription::EventType;

/// An event as one owner sees it.
pub(crate) struct View {
    data: Json,
    changes: Option<Changes>,
}

/// Reads events as their owners.
pub(crate) struct Reader<'a> {
    uow: &'a UnitOfWork,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(uow: &'a UnitOfWork) -> Self {
        Self { uow }
    }

    /// What `owner` may see of an event; none when that is nothing.
    pub(crate) async fn view(
        &self,
        message: &Message,
        owner: &Arc<Principal>,
        includes_changes: bool,
    ) -> Result<Option<View>> {
        let context = self.uow.context().acting_as(Arc::clone(owner));
        match &message.payload {
            Payload::Change(change) => self.change(&context, change, includes_changes).await,
            Payload::Application(data) => Ok(Some(View::of(data.clone()))),
            Payload::Domain(data) => {
                let sees = self.sees_subject(&context, data).await?;
                Ok(sees.then(|| View::of(data.clone())))
            }
        }
    }

    /// The record's state at the commit, through the rules of its set.
    async fn change(
        &self,
        context: &Context,
        change: &RecordChange,
        includes_changes: bool,
    ) -> Result<Option<View>> {
        let model = change.model(context.catalogue())?;
        let record = match change.kind {
            ChangeKind::Deleted => change.record_before(model)?,
            ChangeKind::Created | ChangeKind::Updated => change.record_after(model)?,
        };
        let Some(record) = record else { return Ok(None) };
        let Some(data) = self.image(context, model, &record).await? else { return Ok(None) };
        // Of a record that is gone for good only the key is told.
        if change.kind == ChangeKind::Deleted && change.after.is_none() {
            let key = &model.key().property;
            let only_key = data.into_iter().filter(|(name, _)| name == key).collect();
            return Ok(Some(View::of(Json::Object(only_key))));
        }
        let changes = match change.record_before(model)? {
            Some(before) if includes_changes && change.kind == ChangeKind::Updated => {
                Some(self.changes(context, model, change, &before, &data).await?)
            }
            _ => None,
        };
        Ok(Some(View { data: Json::Object(data), changes }))
    }

    async fn image(
        &self,
        context: &Context,
        model: &EntityModel,
        record: &Record,
    ) -> Result<Option<Map<String, Json>>> {
        let sets = context.app().service::<Sets>()?;
        sets.read_image(context, model, record).await
    }

    /// The properties that an update changed, as far as the owner may see them. Their old values
    /// are told only when the owner could see the record before.
    async fn changes(
        &self,
        context: &Context,
        model: &EntityModel,
        change: &RecordChange,
        before: &Record,
        data: &Map<String, Json>,
    ) -> Result<Changes> {
        let property = |column: &String| {
            let index = model.column_index(column)?;
            Some(model.columns[index].property.as_str())
        };
        let names: Vec<&str> = change
            .changed
            .iter()
            .filter_map(property)
            .filter(|name| data.contains_key(*name))
            .collect();
        let before = self.image(context, model, before).await?;
        let previous = before.map(|mut before| {
            let old = |name: &&str| Some(((*name).to_owned(), before.remove(*name)?));
            names.iter().filter_map(old).collect()
        });
        Ok(Changes { properties: names.into_iter().map(str::to_owned).collect(), previous })
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
