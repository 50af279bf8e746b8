use std::collections::BTreeMap;

use axum::Json;
use axum::response::IntoResponse;
use http::header::CACHE_CONTROL;
use serde::Serialize;
use svc_core::App;
use svc_http::{ApiPath, ApiResult, Listing, May, Page};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::permissions::Receive;
use crate::service::Service;
use crate::service::feed::{AT_ONCE, Answered, Fetched};

/// A delivery as it is fetched: verified as a request is that is sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookFeedItem)]
pub(crate) struct FeedItemBody {
    /// `content-type`, `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    headers: BTreeMap<String, String>,
    /// The body as text: the bytes that are signed.
    body: String,
}

impl From<Fetched> for FeedItemBody {
    fn from(fetched: Fetched) -> Self {
        let text = |value: &http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let headers = fetched.headers.iter();
        Self {
            headers: headers.map(|(name, value)| (name.as_str().to_owned(), text(value))).collect(),
            body: String::from_utf8_lossy(&fetched.body).into_owned(),
        }
    }
}

/// Fetches what an endpoint with `isPolled` is told.
///
/// Whoever fetches calls with the API key that the endpoint names (`receiverKeyId`), or where it names none is who
/// registered it. Who holds `Webhooks.Manage`, too, fetches of any. All others are refused (403).
///
/// `next` says, as `after` of the next call, that the items arrived: they are delivered then. Without that they
/// come again after a minute. At most 50 come at once, whatever `take` says; none and no `next` where nothing
/// waits.
#[utoipa::path(
    get,
    path = "/webhooks/{id}/feed",
    tag = "webhooks",
    params(("id" = Uuid, Path, description = "The endpoint."), Page),
    responses(
        (status = 200, description = "What comes next.", body = Listing<FeedItemBody>),
        (status = 409, description = "The endpoint is sent its deliveries, or its owner is gone."),
    ),
)]
pub(crate) async fn fetch_webhook_feed(
    May { ctx, .. }: May<Receive>,
    ApiPath(id): ApiPath<Uuid>,
    page: Page,
) -> ApiResult<impl IntoResponse> {
    let app: &App = ctx.app();
    let after: Option<Answered> = page.cursor()?;
    let most = usize::try_from(page.take).unwrap_or(AT_ONCE);
    let feed = app.service::<Service>()?.fetch(&ctx, id, after.as_ref(), most).await?;
    let items = feed.items.into_iter().map(FeedItemBody::from).collect();
    Ok(([(CACHE_CONTROL, "no-store")], Json(page.list_until(items, feed.answered))))
}
