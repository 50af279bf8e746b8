use std::collections::BTreeSet;

use axum::Json;
use serde::{Deserialize, Serialize};
use svc_core::Error;
use svc_http::{ApiJson, ApiPath, ApiResult, InLanguage, Listing, May};
use utoipa::ToSchema;
use uuid::Uuid;

use super::definitions::{StateBody, workflows};
use crate::permissions::View;

/// The most records of one request.
const RECORDS: usize = 500;

/// The records whose states are asked for.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkflowStatesRequest)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StatesRequest {
    /// Their keys, 1 to 500.
    ids: Vec<Uuid>,
}

/// The state of a record.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowStateOfRecord)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StateOfRecordBody {
    /// The record's key.
    id: Uuid,
    /// Its state.
    state: StateBody,
}

/// Tells the states of a page of records. Those that the caller doesn't see are left out.
#[utoipa::path(
    post,
    path = "/workflows/{entityType}/states",
    tag = "workflows",
    params(("entityType" = String, Path, description = "The set.")),
    request_body = StatesRequest,
    responses((status = 200, description = "The states; `next` is always null.", body = Listing<StateOfRecordBody>)),
)]
pub(crate) async fn list_states_of_records(
    May { ctx, .. }: May<View>,
    ApiPath(set): ApiPath<String>,
    InLanguage(texts): InLanguage,
    ApiJson(body): ApiJson<StatesRequest>,
) -> ApiResult<Json<Listing<StateOfRecordBody>>> {
    let ids: BTreeSet<Uuid> = body.ids.into_iter().collect();
    if !(1..=RECORDS).contains(&ids.len()) {
        let message = format!("must be 1 to {RECORDS}");
        return Err(Error::invalid("the request is not valid").field("ids", message).into());
    }
    let workflows = workflows(&ctx)?;
    let workflow = workflows.find(&ctx, &set)?;
    let ids: Vec<Uuid> = ids.into_iter().collect();
    let found = workflows.standings(&ctx, workflow, &ids).await?;
    let items = found.into_iter().map(|(id, (definition, state))| StateOfRecordBody {
        id,
        state: StateBody::named(&set, &texts, &definition, &state),
    });
    Ok(Json(Listing { items: items.collect(), next: None }))
}
