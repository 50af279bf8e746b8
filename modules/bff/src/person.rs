//! The person of a session, as the application knows it at this moment.

use std::sync::Arc;
use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use serde::{Deserialize, Serialize};
use svc_core::{App, Error, ErrorKind, Result};
use svc_openid::EmbeddedProvider;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::errors::API_UNAVAILABLE;
use crate::forward::Forwarder;
use crate::issuer::Issuer;
use crate::service::Host;
use crate::session::Session;

/// The person, as a client shows it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = BffIdentity)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Identity {
    /// The person's id.
    pub(crate) id: Uuid,
    /// The name that people know the person by.
    pub(crate) display_name: String,
}

/// Whom a session stands for.
pub(crate) struct Person {
    pub(crate) identity: Identity,
    pub(crate) organisation_id: Option<Uuid>,
    /// The names of the person's roles in the organisation.
    pub(crate) roles: Vec<String>,
    pub(crate) permissions: Vec<String>,
}

impl Person {
    /// Whom the application takes a session for; nobody, where it has ended there.
    ///
    /// # Errors
    ///
    /// A fault of the store, or of the way to the application.
    pub(crate) async fn of(app: &App, host: &Host, session: &Session) -> Result<Option<Self>> {
        match &host.issuer {
            Issuer::Embedded { provider, .. } => {
                Self::of_token(provider.as_ref(), &session.tokens.access).await
            }
            Issuer::Remote { .. } => ask_application(app, session).await,
        }
    }

    async fn of_token(provider: &dyn EmbeddedProvider, access: &str) -> Result<Option<Self>> {
        let Some(principal) = provider.principal(access).await? else { return Ok(None) };
        let Some(id) = principal.user_id() else { return Ok(None) };
        let roles = match principal.organisation() {
            Some(organisation) => provider.roles(id, organisation).await?,
            None => Vec::new(),
        };
        Ok(Some(Self {
            identity: Identity { id: id.0, display_name: principal.display_name().to_owned() },
            organisation_id: principal.organisation().map(|organisation| organisation.0),
            roles,
            permissions: principal.permissions().names().map(str::to_owned).collect(),
        }))
    }
}

/// What the application says of who calls.
#[derive(Deserialize)]
struct Me {
    user: Identity,
    organisation: Named,
    roles: Vec<Named>,
    permissions: Vec<String>,
}

#[derive(Deserialize)]
struct Named {
    id: Uuid,
    name: String,
}

/// The most that the application says of somebody, in bytes.
const LONGEST_ME: usize = 1024 * 1024;

async fn ask_application(app: &App, session: &Session) -> Result<Option<Person>> {
    let forwarder: Arc<Forwarder> = app.service()?;
    let answer = forwarder.get("/api/v1/identity/me", session).await?;
    let unusable = || Error::internal("the application doesn't say who is signed in");
    match answer.status() {
        StatusCode::OK => {}
        StatusCode::UNAUTHORIZED => return Ok(None),
        StatusCode::TOO_MANY_REQUESTS => {
            let message = "the application is asked for too much at the moment; try again later";
            let refused = Error::new(ErrorKind::TooManyRequests, message);
            return Err(refused.retry_after(wait(answer.headers())));
        }
        // The latter two are those of a proxy before the application.
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => {
            let message = "the application can't answer at the moment; try again later";
            return Err(API_UNAVAILABLE.error(message).retry_after(wait(answer.headers())));
        }
        status => return Err(unusable().context(format!("it answers with {status}"))),
    }
    let body = Limited::new(answer.into_body(), LONGEST_ME).collect().await;
    let body = body.map_err(|error| unusable().context(error.to_string()))?.to_bytes();
    let me: Me = serde_json::from_slice(&body).map_err(|error| unusable().caused_by(error))?;
    Ok(Some(Person {
        identity: me.user,
        organisation_id: Some(me.organisation.id),
        roles: me.roles.into_iter().map(|role| role.name).collect(),
        permissions: me.permissions,
    }))
}

/// How long the application asks to wait; a second where it says nothing that can be passed on.
fn wait(headers: &HeaderMap) -> Duration {
    let seconds = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(1))
}
