//! What an entry holds, and what a record was by it. Pure: it needs no database.

use serde_json::{Map, Value as Json};
use svc_core::{Error, KeyRing, Result};
use svc_data::value::to_json;
use svc_data::{EntityModel, Exposure, Record};
use svc_http::HIDDEN_FROM_TOOLS;
use uuid::Uuid;

use crate::set::Told;

/// What protected columns are encrypted for.
const PURPOSE: &str = "history.entry";

/// What was done, under the number that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// The record was made.
    Created = 1,
    /// Some of its values were changed.
    Updated = 2,
    /// It was deleted, softly or for good.
    Deleted = 3,
    /// It was brought back from a soft deletion.
    Restored = 4,
    /// It was removed for good, after a soft deletion.
    Purged = 5,
    /// Something happened that is no change of a record.
    Event = 6,
}

impl Operation {
    /// All of them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Created, Self::Updated, Self::Deleted, Self::Restored, Self::Purged, Self::Event];

    pub(crate) const fn code(self) -> i16 {
        self as i16
    }

    pub(crate) fn from_code(code: i16) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|one| one.code() == code);
        known.ok_or_else(|| Error::internal(format!("`{code}` isn't an operation of the history")))
    }

    /// What became of a record; none where nothing did.
    pub(crate) fn between(
        model: &EntityModel,
        told: Option<&Told>,
        before: Option<&Record>,
        after: Option<&Record>,
    ) -> Option<Self> {
        let is_there = |record: &Record| model.holds(record);
        match (before, after) {
            (None, None) => None,
            (None, Some(after)) => {
                Some(if is_there(after) { Self::Created } else { Self::Deleted })
            }
            (Some(before), None) => {
                Some(if is_there(before) { Self::Deleted } else { Self::Purged })
            }
            (Some(before), Some(after)) => match (is_there(before), is_there(after)) {
                (true, false) => Some(Self::Deleted),
                (false, true) => Some(Self::Restored),
                _ => differ(model, told, before, after).then_some(Self::Updated),
            },
        }
    }
}

/// Whether anything differs but what the framework keeps with every change.
fn differ(model: &EntityModel, told: Option<&Told>, before: &Record, after: &Record) -> bool {
    let columns = model.columns.iter().enumerate();
    columns
        .filter(|(index, column)| Some(*index) != model.version_index() && !is_kept(column.name))
        .filter(|(_, column)| told.is_none_or(|told| told.has(column.name)))
        .any(|(index, _)| before.value(index) != after.value(index))
}

/// Whether the framework sets a column with every change.
pub(crate) fn is_kept(column: &str) -> bool {
    column == "updated_at"
}

/// The values of a record by column.
pub(crate) type Values = Map<String, Json>;

/// The state of a record after a change, and what differed before.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Content {
    /// None when it was removed for good.
    pub(crate) after: Option<Values>,
    /// What differed; all of what was removed for good; none of what was new.
    pub(crate) before: Option<Values>,
}

/// What is stored of a [`Content`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stored {
    pub(crate) after: Option<String>,
    pub(crate) before: Option<String>,
    pub(crate) protected: Option<String>,
}

/// A record as an entry tells it.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    pub(crate) record: Record,
    /// The columns that were stored and are no more, or hold another type now.
    pub(crate) lost: Vec<String>,
}

impl Stored {
    /// Tells a change, of an entity that is no set by the columns that are told. What may never leave the application, or of a set that hides from tools everything,
    /// is encrypted.
    pub(crate) fn of(
        model: &EntityModel,
        told: Option<&Told>,
        before: Option<&Record>,
        after: Option<&Record>,
        keys: &KeyRing,
    ) -> Result<Self> {
        let all = model.set.as_ref().is_some_and(|set| set.is_marked(HIDDEN_FROM_TOOLS));
        let [mut is_clear, mut is_hidden, mut was_clear, mut was_hidden] =
            [(); 4].map(|()| Values::new());
        for (index, column) in model.columns.iter().enumerate() {
            let is_told = told.is_none_or(|told| told.has(column.name));
            if Some(index) == model.organisation || Some(index) == model.version_index() || !is_told
            {
                continue;
            }
            let (is, was) = if all || column.exposure == Exposure::Internal {
                (&mut is_hidden, &mut was_hidden)
            } else {
                (&mut is_clear, &mut was_clear)
            };
            let value = after.map(|record| record.value(index));
            if let Some(value) = value {
                is.insert(column.name.to_owned(), to_json(value));
            }
            if let Some(earlier) = before.map(|record| record.value(index))
                && value != Some(earlier)
            {
                was.insert(column.name.to_owned(), to_json(earlier));
            }
        }
        let protected = (!is_hidden.is_empty() || !was_hidden.is_empty())
            .then(|| text(&[is_hidden, was_hidden]))
            .transpose()?
            .map(|hidden| keys.protect(PURPOSE, hidden.as_bytes()));
        Ok(Self {
            after: after.map(|_| text(&is_clear)).transpose()?,
            before: before.map(|_| text(&was_clear)).transpose()?,
            protected,
        })
    }
}

