//! The stored values: one row for each setting that an organisation has set.

use std::collections::BTreeMap;

use sea_orm::ActiveValue::Set;
use sea_orm::IntoActiveModel as _;
use sea_orm::entity::prelude::*;
use serde_json::Value;
use svc_core::{Error, Result};
use svc_data::{Context, Migration, UnitOfWork};
use time::OffsetDateTime;

pub(super) const MIGRATIONS: [Migration; 1] =
    [Migration::new("0001_settings", include_str!("../../migrations/0001_settings.sql"))];

/// A value that an organisation has set.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "svc_settings")]
pub struct Model {
    /// The row's key.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The organisation.
    pub organisation_id: Uuid,
    /// The setting's dotted name.
    #[sea_orm(column_type = "String(StringLen::N(200))")]
    pub name: String,
    /// The value as JSON.
    #[sea_orm(column_type = "Text")]
    pub value: String,
    /// Counts the changes.
    pub version: i64,
    /// When the value was set last.
    pub updated_at: OffsetDateTime,
}

impl ActiveModelBehavior for ActiveModel {}

/// All values of the caller's organisation. One that is no JSON counts as not set: somebody wrote
/// it past the application.
pub(super) async fn read(ctx: &Context) -> Result<BTreeMap<String, Value>> {
    let rows = ctx.query::<Entity>().all().await?;
    let parse = |row: Model| Some((row.name, serde_json::from_str(&row.value).ok()?));
    Ok(rows.into_iter().filter_map(parse).collect())
}

/// Stores a value, or removes it, and says whether that changed anything.
pub(super) async fn write(uow: &UnitOfWork, name: &str, value: Option<&Value>) -> Result<bool> {
    let stored = uow.query::<Entity>().filter(Column::Name.eq(name)).for_update().one().await?;
    let text = value.map(Value::to_string);
    match (stored, text) {
        (None, None) => return Ok(false),
        (Some(row), Some(text)) if row.value == text => return Ok(false),
        (None, Some(text)) => {
            let row =
                ActiveModel { name: Set(name.to_owned()), value: Set(text), ..Default::default() };
            uow.insert(row).await.map_err(describe_race)?;
        }
        (Some(row), Some(text)) => {
            let mut row = row.into_active_model();
            row.value = Set(text);
            uow.update(row).await?;
        }
        (Some(row), None) => {
            uow.delete::<Entity>(row.id).await?;
        }
    }
    Ok(true)
}

/// Two who set the same setting for the first time meet at the unique index.
fn describe_race(error: Error) -> Error {
    match error.kind() {
        svc_core::ErrorKind::Conflict => {
            Error::conflict("somebody else has just changed this setting; read it and try again")
                .caused_by(error)
        }
        _ => error,
    }
}
