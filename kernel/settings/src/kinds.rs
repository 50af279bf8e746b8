//! The kinds of things that modules contribute to settings.

use svc_core::Kind;

/// A setting that an organisation or a person changes at run time.
pub const APPLICATION_SETTING: Kind = Kind::new("application settings");
