//! What kind of thing a product is.

#![expect(missing_docs, reason = "a column says what it is by its name, or has a comment")]

use svc::prelude::*;

/// A category of products.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "categories")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organisation_id: Uuid,
    #[sea_orm(column_type = "String(StringLen::N(60))")]
    pub name: String,
    #[sea_orm(column_type = "String(StringLen::N(500))", nullable)]
    pub description: Option<String>,
    pub version: i64,
    pub created_at: OffsetDateTime,
    pub updated_at: OffsetDateTime,
    #[sea_orm(has_many)]
    pub products: HasMany<super::product::Entity>,
}

impl ActiveModelBehavior for ActiveModel {}
