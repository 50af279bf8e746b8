//! Whether somebody may see a record of which there is history, and what of an entry.
//!
//! The row filter is asked about the record as it is. One that is gone, softly or for good, is asked
//! about as it was last. What an entry tells of it goes through today's hidden properties and response
//! filters: a field whose values are sent alike before and after is not told, and an update of which
//! nothing is left isn't either. So nobody learns from the history what the set itself wouldn't tell.

use std::collections::HashSet;
use std::sync::Arc;

use sea_orm::Value;
use sea_orm::sea_query::{Condition, Expr, ExprTrait as _, Query};
use serde_json::{Map, Value as Json};
use svc_core::{Error, KeyRing, Result};
use svc_data::value::to_text;
use svc_data::{Context, EntityModel, Record};
use svc_database::database_error;
use svc_odata::model::SetIndex;
use svc_sets::Sets;
use uuid::Uuid;

use crate::entry::{self, Content, Operation};
use crate::errors::{CANNOT_GO_BACK, NOT_KEPT};
use crate::set::{self, KeptEntities, Told};
use crate::store::{self, Row};

/// How many keys one statement looks for.
const KEYS_AT_ONCE: usize = 500;

/// A set whose history somebody reads.
#[derive(Clone)]
pub(crate) struct Kept {
    /// Where it is served; none of an entity that is no set.
    served: Option<(Arc<Sets>, SetIndex)>,
    /// What is told of an entity that is no set.
    told: Option<Arc<Told>>,
    pub(crate) model: Arc<EntityModel>,
    pub(crate) keys: Arc<KeyRing>,
    /// The organisation whose entries tell of its records.
    pub(crate) organisation: Uuid,
}

/// One field of an entry, as somebody sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) before: Json,
    pub(crate) after: Json,
}

impl Kept {
    /// The set of this name, for somebody who may read it.
    pub(crate) fn find(ctx: &Context, name: &str) -> Result<Self> {
        let keys = ctx.app().service()?;
        let own = ctx.organisation()?.0;
        if let Some((model, told)) = Self::entity(ctx, name)? {
            ctx.require(&told.permission)?;
            let organisation = set::home(&model, own);
            return Ok(Self { served: None, told: Some(told), model, keys, organisation });
        }
        let sets = ctx.app().service::<Sets>()?;
        let index = sets.find(name)?;
        sets.require_view(ctx, index)?;
        let model = set::find(ctx.catalogue(), name)
            .ok_or_else(|| NOT_KEPT.error(format!("the history of `{name}` is not kept")))?;
        Ok(Self {
            served: Some((sets, index)),
            told: None,
            model: Arc::clone(model),
            keys,
            organisation: set::home(model, own),
        })
    }

    /// An entity that is no set and whose history is kept.
    fn entity(ctx: &Context, name: &str) -> Result<Option<(Arc<EntityModel>, Arc<Told>)>> {
        let Some(model) = ctx.catalogue().table(name) else { return Ok(None) };
        let told = ctx.app().service::<KeptEntities>()?.of(model);
        Ok(told.map(|told| (Arc::clone(model), told)))
    }

    /// Where it is served, for who wants to take something back.
    ///
    /// # Errors
    ///
    /// That nothing leads back, of an entity that is no set.
    pub(crate) fn served(&self) -> Result<(&Sets, SetIndex)> {
        let served = self.served.as_ref().map(|(sets, index)| (&**sets, *index));
        served.ok_or_else(|| {
            let name = self.model.name();
            CANNOT_GO_BACK
                .error(format!("`{name}` isn't an entity set, so its records stay as they are"))
        })
    }

    /// Whether its records belong to all organisations.
    pub(crate) fn is_shared(&self) -> bool {
        self.organisation == set::EVERYWHERE
    }

    /// A record with history that the caller may see: its key, and its newest entry.
    pub(crate) async fn record(&self, ctx: &Context, id: &str) -> Result<(Value, Row)> {
        let key = entry::key_value(&self.model, id).ok_or_else(missing)?;
        let text = to_text(&key);
        let newest = store::of_record(ctx, self.organisation, self.model.name(), &text, None, 1)
            .await?
            .pop();
        let newest = newest.ok_or_else(missing)?;
        let seen = self.sees_of(ctx, &[(text, key.clone())]).await?;
        if seen.is_empty() { Err(missing()) } else { Ok((key, newest)) }
    }

