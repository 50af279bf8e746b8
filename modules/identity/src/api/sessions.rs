use std::collections::BTreeSet;

use axum::Json;
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use svc_core::{Result, UserId};
use svc_data::Context;
use svc_http::{ApiPath, ApiResult, May};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::ids::SessionId;
use crate::permissions::Manage;
use crate::provider::clients::{self, Client};
use crate::sessions::{self, Method};
use crate::users::{self, SignedIn};

/// A place where a member is signed in: a browser, or a program that goes on without one.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentitySession)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionBody {
    /// Its id.
    id: Uuid,
    /// Whether it is a registered program, which was given access for longer than a session.
    is_program: bool,
    /// The names of the registered programs that the person has signed in to with the browser; or the one that
    /// it is.
    programs: BTreeSet<String>,
    /// The browser, by the name that people know it by; null for one that isn't known.
    browser: Option<&'static str>,
    /// The system that the browser runs on, likewise.
    system: Option<&'static str>,
    /// What the browser calls itself; null for a program.
    user_agent: Option<String>,
    /// The address from where the browser signed in, as far as it is known.
    address: Option<String>,
    /// By what the person has proved in the browser who it is.
    #[schema(value_type = Vec<String>)]
    methods: Vec<Method>,
    /// Since when.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// When it was last used: a browser to the minute, a program whenever it renewed its tokens.
    #[serde(with = "time::serde::rfc3339")]
    last_used_at: OffsetDateTime,
    /// When it ends, however much it is used.
    #[serde(with = "time::serde::rfc3339")]
    ends_at: OffsetDateTime,
    /// Whether it is the browser that asks.
    is_current: bool,
}

/// Where a member is signed in.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentitySessions)]
pub(crate) struct SessionsBody {
    /// Browsers, and then programs that go on without one, each the youngest first.
    items: Vec<SessionBody>,
}

impl SessionBody {
    fn new(place: &SignedIn, known: &[Client], current: Option<SessionId>) -> Self {
        let names = known.iter().filter(|client| place.clients.contains(&client.id));
        let session = place.session.as_ref();
        Self {
            id: place.id,
            is_program: session.is_none(),
            programs: names.map(|client| client.name.clone()).collect(),
            browser: session.and_then(sessions::Session::browser),
            system: session.and_then(sessions::Session::system),
            user_agent: session.map(|session| session.user_agent.clone()),
            address: session.and_then(|session| session.address).map(|address| address.to_string()),
            methods: session.map(|session| session.methods.clone()).unwrap_or_default(),
            created_at: place.created_at,
            last_used_at: place.used_at,
            ends_at: place.ends_at,
            is_current: session.is_some_and(|session| current == Some(session.id)),
        }
    }
}

/// Lists where a member is signed in, in this organisation.
#[utoipa::path(
    get,
    path = "/identity/users/{id}/sessions",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The person.")),
    responses(
        (status = 200, description = "The sessions.", body = SessionsBody),
    ),
)]
pub(crate) async fn list_sessions(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<UserId>,
    headers: HeaderMap,
) -> ApiResult<Json<SessionsBody>> {
    let found = users::signed_in(&ctx, id).await?;
    let known = clients::list(&ctx).await?;
    let current = at_hand(&ctx, &headers).await?;
    let items = found.iter().map(|place| SessionBody::new(place, &known, current));
    Ok(Json(SessionsBody { items: items.collect() }))
}

/// Signs a member out everywhere in this organisation, but for the browser that asks.
#[utoipa::path(
    delete,
    path = "/identity/users/{id}/sessions",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The person.")),
    responses(
        (status = 204, description = "The person is signed out."),
        (
            status = 403,
            description = "The caller lacks `Identity.Manage`, or a permission of the member."
        ),
    ),
)]
pub(crate) async fn end_sessions(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<UserId>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    users::sign_out_everywhere(&ctx, id, at_hand(&ctx, &headers).await?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Signs a member out in one browser, or ends what one program was given.
#[utoipa::path(
    delete,
    path = "/identity/users/{id}/sessions/{session}",
    tag = "identity",
    params(
        ("id" = Uuid, Path, description = "The person."),
        ("session" = Uuid, Path, description = "The session."),
    ),
    responses(
        (status = 204, description = "The session is ended."),
        (
            status = 403,
            description = "The caller lacks `Identity.Manage`, or a permission of the member."
        ),
    ),
)]
pub(crate) async fn end_session(
    May { ctx, .. }: May<Manage>,
    ApiPath((id, session)): ApiPath<(UserId, Uuid)>,
) -> ApiResult<StatusCode> {
    users::sign_out(&ctx, id, session).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The session of the browser that asks, where it is one.
async fn at_hand(ctx: &Context, headers: &HeaderMap) -> Result<Option<SessionId>> {
    Ok(sessions::of(ctx.app(), headers).await?.map(|session| session.id))
}
