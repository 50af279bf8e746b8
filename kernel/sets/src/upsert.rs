//! Records that are written under a key that is given: an import that doesn't know what is there
//! already, and a restore of what was deleted.
//!
//! | Under the key there is | [`Sets::upsert`] | [`Sets::bring_back`] |
//! | --- | --- | --- |
//! | an entity that the principal sees | changes or replaces it | 409 |
//! | one that was deleted softly | as if nothing were there: 409 | takes the mark away |
//! | nothing | creates it | creates it as it was |
//! | one that the principal doesn't see | 409, as where a unique value is taken | 409 |
//!
//! Both are part of the caller's unit of work, and are done as its principal.

use sea_orm::Value;
use svc_core::{Error, Result};
use svc_data::{Context, Expected, NewValues, Record, UnitOfWork};
use svc_odata::model::SetIndex;

use super::entity_input::EntityInput;
use super::model::Sets;
use super::source::Source;
use super::write::{Verb, only_read};

/// What an upsert has done.
#[derive(Clone, Debug, PartialEq)]
pub enum Upserted {
    /// The entity was new.
    Created(Record),
    /// It was there, and holds the values now.
    Changed(Record),
}

impl Upserted {
    /// The record as it is stored now.
    #[must_use]
    pub fn into_record(self) -> Record {
        match self {
            Self::Created(record) | Self::Changed(record) => record,
        }
    }
}

impl Sets {
    /// Changes ([`Verb::Change`]) or replaces ([`Verb::Replace`]) the entity with a key, or creates
    /// it with that key where the principal sees none.
    ///
    /// # Errors
    ///
    /// As [`Sets::change`] of one that is there, and as [`Sets::create`] of another;
    /// [`ErrorKind::PreconditionFailed`](svc_core::ErrorKind::PreconditionFailed) for one that
    /// isn't there, where a version was expected.
    pub async fn upsert(
        &self,
        uow: &UnitOfWork,
        set: SetIndex,
        key: &Value,
        entity: impl Into<EntityInput>,
        verb: Verb,
        expected: Expected,
    ) -> Result<Upserted> {
        let entity = entity.into();
        if self.is_there(uow.context(), set, key).await? {
            let changed = self.change(uow, set, key, entity, verb, expected).await?;
            return Ok(Upserted::Changed(changed));
        }
        self.require(uow.context(), set, Verb::Create)?;
        if expected != Expected::Any {
            return Err(Error::precondition_failed("there is no such entity"));
        }
        let inherited = (self.entity(set).key_index(), key.clone());
        self.create_deep(uow, set, entity, Some(inherited)).await.map(Upserted::Created)
    }

    /// Brings back an entity that was deleted, under its key and as it was, with the properties too
    /// that only the application sets, or that the principal doesn't see: nobody chooses any of them
    /// here. `was` are the values of the record that was deleted; where it was deleted softly, it
    /// has kept them itself. What is unknown of it takes its default. It goes on counting its
    /// version, and `expected` is the last one that it had.
    ///
    /// It takes the permission to restore where the set deletes softly, else to create; to delete,
    /// where only the application creates.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) when it is there, another has one of
    /// its unique values by now, or what it refers to is gone or out of sight;
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for one of another organisation;
    /// [`ErrorKind::PreconditionFailed`](svc_core::ErrorKind::PreconditionFailed) when something
    /// else was there since; [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without the
    /// permission, or when the row filter would hide it;
    /// [`ErrorKind::MethodNotAllowed`](svc_core::ErrorKind::MethodNotAllowed) when only commands
    /// change the set; [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for values that are
    /// against the rules by now.
    pub async fn bring_back(
        &self,
        uow: &UnitOfWork,
        set: SetIndex,
        key: &Value,
        was: NewValues,
        expected: Expected,
    ) -> Result<Record> {
        let ctx = uow.context();
        let entity = self.entity(set);
        self.require_restore(ctx, set)?;
        if self.is_there(ctx, set, key).await? {
            return Err(Error::conflict("there is such an entity; nothing was deleted"));
        }
        if let Some(deleted) = entity.deleted_set().and_then(|name| self.find(&name).ok())
            && self.is_there(ctx, deleted, key).await?
        {
            let record = uow.restore_record(entity, key, expected).await?;
            self.still_visible(ctx, set, key).await?;
            return Ok(record);
        }
        let row = entity.made_again(key, was);
        let own = ctx.principal().organisation().map(|own| Value::from(own.0));
        let of_record = entity.organisation.and_then(|index| row[index].clone());
        if own.zip(of_record).is_some_and(|(own, of_record)| own != of_record) {
            return Err(Error::not_found("there was no such entity"));
        }
        self.check_references(ctx, set, &row, None).await?;
        uow.expect_removed(entity, key, expected).await?;
        let record = uow.insert_records(entity, vec![row]).await?.pop();
        let record = record.ok_or_else(|| Error::internal("a created entity was not returned"))?;
        self.still_visible(ctx, set, key).await?;
        Ok(record)
    }

    fn require_restore(&self, ctx: &Context, set: SetIndex) -> Result<()> {
        let described = self.served(set).described()?;
        let permissions = &described.permissions;
        let entity = self.entity(set);
        if described.view_only {
            return Err(only_read(&described.name));
        }
        ctx.require(if entity.deletes_softly() {
            &permissions.restore
        } else if entity.is_created_by_callers() {
            &permissions.create
        } else {
            &permissions.delete
        })
    }

    async fn is_there(&self, ctx: &Context, set: SetIndex, key: &Value) -> Result<bool> {
        let source = self.with_key(Source::of(set), key.clone());
        Ok(self.column_of(ctx, &source, self.entity(set).key_index()).await?.is_some())
    }
}
