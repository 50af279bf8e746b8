use axum::Json;
use serde::{Deserialize, Serialize};
use svc_core::{Error, Result};
use svc_http::{ApiJson, ApiPath, ApiResult, InLanguage, Listing, May};
use utoipa::ToSchema;
use uuid::Uuid;

use super::definitions::workflows;
use super::records::{MovedBody, ObstacleBody};
use crate::errors::is_refusal;
use crate::permissions::{Act, VIEW};
use crate::subject::Version;

/// The most records of one request.
const RECORDS: usize = 100;

/// A record to be taken on.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkflowSeenRecord)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SeenBody {
    /// The record's key.
    id: Uuid,
    /// The `version` that it was shown with.
    version: String,
}

/// Records to be taken through one transition.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkflowBulkRequest)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BulkBody {
    /// The records, 1 to 100.
    records: Vec<SeenBody>,
    /// What is to be said of each of them, at most 2,000 characters.
    #[serde(default)]
    comment: Option<String>,
}

/// What became of one of several records.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowBulkAnswer)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BulkAnswerBody {
    /// The record's key.
    id: Uuid,
    /// Where it stands now; none where it was refused.
    moved: Option<MovedBody>,
    /// Why it was refused; none where it wasn't.
    problem: Option<ObstacleBody>,
}

/// Takes several records through a transition, each by itself: what is refused of one leaves the others.
///
/// They are taken in their order. A fault of the server ends the request; look at where the records stand before
/// it is repeated.
#[utoipa::path(
    post,
    path = "/workflows/{entityType}/transitions/{name}",
    tag = "workflows",
    params(
        ("entityType" = String, Path, description = "The set."),
        ("name" = String, Path, description = "The transition."),
    ),
    request_body = BulkBody,
    responses((status = 200, description = "What became of each, in their order; `next` is always null.", body = Listing<BulkAnswerBody>)),
)]
pub(crate) async fn take_transition_of_many(
    May { ctx, .. }: May<Act>,
    ApiPath((set, name)): ApiPath<(String, String)>,
    InLanguage(texts): InLanguage,
    ApiJson(body): ApiJson<BulkBody>,
) -> ApiResult<Json<Listing<BulkAnswerBody>>> {
    ctx.require(VIEW)?;
    if !(1..=RECORDS).contains(&body.records.len()) {
        let message = format!("must be 1 to {RECORDS}");
        return Err(Error::invalid("the request is not valid").field("records", message).into());
    }
    let seen: Vec<(Uuid, Version)> = body
        .records
        .iter()
        .map(|record| Ok((record.id, record.version.parse()?)))
        .collect::<Result<_>>()?;
    let workflows = workflows(&ctx)?;
    workflows.find(&ctx, &set)?;
    let comment = body.comment.as_deref();
    let mut items = Vec::with_capacity(seen.len());
    for (id, version) in seen {
        let taken = workflows.take_seen(&ctx, (&set, id), &name, comment, version).await;
        let (moved, problem) = match taken {
            Ok(moved) => (Some(MovedBody::new(&set, &texts, &moved)), None),
            Err(error) if is_refusal(error.kind()) => (None, Some(ObstacleBody::from(&error))),
            Err(error) => return Err(error.into()),
        };
        items.push(BulkAnswerBody { id, moved, problem });
    }
    Ok(Json(Listing { items, next: None }))
}
