//! Reading one entity, straight from its row to JSON.

use std::fmt::Write as _;

use sea_orm::Value;
use sea_orm::sea_query::SelectStatement;
use svc_core::{Error, Result};
use svc_data::{Context, Masks, Record};
use svc_odata::bind::BoundQuery;
use svc_odata::model::{PropertyIndex, SetIndex};

use super::apply::Rows;
use super::counts::{count_of, first_number};
use super::model::Sets;
use super::row_json::push_json;
use super::rows::{Layout, push_property};
use super::sink::{Row, RowSink};
use super::source::Source;
use super::sql::Translator;

/// One entity as its set returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// The version, of which the `ETag` is made.
    pub version: i64,
    /// The properties as the members of a JSON object, without its braces.
    pub members: String,
}

impl Sets {
    /// Insists that the context's principal may read the set.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden), naming the permission.
    pub fn require_view(&self, ctx: &Context, set: SetIndex) -> Result<()> {
        ctx.require(&self.served(set).described()?.permissions.view)
    }

    /// One entity by its key.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without the set's permission;
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when it is unknown, of another
    /// organisation, or hidden by a row filter.
    pub async fn read_one(
        &self,
        ctx: &Context,
        set: SetIndex,
        key: &Value,
        properties: Option<&[PropertyIndex]>,
    ) -> Result<Entity> {
        self.require_view(ctx, set)?;
        let source = self.with_key(Source::of(set), key.clone());
        let (select, layout) = {
            let (mut select, translator) = self.select_source(ctx, &source)?;
            let columns = self.served(set).chosen(properties, ctx.principal());
            let layout = Layout::new(&mut select, &translator, columns, None)?;
            (select, layout)
        };
        let row = ctx.run_one(ctx.database().build(&select)).await?.ok_or_else(missing)?;
        let mut sink = OneEntity::default();
        sink.row(&Row::entity(&layout, &row, &[], false))?;
        sink.0.ok_or_else(missing)
    }

    /// A record as [`Sets::read_one`] returns it, for one that was stored just now and that the
    /// context's principal is known to see.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without the set's permission.
    pub fn entity_of_record(
        &self,
        ctx: &Context,
        set: SetIndex,
        record: &Record,
    ) -> Result<Entity> {
        self.require_view(ctx, set)?;
        let served = self.served(set);
        let columns = served.chosen(None, ctx.principal());
        let masks = Masks::of(&served.entity, ctx.principal(), &columns);
        let stored = |index| (index, served.kind(index).to_json(record.value(index)));
        let changed = masks
            .map(|masks| masks.apply(masks.columns().into_iter().map(stored).collect()))
            .transpose()?;
        let changed = changed.unwrap_or_default();
        let mut members = String::with_capacity(512);
        for index in columns {
            push_property(&mut members, served.name(index));
            match changed.iter().find(|(changed, _)| *changed == index) {
                Some((_, value)) => drop(write!(members, "{value}")),
                None => push_json(served.kind(index), record.value(index), &mut members),
            }
            members.push(',');
        }
        members.pop();
        let version = record.version(&served.entity);
        let version = version.ok_or_else(|| Error::internal("a set has no version"))?;
        Ok(Entity { version, members })
    }

