//! The stored profiles: one row for each document of a person in an organisation.

// What SeaORM derives is public.
#![expect(unreachable_pub, reason = "what SeaORM derives is public")]

use sea_orm::entity::prelude::*;
use time::OffsetDateTime;

/// A document of a person.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "svc_profiles")]
pub struct Model {
    /// The row's key.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The organisation.
    pub organisation_id: Uuid,
    /// The person.
    pub user_id: Uuid,
    /// The client's key of the document.
    #[sea_orm(column_type = "String(StringLen::N(200))")]
    pub name: String,
    /// The document as JSON.
    #[sea_orm(column_type = "Text")]
    pub document: String,
    /// Counts the changes.
    pub version: i64,
    /// When it was saved last.
    pub updated_at: OffsetDateTime,
}

impl ActiveModelBehavior for ActiveModel {}
