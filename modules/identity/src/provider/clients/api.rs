//! `/api/v1/identity/clients`

use axum::Json;
use axum::response::IntoResponse;
use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderValue};
use serde::Serialize;
use svc_http::{ApiJson, ApiPath, ApiResult, HttpState, May, OpenApiRouter, routes};
use utoipa::ToSchema;

use super::registering::{self, Client, NewClient};
use crate::api::shared::location;
use crate::ids::ClientId;
use crate::permissions::Manage;

pub(in crate::provider) fn routes() -> OpenApiRouter<HttpState> {
    OpenApiRouter::new()
        .routes(routes!(list_clients, create_client))
        .routes(routes!(get_client, remove_client))
}

/// A new client with its secret.
#[derive(Serialize, ToSchema)]
#[schema(as = IdentityCreatedClient)]
#[serde(rename_all = "camelCase")]
struct CreatedClientBody {
    /// The client as lists show it.
    #[serde(flatten)]
    client: Client,
    /// Its `client_secret`; null for a public client. It is shown only here.
    secret: Option<String>,
}

/// The clients of the organisation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IdentityClients)]
struct ClientsBody {
    /// All of them, in the order in which they were registered.
    items: Vec<Client>,
}

/// Lists the programs that people of the organisation sign in through.
#[utoipa::path(
    get,
    path = "/identity/clients",
    tag = "identity",
    responses((status = 200, description = "All of them, 200 at most.", body = ClientsBody)),
)]
async fn list_clients(May { ctx, .. }: May<Manage>) -> ApiResult<Json<ClientsBody>> {
    Ok(Json(ClientsBody { items: registering::list(&ctx).await? }))
}

/// Registers a program. Its secret is shown once.
#[utoipa::path(
    post,
    path = "/identity/clients",
    tag = "identity",
    request_body = NewClient,
    responses(
        (status = 201, description = "The client, with its secret.", body = CreatedClientBody),
        (status = 403, description = "The caller lacks a permission that the client would have, or calls by a key that ends."),
        (status = 409, description = "There are 200 clients already."),
    ),
)]
async fn create_client(
    May { ctx, .. }: May<Manage>,
    ApiJson(new): ApiJson<NewClient>,
) -> ApiResult<impl IntoResponse> {
    let (id, secret) = registering::create(&ctx, new).await?;
    let client = registering::get(&ctx, id).await?;
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
        (status = 200, description = "The client.", body = Client),
        (status = 404, description = "There is no such client."),
    ),
)]
async fn get_client(
    May { ctx, .. }: May<Manage>,
    ApiPath(id): ApiPath<ClientId>,
) -> ApiResult<Json<Client>> {
    Ok(Json(registering::get(&ctx, id).await?))
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
    ApiPath(id): ApiPath<ClientId>,
) -> ApiResult<StatusCode> {
    registering::remove(&ctx, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
