//! The kinds of things that modules contribute to messages.

use svc_core::Kind;

/// A module's texts in one language.
pub const TEXTS: Kind = Kind::new("texts").repeatable();
