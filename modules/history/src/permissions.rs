//! Who may read the history at all.

use svc_core::Permission;

/// The permission to read the history of records that one may see.
pub const VIEW: &str = "History.View";

/// [`VIEW`] as a type, for routes.
pub(crate) struct View;

impl Permission for View {
    const NAME: &'static str = VIEW;
}

/// The permission to read what happened in the organisation, and to take units of work back.
pub const AUDIT: &str = "History.Audit";

/// [`AUDIT`] as a type, for routes.
pub(crate) struct Audit;

impl Permission for Audit {
    const NAME: &'static str = AUDIT;
}
