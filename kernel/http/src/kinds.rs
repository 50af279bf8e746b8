//! The kinds of things that modules contribute to the HTTP host.

use svc_core::Kind;

/// A route of the HTTP API.
pub const ROUTE: Kind = Kind::new("routes");

/// A layer around all routes.
pub const LAYER: Kind = Kind::new("layers");

/// An app of the desktop.
pub const WEB_APP: Kind = Kind::new("web apps");