    /// Whether the context's principal may read the entity with this key.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn sees(&self, ctx: &Context, set: SetIndex, key: &Value) -> Result<bool> {
        if self.require_view(ctx, set).is_err() {
            return Ok(false);
        }
        let source = self.with_key(Source::of(set), key.clone());
        let key = self.entity(set).key_index();
        Ok(self.column_of(ctx, &source, key).await?.is_some())
    }

    /// The one entity that a source leads to, with what the query asks for of it.
    ///
    /// # Errors
    ///
    /// As [`Sets::read_one`]; [`ErrorKind::NotImplemented`](svc_core::ErrorKind::NotImplemented)
    /// for a feature that is not served.
    pub async fn read_entity(
        &self,
        ctx: &Context,
        source: &Source,
        query: &BoundQuery,
        etags: bool,
    ) -> Result<Entity> {
        let mut sink = OneEntity::default();
        self.read_row(ctx, source, query, etags, &mut sink).await?;
        sink.0.ok_or_else(missing)
    }

    /// Reads the one entity that a source leads to, with what the query asks for of it, into a
    /// sink. `etags` says whether related entities come with theirs.
    ///
    /// # Errors
    ///
    /// As [`Sets::read_entity`].
    pub async fn read_row<S: RowSink + ?Sized>(
        &self,
        ctx: &Context,
        source: &Source,
        query: &BoundQuery,
        etags: bool,
        sink: &mut S,
    ) -> Result<()> {
        self.require_view(ctx, source.set)?;
        if let Some((statement, layout)) = self.prepared(ctx, source, query)? {
            let row = ctx.run_one(statement).await?.ok_or_else(missing)?;
            return sink.row(&Row::entity(&layout, &row, &[], etags));
        }
        let (select, layout, from) = {
            let (mut select, translator) = self.select_query(ctx, source, query)?;
            let (layout, from) = Layout::of_query(&mut select, &translator, query)?;
            (select, layout, from)
        };
        let row = ctx.run_one(ctx.database().build(&select)).await?.ok_or_else(missing)?;
        let row = std::slice::from_ref(&row);
        let related = self.related(ctx, &query.expand, &from, row, etags).await?;
        sink.row(&Row::entity(&layout, &row[0], &related, etags))
    }

    /// The rows of a source that hold the conditions of a query, without columns.
    pub(super) fn select_query<'a>(
        &'a self,
        ctx: &'a Context,
        source: &Source,
        query: &BoundQuery,
    ) -> Result<(SelectStatement, Translator<'a>)> {
        narrowed(self.select_source(ctx, source)?, query)
    }

    /// The same for a page or a number of them, which are joined with what the conditions ask for where that `may_join`:
    /// [`Translator::put_joins`] has to follow.
    pub(super) fn select_page<'a>(
        &'a self,
        ctx: &'a Context,
        source: &Source,
        query: &BoundQuery,
        may_join: bool,
    ) -> Result<(SelectStatement, Translator<'a>)> {
        let (select, translator) = self.select_source(ctx, source)?;
        // What is computed becomes a table of its own, which isn't joined.
        let joins = may_join && query.apply.is_none() && query.compute.is_empty();
        narrowed((select, if joins { translator.joining() } else { translator }), query)
    }

    /// Counts the rows of a source that hold the conditions of a query.
    pub(super) fn count_query(
        &self,
        ctx: &Context,
        source: &Source,
        query: &BoundQuery,
    ) -> Result<SelectStatement> {
        let (mut select, translator) = self.select_page(ctx, source, query, !source.is_among())?;
        translator.put_joins(&mut select);
        Ok(count_of(&select))
    }

    /// The version of an entity now.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when it is unknown, of another
    /// organisation, or hidden by a row filter.
    pub async fn current_version(&self, ctx: &Context, source: &Source) -> Result<i64> {
        let select = {
            let (mut select, translator) = self.select_source(ctx, source)?;
            Layout::new(&mut select, &translator, Vec::new(), None)?;
            select
        };
        let row = ctx.run_one(ctx.database().build(&select)).await?;
        Layout::version(&row.ok_or_else(missing)?)
    }

    /// How many entities of a source hold the conditions of a query, as the context's principal
    /// sees them.
    ///
    /// # Errors
    ///
    /// As [`Sets::open_page`].
    pub async fn count(&self, ctx: &Context, source: &Source, query: &BoundQuery) -> Result<u64> {
        self.require_view(ctx, source.set)?;
        let source = self.narrowed_to_few(ctx, source, query).await?;
        let select = self.count_query(ctx, &source, query)?;
        first_number(ctx, &select).await
    }
}

/// Narrows the rows of a source to those that hold the conditions of a query.
fn narrowed<'a>(
    (select, translator): (SelectStatement, Translator<'a>),
    query: &BoundQuery,
) -> Result<(SelectStatement, Translator<'a>)> {
    let mut rows = Rows::of_entities(select, translator);
    if let Some(apply) = &query.apply {
        rows.apply(apply)?;
    }
    if rows.is_cut() || !query.compute.is_empty() {
        rows.settle(&query.compute)?;
    }
    let Rows { mut select, translator, .. } = rows;
    // Whoever needs an order says it of what is left: see `BoundQuery::order`.
    select.clear_order_by();
    if let Some(filter) = &query.filter {
        select.and_where(translator.condition(filter)?);
    }
    if let Some(search) = &query.search {
        let Some(entity_type) = query.row.entity_type else {
            let message = "`$search` of aggregated rows is not served";
            return Err(Error::not_implemented(message).target("$search"));
        };
        select.and_where(translator.search(&translator.current, entity_type, search)?);
    }
    Ok((select, translator))
}

fn missing() -> Error {
    Error::not_found("there is no such entity")
}

/// Keeps the one entity that is read.
#[derive(Default)]
struct OneEntity(Option<Entity>);

impl RowSink for OneEntity {
    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        let version = row.version()?.ok_or_else(|| Error::internal("a set has no version"))?;
        let mut members = String::with_capacity(512);
        row.write_members(&mut members)?;
        members.pop();
        self.0 = Some(Entity { version, members });
        Ok(())
    }
}
