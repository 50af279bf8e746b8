//! Create, change, replace and delete, through a unit of work.

use sea_orm::Value;
use sea_orm::sea_query::{Expr, ExprTrait as _, Query};
use svc_core::{Error, ErrorKind, Result};
use svc_data::value::to_column;
use svc_data::{Context, Expected, Exposure, NewValues, Record, UnitOfWork, errors};
use svc_database::Backend;
use svc_odata::model::SetIndex;

use super::entity_input::{EntityInput, EntityValues};
use super::model::Sets;
use super::served::Served;

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
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden), naming the permission;
    /// [`ErrorKind::MethodNotAllowed`](svc_core::ErrorKind::MethodNotAllowed) when only commands
    /// change the set.
    pub fn require(&self, ctx: &Context, set: SetIndex, verb: Verb) -> Result<()> {
        let described = self.served(set).described()?;
        let name = &described.name;
        if described.view_only {
            return Err(only_read(name));
        }
        if verb == Verb::Create && !self.entity(set).is_created_by_callers() {
            let message = format!("`{name}` are not created here; commands create them");
            return Err(Error::new(ErrorKind::MethodNotAllowed, message));
        }
        let permissions = &described.permissions;
        ctx.require(match verb {
            Verb::Create => &permissions.create,
            Verb::Change | Verb::Replace => &permissions.update,
            Verb::Delete => &permissions.delete,
        })
    }

    /// Creates an entity, with those that are related to it, and answers with its record.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::insert_records`];
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without the permission of a set
    /// that is written, or when a row filter would hide a new entity from its own creator;
    /// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) when it refers to what is unknown, of
    /// another organisation, or hidden by a row filter.
    pub async fn create(
        &self,
        uow: &UnitOfWork,
        set: SetIndex,
        entity: impl Into<EntityInput>,
    ) -> Result<Record> {
        self.create_deep(uow, set, entity.into(), None).await
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
        entity: impl Into<EntityInput>,
        verb: Verb,
        expected: Expected,
    ) -> Result<Record> {
        let EntityInput { properties, related } = entity.into();
        self.require(uow.context(), set, verb)?;
        self.must_see(uow.context(), set, key).await?;
        let served = self.served(set);
        let mut row = new_values(uow.context(), served, properties, verb)?;
        let behind = self.relate_before(uow, set, &mut row, related, verb).await?;
        if verb == Verb::Replace {
            fill_with_defaults(served, &mut row, uow.context());
        }
        self.check_references(uow.context(), set, &row, Some((uow, key))).await?;
        let record = uow.update_record(&served.entity, key, row, expected).await?;
        self.still_visible(uow.context(), set, key).await?;
        self.relate_behind(uow, set, &record, behind).await?;
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

    /// What a row filter hides is unknown to those who would change it too. It is locked in the
    /// statement that looks, so that it stays in sight until the change is made.
    async fn must_see(&self, ctx: &Context, set: SetIndex, key: &Value) -> Result<()> {
        if self.is_visible(ctx, set, key, true).await? {
            Ok(())
        } else {
            Err(Error::not_found("there is no such entity"))
        }
    }

    /// Nobody may move an entity out of their own sight, and so into somebody else's.
    pub(super) async fn still_visible(
        &self,
        ctx: &Context,
        set: SetIndex,
        key: &Value,
    ) -> Result<()> {
        if self.is_visible(ctx, set, key, false).await? {
            Ok(())
        } else {
            Err(Error::forbidden("the entity would be outside of what you may see"))
        }
    }

    async fn is_visible(
        &self,
        ctx: &Context,
        set: SetIndex,
        key: &Value,
        lock: bool,
    ) -> Result<bool> {
        let served = self.served(set);
        if served.entity.row_filter(ctx.viewer()).is_none() {
            // The organisation is part of every statement of the unit of work itself.
            return Ok(true);
        }
        let mut select = Query::select();
        select
            .expr(Expr::val(1))
            .from(served.entity.table_iden())
            .and_where(served.entity.key_is(key))
            .cond_where(served.entity.seen_by(ctx.viewer()));
        if lock && ctx.database().backend() == Backend::Postgres {
            select.lock_exclusive();
        }
        Ok(ctx.run_one(ctx.database().build(&select)).await?.is_some())
    }

    /// What an entity is made to refer to must be in sight of whoever does so: else the answer
    /// would tell apart what is hidden and what doesn't exist, and what was deleted softly would be
    /// referred to anew. What it refers to already may stay. Only of what all organisations share, and
    /// no row is hidden of, the database's own constraint says the same: a foreign key may leave the
    /// organisation out.
    pub(super) async fn check_references(
        &self,
        ctx: &Context,
        set: SetIndex,
        row: &NewValues,
        changed: Option<(&UnitOfWork, &Value)>,
    ) -> Result<()> {
        let served = self.served(set);
        let mut before = None;
        for link in self.links_to_one(set) {
            let target = self.served_type(link.target);
            let Some(value) = &row[link.column] else { continue };
            let hides = target.described()?.has_row_filter()
                || target.entity.deleted_at.is_some()
                || target.entity.organisation.is_some();
            if !hides || *value == served.entity.columns[link.column].kind.null() {
                continue;
            }
            if let (Some((uow, key)), None) = (changed, &before) {
                before = Some(uow.locked_record(&served.entity, key).await?);
            }
            if before.as_ref().is_some_and(|before| before.value(link.column) == value) {
                continue;
            }
            let mut select = Query::select();
            select
                .expr(Expr::val(1))
                .from(target.entity.table_iden())
                .and_where(
                    Expr::col(target.entity.column_ref(link.target_column)).eq(value.clone()),
                )
                .cond_where(target.entity.seen_by(ctx.viewer()));
            if ctx.run_one(ctx.database().build(&select)).await?.is_none() {
                let refusal = errors::REFERENCE
                    .error("a record that this refers to does not exist, or is still in use");
                let is_named = served.entity.is_visible(link.column, ctx.principal());
                let name = served.name(link.column);
                return Err(if is_named {
                    refusal.field(name, "refers to nothing that exists")
                } else {
                    refusal
                });
            }
        }
        Ok(())
    }
}

