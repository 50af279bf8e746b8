//! Stores what happened with what happened, just before the commit.
//!
//! Of a record that a unit of work changed several times there is one entry: from what it was at
//! first to what it is at last. Where another commit hook goes on changing it, its entry is taken out
//! again and made anew.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use svc_core::{KeyRing, OrganisationId, Result, micros};
use svc_data::value::to_text;
use svc_data::{Captured, Change, CommitHook, EntityModel, RaisedEvent, Record, UnitOfWork};
use uuid::Uuid;

use crate::about;
use crate::entry::{Operation, Stored};
use crate::events::HistoryRestored;
use crate::set::{self, KeptEntities, Told};
use crate::settings::HistorySettings;
use crate::store::{self, Author, Row};

/// How old a unit of work may be, in microseconds, for its only entry to have its identifier: what is
/// sealed must not come later than its identifier says.
const LONG_US: i64 = 60 * 1_000_000;

/// Keeps the history of sets, and of entities that are named.
pub(crate) struct Capture {
    pub(crate) entities: KeptEntities,
}

/// What became of a record in a unit of work.
struct Touched {
    model: Arc<EntityModel>,
    /// What is told of an entity that is no set.
    told: Option<Arc<Told>>,
    organisation: Uuid,
    /// Whose change of a record that belongs to all organisations it is.
    changed_by: Option<Uuid>,
    key: String,
    author: Author,
    request: Uuid,
    /// The record at first, and at last.
    before: Option<Record>,
    after: Option<Record>,
    /// The record before its last change.
    last: Option<Record>,
    took_back: Option<Uuid>,
}

#[async_trait]
impl CommitHook for Capture {
    async fn before_commit(&self, uow: &UnitOfWork, captured: &Captured) -> Result<()> {
        let mut rows = events(uow, captured);
        rows.extend(about::rows(uow, captured).await?);
        let touched = self.touched(uow, captured);
        if rows.is_empty() && touched.is_empty() {
            return Ok(());
        }
        let keys = uow.context().app().service::<KeyRing>()?;
        // Only then something can be stored of this unit of work.
        let goes_on = uow.hooks_wrote();
        for mut each in touched {
            if goes_on {
                each.go_on(uow, &keys).await?;
            }
            rows.extend(each.rows(uow, &keys)?);
        }
        if let [alone] = &mut rows[..] {
            let age_us = uow.context().clock().now_us() - micros::of_id(uow.id());
            if !goes_on && age_us < LONG_US {
                alone.id = uow.id();
                alone.shares_unit = false;
            }
        }
        store::insert(uow, rows);
        Ok(())
    }
}

/// The events that the audit log keeps.
fn events(uow: &UnitOfWork, captured: &Captured) -> Vec<Row> {
    if captured.events.is_empty() {
        return Vec::new();
    }
    let ctx = uow.context();
    let settings = ctx.app().settings::<HistorySettings>();
    let kept = captured.events.iter().filter(|event| {
        let (all, of_records) = (&settings.audit_events, &settings.record_events);
        all.contains(&event.name) && !of_records.contains(&event.name)
    });
    let row = |event: &RaisedEvent| Some(Row::of_event(uow, event.organisation?, event));
    kept.filter_map(row).collect()
}

impl Row {
    /// What is stored of an event.
    pub(crate) fn of_event(
        uow: &UnitOfWork,
        organisation: OrganisationId,
        event: &RaisedEvent,
    ) -> Self {
        let ctx = uow.context();
        Self {
            organisation: organisation.0,
            id: ctx.clock().new_id(),
            set: event.name.clone(),
            key: String::new(),
            position: 0,
            operation: Operation::Event,
            author: Author {
                user: event.actor.user.map(|user| user.0),
                name: event.actor.display_name.clone(),
                key: ctx.principal().means().api_key(),
                work: None,
            },
            request: ctx.correlation(),
            unit: uow.id(),
            took_back: None,
            stored: Stored { after: Some(event.data.to_string()), ..Stored::default() },
            shares_unit: true,
            is_blanked: false,
        }
    }
}

