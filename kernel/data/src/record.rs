use std::sync::Arc;

use sea_orm::{DbErr, QueryResult, Value};
use serde_json::{Map, Value as Json};
use svc_core::{Actor, Means, Principal, Result};

use crate::entity::{Column, EntityModel, Life};
use crate::masks::Masks;
use crate::value::to_json;

/// One row of an entity: a value for each of its columns, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Record(Vec<Value>);

impl Record {
    /// Reads a row whose first columns are the entity's.
    ///
    /// # Errors
    ///
    /// A column that can't be read as what the entity says.
    pub fn read(model: &EntityModel, row: &QueryResult) -> Result<Self, DbErr> {
        let read = |(index, column): (usize, &Column)| column.kind.read(row, index);
        model.columns.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// The value of column `index`.
    #[must_use]
    pub fn value(&self, index: usize) -> &Value {
        &self.0[index]
    }

    /// All values, in the order of the columns.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.0
    }

    pub(crate) fn set(&mut self, index: usize, value: Value) {
        self.0[index] = value;
    }

    /// How often the record was changed, counted from 1; none for an entity without a version.
    #[must_use]
    pub fn version(&self, model: &EntityModel) -> Option<i64> {
        match self.0[model.version_index()?] {
            Value::BigInt(version) => version,
            Value::Int(version) => version.map(i64::from),
            _ => None,
        }
    }

    /// The key's value.
    #[must_use]
    pub fn key(&self, model: &EntityModel) -> &Value {
        &self.0[model.key_index()]
    }

    /// Every column by its name in the database: the form in which messages carry a row.
    #[must_use]
    pub fn to_row_json(&self, model: &EntityModel) -> Map<String, Json> {
        let names = model.columns.iter().map(|column| column.name.to_owned());
        names.zip(self.0.iter().map(to_json)).collect()
    }

    /// Reads what [`Record::to_row_json`] wrote; a column that has been added since is null.
    ///
    /// # Errors
    ///
    /// When a value is not of its column's type any more.
    pub fn from_row_json(model: &EntityModel, json: &Map<String, Json>) -> Result<Self> {
        let parse =
            |column: &Column| column.kind.parse_json(json.get(column.name).unwrap_or(&Json::Null));
        model.columns.iter().map(parse).collect::<Result<_>>().map(Self)
    }

    /// The properties that `who` may see, as the set returns them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when a response filter makes what is
    /// no value of its property.
    pub fn to_property_json(
        &self,
        model: &EntityModel,
        who: &Principal,
    ) -> Result<Map<String, Json>> {
        let columns: Vec<usize> = model.visible(who).collect();
        let named = |index: usize| model.columns[index].property.clone();
        let value = |index: usize| model.columns[index].kind.to_json(&self.0[index]);
        let mut properties: Map<String, Json> =
            columns.iter().map(|index| (named(*index), value(*index))).collect();
        if let Some(masks) = Masks::of(model, who, &columns) {
            let values = masks.columns().into_iter().map(|index| (index, value(index))).collect();
            for (index, value) in masks.apply(values)? {
                // What is hidden stays so, also when a filter needs it.
                if let Some(known) = properties.get_mut(&model.columns[index].property) {
                    *known = value;
                }
            }
        }
        Ok(properties)
    }
}

impl FromIterator<Value> for Record {
    /// A value for each column of the entity, in their order.
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl EntityModel {
    /// Whether a record is one of those that this stands for.
    #[must_use]
    pub fn holds(&self, record: &Record) -> bool {
        let Some(index) = self.deleted_at else { return true };
        let present = *record.value(index) == self.columns[index].kind.null();
        self.life == Life::Any || present == (self.life == Life::Present)
    }
}

/// What happened to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangeKind {
    /// It was made.
    Created,
    /// Some of its columns were changed.
    Updated,
    /// It was removed, or deleted softly; the record after tells which.
    Deleted,
}

impl ChangeKind {
    /// The last part of the event type: `created`, `updated` or `deleted`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Deleted => "deleted",
        }
    }
}

/// Who made a change, and on what occasion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The person, or the system: the innermost that acted, where one acted for another.
    pub actor: Actor,
    /// By which means the person was known, such as an API key.
    pub means: Means,
    /// The piece of background work that it was done in, such as a job; none for a request.
    pub work: Option<uuid::Uuid>,
    /// The request or piece of work that led to it, which a problem's `traceId` and the log name.
    pub correlation: uuid::Uuid,
}

/// One change of one record, captured by the unit of work.
#[derive(Clone, Debug)]
pub struct Change {
    /// Who made it.
    pub author: Author,
    /// The unit of work that it was made in, which is told apart from all others by this.
    pub unit_of_work: uuid::Uuid,
    /// The entity.
    pub model: Arc<EntityModel>,
    /// What happened.
    pub kind: ChangeKind,
    /// The organisation of the record; none for a shared entity.
    pub organisation: Option<svc_core::OrganisationId>,
    /// The record before; none when it was made.
    pub before: Option<Record>,
    /// The record after; none when it was removed for good. Where the set deletes softly, it is
    /// there, with the time.
    pub after: Option<Record>,
    /// The places of the columns whose values differ; empty unless it was updated, or deleted
    /// softly.
    pub changed: Vec<usize>,
}

impl Change {
    /// The record as it is now, or was before it was removed.
    #[must_use]
    pub fn record(&self) -> Option<&Record> {
        self.after.as_ref().or(self.before.as_ref())
    }

    /// The names of the columns that differ.
    pub fn changed_columns(&self) -> impl Iterator<Item = &'static str> {
        self.changed.iter().map(|index| self.model.columns[*index].name)
    }
}
