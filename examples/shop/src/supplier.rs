//! Who products are bought from.

#![expect(missing_docs, reason = "a column says what it is by its name, or has a comment")]

use svc::prelude::*;

/// A supplier.
#[svc::entity("suppliers", times)]
pub struct Model {
    #[text(100)]
    pub name: String,
    #[text(100)]
    pub contact_name: Option<String>,
    #[text(254)]
    pub email: Option<String>,
    #[text(40)]
    pub phone: Option<String>,
    #[text(60)]
    pub city: String,
    /// The country's two letters (ISO 3166-1).
    #[text(2)]
    pub country: String,
    /// Days from an order to its arrival here.
    #[sea_orm(default_value = 7)]
    pub lead_time_days: i32,
    #[sea_orm(has_many)]
    pub products: HasMany<super::product::Entity>,
}
