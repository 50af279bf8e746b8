use std::collections::BTreeSet;

use axum::Json;
use serde::{Deserialize, Serialize};
use svc_core::{Error, Result};
use svc_data::Context;
use svc_http::{ApiJson, ApiPath, ApiResult, InLanguage, Listing, May};
use svc_odata::syntax::QueryOptions;
use svc_odata::value::Value as Literal;
use svc_sets::{Source, ValueRows};
use utoipa::ToSchema;
use uuid::Uuid;

use super::definitions::{StateBody, workflows};
use crate::declared::STATE_PROPERTY;
use crate::engine::{Workflow, WorkflowEngine};
use crate::permissions::View;
use crate::store;

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
    let states = states(&ctx, &workflows, workflow, ids).await?;
    let organisation = ctx.organisation()?;
    let ids: Vec<Uuid> = states.iter().map(|(id, _)| *id).collect();
    let instances = store::instances(&ctx, organisation, &set, &ids).await?;
    let mut items = Vec::with_capacity(states.len());
    for (id, state) in states {
        let definition = match instances.get(&id) {
            Some(instance) => workflows.version(&ctx, workflow, instance.version).await?,
            None => workflows.current(&ctx, workflow, organisation).await?.1,
        };
        items.push(StateOfRecordBody {
            id,
            state: StateBody::named(&set, &texts, &definition, &state),
        });
    }
    Ok(Json(Listing { items, next: None }))
}

async fn states(
    ctx: &Context,
    workflows: &WorkflowEngine,
    workflow: &Workflow,
    ids: BTreeSet<Uuid>,
) -> Result<Vec<(Uuid, String)>> {
    let key = &workflow.model.key().property;
    let options = QueryOptions::parse(&format!("$select={key},{STATE_PROPERTY}&$orderby={key}"))
        .map_err(|error| Error::internal("the states can't be asked for").caused_by(error))?;
    let keys = ids.into_iter().map(Into::into).collect();
    let source = Source::of(workflow.index).among(keys);
    let reading = workflows.sets.reading_of(ctx, source, &options)?;
    let columns = reading.columns();
    let place = |name: &str| columns.iter().position(|column| column.name == name);
    let (key, state) = (place(key), place(STATE_PROPERTY));
    let mut table = ValueRows::default();
    reading.read(&mut table).await?;
    let of_row = |row: &Vec<Literal>| match (row.get(key?)?, row.get(state?)?) {
        (Literal::Guid(id), Literal::String(state)) => Some((*id, state.clone())),
        _ => None,
    };
    Ok(table.rows.iter().filter_map(of_row).collect())
}
