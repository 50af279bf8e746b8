//! OData JSON 4.01: entities in requests, values, context URLs and errors in responses.
//!
//! Reading is strict where a mistake would be stored, and collects every mistake of a body at
//! once: [`parse_entity`]. Writing is a set of functions that append to a string, so that rows can
//! stream into a response without a tree in between.

mod context;
mod error;
mod members;
mod payload;
mod references;
mod refusal;
mod rewrite;
mod write;

pub use context::{ContextShape, context_fragment};
pub use error::{ErrorBody, ErrorDetail};
pub use payload::{
    EntityPayload, NavigationPayload, PayloadOptions, Purpose, parse_entity, parse_entity_at,
    parse_parameters, parse_property,
};
pub use references::{parse_reference, parse_references};
pub use refusal::{PayloadError, PayloadIssue, PayloadProblem};
pub use rewrite::Rewriter;
pub use write::{JsonOptions, push_name, push_string, push_value};
