//! The kinds of things that modules contribute to live pages.

use svc_core::Kind;

/// A topic that pages can hear of.
pub const TOPIC: Kind = Kind::new("live topics");
