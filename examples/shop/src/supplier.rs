//! Who products are bought from.

#![expect(missing_docs, reason = "a column says what it is by its name, or has a comment")]

use svc::prelude::*;

/// A supplier.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "suppliers")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organisation_id: Uuid,
    #[sea_orm(column_type = "String(StringLen::N(100))")]
    pub name: String,
    #[sea_orm(column_type = "String(StringLen::N(100))", nullable)]
    pub contact_name: Option<String>,
    #[sea_orm(column_type = "String(StringLen::N(254))", nullable)]
    pub email: Option<String>,
    #[sea_orm(column_type = "String(StringLen::N(40))", nullable)]
    pub phone: Option<String>,
    #[sea_orm(column_type = "String(StringLen::N(60))")]
    pub city: String,
    /// The country's two letters (ISO 3166-1).
    #[sea_orm(column_type = "String(StringLen::N(2))")]
    pub country: String,
    /// Days from an order to its arrival here.
    #[sea_orm(default_value = 7)]
    pub lead_time_days: i32,
    pub version: i64,
    pub created_at: OffsetDateTime,
    pub updated_at: OffsetDateTime,
    #[sea_orm(has_many)]
    pub products: HasMany<super::product::Entity>,
}

impl ActiveModelBehavior for ActiveModel {}
