//! Who buys.

#![expect(missing_docs, reason = "a column says what it is by its name, or has a comment")]

use serde_json::Value as Json;
use svc::prelude::*;

/// A customer.
#[svc::entity("customers", times)]
pub struct Model {
    /// The customer's number, unique in the organisation.
    #[text(20)]
    pub number: String,
    #[text(100)]
    pub name: String,
    #[text(254)]
    pub email: Option<String>,
    #[text(40)]
    pub phone: Option<String>,
    #[text(60)]
    pub city: String,
    /// The country's two letters (ISO 3166-1).
    #[text(2)]
    pub country: String,
    /// How much the customer's orders that wait for shipment may come to; none is no limit.
    #[decimal(12, 2)]
    pub credit_limit: Option<Decimal>,
    #[sea_orm(has_many)]
    pub orders: HasMany<super::order::Entity>,
}

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
