//! `/api/v1/identity/clients`

use axum::Json;
use axum::response::IntoResponse;
use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderValue};
use serde::{Deserialize, Serialize};
use svc_core::UserId;
use svc_http::{ApiJson, ApiPath, ApiResult, HttpState, May, OpenApiRouter, routes};
use utoipa::ToSchema;
use uuid::Uuid;

use super::registering::{self, Client, NewClient};
use crate::api::shared::location;
use crate::ids::ClientId;
use crate::permissions::Manage;

pub(in crate::provider) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::new()
        .routes(routes!(list_clients, create_client))
        .routes(routes!(get_client, remove_client))
}

/// A program that people of the organisation sign in through, or that acts for itself.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityClient)]
#[serde(rename_all = "camelCase")]
struct ClientBody {
    /// Its id, which is its `client_id`.
    id: Uuid,
    /// What the administrator calls it.
    name: String,
    /// Whether it has no secret, since it runs where it couldn't keep one.
    is_public: bool,
    /// Where codes may go.
    redirect_uris: Vec<String>,
    /// Where a browser may go after signing out.
    signed_out_uris: Vec<String>,
    /// The origins of its pages, which may ask for tokens.
    origins: Vec<String>,
    /// Where it hears that a session has ended.
    logout_uri: Option<String>,
    /// The id of the person as whom it acts with its own credentials.
    acts_as: Option<Uuid>,
}

/// A new client with its secret.
#[derive(Serialize, ToSchema)]
#[schema(as = IdentityCreatedClient)]
#[serde(rename_all = "camelCase")]
struct CreatedClientBody {
    /// The client as lists show it.
    #[serde(flatten)]
    client: ClientBody,
    /// Its `client_secret`; null for a public client. It is shown only here.
    secret: Option<String>,
}

/// A client to register.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = IdentityNewClient)]
#[serde(rename_all = "camelCase")]
struct NewClientBody {
    /// What the administrator calls it.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// Whether it gets no secret, since it runs in a browser or on a device of the person.
    #[serde(default)]
    is_public: bool,
    /// Where codes may go; compared letter by letter.
    #[serde(default)]
    redirect_uris: Vec<String>,
    /// Where a browser may go after signing out.
    #[serde(default)]
    signed_out_uris: Vec<String>,
    /// The origins of its pages, such as `https://app.example.com`.
    #[serde(default)]
    origins: Vec<String>,
    /// Where it hears that a session has ended (OpenID Connect Back-Channel Logout).
    logout_uri: Option<String>,
    /// The id of the person as whom it acts with its own credentials; left out where it doesn't.
    acts_as: Option<Uuid>,
}

/// The clients of the organisation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityClients)]
struct ClientsBody {
    /// All of them, in the order in which they were registered.
    items: Vec<ClientBody>,
}

impl From<Client> for ClientBody {
    fn from(client: Client) -> Self {
        Self {
            id: client.id.0,
            name: client.name,
            is_public: client.is_public,
            redirect_uris: client.redirect_uris,
            signed_out_uris: client.signed_out_uris,
            origins: client.origins,
            logout_uri: client.logout_uri,
            acts_as: client.acts_as.map(|user| user.0),
        }
    }
}

/// Lists the programs that people of the organisation sign in through.
#[utoipa::path(
    get,
    path = "/identity/clients",
    tag = "identity",
    responses((status = 200, description = "All of them, 200 at most.", body = ClientsBody)),
)]
async fn list_clients(May { ctx, .. }: May<Manage>) -> ApiResult<Json<ClientsBody>> {
    let items = registering::list(&ctx).await?;
    Ok(Json(ClientsBody { items: items.into_iter().map(ClientBody::from).collect() }))
}

/// Registers a program. Its secret is shown once.
#[utoipa::path(
    post,
    path = "/identity/clients",
    tag = "identity",
    request_body = NewClientBody,
    responses(
        (status = 201, description = "The client, with its secret.", body = CreatedClientBody),
        (status = 403, description = "The caller lacks a permission that the client would have, or calls by a key that ends."),
        (status = 409, description = "There are 200 clients already."),
    ),
)]
async fn create_client(
    May { ctx, .. }: May<Manage>,
    ApiJson(body): ApiJson<NewClientBody>,
) -> ApiResult<impl IntoResponse> {
    let new = NewClient {
        name: body.name,
        is_public: body.is_public,
        redirect_uris: body.redirect_uris,
        signed_out_uris: body.signed_out_uris,
        origins: body.origins,
        logout_uri: body.logout_uri,
        acts_as: body.acts_as.map(UserId),
    };
    let (id, secret) = registering::create(&ctx, new).await?;
    let client = registering::get(&ctx, id).await?.into();
    let secret = secret.map(|secret| secret.expose().to_owned());
    let no_store = [(CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    let body = Json(CreatedClientBody { client, secret });
    Ok((StatusCode::CREATED, location("clients", id.0), no_store, body))
}

/// One program.
#[utoipa::path(
    get,
    path = "/identity/clients/{id}",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The client's id.")),
    responses(
        (status = 200, description = "The client.", body = ClientBody),
        (status = 404, description = "There is no such client."),
    ),
)]
async fn get_client(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<Json<ClientBody>> {
    Ok(Json(registering::get(&ctx, ClientId(id)).await?.into()))
}

/// Removes a program: what it was given opens nothing any more.
#[utoipa::path(
    delete,
    path = "/identity/clients/{id}",
    tag = "identity",
    params(("id" = Uuid, Path, description = "The client's id.")),
    responses(
        (status = 204, description = "It is removed."),
        (status = 404, description = "There is no such client."),
    ),
)]
async fn remove_client(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<Uuid>,
) -> ApiResult<StatusCode> {
    registering::remove(&ctx, ClientId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
