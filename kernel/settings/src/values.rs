//! The stored values: one row for each setting that an organisation or a person has set.

#![expect(unreachable_pub, reason = "what SeaORM derives is public")]

use std::collections::BTreeMap;

use sea_orm::ActiveValue::Set;
use sea_orm::IntoActiveModel as _;
use sea_orm::entity::prelude::*;
use serde_json::Value;
use svc_core::{Error, Result, UserId};
use svc_data::{Context, Query, UnitOfWork};
use time::OffsetDateTime;

/// The values that somebody has set, by name.
pub(crate) type Values = BTreeMap<String, Value>;

/// A value that an organisation or a person has set.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "svc_settings")]
pub struct Model {
    /// The row's key.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The organisation.
    pub organisation_id: Uuid,
    /// The person; none for a value of the organisation.
    pub user_id: Option<Uuid>,
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

/// Narrows a query to the values of a person, or to those of the organisation.
fn of(query: Query<Entity>, owner: Option<UserId>) -> Query<Entity> {
    query.filter(match owner {
        Some(user) => Column::UserId.eq(user.0),
        None => Column::UserId.is_null(),
    })
}

/// All values of a person in the caller's organisation, or of the organisation. One that isn't
/// JSON counts as not set: somebody wrote it past the application.
pub(crate) async fn read(ctx: &Context, owner: Option<UserId>) -> Result<Values> {
    let rows = of(ctx.query::<Entity>(), owner).all().await?;
    let parse = |row: Model| Some((row.name, serde_json::from_str(&row.value).ok()?));
    Ok(rows.into_iter().filter_map(parse).collect())
}

/// Stores a value, or removes it, and says whether that changed anything.
pub(crate) async fn write(
    uow: &UnitOfWork,
    owner: Option<UserId>,
    name: &str,
    value: Option<&Value>,
) -> Result<bool> {
    let stored = of(uow.query::<Entity>(), owner).filter(Column::Name.eq(name));
    let stored = stored.for_update().one().await?;
    let text = value.map(Value::to_string);
    match (stored, text) {
        (None, None) => return Ok(false),
        (Some(row), Some(text)) if row.value == text => return Ok(false),
        (None, Some(text)) => {
            let row = ActiveModel {
                user_id: Set(owner.map(|user| user.0)),
                name: Set(name.to_owned()),
                value: Set(text),
                ..Default::default()
            };
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
