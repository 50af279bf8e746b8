//! OData 4.01 as a protocol: URLs, metadata, payloads, batches and headers as plain data.
//!
//! Pure: no input or output, no database, no clock, no async.

pub mod batch;
pub mod bind;
pub mod csdl;
pub mod grammar;
pub mod headers;
pub mod json;
pub mod model;
pub mod syntax;
pub mod value;
