//! OData 4.01 as a protocol: URLs, metadata, payloads, batches and headers as plain data.
//!
//! Pure: no input or output, no database, no clock, no async. A server gives it texts and a
//! [`model::Model`] and gets back what to do; a client or a tool can use the same parts.
//!
//! - [`syntax`] parses URLs into trees, within limits, with the position of every part.
//! - [`model`] describes a service: sets, types, operations, and what a caller sees of them.
//! - [`bind`] finds what a tree means for the entities a caller sees: names become indexes,
//!   literals become typed values, what is not served becomes 501.
//! - [`value`] holds typed values, [`json`] reads and writes payloads and errors.
//! - [`csdl`] writes `$metadata` and the service document.
//! - [`typescript`] writes the types of the entities for clients.
//! - [`batch`] reads and writes `$batch`, [`headers`] negotiates versions, formats, preferences.
//! - [`grammar`] holds the parsers against the standard's ABNF.
//!
//! ```
//! use svc_odata::bind::{BindLimits, bind_query};
//! use svc_odata::model::{EntityType, Model, PrimitiveType, Property};
//! use svc_odata::syntax::QueryOptions;
//!
//! let mut product = EntityType::new("Product");
//! product.add_property(Property::new("Name", PrimitiveType::String));
//! product.add_property(Property::new("Price", PrimitiveType::Decimal));
//! let mut model = Model::new("Shop");
//! let product = model.add_type(product);
//!
//! let options = QueryOptions::parse("$filter=Price%20lt%2010.50&$orderby=Name")?;
//! let query = bind_query(&model, product, &options, BindLimits::default())?;
//! assert_eq!(query.order_by.len(), 1);
//!
//! let options = QueryOptions::parse("$filter=Prize%20lt%2010.50")?;
//! let error = bind_query(&model, product, &options, BindLimits::default()).unwrap_err();
//! assert_eq!(error.to_string(), "`Product` has no property `Prize`; did you mean `Price`?");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod batch;
pub mod bind;
pub mod csdl;
pub mod grammar;
pub mod headers;
pub mod json;
pub mod model;
mod names;
pub mod syntax;
pub mod typescript;
pub mod value;
