//! The sets that are searched, and which of their texts somebody may look for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sea_orm::Value;
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};
use svc_core::{Error, OrganisationId, Principal, Result};
use svc_data::value::ValueKind;
use svc_data::{Catalogue, ChangeKind, EntityModel, Record};
use svc_events::RecordChange;

use crate::fold::FOLDING;
use crate::terms::{Term, terms};

/// A set that says `.search([…])`.
#[derive(Clone, Debug)]
pub(crate) struct SearchedSet {
    pub(crate) model: Arc<EntityModel>,
    /// The places of the columns that are searched.
    pub(crate) columns: Vec<usize>,
}

/// A record, as the index keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexedRecord {
    pub(crate) key: String,
    pub(crate) space: i64,
    /// The terms of each searched property that has some.
    pub(crate) terms: BTreeMap<String, IndexedTerms>,
}

/// The terms of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexedTerms {
    pub(crate) scope: i64,
    pub(crate) terms: BTreeSet<Term>,
}

impl SearchedSet {
    /// All of an application. What was deleted softly is in a set of its own, which is not searched.
    pub(crate) fn all(catalogue: &Catalogue) -> Vec<Self> {
        let is_itself = |model: &EntityModel| {
            catalogue.table(model.table).is_some_and(|itself| itself.name() == model.name())
        };
        catalogue.sets().filter(|model| is_itself(model)).filter_map(Self::of).collect()
    }

    fn of(model: &Arc<EntityModel>) -> Option<Self> {
        let columns = model.set.as_ref().map(|set| set.search.clone()).unwrap_or_default();
        (!columns.is_empty()).then(|| Self { model: Arc::clone(model), columns })
    }

    pub(crate) fn name(&self) -> &str {
        self.model.name()
    }

    /// What an index of the set is built for.
    pub(crate) fn declaration(&self) -> String {
        let properties = self.columns.iter().map(|index| &self.model.columns[*index].property);
        json!({ "folding": FOLDING, "properties": properties.collect::<Vec<_>>() }).to_string()
    }

    /// The properties by whose texts a person may find.
    pub(crate) fn usable(&self, who: &Principal) -> Vec<&str> {
        let usable = self.columns.iter().filter(|index| self.model.is_usable(**index, who));
        usable.map(|index| self.model.columns[*index].property.as_str()).collect()
    }

    /// The organisation that a person finds in; none where records belong to all.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) for the system across organisations.
    pub(crate) fn organisation_of(&self, who: &Principal) -> Result<Option<OrganisationId>> {
        if !self.model.is_organisation_scoped() {
            return Ok(None);
        }
        let organisation = who.organisation();
        organisation.map(Some).ok_or_else(|| Error::internal("a search is within an organisation"))
    }

    /// The searched properties that an update changed, where it changed nothing but what is kept from some people: then
    /// the others stay as they are, and the record where it stands for those who can't know of the change.
    pub(crate) fn guarded_change<'a>(&'a self, change: &RecordChange) -> Option<BTreeSet<&'a str>> {
        let model = &self.model;
        let places: Option<Vec<usize>> =
            change.changed.iter().map(|name| model.column_index(name)).collect();
        let is_guarded = |index: &usize| {
            // What comes back from the deleted is there anew.
            if model.deleted_at == Some(*index) {
                return false;
            }
            let hidden = !model.columns[*index].hidden_unless.is_empty();
            hidden || model.response_filters_of(*index).next().is_some()
        };
        let places = places.filter(|_| change.kind == ChangeKind::Updated)?;
        let all = !places.is_empty() && places.iter().all(is_guarded);
        let searched = self.columns.iter().filter(|index| places.contains(index));
        all.then(|| searched.map(|index| model.columns[*index].property.as_str()).collect())
    }

    /// A record as it is indexed.
    pub(crate) fn indexed(&self, record: &Record) -> IndexedRecord {
        let model = &self.model;
        let organisation = model.organisation.and_then(|index| match record.value(index) {
            Value::Uuid(Some(id)) => Some(OrganisationId(*id)),
            _ => None,
        });
        let terms = |index: &usize| {
            let column = &model.columns[*index];
            let terms = terms(&text_of(&column.kind.to_json(record.value(*index)))?);
            let scope = self.scope(organisation, &column.property);
            (!terms.is_empty()).then(|| (column.property.clone(), IndexedTerms { scope, terms }))
        };
        IndexedRecord {
            key: text_of(&model.key().kind.to_json(record.key(model))).unwrap_or_default(),
            space: self.space(organisation),
            terms: self.columns.iter().filter_map(terms).collect(),
        }
    }

    /// A number that stands for the records of the set in an organisation.
    pub(crate) fn space(&self, organisation: Option<OrganisationId>) -> i64 {
        number_of(organisation, self.name(), "")
    }

    /// A number that stands for a property of the set in an organisation.
    pub(crate) fn scope(&self, organisation: Option<OrganisationId>, property: &str) -> i64 {
        number_of(organisation, self.name(), property)
    }

    /// A key as the index keeps it, as the database's value; none for what can be no key.
    pub(crate) fn key(&self, text: &str) -> Option<Value> {
        let kind = self.model.key().kind;
        let json = match kind {
            ValueKind::Int16 | ValueKind::Int32 | ValueKind::Int64 => {
                serde_json::from_str(text).ok()?
            }
            _ => Json::String(text.to_owned()),
        };
        kind.parse_json(&json).ok()
    }
}

/// A value of a property as text; none where there is none.
pub(crate) fn text_of(value: &Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// 64 bits of a digest: two that are alike don't happen, and would give nothing away, as what is found is read as its reader.
fn number_of(organisation: Option<OrganisationId>, set: &str, property: &str) -> i64 {
    let organisation = organisation.map(|id| id.0.simple().to_string()).unwrap_or_default();
    let digest = Sha256::digest(format!("{organisation}/{set}/{property}"));
    digest.iter().take(8).fold(0, |number, byte| number << 8 | i64::from(*byte))
}
