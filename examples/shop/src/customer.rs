//! Who buys.

#![expect(missing_docs, reason = "a column says what it is by its name, or has a comment")]

use serde_json::Value as Json;
use svc::prelude::*;

/// A customer.
#[sea_orm::model]
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "customers")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organisation_id: Uuid,
    /// The customer's number, unique in the organisation.
    #[sea_orm(column_type = "String(StringLen::N(20))")]
    pub number: String,
    #[sea_orm(column_type = "String(StringLen::N(100))")]
    pub name: String,
    #[sea_orm(column_type = "String(StringLen::N(254))", nullable)]
    pub email: Option<String>,
    #[sea_orm(column_type = "String(StringLen::N(40))", nullable)]
    pub phone: Option<String>,
    #[sea_orm(column_type = "String(StringLen::N(60))")]
    pub city: String,
    /// The country's two letters (ISO 3166-1).
    #[sea_orm(column_type = "String(StringLen::N(2))")]
    pub country: String,
    /// How much the customer's orders that wait for shipment may come to; none is no limit.
    #[sea_orm(column_type = "Decimal(Some((12, 2)))", nullable)]
    pub credit_limit: Option<Decimal>,
    pub version: i64,
    pub created_at: OffsetDateTime,
    pub updated_at: OffsetDateTime,
    #[sea_orm(has_many)]
    pub orders: HasMany<super::order::Entity>,
}

impl ActiveModelBehavior for ActiveModel {}

/// A customer's address and number as they are told to who may not see contacts: the end of
/// each, by which somebody who knows it can say that it is the right one.
#[must_use]
pub fn without_contacts(_: &Principal, [email, phone]: [Json; 2]) -> [Json; 2] {
    let host = |email: &str| email.split_once('@').map(|(_, host)| format!("…@{host}"));
    let end = |phone: &str| {
        let digits: Vec<char> = phone.chars().collect();
        format!("…{}", digits[digits.len().saturating_sub(2)..].iter().collect::<String>())
    };
    [email.as_str().and_then(host).into(), phone.as_str().map(end).into()]
}
