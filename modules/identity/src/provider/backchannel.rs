//! Telling clients that a session has ended (OpenID Connect Back-Channel Logout 1.0).
//!
//! | Step | Who | What a crash leaves |
//! | --- | --- | --- |
//! | a session ends, and [`SessionsEnded`] is raised with it | sign-out, a changed password, … | nothing, or both |
//! | a job for each client of the session that has a `logoutUri`; the grants are deleted | [`EndGrants`], in the transaction that removes the message | the message |
//! | a logout token is signed and sent | [`tell`], again for some hours while the client doesn't take it | the job |
//!
//! Tokens of the session open nothing from the first step on. A client that hears of it late shows a
//! person who is gone, and no more than that.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::json;
use svc_client::{
    AddressPolicy, Client, ClientOptions, ClientRequest, OutboundSettings, SystemResolver,
    TargetUrl,
};
use svc_core::{App, Error, Registry, Result, UserId};
use svc_data::UnitOfWork;
use svc_events::{EventsRegistry as _, Handler, Message, Payload, Subscription};
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError, JobsRegistry as _};
use svc_openid::{LOGOUT_EVENT, TokenType};

use super::clients::Clients;
use super::grants::{self, Hearer};
use super::settings::OpenIdSettings;
use super::signing_keys::SigningKeys;
use crate::sessions::{SessionId, SessionsEnded};

/// How long a logout token holds, in seconds.
const LIFETIME_S: i64 = 120;

/// A client is to be told that a session has ended.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TellLogout {
    issuer: String,
    client: String,
    user: UserId,
    session: SessionId,
}

impl Job for TellLogout {
    const NAME: &'static str = "identity.tell_logout";
    const MAX_ATTEMPTS: u32 = 8;
}

/// Says what is added to the module.
pub(super) fn configure(registry: &mut Registry) {
    registry.handler(
        "identity.end_grants",
        Subscription::new().event("SessionsEnded"),
        Arc::new(EndGrants),
    );
    registry.job::<TellLogout>(tell);
}

/// Sends requests to the addresses of clients.
pub(super) struct Sender {
    client: Client,
    policy: AddressPolicy,
}

impl Sender {
    pub(super) fn new(app: &App) -> Result<Self> {
        let (own, outbound) =
            (app.settings::<OpenIdSettings>(), app.settings::<OutboundSettings>());
        let policy = AddressPolicy {
            require_https: own.require_https,
            allowed_ports: own.allowed_ports.clone(),
            ..AddressPolicy::default()
        };
        let options = outbound.apply(ClientOptions { policy, ..ClientOptions::default() });
        let policy = options.policy.clone();
        let unusable = |what: &str, error: &dyn std::error::Error| {
            Error::internal(format!("clients can't be told of a sign-out: {what}: {error}"))
        };
        let resolver = SystemResolver::from_system()
            .map_err(|error| unusable("the system's name servers can't be read", &error))?;
        let client = Client::new(options, Arc::new(resolver))
            .map_err(|error| unusable("TLS can't be prepared", &error))?;
        Ok(Self { client, policy })
    }
}

/// Ends the grants of sessions that have ended.
struct EndGrants;

#[async_trait]
impl Handler for EndGrants {
    async fn handle(&self, uow: &UnitOfWork, messages: &[Message]) -> Result<()> {
        for message in messages {
            let Payload::Domain(data) = &message.payload else { continue };
            let ended: SessionsEnded = serde_json::from_value(data.clone())
                .map_err(|error| Error::internal("an event can't be read").caused_by(error))?;
            for session in ended.sessions {
                for Hearer { client, issuer, organisation } in
                    grants::end_of_session(uow, session).await?
                {
                    let job = TellLogout { issuer, client, user: ended.user, session };
                    uow.enqueue(job).in_organisation(organisation).await?;
                }
            }
        }
        Ok(())
    }
}

/// Sends one logout token (section 2.5).
async fn tell(ctx: JobContext, job: TellLogout) -> Result<(), JobError> {
    let app = ctx.app();
    let found = app.service::<Clients>()?.find(&job.client, &job.issuer).await?;
    let Some(address) = found.and_then(|client| client.logout_uri.clone()) else { return Ok(()) };
    let now = app.clock().now_us().div_euclid(1_000_000);
    let claims = json!({
        "iss": job.issuer,
        "sub": job.user.to_string(),
        "aud": job.client,
        "iat": now,
        "exp": now + LIFETIME_S,
        "jti": app.clock().new_id().to_string(),
        "sid": job.session.to_string(),
        "events": { LOGOUT_EVENT: {} },
    });
    let token = app.service::<SigningKeys>()?.current().await?.sign(TokenType::Logout, &claims)?;
    let sender = app.service::<Sender>()?;
    let url = TargetUrl::parse(&address, &sender.policy)
        .map_err(|error| JobError::give_up(Error::invalid(error.to_string())))?;
    let form = form_urlencoded::Serializer::new(String::new())
        .append_pair("logout_token", &token)
        .finish();
    let media_type = HeaderValue::from_static("application/x-www-form-urlencoded");
    let headers: HeaderMap = [(CONTENT_TYPE, media_type)].into_iter().collect();
    let outcome = sender.client.send(&url, ClientRequest::post(headers, Bytes::from(form))).await;
    match outcome.failure {
        None => Ok(()),
        Some(failure) => {
            let message = format!("client `{}` didn't take a logout token: {failure}", job.client);
            Err(Error::unavailable(message).into())
        }
    }
}