    /// Which of the records with these keys the caller sees: with a few statements for all of them.
    pub(crate) async fn sees_of(
        &self,
        ctx: &Context,
        keys: &[(String, Value)],
    ) -> Result<HashSet<String>> {
        let all = || keys.iter().map(|(text, _)| text.clone());
        let filter = self.model.row_filter(ctx.viewer());
        let (Some(filter), Some((sets, _))) = (filter, &self.served) else {
            return Ok(all().collect());
        };
        let mut seen = self.among(ctx, keys, Some(filter)).await?;
        let there = self.among(ctx, keys, None).await?;
        let gone: Vec<&str> = keys
            .iter()
            .map(|(text, _)| text.as_str())
            .filter(|key| !there.contains(*key))
            .collect();
        let newest = store::newest_of(ctx, self.organisation, self.model.name(), &gone).await?;
        let mut last = Vec::new();
        // Of what was blanked nobody knows any more who could see it.
        for row in newest.iter().filter(|row| !row.is_blanked) {
            let record = self.last_of(&row.content(&self.keys)?, row);
            last.extend(record.map(|record| (row.key.clone(), record)));
        }
        let records: Vec<&Record> = last.iter().map(|(_, record)| record).collect();
        let images = sets.read_images(ctx, &self.model, &records).await?;
        let shown = last.iter().zip(images).filter(|(_, image)| image.is_some());
        seen.extend(shown.map(|((key, _), _)| key.clone()));
        Ok(seen)
    }

    /// Those of the keys whose records are there, and hold a condition.
    async fn among(
        &self,
        ctx: &Context,
        keys: &[(String, Value)],
        filter: Option<Condition>,
    ) -> Result<HashSet<String>> {
        let model = &self.model;
        let key = model.key_index();
        let mut found = HashSet::new();
        for part in keys.chunks(KEYS_AT_ONCE) {
            let mut select = Query::select();
            select
                .column(model.column_ref(key))
                .from(model.table_iden())
                .and_where(
                    Expr::col(model.column_ref(key)).is_in(part.iter().map(|(_, key)| key.clone())),
                )
                .cond_where(model.scope(ctx.principal().organisation()))
                .cond_where(filter.clone().unwrap_or_else(Condition::all));
            for row in ctx.run(ctx.database().build(&select)).await? {
                let value = model.key().kind.read(&row, 0).map_err(database_error)?;
                found.insert(to_text(&value));
            }
        }
        Ok(found)
    }

    /// The record as it was when it was last there.
    pub(crate) fn last_of(&self, content: &Content, row: &Row) -> Option<Record> {
        let image = match &content.after {
            Some(_) => content.image_after(&self.model, self.organisation, row.version()),
            None => content.image_before(&self.model, self.organisation, row.version()),
        }?;
        Some(self.as_present(&image.record))
    }

    /// The same record without the mark of a soft deletion.
    fn as_present(&self, record: &Record) -> Record {
        let mark = self.model.deleted_at;
        let values = record.values().iter().enumerate().map(|(index, value)| {
            let column = &self.model.columns[index];
            if Some(index) == mark { column.kind.null() } else { value.clone() }
        });
        values.collect()
    }

    /// What is told of a record of an entity that is no set.
    fn told_of(&self, told: &Told, record: &Record) -> Map<String, Json> {
        let columns = self.model.columns.iter().enumerate();
        let told = columns.filter(|(_, column)| told.has(column.name));
        told.map(|(index, column)| {
            (column.property.clone(), column.kind.to_json(record.value(index)))
        })
        .collect()
    }

    /// What of an entry the caller sees; none where that is nothing.
    pub(crate) fn fields(&self, ctx: &Context, row: &Row) -> Result<Option<Vec<Field>>> {
        let content = row.content(&self.keys)?;
        let shown = |record: Option<Record>| -> Result<Map<String, Json>> {
            let read = |record: Record| match &self.told {
                Some(told) => Ok(self.told_of(told, &record)),
                None => record.to_property_json(&self.model, ctx.principal()),
            };
            record.map_or_else(|| Ok(Map::new()), read)
        };
        let (organisation, version) = (self.organisation, row.version());
        let before = content.image_before(&self.model, organisation, version);
        let after = content.image_after(&self.model, organisation, version);
        let before = shown(before.map(|image| image.record))?;
        let after = shown(after.map(|image| image.record))?;
        let mut fields = Vec::new();
        for column in content.changed() {
            let Some(index) = self.model.column_index(column) else { continue };
            let name = &self.model.columns[index].property;
            let (was, is) = (before.get(name), after.get(name));
            if was != is {
                let value = |value: Option<&Json>| value.cloned().unwrap_or(Json::Null);
                fields.push(Field { name: name.clone(), before: value(was), after: value(is) });
            }
        }
        let tells = !fields.is_empty() || row.operation != Operation::Updated;
        Ok(tells.then_some(fields))
    }
}

/// What is told of a record without history, and of one that somebody may not see.
pub(crate) fn missing() -> Error {
    Error::not_found("there is no such record")
}
