//! `#[svc::entity("tools")]`: what every entity has, said once.
//!
//! ```text
//! use svc::prelude::*;
//!
//! #[svc::entity("tools")]
//! pub struct Model {
//!     #[text(100)]
//!     pub name: String,
//!     #[decimal(12, 2)]
//!     pub price: Option<Decimal>,
//!     #[sea_orm(belongs_to, from = "shelf_id", to = "id")]
//!     pub shelf: BelongsTo<super::shelf::Entity>,
//! }
//! ```
//!
//! is an entity of `SeaORM` on the table `tools`, in its dense form, with these columns besides:
//!
//! | Column | What the framework keeps in it |
//! | --- | --- |
//! | `id` | a UUID of version 7, by which a record is told from all others |
//! | `organisation_id` | the organisation that the record belongs to |
//! | `version` | counts its changes |
//! | `created_at`, `updated_at` | when it was made and last changed; with `#[svc::entity("tools", times)]` |
//!
//! `#[text(100)]` is a text of at most so many characters, `#[decimal(12, 2)]` a number of so many digits, of
//! which so many stand behind the point; whether the column takes null is said by the type, an `Option` or not.
//! Everything else is `SeaORM`'s to say, and an entity of another shape (another key, one that belongs to all
//! organisations) is written without the attribute.

mod entity;

use proc_macro::TokenStream;

/// Makes an entity of a struct that is called `Model`, as [the crate](crate) says.
#[proc_macro_attribute]
pub fn entity(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let made = entity::entity(arguments.into(), item.into());
    made.unwrap_or_else(|error| error.to_compile_error()).into()
}
