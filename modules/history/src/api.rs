//! The routes below `/api/v1/history` and `/api/v1/audit`.

mod audit;
mod entries;
mod facets;
mod restore;

use svc_http::{HttpState, OpenApiRouter, routes};

/// The routes.
pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::new()
        .routes(routes!(entries::list_history_sets))
        .routes(routes!(entries::list_history_of_record))
        .routes(routes!(restore::preview_history_restore))
        .routes(routes!(restore::restore_from_history))
        .routes(routes!(audit::list_audit_log))
        .routes(routes!(facets::count_audit_log))
        .routes(routes!(audit::export_audit_log))
        .routes(routes!(audit::preview_undo_of_unit))
        .routes(routes!(audit::undo_unit))
}