impl Capture {
    /// The records that changed, in the order of their last changes.
    fn touched(&self, uow: &UnitOfWork, captured: &Captured) -> Vec<Touched> {
        let own = uow.context().principal().organisation().map(|organisation| organisation.0);
        let mut all: Vec<Option<Touched>> = Vec::new();
        let mut places: HashMap<(&'static str, String), usize> = HashMap::new();
        for change in &captured.changes {
            let Some(mut new) = Touched::of(&self.entities, own, change) else { continue };
            if let Some(place) = places.remove(&(new.model.table, new.key.clone())) {
                new.before = all[place].take().and_then(|earlier| earlier.before);
            }
            places.insert((new.model.table, new.key.clone()), all.len());
            all.push(Some(new));
        }
        let mut all: Vec<Touched> = all.into_iter().flatten().collect();
        for event in captured.events.iter().filter(|event| event.name == HistoryRestored::NAME) {
            let Some(told) = HistoryRestored::read(&event.data) else { continue };
            let named = |each: &&mut Touched| each.model.name() == told.set && each.key == told.key;
            if let Some(each) = all.iter_mut().find(named) {
                each.took_back = Some(told.entry);
            }
        }
        all
    }
}

impl Touched {
    fn of(entities: &KeptEntities, own: Option<Uuid>, change: &Change) -> Option<Self> {
        let told = entities.of(&change.model);
        if told.is_none() {
            set::kept(&change.model)?;
        }
        let record = change.record()?;
        let of_record = change.organisation.map(|organisation| organisation.0);
        let actor = &change.author.actor;
        Some(Self {
            model: Arc::clone(&change.model),
            told,
            organisation: of_record.unwrap_or(set::EVERYWHERE),
            changed_by: own.filter(|_| of_record.is_none()),
            key: to_text(record.key(&change.model)),
            author: Author {
                user: actor.user.map(|user| user.0),
                name: actor.display_name.clone(),
                key: change.author.means.api_key(),
                work: change.author.work,
            },
            request: change.author.correlation,
            before: change.before.clone(),
            after: change.after.clone(),
            last: change.before.clone(),
            took_back: None,
        })
    }

    /// Goes on from what an earlier round of this unit of work stored.
    async fn go_on(&mut self, uow: &UnitOfWork, keys: &KeyRing) -> Result<()> {
        let set = self.model.name();
        let Some(row) = store::take(uow, self.organisation, set, &self.key).await? else {
            return Ok(());
        };
        if let Some(own) = self.changed_by {
            store::take(uow, own, set, &self.key).await?;
        }
        let before = row.content(keys)?.image_before(&self.model, self.organisation, 0);
        self.before = before.map(|image| image.record);
        self.took_back = self.took_back.or(row.took_back);
        Ok(())
    }

    /// What is stored of it: one entry, and of a record that belongs to all organisations another where
    /// the organisation of whoever changed it looks for what its people did. Who that was stands there
    /// alone.
    fn rows(self, uow: &UnitOfWork, keys: &KeyRing) -> Result<Vec<Row>> {
        let Self { model, told, before, after, .. } = &self;
        let told = told.as_deref();
        let Some(operation) = Operation::between(model, told, before.as_ref(), after.as_ref())
        else {
            return Ok(Vec::new());
        };
        let version = |record: &Record| record.version(model).unwrap_or(0);
        let position = match after {
            Some(after) => 2 * version(after),
            None => 2 * self.last.as_ref().map_or(0, version) + 1,
        };
        let stored = Stored::of(model, told, before.as_ref(), after.as_ref(), keys)?;
        let mut row = Row {
            organisation: self.organisation,
            id: uow.context().clock().new_id(),
            set: model.name().to_owned(),
            key: self.key,
            position,
            operation,
            author: self.author,
            request: self.request,
            unit: uow.id(),
            took_back: self.took_back,
            stored,
            shares_unit: true,
            is_blanked: false,
        };
        let Some(own) = self.changed_by else { return Ok(vec![row]) };
        let of_own = Row { organisation: own, ..row.clone() };
        row.author = Author { user: None, name: String::new(), key: None, work: None };
        Ok(vec![row, of_own])
    }
}
