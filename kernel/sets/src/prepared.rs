//! Statements that were built before: of one entity by its key, the read that is asked for most.
//!
//! The text is made like that of every other read, and kept under all that it depends on. Where an
//! access rule says anything of the principal but its organisation, nothing is kept or looked for.

use sea_orm::sea_query::Values;
use sea_orm::{DbBackend, Statement, Value};
use svc_core::Result;
use svc_data::{Context, Masks};
use svc_database::Backend;
use svc_database::stored::for_sqlite;
use svc_odata::bind::BoundQuery;

use super::model::Sets;
use super::rows::Layout;
use super::source::Source;
use super::statement_cache::Shape;

impl Sets {
    /// The statement for the one entity that a source leads to, and what it returns; none where
    /// it isn't plain: columns of the set's own, by values of its own, under no rule but the
    /// organisation.
    pub(super) fn prepared<'a>(
        &'a self,
        ctx: &'a Context,
        source: &Source,
        query: &BoundQuery,
    ) -> Result<Option<(Statement, Layout<'a>)>> {
        let (served, who) = (self.served(source.set), ctx.principal());
        let is_plain = query.apply.is_none()
            && query.compute.is_empty()
            && query.filter.is_none()
            && query.search.is_none()
            && query.expand.is_empty()
            && source.has_only_values();
        if !is_plain || served.entity.row_filter(ctx.viewer()).is_some() {
            return Ok(None);
        }
        let columns = served.chosen(Some(&query.select.properties), who);
        let has_column = |index: &usize| served.entity.virtual_property(*index).is_none();
        if !columns.iter().all(has_column) || Masks::of(&served.entity, who, &columns).is_some() {
            return Ok(None);
        }
        let organisation = who.organisation().filter(|_| served.entity.is_organisation_scoped());
        let shape = Shape {
            set: source.set.0,
            scoped: organisation.is_some(),
            pinned: source.pinned().iter().map(|(column, _)| *column).collect(),
            columns,
        };
        let values = organisation.map(|organisation| Value::from(organisation.0)).into_iter();
        let values = values.chain(source.pinned().iter().map(|(_, value)| value.clone()));
        let backend = ctx.database().backend();
        let values = Some(Values(values.collect()));
        let statement = |sql| match backend {
            Backend::Sqlite => for_sqlite(Statement { sql, values, db_backend: DbBackend::Sqlite }),
            Backend::Postgres => Statement { sql, values, db_backend: DbBackend::Postgres },
        };
        if let Some(sql) = self.statements.find(&shape) {
            let layout = Layout::of_columns(served, backend, shape.columns);
            return Ok(Some((statement(sql.as_ref().to_owned()), layout)));
        }
        let (mut select, translator) = self.select_query(ctx, source, query)?;
        let (layout, _) = Layout::of_query(&mut select, &translator, query)?;
        let built = ctx.database().build(&select);
        // What was built is the proof that these are its values, and in this order.
        if built.values == statement(String::new()).values {
            self.statements.keep(shape, &built.sql);
        }
        Ok(Some((built, layout)))
    }
}
