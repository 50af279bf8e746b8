use axum::Json;
use serde::{Deserialize, Serialize};
use svc_core::{Error, Result};
use svc_data::Context;
use svc_events::{DeadLetter, Outbox, Selection};
use svc_http::{ApiJson, ApiQuery, ApiResult, Listing, May, Page, Paged};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::ManageOutbox;

/// A message that its handler failed with at every attempt.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeadLetterAnswer {
    /// The event.
    id: Uuid,
    /// The handler that failed.
    handler: String,
    /// The name of the change or event.
    name: String,
    /// How often it was tried.
    attempts: u32,
    /// When it happened.
    #[serde(with = "time::serde::rfc3339")]
    time: time::OffsetDateTime,
    /// When it was given up.
    #[serde(with = "time::serde::rfc3339")]
    failed_at: time::OffsetDateTime,
}

impl From<DeadLetter> for DeadLetterAnswer {
    fn from(letter: DeadLetter) -> Self {
        // The error may name tables and causes, which the log and the command show.
        let DeadLetter { id, handler, name, attempts, time, failed_at, .. } = letter;
        Self { id, handler, name, attempts, time, failed_at }
    }
}

/// Which dead letters are meant: those that match everything that is given.
#[derive(Debug, Default, Deserialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct Which {
    /// Those of one event.
    id: Option<Uuid>,
    /// Those of one handler.
    handler: Option<String>,
}

/// How many dead letters it was done to.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Done {
    /// How many.
    count: u64,
}

/// The outbox, and which of its messages the caller may touch.
fn selected(ctx: &Context, which: Which) -> Result<(std::sync::Arc<Outbox>, Selection)> {
    let organisation = Some(ctx.organisation()?);
    let selection = Selection { id: which.id, handler: which.handler, organisation };
    Ok((ctx.app().service::<Outbox>()?, selection))
}

/// Lists messages that could not be handled, the newest first.
#[utoipa::path(
    get,
    path = "/outbox/dead-letters",
    params(Page, Which),
    responses((status = 200, description = "The messages.", body = Listing<DeadLetterAnswer>)),
)]
pub(super) async fn list_dead_letters(
    May { ctx, .. }: May<ManageOutbox>,
    Paged(page, which): Paged<Which>,
) -> ApiResult<Json<Listing<DeadLetterAnswer>>> {
    let (outbox, selection) = selected(&ctx, which)?;
    let found = outbox.dead_letters(&ctx, &selection, page.after.as_deref(), page.take).await?;
    let items = found.letters.into_iter().map(Into::into).collect();
    Ok(Json(Listing { items, next: found.next }))
}

/// Hands messages that could not be handled to their handlers again.
#[utoipa::path(
    post,
    path = "/outbox/dead-letters/retry",
    request_body = Which,
    responses((status = 200, description = "They wait to be handled.", body = Done)),
)]
pub(super) async fn retry_dead_letters(
    May { ctx, .. }: May<ManageOutbox>,
    ApiJson(which): ApiJson<Which>,
) -> ApiResult<Json<Done>> {
    let (outbox, selection) = selected(&ctx, which)?;
    Ok(Json(Done { count: outbox.retry(&ctx, &selection).await? }))
}

/// Discards messages that could not be handled. At least one of `id` and `handler` must say which.
#[utoipa::path(
    delete,
    path = "/outbox/dead-letters",
    params(Which),
    responses((status = 200, description = "They are gone.", body = Done)),
)]
pub(super) async fn discard_dead_letters(
    May { ctx, .. }: May<ManageOutbox>,
    ApiQuery(which): ApiQuery<Which>,
) -> ApiResult<Json<Done>> {
    if which.id.is_none() && which.handler.is_none() {
        let message = "say which messages to discard, with `id` or `handler`";
        return Err(Error::malformed(message).into());
    }
    let (outbox, selection) = selected(&ctx, which)?;
    Ok(Json(Done { count: outbox.discard(&ctx, &selection).await? }))
}
