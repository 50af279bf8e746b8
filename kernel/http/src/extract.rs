//! Strict extractors: what can't be read is refused, and the answer names the field.

mod fields;
mod json;
mod objects;
mod page;
mod path;
mod query;
mod strict;

pub use json::{ApiJson, JsonText};
pub use page::{Listing, Page, Paged};
pub use path::ApiPath;
pub use query::ApiQuery;