impl Content {
    /// Reads what [`Stored::of`] made.
    pub(crate) fn read(stored: &Stored, keys: &KeyRing) -> Result<Self> {
        let values = |text: &Option<String>| text.as_deref().map(parse::<Values>).transpose();
        let mut content = Self { after: values(&stored.after)?, before: values(&stored.before)? };
        if let Some(protected) = &stored.protected {
            let bytes = keys.reveal(PURPOSE, protected)?;
            let [after, before]: [Values; 2] =
                serde_json::from_slice(&bytes).map_err(unreadable)?;
            for (values, hidden) in [(&mut content.after, after), (&mut content.before, before)] {
                if let Some(values) = values {
                    values.extend(hidden);
                }
            }
        }
        Ok(content)
    }

    /// The record after the change.
    pub(crate) fn image_after(
        &self,
        model: &EntityModel,
        organisation: Uuid,
        version: i64,
    ) -> Option<Image> {
        self.after.as_ref().map(|values| image(model, values, organisation, version))
    }

    /// The record before the change.
    pub(crate) fn image_before(
        &self,
        model: &EntityModel,
        organisation: Uuid,
        version: i64,
    ) -> Option<Image> {
        let before = self.before.as_ref()?;
        let mut values = self.after.clone().unwrap_or_default();
        values.extend(before.clone());
        Some(image(model, &values, organisation, version))
    }

    /// The columns that the change was about, what the framework keeps left out.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &str> {
        let values = match (&self.after, &self.before) {
            (Some(after), None) => Some(after),
            (_, before) => before.as_ref(),
        };
        values.into_iter().flat_map(Values::keys).map(String::as_str).filter(|name| !is_kept(name))
    }
}

fn image(model: &EntityModel, values: &Values, organisation: Uuid, version: i64) -> Image {
    let known = |name: &str| model.column_index(name).is_some();
    let mut lost: Vec<String> = values.keys().filter(|name| !known(name)).cloned().collect();
    let read = |(index, column): (usize, &svc_data::Column)| {
        let given = match values.get(column.name) {
            _ if Some(index) == model.organisation => &Json::String(organisation.to_string()),
            _ if Some(index) == model.version_index() => &Json::from(version),
            given => given.unwrap_or(&Json::Null),
        };
        column.kind.parse_json(given).unwrap_or_else(|_| {
            lost.push(column.name.to_owned());
            column.kind.null()
        })
    };
    let record = model.columns.iter().enumerate().map(read).collect();
    Image { record, lost }
}

/// The key that a text names; none where no record of the entity can have it.
pub(crate) fn key_value(model: &EntityModel, text: &str) -> Option<sea_orm::Value> {
    let kind = model.key().kind;
    let as_text = kind.parse_json(&Json::String(text.to_owned()));
    as_text.ok().or_else(|| kind.parse_json(&serde_json::from_str(text).ok()?).ok())
}

/// The key under which events about a record lie.
pub(crate) fn key_of_events(set: &str, key: &str) -> String {
    format!("{set}/{key}")
}

/// The set and the key of the record that events under this key are about.
pub(crate) fn record_of_events(key: &str) -> Option<(&str, &str)> {
    key.split_once('/')
}

fn text<T: serde::Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::internal("an entry can't be made JSON").caused_by(error))
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::internal("a stored entry of the history can't be read").caused_by(error)
}
