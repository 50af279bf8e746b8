//! A record as it was at some moment, read as somebody.
//!
//! Events carry the state of a record at its commit. Before it goes to anyone, it passes the same
//! rules as a read of the set: the permission, the organisation, the row filter, the hidden
//! properties and the response filters. A row filter is SQL, so it is asked about the record's values in place of the
//! table, which also works for a record that has been deleted since.

use sea_orm::sea_query::{Alias, Expr, Query};
use serde_json::{Map, Value as Json};
use svc_core::Result;

use super::model::Sets;
use crate::catalogue::EntityModel;
use crate::context::Context;
use crate::database::Backend;
use crate::record::Record;
use crate::value::ValueKind;

impl Sets {
    /// The properties of a record as the set returns them to the context's principal; none when
    /// the principal may not see it.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn read_image(
        &self,
        ctx: &Context,
        entity: &EntityModel,
        record: &Record,
    ) -> Result<Option<Map<String, Json>>> {
        let who = ctx.principal();
        let Some(set) = &entity.set else { return Ok(None) };
        let there = belongs_to(entity, record, ctx) && entity.holds(record);
        if !who.can(&set.permissions.view) || !there {
            return Ok(None);
        }
        if !self.row_filter_shows(ctx, entity, record).await? {
            return Ok(None);
        }
        record.to_property_json(entity, who).map(Some)
    }

    async fn row_filter_shows(
        &self,
        ctx: &Context,
        entity: &EntityModel,
        record: &Record,
    ) -> Result<bool> {
        let filter = entity.set.as_ref().and_then(|set| set.filter_for(ctx.principal()));
        let Some(filter) = filter else { return Ok(true) };
        let mut image = Query::select();
        for (index, column) in entity.columns.iter().enumerate() {
            let value = Expr::val(record.value(index).clone());
            // PostgreSQL can't tell the type of a parameter that stands alone.
            let value = match ctx.database().backend() {
                Backend::Postgres => {
                    sea_orm::ExprTrait::cast_as(value, Alias::new(sql_type(column.kind)))
                }
                Backend::Sqlite => value,
            };
            image.expr_as(value, entity.column_iden(index));
        }
        let mut select = Query::select();
        select.expr(Expr::val(1)).from_subquery(image, entity.table_iden()).cond_where(filter);
        Ok(!ctx.run(ctx.database().build(&select)).await?.is_empty())
    }
}

fn belongs_to(entity: &EntityModel, record: &Record, ctx: &Context) -> bool {
    match (entity.organisation, ctx.principal().organisation()) {
        (Some(index), Some(organisation)) => *record.value(index) == organisation.0.into(),
        (Some(_) | None, None) | (None, Some(_)) => true,
    }
}

/// PostgreSQL's name of a kind.
pub(super) fn sql_type(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Boolean => "boolean",
        ValueKind::Int16 => "smallint",
        ValueKind::Int32 => "integer",
        ValueKind::Int64 => "bigint",
        ValueKind::Double => "double precision",
        ValueKind::Decimal { .. } => "numeric",
        ValueKind::Text { .. } => "text",
        ValueKind::Uuid => "uuid",
        ValueKind::Timestamp => "timestamptz",
        ValueKind::Date => "date",
        ValueKind::Time => "time",
        ValueKind::Bytes => "bytea",
        ValueKind::Json => "jsonb",
    }
}