/// The refusal of a change to a set that only commands change.
pub(super) fn only_read(set: &str) -> Error {
    let message = format!("`{set}` is only read here; commands change it");
    Error::new(ErrorKind::MethodNotAllowed, message)
}

/// The values of a payload by column. Properties that only the application sets are passed over
/// (OData 11.4.2: the service ignores them), and so are those that are set on create only, and those
/// that the principal doesn't see as they are.
pub(super) fn new_values(
    ctx: &Context,
    served: &Served,
    values: EntityValues,
    verb: Verb,
) -> Result<NewValues> {
    let mut row: NewValues = vec![None; served.entity.columns.len()];
    for (property, literal) in values {
        let index = served.column_index(property);
        if served.entity.virtual_property(index).is_some() {
            continue;
        }
        let column = &served.entity.columns[index];
        if is_settable(ctx, served, index, verb) {
            let value = to_column(column.kind, &literal).ok_or_else(|| {
                Error::invalid("the entity is not valid")
                    .field(&column.property, "can't be stored in this form")
            })?;
            row[index] = Some(value);
        }
    }
    Ok(row)
}

/// Whether a principal may set a column. Who sees its values in a changed form only may not change
/// it: a change that is refused, or changes nothing, would tell the real value.
pub(super) fn is_settable(ctx: &Context, served: &Served, index: usize, verb: Verb) -> bool {
    let who = ctx.principal();
    let creates = verb == Verb::Create;
    match served.entity.columns[index].exposure {
        Exposure::ReadOnly | Exposure::Internal => false,
        Exposure::CreateOnly => creates && served.entity.is_visible(index, who),
        Exposure::Open if creates => served.entity.is_visible(index, who),
        Exposure::Open => served.entity.is_usable(index, who),
    }
}

/// Replacing sets every property that the principal may set: what was not sent takes its default
/// (OData 11.4.3), and what has none and can't be null must be sent. A default that the database
/// computes is given to new records alone.
fn fill_with_defaults(served: &Served, row: &mut NewValues, ctx: &Context) {
    for (_, index) in served.properties() {
        if served.entity.virtual_property(index).is_some() {
            continue;
        }
        let column = &served.entity.columns[index];
        let open = is_settable(ctx, served, index, Verb::Replace);
        if !open || row[index].is_some() {
            continue;
        }
        row[index] = match &column.default_value {
            Some(default) => Some(default.clone()),
            None if column.has_default => None,
            // A null where none may stand is refused with the property's name.
            None => Some(column.kind.null()),
        };
    }
}
