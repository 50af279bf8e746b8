//! A record as it was at some moment, read as somebody.
//!
//! Events carry the state of a record at its commit. Before it goes to anyone, it passes the same
//! rules as a read of the set: the permission, the organisation, the row filter, the hidden
//! properties and the response filters. A row filter is SQL, so it is asked about the record's values
//! in place of the table, which also works for a record that has been deleted since.

use sea_orm::Condition;
use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, Query, Value, ValueTuple};
use serde_json::{Map, Value as Json};
use svc_core::Result;
use svc_data::value::ValueKind;
use svc_data::{Context, EntityModel, Record};
use svc_database::{Backend, database_error};

use super::model::Sets;

/// The column of a record's place; no column of an entity is called so.
const PLACE: &str = "image$place";

/// The most records that one statement is asked about; fewer are filled up to a power of two, so
/// that there are few texts to prepare.
const AT_ONCE: usize = 64;

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
        let mut images = self.read_images(ctx, entity, &[record]).await?;
        Ok(images.pop().flatten())
    }

    /// [`Sets::read_image`] of many records of one entity, in their order. A row filter is asked
    /// about all of them with a statement for each 64.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn read_images(
        &self,
        ctx: &Context,
        entity: &EntityModel,
        records: &[&Record],
    ) -> Result<Vec<Option<Map<String, Json>>>> {
        let who = ctx.principal();
        let may_view = entity.set.as_ref().is_some_and(|set| who.can(&set.permissions.view));
        if !may_view {
            return Ok(vec![None; records.len()]);
        }
        let mut shown: Vec<bool> = records
            .iter()
            .map(|record| belongs_to(entity, record, ctx) && entity.holds(record))
            .collect();
        if let Some(filter) = entity.row_filter(ctx.viewer()) {
            let asked: Vec<usize> = (0..records.len()).filter(|index| shown[*index]).collect();
            shown.fill(false);
            for chunk in asked.chunks(AT_ONCE) {
                for index in row_filter_shows(ctx, entity, &filter, records, chunk).await? {
                    shown[index] = true;
                }
            }
        }
        let image = |(record, shown): (&&Record, bool)| {
            shown.then(|| record.to_property_json(entity, who)).transpose()
        };
        records.iter().zip(shown).map(image).collect()
    }
}

/// Which of the records at `places` a row filter shows: their values stand in for the table, each
/// with its place beside it.
async fn row_filter_shows(
    ctx: &Context,
    entity: &EntityModel,
    filter: &Condition,
    records: &[&Record],
    places: &[usize],
) -> Result<Vec<usize>> {
    let Some(last) = places.last() else { return Ok(Vec::new()) };
    let padding = std::iter::repeat_n(last, places.len().next_power_of_two() - places.len());
    let rows = places.iter().chain(padding).map(|place| {
        let number = Value::from(i64::try_from(*place).unwrap_or(i64::MAX));
        let values = (0..entity.columns.len()).map(|column| records[*place].value(column).clone());
        ValueTuple::Many(std::iter::once(number).chain(values).collect())
    });
    // Both databases call the columns of VALUES `column1`, `column2`, ….
    let mut image = Query::select();
    image.from_values(rows, Alias::new("image"));
    image.expr_as(Expr::col(Alias::new("column1")), Alias::new(PLACE));
    for (index, column) in entity.columns.iter().enumerate() {
        let value = Expr::col(Alias::new(format!("column{}", index + 2)));
        // PostgreSQL can't tell the type of a parameter that stands alone.
        let value = match ctx.database().backend() {
            Backend::Postgres => value.cast_as(Alias::new(sql_type(column.kind))),
            Backend::Sqlite => value,
        };
        image.expr_as(value, entity.column_iden(index));
    }
    let mut select = Query::select();
    select
        .column((entity.table_iden(), Alias::new(PLACE)))
        .from_subquery(image, entity.table_iden())
        .cond_where(filter.clone());
    let shown = ctx.run(ctx.database().build(&select)).await?;
    shown
        .iter()
        .map(|row| {
            let place: i64 = row.try_get_by_index(0).map_err(database_error)?;
            Ok(usize::try_from(place).unwrap_or(usize::MAX))
        })
        .collect()
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
        ValueKind::Enumeration(enumeration) => sql_type(enumeration.storage()),
    }
}
