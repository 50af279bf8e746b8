use std::marker::PhantomData;

use sea_orm::sea_query::{
    Condition, Expr, Func, IntoCondition, Order, Query as Sql, SelectStatement,
};
use sea_orm::{EntityTrait, FromQueryResult, IntoSimpleExpr, QueryResult, Value};
use svc_core::{Error, Result};

use crate::context::Context;
use crate::entity::Life;

/// A query of one entity, within the organisation by construction.
///
/// ```
/// use sea_orm::EntityTrait;
/// use svc_core::Result;
/// use svc_data::Context;
///
/// async fn first_by<E: EntityTrait>(ctx: &Context, column: E::Column) -> Result<Vec<E::Model>> {
///     ctx.query::<E>().order_by(column).take(20).all().await
/// }
/// ```
#[must_use = "a query does nothing until `all`, `one` or `count` is awaited"]
pub struct Query<E: EntityTrait> {
    context: Context,
    condition: Condition,
    order: Vec<(Expr, Order)>,
    take: Option<u64>,
    skip: Option<u64>,
    for_update: bool,
    with_deleted: bool,
    entity: PhantomData<fn() -> E>,
}

impl Context {
    /// One record by its key; none when it is unknown or of another organisation.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn get<E: EntityTrait>(&self, key: impl Into<Value>) -> Result<Option<E::Model>> {
        self.query::<E>().key(key)?.one().await
    }

    /// One record by its key.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when it is unknown or of another
    /// organisation.
    pub async fn find<E: EntityTrait>(&self, key: impl Into<Value>) -> Result<E::Model> {
        let missing = || Error::not_found("there is no such record");
        self.get::<E>(key).await?.ok_or_else(missing)
    }

    /// Begins a query of an entity within the organisation. Within a unit of work it sees what
    /// that has written.
    pub fn query<E: EntityTrait>(&self) -> Query<E> {
        Query::new(self)
    }
}

impl<E: EntityTrait> Query<E> {
    fn new(context: &Context) -> Self {
        Self {
            context: context.clone(),
            condition: Condition::all(),
            order: Vec::new(),
            take: None,
            skip: None,
            for_update: false,
            with_deleted: false,
            entity: PhantomData,
        }
    }

    /// Narrows the answer to rows for which the condition holds too.
    pub fn filter(mut self, condition: impl IntoCondition) -> Self {
        self.condition = self.condition.add(condition.into_condition());
        self
    }

    /// Narrows the answer to the record with this key.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when the entity is not registered.
    fn key(self, key: impl Into<Value>) -> Result<Self> {
        let condition = self.context.catalogue().entity::<E>()?.key_is(&key.into());
        Ok(self.filter(condition))
    }

    /// Sorts upwards; a second call sorts what the first leaves equal.
    pub fn order_by(mut self, column: impl IntoSimpleExpr) -> Self {
        self.order.push((column.into_simple_expr(), Order::Asc));
        self
    }

    /// Sorts downwards.
    pub fn order_by_desc(mut self, column: impl IntoSimpleExpr) -> Self {
        self.order.push((column.into_simple_expr(), Order::Desc));
        self
    }

    /// Takes at most `count` rows.
    pub fn take(mut self, count: u64) -> Self {
        self.take = Some(count);
        self
    }

    /// Leaves out the first `count` rows.
    pub fn skip(mut self, count: u64) -> Self {
        self.skip = Some(count);
        self
    }

    /// Includes the records of a set that deletes softly which were deleted.
    pub fn with_deleted(mut self) -> Self {
        self.with_deleted = true;
        self
    }

    /// Locks the rows until the unit of work ends. SQLite has one writer, who needs no lock.
    pub fn for_update(mut self) -> Self {
        self.for_update = true;
        self
    }

    /// All rows.
    ///
    /// # Errors
    ///
    /// A fault of the database, or an entity that is not registered.
    pub async fn all(self) -> Result<Vec<E::Model>> {
        let mut select = self.select()?;
        let model = self.context.catalogue().entity::<E>()?;
        select.columns((0..model.columns.len()).map(|index| model.column_ref(index)));
        for (expression, order) in &self.order {
            select.order_by_expr(expression.clone(), order.clone());
        }
        // More than a database counts to is as many as it can.
        let most = i64::MAX.unsigned_abs();
        if let Some(take) = self.take {
            select.limit(take.min(most));
        }
        if let Some(skip) = self.skip {
            if self.take.is_none() {
                // SQLite knows no OFFSET without a LIMIT.
                select.limit(most);
            }
            select.offset(skip.min(most));
        }
        if self.for_update && self.context.database().backend() == svc_database::Backend::Postgres {
            select.lock_exclusive();
        }
        let rows = self.context.run(self.context.database().build(&select)).await?;
        decode(&rows)
    }

    /// The first row, if there is one.
    ///
    /// # Errors
    ///
    /// As [`Query::all`].
    pub async fn one(self) -> Result<Option<E::Model>> {
        Ok(self.take(1).all().await?.pop())
    }

    /// How many rows there are, whatever [`Query::take`] and [`Query::skip`] say.
    ///
    /// # Errors
    ///
    /// As [`Query::all`].
    pub async fn count(self) -> Result<u64> {
        let mut select = self.select()?;
        select.expr(Func::count(Expr::val(1)));
        let row = self.context.run_one(self.context.database().build(&select)).await?;
        let count: i64 = match row {
            Some(row) => row.try_get_by_index(0).map_err(svc_database::database_error)?,
            None => 0,
        };
        u64::try_from(count).map_err(|error| Error::internal("a negative count").caused_by(error))
    }

    fn select(&self) -> Result<SelectStatement> {
        let model = self.context.catalogue().entity::<E>()?;
        let life = if self.with_deleted { Life::Any } else { Life::Present };
        let mut select = Sql::select();
        select
            .from(model.table_iden())
            .cond_where(model.scope_of(self.context.principal().organisation(), life))
            .cond_where(self.condition.clone());
        Ok(select)
    }
}

fn decode<M: FromQueryResult>(rows: &[QueryResult]) -> Result<Vec<M>> {
    let decode = |row: &QueryResult| M::from_query_result(row, "");
    rows.iter().map(decode).collect::<Result<_, _>>().map_err(svc_database::database_error)
}
