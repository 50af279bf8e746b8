//! `GET /api/v1/live`.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use serde::Deserialize;
use svc_core::Error;
use svc_http::{ApiQuery, ApiResult, Ctx, HttpState, OpenApiRouter, Presented, routes};
use utoipa::IntoParams;

use crate::node::Live;
use crate::stream::{Hearer, Stream};
use crate::topics::Wanted;

pub(crate) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::default().routes(routes!(hear))
}

/// What to hear of.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Topics {
    /// Topics, with commas between: `set:Products`, `job:<id>`, or one that a module declares, with or without a key.
    topics: String,
}

/// Hears of what happens, as server-sent events.
///
/// `changed` tells of a record of a set, `told` of what a module tells, `job` of where a job stands; after `reset` the client
/// loads anew what it shows, since something was missed.
#[utoipa::path(
    get,
    path = "/live",
    tag = "live",
    params(
        Topics,
        ("Last-Event-ID" = Option<String>, Header, description = "Goes on behind this event."),
    ),
    responses((status = 200, description = "The events, until the stream's life is over.", body = String, content_type = "text/event-stream")),
)]
async fn hear(
    Ctx(ctx): Ctx,
    presented: Presented,
    State(state): State<HttpState>,
    ApiQuery(Topics { topics }): ApiQuery<Topics>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let live = ctx.app().service::<Live>()?;
    let principal = ctx.principal();
    let (Some(user), Some(organisation)) = (principal.user_id(), principal.organisation()) else {
        return Err(Error::forbidden("only people hear of what happens").into());
    };
    let wanted = Wanted::read(&topics, &ctx, ctx.catalogue(), &live.declared)?;
    let after = headers.get("last-event-id").map(|value| {
        let number = value.to_str().ok().and_then(|text| text.parse::<i64>().ok());
        number.ok_or_else(|| {
            Error::malformed("`Last-Event-ID` is the `id` of an event of this stream")
        })
    });
    let after = after.transpose()?;
    let place = live.enter((user, organisation))?;
    if let Some(after) = after {
        live.catch_up(after).await?;
    }
    let hearer = Hearer { ctx, presented };
    let stream = Stream::new(Arc::clone(&live), hearer, wanted, after, place, state.draining());
    let pieces = futures::stream::unfold(stream, |mut stream| async move {
        let piece = stream.next().await?;
        Some((Ok::<_, Infallible>(piece), stream))
    });
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-store"),
        // A proxy that collects answers would hold events back.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, Body::from_stream(pieces)).into_response())
}
