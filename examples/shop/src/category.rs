//! What kind of thing a product is.

#![expect(missing_docs, reason = "a column says what it is by its name, or has a comment")]

use svc::prelude::*;

/// A category of products.
#[svc::entity("categories", times)]
pub struct Model {
    #[text(60)]
    pub name: String,
    #[text(500)]
    pub description: Option<String>,
    #[sea_orm(has_many)]
    pub products: HasMany<super::product::Entity>,
}
