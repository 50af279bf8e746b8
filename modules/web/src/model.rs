//! The stored views: one row for each that is shared in an organisation.

// What SeaORM derives is public.
#![expect(unreachable_pub, reason = "what SeaORM derives is public")]

use sea_orm::entity::prelude::*;
use time::OffsetDateTime;

/// A view of a list that an organisation shares.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "web_shared_views")]
pub struct Model {
    /// The row's key.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The organisation.
    pub organisation_id: Uuid,
    /// The entity set whose list it shows.
    #[sea_orm(column_type = "String(StringLen::N(100))")]
    pub set_name: String,
    /// What people call it.
    #[sea_orm(column_type = "String(StringLen::N(80))")]
    pub name: String,
    /// The state of the list as JSON, which the client alone understands.
    #[sea_orm(column_type = "Text")]
    pub state: String,
    /// Counts the changes.
    pub version: i64,
    /// When it was shared last.
    pub updated_at: OffsetDateTime,
}

impl ActiveModelBehavior for ActiveModel {}
