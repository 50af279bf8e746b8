use axum::Json;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use svc_core::{Directory, micros};
use svc_http::{ApiJson, ApiPath, ApiQuery, ApiResult, Listing, May};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::definitions::workflows;
use super::records::PersonBody;
use crate::delegation::Wanted;
use crate::permissions::{Act, VIEW, View};
use crate::store::{self, Delegation};
use crate::subject::Version;

/// How many people are told at most.
const PEOPLE: u32 = 20;

/// Somebody stands in for another over a span of time.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowDelegation)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DelegationBody {
    /// Its key.
    id: Uuid,
    /// For whom.
    from: PersonBody,
    /// Who.
    to: PersonBody,
    /// When it begins.
    #[serde(with = "time::serde::rfc3339")]
    begins: OffsetDateTime,
    /// When it is over.
    #[serde(with = "time::serde::rfc3339")]
    ends: OffsetDateTime,
    /// Why.
    reason: Option<String>,
}

impl From<Delegation> for DelegationBody {
    fn from(one: Delegation) -> Self {
        Self {
            id: one.id,
            from: PersonBody::named(one.from, one.from_name),
            to: PersonBody::named(one.to, one.to_name),
            begins: micros::to_time(one.begins_us),
            ends: micros::to_time(one.ends_us),
            reason: one.reason,
        }
    }
}

/// That somebody is to stand in for another.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkflowDelegationRequest)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DelegateBody {
    /// For whom: the caller, where it is left out; anybody else takes `Workflows.Reassign`.
    #[serde(default)]
    from: Option<Uuid>,
    /// Who: somebody of the organisation.
    to: Uuid,
    /// When it begins: now, where it is left out.
    #[serde(default, with = "time::serde::rfc3339::option")]
    begins: Option<OffsetDateTime>,
    /// When it is over, within 366 days.
    #[serde(with = "time::serde::rfc3339")]
    ends: OffsetDateTime,
    /// Why, at most 2,000 characters.
    #[serde(default)]
    reason: Option<String>,
}

/// Lists the delegations that the caller gives and gets and that aren't over.
#[utoipa::path(
    get,
    path = "/workflows/delegations",
    tag = "workflows",
    responses((status = 200, description = "The delegations; all of them, so `next` is always null.", body = Listing<DelegationBody>)),
)]
pub(crate) async fn list_workflow_delegations(
    May { ctx, .. }: May<View>,
) -> ApiResult<Json<Listing<DelegationBody>>> {
    let Some(me) = ctx.principal().user_id() else {
        return Ok(Json(Listing { items: Vec::new(), next: None }));
    };
    let now_us = ctx.clock().now_us();
    let all = store::delegations(&ctx, ctx.organisation()?, me.0, now_us).await?;
    Ok(Json(Listing { items: all.into_iter().map(Into::into).collect(), next: None }))
}

/// Has somebody stand in for another over a span of time.
#[utoipa::path(
    post,
    path = "/workflows/delegations",
    tag = "workflows",
    request_body = DelegateBody,
    responses((status = 201, description = "Somebody stands in.", body = DelegationBody)),
)]
pub(crate) async fn delegate_workflow_tasks(
    May { ctx, .. }: May<Act>,
    ApiJson(body): ApiJson<DelegateBody>,
) -> ApiResult<(StatusCode, Json<DelegationBody>)> {
    let wanted = Wanted {
        from: body.from,
        to: body.to,
        begins: body.begins,
        ends: body.ends,
        reason: body.reason.as_deref(),
    };
    let made = workflows(&ctx)?.delegate(&ctx, wanted).await?;
    Ok((StatusCode::CREATED, Json(made.into())))
}

/// Ends a delegation: one's own, or with `Workflows.Reassign` anybody's.
#[utoipa::path(
    delete,
    path = "/workflows/delegations/{id}",
    tag = "workflows",
    params(("id" = Uuid, Path, description = "The delegation.")),
    responses((status = 204, description = "It is over.")),
)]
pub(crate) async fn end_workflow_delegation(
    May { ctx, .. }: May<Act>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<StatusCode> {
    workflows(&ctx)?.end_delegation(&ctx, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Whom the caller looks for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PeopleQuery {
    /// A part of the name, whatever its case; everybody without it.
    named: String,
}

/// Finds people to whom the caller can hand something on: those of the organisation, by their names, at most 20.
#[utoipa::path(
    get,
    path = "/workflows/people",
    tag = "workflows",
    params(PeopleQuery),
    responses((status = 200, description = "The people; `next` is always null.", body = Listing<PersonBody>)),
)]
pub(crate) async fn find_people(
    May { ctx, .. }: May<Act>,
    ApiQuery(query): ApiQuery<PeopleQuery>,
) -> ApiResult<Json<Listing<PersonBody>>> {
    let found = match ctx.app().find_service::<dyn Directory>() {
        Some(directory) => directory.members(ctx.organisation()?, &query.named, PEOPLE).await?,
        None => Vec::new(),
    };
    let items = found.into_iter().map(|one| PersonBody::named(one.id.0, one.display_name));
    Ok(Json(Listing { items: items.collect(), next: None }))
}

/// To whom somebody's turn is handed on.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkflowReassignRequest)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReassignBody {
    /// The `version` that the record was shown with.
    version: String,
    /// Whose turn it is: the caller's, where it is left out; anybody else's takes `Workflows.Reassign`.
    #[serde(default)]
    from: Option<Uuid>,
    /// Whose it is to be: somebody who may see the record and take it on.
    to: Uuid,
    /// Why, at most 2,000 characters.
    reason: String,
}

/// What a reassignment leaves.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowReassigned)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReassignedBody {
    /// What the next transition sends.
    version: String,
}

/// Hands somebody's turn with a record on, while it is in its state.
#[utoipa::path(
    post,
    path = "/workflows/{entityType}/{id}/reassign",
    tag = "workflows",
    params(
        ("entityType" = String, Path, description = "The set."),
        ("id" = Uuid, Path, description = "The record's key."),
    ),
    request_body = ReassignBody,
    responses((status = 200, description = "It is somebody else's turn.", body = ReassignedBody)),
)]
pub(crate) async fn reassign_workflow_task(
    May { ctx, .. }: May<Act>,
    ApiPath((set, id)): ApiPath<(String, Uuid)>,
    ApiJson(body): ApiJson<ReassignBody>,
) -> ApiResult<Json<ReassignedBody>> {
    ctx.require(VIEW)?;
    let seen: Version = body.version.parse()?;
    let people = (body.from, body.to);
    let version = workflows(&ctx)?.reassign(&ctx, (&set, id), seen, people, &body.reason).await?;
    Ok(Json(ReassignedBody { version: version.to_string() }))
}
