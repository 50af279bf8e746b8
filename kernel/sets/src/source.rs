//! Which entities of a set a path leads to.

use sea_orm::Value;
use sea_orm::sea_query::{Expr, ExprTrait as _, Query, SelectStatement};
use svc_core::{Error, Result};
use svc_data::Context;
use svc_data::value::to_column;
use svc_database::database_error;
use svc_odata::bind::{BoundExpr, KeyValue};
use svc_odata::model::{NavigationIndex, SetIndex, TypeIndex};

use super::model::Sets;
use super::sql::Translator;

/// The entities of a set that a path leads to; what of them a person sees is decided when they
/// are read.
#[derive(Clone, Debug)]
pub struct Source {
    pub(super) set: SetIndex,
    /// Columns that have a value.
    pinned: Vec<(usize, Value)>,
    filters: Vec<BoundExpr>,
    /// Nothing but the entities with these keys.
    among: Option<Vec<Value>>,
}

impl Source {
    /// All entities of a set.
    #[must_use]
    pub fn of(set: SetIndex) -> Self {
        Self { set, pinned: Vec::new(), filters: Vec::new(), among: None }
    }

    /// Those with one of these keys.
    #[must_use]
    pub fn among(mut self, keys: Vec<Value>) -> Self {
        self.among = Some(keys);
        self
    }

    /// The set.
    #[must_use]
    pub fn set(&self) -> SetIndex {
        self.set
    }

    /// The columns that have a value, with it.
    pub(super) fn pinned(&self) -> &[(usize, Value)] {
        &self.pinned
    }

    /// Whether nothing but values of columns says which entities are meant.
    pub(super) fn has_only_values(&self) -> bool {
        self.filters.is_empty() && self.among.is_none()
    }

    /// Whether nothing but keys says which entities are meant, or nothing at all.
    pub(super) fn has_only_keys(&self) -> bool {
        self.filters.is_empty() && self.pinned.is_empty()
    }

    /// Whether keys say which entities are meant.
    pub(super) fn is_among(&self) -> bool {
        self.among.is_some()
    }

    /// Those that hold a condition.
    #[must_use]
    pub fn filtered(mut self, condition: BoundExpr) -> Self {
        self.filters.push(condition);
        self
    }
}

impl Sets {
    /// The one entity with a key.
    #[must_use]
    pub fn with_key(&self, mut source: Source, key: Value) -> Source {
        source.pinned.push((self.entity(source.set).key_index(), key));
        source
    }

    /// The one entity with a key or alternate key.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for a value that none can have.
    pub fn with_key_values(&self, mut source: Source, values: &[KeyValue]) -> Result<Source> {
        let served = self.served(source.set);
        for KeyValue { property, value } in values {
            let missing = || Error::not_found("there is no such entity");
            let kind = served.kind_of(*property);
            let value = to_column(kind, value).ok_or_else(missing)?;
            source.pinned.push((served.column_index(*property), value));
        }
        Ok(source)
    }

    /// The key of the one entity that a source leads to.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when it is unknown, of another
    /// organisation, or hidden by a row filter.
    pub async fn find_key(&self, ctx: &Context, source: &Source) -> Result<Value> {
        let key = self.entity(source.set).key_index();
        if let [(column, value)] = &source.pinned[..]
            && *column == key
            && source.filters.is_empty()
        {
            return Ok(value.clone());
        }
        let value = self.column_of(ctx, source, key).await?;
        value.ok_or_else(|| Error::not_found("there is no such entity"))
    }

    /// As [`Sets::find_key`]; none for what isn't there, where it may be created.
    ///
    /// # Errors
    ///
    /// As [`Sets::find_key`], where it may not be created.
    pub async fn find_key_now(
        &self,
        ctx: &Context,
        source: &Source,
        may_create: bool,
    ) -> Result<Option<Value>> {
        if !may_create {
            return self.find_key(ctx, source).await.map(Some);
        }
        self.column_of(ctx, source, self.entity(source.set).key_index()).await
    }

    /// The value of a column of the one entity that a source leads to; none where there is none.
    pub(super) async fn column_of(
        &self,
        ctx: &Context,
        source: &Source,
        column: usize,
    ) -> Result<Option<Value>> {
        let select = {
            let (mut select, translator) = self.select_source(ctx, source)?;
            select.expr(translator.current.column(column));
            select
        };
        let row = ctx.run_one(ctx.database().build(&select)).await?;
        let kind = self.entity(source.set).columns[column].kind;
        row.map(|row| kind.read(&row, 0).map_err(database_error)).transpose()
    }

    /// The keys of the entities that a source leads to, of some of them where there are more.
    pub(super) async fn keys_of(
        &self,
        ctx: &Context,
        source: &Source,
        most: usize,
    ) -> Result<Vec<Value>> {
        let entity = self.entity(source.set);
        let select = {
            let (mut select, translator) = self.select_source(ctx, source)?;
            select.expr(translator.current.column(entity.key_index())).limit(most as u64);
            select
        };
        let rows = ctx.run(ctx.database().build(&select)).await?;
        let kind = entity.key().kind;
        rows.iter().map(|row| kind.read(row, 0).map_err(database_error)).collect()
    }

    /// The entities that a navigation property of the one entity leads to.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when the entity is unknown, of
    /// another organisation, or hidden by a row filter;
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without the permission of its
    /// set.
    pub async fn follow(
        &self,
        ctx: &Context,
        source: &Source,
        navigation: NavigationIndex,
    ) -> Result<Source> {
        self.require_view(ctx, source.set)?;
        let served = self.served(source.set);
        let link = served.link(navigation);
        let value = self.column_of(ctx, source, link.column).await?;
        let value = value.ok_or_else(|| Error::not_found("there is no such entity"))?;
        // The types of sets are added side by side with them, so they share a place.
        let mut target = Source::of(SetIndex(link.target.0));
        target.pinned.push((link.target_column, value));
        Ok(target)
    }

    pub(super) fn entity_type_of(&self, set: SetIndex) -> TypeIndex {
        self.model().set(set).entity_type
    }

    /// The rows of a source that the context's principal may see, without columns.
    pub(super) fn select_source<'a>(
        &'a self,
        ctx: &'a Context,
        source: &Source,
    ) -> Result<(SelectStatement, Translator<'a>)> {
        let served = self.served(source.set);
        let translator = Translator::new(self, ctx, self.entity_type_of(source.set));
        let mut select = Query::select();
        select.from(served.entity.table_iden()).cond_where(served.entity.seen_by(ctx.viewer()));
        for (column, value) in &source.pinned {
            select.and_where(translator.current.column(*column).eq(Expr::val(value.clone())));
        }
        if let Some(keys) = &source.among {
            let key = translator.current.column(served.entity.key_index());
            select.and_where(key.is_in(keys.iter().cloned()));
        }
        for filter in &source.filters {
            select.and_where(translator.condition(filter)?);
        }
        Ok((select, translator))
    }
}
