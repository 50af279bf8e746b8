//! Create, change, replace and delete, through a unit of work.

use sea_orm::Value;
use svc_core::{Error, Result};
use svc_odata::model::{PropertyIndex, SetIndex};
use svc_odata::value::Value as Literal;

use super::literal::to_column;
use super::model::{Served, Sets};
use super::read::{described, visible};
use crate::catalogue::Exposure;
use crate::context::Context;
use crate::record::Record;
use crate::unit_of_work::{Expected, NewValues, UnitOfWork};

/// The properties that a payload carries, with their values.
pub type EntityValues = Vec<(PropertyIndex, Literal)>;

/// What is done to a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// A new entity (POST).
    Create,
    /// Some properties of one (PATCH).
    Change,
    /// All properties of one; what is not sent takes its default (PUT).
    Replace,
    /// The end of one (DELETE).
    Delete,
}

impl Sets {
    /// Insists that the context's principal may do this to the set.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden), naming the permission.
    pub fn require(&self, ctx: &Context, set: SetIndex, verb: Verb) -> Result<()> {
        let permissions = &described(self.served(set))?.permissions;
        ctx.require(match verb {
            Verb::Create => &permissions.create,
            Verb::Change | Verb::Replace => &permissions.update,
            Verb::Delete => &permissions.delete,
        })
    }

    /// Creates an entity, and answers with its key.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::insert_records`];
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without the permission, or when a
    /// row filter would hide the new entity from its own creator.
    pub async fn create(
        &self,
        uow: &UnitOfWork,
        set: SetIndex,
        values: EntityValues,
    ) -> Result<Record> {
        self.require(uow.context(), set, Verb::Create)?;
        let served = self.served(set);
        let row = new_values(served, values, Verb::Create)?;
        let record = uow.insert_records(&served.entity, vec![row]).await?.pop();
        let record = record.ok_or_else(|| Error::internal("a created entity was not returned"))?;
        self.still_visible(uow.context(), set, record.key(&served.entity)).await?;
        Ok(record)
    }

    /// Changes ([`Verb::Change`]) or replaces ([`Verb::Replace`]) an entity.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::update_record`];
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) also when a row filter hides it.
    pub async fn change(
        &self,
        uow: &UnitOfWork,
        set: SetIndex,
        key: &Value,
        values: EntityValues,
        verb: Verb,
        expected: Expected,
    ) -> Result<Record> {
        self.require(uow.context(), set, verb)?;
        self.must_see(uow.context(), set, key).await?;
        let served = self.served(set);
        let mut row = new_values(served, values, verb)?;
        if verb == Verb::Replace {
            fill_with_defaults(served, &mut row, uow.context());
        }
        let record = uow.update_record(&served.entity, key, row, expected).await?;
        self.still_visible(uow.context(), set, key).await?;
        Ok(record)
    }

    /// Deletes an entity.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::delete_record`];
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) also when a row filter hides it.
    pub async fn delete(
        &self,
        uow: &UnitOfWork,
        set: SetIndex,
        key: &Value,
        expected: Expected,
    ) -> Result<Record> {
        self.require(uow.context(), set, Verb::Delete)?;
        self.must_see(uow.context(), set, key).await?;
        uow.delete_record(&self.served(set).entity, key, expected).await
    }

    /// What a row filter hides is unknown to those who would change it too.
    async fn must_see(&self, ctx: &Context, set: SetIndex, key: &Value) -> Result<()> {
        if self.is_visible(ctx, set, key).await? {
            Ok(())
        } else {
            Err(Error::not_found("there is no such entity"))
        }
    }

    /// Nobody may move an entity out of their own sight, and so into somebody else's.
    async fn still_visible(&self, ctx: &Context, set: SetIndex, key: &Value) -> Result<()> {
        if self.is_visible(ctx, set, key).await? {
            Ok(())
        } else {
            Err(Error::forbidden("the entity would be outside of what you may see"))
        }
    }

    async fn is_visible(&self, ctx: &Context, set: SetIndex, key: &Value) -> Result<bool> {
        use sea_orm::sea_query::{Expr, Query};
        let served = self.served(set);
        if !described(served)?.has_row_filter() {
            // The organisation is part of every statement of the unit of work itself.
            return Ok(true);
        }
        let mut select = Query::select();
        select
            .expr(Expr::val(1))
            .from(served.entity.table_iden())
            .and_where(served.entity.key_is(key))
            .cond_where(visible(served, ctx)?);
        Ok(!ctx.run(ctx.database().build(&select)).await?.is_empty())
    }
}

/// The values of a payload by column. Properties that only the application sets are passed over
/// (OData 11.4.2: the service ignores them), and so are those that are set on create only.
fn new_values(served: &Served, values: EntityValues, verb: Verb) -> Result<NewValues> {
    let mut row: NewValues = vec![None; served.entity.columns.len()];
    for (property, literal) in values {
        let index = served.column_index(property);
        let column = &served.entity.columns[index];
        let settable = match column.exposure {
            Exposure::ReadOnly | Exposure::Internal => false,
            Exposure::CreateOnly => verb == Verb::Create,
            Exposure::Open | Exposure::HiddenUnless(_) => true,
        };
        if settable {
            let value = to_column(column.kind, &literal).ok_or_else(|| {
                Error::invalid("the entity is not valid")
                    .field(&column.property, "can't be stored in this form")
            })?;
            row[index] = Some(value);
        }
    }
    Ok(row)
}

/// Replacing sets every property that the principal may set: what was not sent becomes null, and
/// what can't be null must be sent.
fn fill_with_defaults(served: &Served, row: &mut NewValues, ctx: &Context) {
    for (_, index) in served.properties() {
        let column = &served.entity.columns[index];
        let open = match &column.exposure {
            Exposure::Open => true,
            Exposure::HiddenUnless(permission) => ctx.principal().can(permission),
            _ => false,
        };
        if open && row[index].is_none() && !column.has_default {
            // A null where none may stand is refused with the property's name.
            row[index] = Some(column.kind.null());
        }
    }
}
