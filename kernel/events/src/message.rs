use std::sync::Arc;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use svc_core::trace::TraceContext;
use svc_core::{Actor, App, Error, OrganisationId, Principal, Result};
use svc_data::value::to_json;
use svc_data::{Catalogue, Change, ChangeKind, Context, EntityModel, Record, UnitOfWork};
use time::OffsetDateTime;
use uuid::Uuid;

/// Hears of changes and events.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// Handles messages of one organisation, in the unit of work that also removes them: what is
    /// written through `uow` is stored once for each message, whatever fails in between.
    ///
    /// A handler writes to the database and talks to nobody else, since the transaction is open
    /// meanwhile; what must call the world enqueues a background job. The unit of work's context is
    /// the system within the messages' organisation.
    ///
    /// # Errors
    ///
    /// Any error rolls all back. Messages of a failed batch come again one by one; a message that
    /// failed alone comes again later, and is set aside after the last attempt.
    async fn handle(&self, uow: &UnitOfWork, messages: &[Message]) -> Result<()>;

    /// Whether messages of this name are of interest at the moment; asked at each commit, before
    /// anything is written, for what is only known at run time. It must answer at once.
    fn wants(&self, name: &str) -> bool {
        let _ = name;
        true
    }

    /// How many messages of an organisation the handler takes at once at the moment; asked before each batch of new
    /// ones, while no transaction is open. A handler whose work goes on after it says none for as long as it doesn't
    /// want to run ahead of that: it is asked again in a moment, and other organisations have their turns meanwhile.
    async fn room(&self, organisation: Option<OrganisationId>) -> usize {
        let _ = organisation;
        usize::MAX
    }
}

/// Something that happened, as a handler gets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The event: the same for all handlers and all attempts.
    pub id: Uuid,
    /// The handler that this message is for.
    pub handler: String,
    /// `<set>.created`, `<set>.updated`, `<set>.deleted`, or the event's name.
    pub name: String,
    /// The organisation that it happened in; none for a record that belongs to all.
    pub organisation: Option<OrganisationId>,
    /// Who did it.
    pub actor: Actor,
    /// The request or piece of work that it happened in.
    pub correlation: Uuid,
    /// Its place in a trace, where traces were exported when it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
    /// When it was committed.
    #[serde(with = "time::serde::rfc3339")]
    pub time: OffsetDateTime,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// What happened.
    #[serde(flatten)]
    pub payload: Payload,
}

/// What a message carries, by its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "payload", rename_all = "camelCase")]
pub enum Payload {
    /// A record of an entity set changed.
    Change(RecordChange),
    /// The application published an event: its data.
    Application(Json),
    /// A module raised an event for others: its data.
    Domain(Json),
}

/// The change of a record, with its state at the commit, so that a handler need not read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordChange {
    /// The entity set.
    pub set: String,
    /// The record's key.
    pub key: Json,
    /// What happened to it.
    pub kind: ChangeKind,
    /// The row before, by column: for an update what differs from the row after, what the
    /// framework keeps (such as the version) included; so also for a soft deletion; for one that
    /// is final all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Map<String, Json>>,
    /// The row after, by column; none for a deletion that is final.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Map<String, Json>>,
    /// The names of the columns that an update was asked to change and did, or that mark a soft
    /// deletion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}

impl Message {
    /// The change of a record, where that is what the message tells.
    #[must_use]
    pub fn change(&self) -> Option<&RecordChange> {
        match &self.payload {
            Payload::Change(change) => Some(change),
            Payload::Application(_) | Payload::Domain(_) => None,
        }
    }

    /// The event's data, read as its type.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when the message tells of a change,
    /// or the data is not of this type.
    pub fn data<T: DeserializeOwned>(&self) -> Result<T> {
        let (Payload::Application(data) | Payload::Domain(data)) = &self.payload else {
            return Err(Error::internal(format!("`{}` is a change, not an event", self.name)));
        };
        T::deserialize(data).map_err(|error| {
            Error::internal(format!("the data of `{}` can't be read", self.name)).caused_by(error)
        })
    }

    /// A context of the system within the message's organisation that carries on the message's
    /// correlation. Within the handler's unit of work its commands join that.
    ///
    /// # Errors
    ///
    /// As [`Context::new`].
    pub fn context(&self, app: &App) -> Result<Context> {
        Context::new(app, principal_in(self.organisation), self.correlation)
    }
}

impl RecordChange {
    /// Tells a captured change; none when the entity is no set.
    pub(crate) fn of(change: &Change) -> Option<Self> {
        let model = &change.model;
        let set = model.set.as_ref()?;
        let row = |record: &Record| record.to_row_json(model);
        let (mut before, after) = (change.before.as_ref().map(row), change.after.as_ref().map(row));
        if let (Some(before), Some(after)) = (&mut before, &after) {
            before.retain(|column, value| after.get(column) != Some(value));
        }
        Some(Self {
            set: set.name.clone(),
            key: to_json(change.record()?.key(model)),
            kind: change.kind,
            before,
            after,
            changed: change.changed_columns().map(str::to_owned).collect(),
        })
    }

    /// The entity behind the set.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when the set is no longer served.
    pub fn model<'a>(&self, catalogue: &'a Catalogue) -> Result<&'a Arc<EntityModel>> {
        let gone = || Error::internal(format!("the set `{}` is no longer served", self.set));
        catalogue.set(&self.set).ok_or_else(gone)
    }

    /// The whole record before the change; none when it was made.
    ///
    /// # Errors
    ///
    /// When a value is no longer of its column's type.
    pub fn record_before(&self, model: &EntityModel) -> Result<Option<Record>> {
        let Some(before) = &self.before else { return Ok(None) };
        let mut row = self.after.clone().unwrap_or_default();
        row.extend(before.clone());
        Record::from_row_json(model, &row).map(Some)
    }

    /// The record after the change; none when it was deleted for good.
    ///
    /// # Errors
    ///
    /// When a value is no longer of its column's type.
    pub fn record_after(&self, model: &EntityModel) -> Result<Option<Record>> {
        self.after.as_ref().map(|row| Record::from_row_json(model, row)).transpose()
    }
}

/// The system within an organisation, or across all.
pub(crate) fn principal_in(organisation: Option<OrganisationId>) -> Arc<Principal> {
    Arc::new(organisation.map_or_else(Principal::system, Principal::system_in))
}
