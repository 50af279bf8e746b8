//! The kinds of things that modules contribute to the HTTP host.

use svc_core::Kind;

/// A route of the HTTP API.
pub const ROUTE: Kind = Kind::new("routes");
