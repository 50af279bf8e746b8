//! What an entry holds, and what a record was by it. Pure: it needs no database.

use serde_json::{Map, Value as Json};
use svc_core::{Error, KeyRing, Result};
use svc_data::value::to_json;
use svc_data::{EntityModel, Exposure, Record};
use svc_http::HIDDEN_FROM_TOOLS;
use uuid::Uuid;

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
        known.ok_or_else(|| Error::internal(format!("`{code}` is no operation of the history")))
    }

    /// What became of a record; none where nothing did.
    pub(crate) fn between(
        model: &EntityModel,
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
                _ => differ(model, before, after).then_some(Self::Updated),
            },
        }
    }
}

/// Whether anything differs but what the framework keeps with every change.
fn differ(model: &EntityModel, before: &Record, after: &Record) -> bool {
    let columns = model.columns.iter().enumerate();
    columns
        .filter(|(index, column)| Some(*index) != model.version_index() && !is_kept(column.name))
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

impl Content {
    /// Tells a change.
    pub(crate) fn of(model: &EntityModel, before: Option<&Record>, after: Option<&Record>) -> Self {
        let told = |index: usize| {
            Some(index) != model.organisation && Some(index) != model.version_index()
        };
        let named = |record: &Record, index: usize| {
            (model.columns[index].name.to_owned(), to_json(record.value(index)))
        };
        let places = || (0..model.columns.len()).filter(|index| told(*index));
        let differs = |record: &Record, index: usize| {
            after.is_none_or(|after| after.value(index) != record.value(index))
        };
        Self {
            after: after.map(|record| places().map(|index| named(record, index)).collect()),
            before: before.map(|record| {
                let differing = places().filter(|index| differs(record, *index));
                differing.map(|index| named(record, index)).collect()
            }),
        }
    }

    /// What is stored of it: what may never leave the application, or of a set that hides from tools
    /// everything, is encrypted.
    pub(crate) fn store(&self, model: &EntityModel, keys: &KeyRing) -> Result<Stored> {
        let all = model.set.as_ref().is_some_and(|set| set.is_marked(HIDDEN_FROM_TOOLS));
        let is_internal = |name: &str| {
            let column = model.columns.iter().find(|column| column.name == name);
            all || column.is_none_or(|column| column.exposure == Exposure::Internal)
        };
        let split = |values: &Option<Values>| -> (Option<Values>, Values) {
            let Some(values) = values else { return (None, Values::new()) };
            let (hidden, clear): (Vec<_>, Vec<_>) =
                values.clone().into_iter().partition(|(name, _)| is_internal(name));
            (Some(clear.into_iter().collect()), hidden.into_iter().collect())
        };
        let (after, after_hidden) = split(&self.after);
        let (before, before_hidden) = split(&self.before);
        let protected = (!after_hidden.is_empty() || !before_hidden.is_empty())
            .then(|| text(&[after_hidden, before_hidden]))
            .transpose()?
            .map(|hidden| keys.protect(PURPOSE, hidden.as_bytes()));
        let json = |values: Option<Values>| values.map(|values| text(&values)).transpose();
        Ok(Stored { after: json(after)?, before: json(before)?, protected })
    }

    /// Reads what [`Content::store`] made.
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
