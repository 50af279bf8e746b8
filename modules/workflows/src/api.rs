//! The routes below `/api/v1/workflows`.

mod bulk;
mod definitions;
mod delegations;
mod designer;
mod palette;
mod records;
mod states;
mod tasks;

use svc_http::{HttpState, OpenApiRouter, routes};

/// The routes.
pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::new()
        .routes(routes!(definitions::list_workflows))
        .routes(routes!(tasks::list_workflow_tasks))
        .routes(routes!(tasks::count_workflow_tasks))
        .routes(routes!(
            delegations::list_workflow_delegations,
            delegations::delegate_workflow_tasks
        ))
        .routes(routes!(delegations::end_workflow_delegation))
        .routes(routes!(delegations::find_people))
        .routes(routes!(designer::list_workflow_designs))
        .routes(routes!(designer::read_workflow_design))
        .routes(routes!(designer::read_workflow_version))
        .routes(routes!(designer::save_workflow_draft))
        .routes(routes!(designer::drop_workflow_draft))
        .routes(routes!(designer::check_workflow_design))
        .routes(routes!(designer::publish_workflow_draft))
        .routes(routes!(designer::count_workflow_records))
        .routes(routes!(designer::migrate_workflow_records))
        .routes(routes!(designer::try_workflow_design))
        .routes(routes!(definitions::read_workflow))
        .routes(routes!(states::list_states_of_records))
        .routes(routes!(bulk::take_transition_of_many))
        .routes(routes!(records::read_record_in_workflow))
        .routes(routes!(records::take_transition))
        .routes(routes!(delegations::reassign_workflow_task))
}
