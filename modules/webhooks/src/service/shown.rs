//! An endpoint as people see it: nothing of it that is secret.

use std::collections::BTreeMap;

use serde::Serialize;
use svc_core::{KeyRing, Result};
use svc_data::Context;
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::credentials::{self, ClientCertificate, Credentials, OAuth2};
use crate::headers;
use crate::model::Format;
use crate::model::endpoint::Model;
use crate::owner::Owner;
use crate::retired::{self, Scheme};
use crate::sealed;

/// Who owns an endpoint: its rights decide what the endpoint gets.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookOwner)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnerShown {
    /// The person.
    id: Uuid,
    /// The person's name when the endpoint was saved.
    display_name: String,
    /// The API key that it was saved with; what it gets is limited to what that may read.
    api_key_id: Option<Uuid>,
    /// `here`; `gone`, when the person is disabled or has left; `keyEnded`, when the API key is
    /// revoked or has ended. In both cases nothing is sent, and what is missed is kept: save the
    /// endpoint to become its owner, and recover it.
    standing: &'static str,
}

/// How a token is got that each request carries.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookOAuth2Shown)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OAuth2Shown {
    /// The token server.
    token_url: String,
    /// As whom, to the token server.
    client_id: String,
    /// The scope that is asked for.
    scope: Option<String>,
    /// Whom the token is for.
    audience: Option<String>,
}

impl From<OAuth2> for OAuth2Shown {
    fn from(stored: OAuth2) -> Self {
        let OAuth2 { token_url, client_id, scope, audience, .. } = stored;
        Self { token_url, client_id, scope, audience }
    }
}

/// The certificate that is shown to the receiver.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookClientCertificateShown)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CertificateShown {
    /// The SHA-256 digest of the certificate in hexadecimal digits, by which it is told apart.
    fingerprint: Option<String>,
}

impl From<ClientCertificate> for CertificateShown {
    fn from(stored: ClientCertificate) -> Self {
        Self { fingerprint: stored.fingerprint() }
    }
}

/// An endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookEndpoint)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the endpoint")]
pub(crate) struct EndpointShown {
    /// Its id.
    pub(crate) id: Uuid,
    /// Where deliveries go; where they are fetched, of one with `isPolled`.
    url: String,
    /// What it is for.
    description: String,
    /// The events it gets: exact names, `<set>.*`, or `*`.
    events: Vec<String>,
    /// Which of these events: a condition over `data`; none means all.
    filter: Option<String>,
    /// How bodies are written.
    format: Format,
    /// Whether deliveries are sent; test events are in any case.
    is_active: bool,
    /// Whether an update's envelope carries `changes` beside `data`.
    includes_changes: bool,
    /// Whether an event of a record tells its key and address (`url`) in place of its data.
    is_thin: bool,
    /// Whether events of one entity are delivered one after the other.
    is_ordered: bool,
    /// Whether its receiver fetches what it is told, and nothing is sent.
    is_polled: bool,
    /// The person who fetches, with any key or session; null where an API key is named, or nothing is fetched.
    receiver_id: Option<Uuid>,
    /// The API key that fetches; null where none is named.
    receiver_key_id: Option<Uuid>,
    /// The most requests in a second, over all nodes; none means no limit.
    max_per_second: Option<i32>,
    /// Seconds for one attempt; none means those of `Svc:Webhooks:Timeout`.
    timeout_seconds: Option<i32>,
    /// Seconds between attempts, so that there is one attempt more; none means the settings'.
    retry_delays_seconds: Option<Vec<i32>>,
    /// The age of a delivery in seconds at which it is given up; none means never.
    expires_after_seconds: Option<i32>,
    /// What verifies the `v1a` signature beside `v1`, `whpk_` and base64; none without one.
    public_key: Option<String>,
    /// The names of the headers that are sent besides ours; their values aren't shown.
    header_names: Vec<String>,
    /// How a token is got that each request carries; none where it carries none.
    oauth2: Option<OAuth2Shown>,
    /// The certificate that is shown to the receiver; none where none is.
    client_certificate: Option<CertificateShown>,
    /// Values that are kept with the endpoint and mean nothing to the application.
    metadata: BTreeMap<String, String>,
    /// Who saved it last.
    owner: OwnerShown,
    /// Deliveries that failed for good since the last one that succeeded.
    consecutive_failures: i32,
    /// Why the last of these failed.
    last_error: Option<String>,
    /// Since when it is switched off.
    #[serde(with = "time::serde::rfc3339::option")]
    disabled_at: Option<OffsetDateTime>,
    /// Why it is switched off.
    disabled_reason: Option<String>,
    /// Until when a previous secret signs beside the new one; the last of several.
    #[serde(with = "time::serde::rfc3339::option")]
    previous_secret_expires_at: Option<OffsetDateTime>,
    /// Until when a previous key pair signs beside the new one; the last of several.
    #[serde(with = "time::serde::rfc3339::option")]
    previous_key_pair_expires_at: Option<OffsetDateTime>,
    /// When it was registered.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// When it was last changed.
    #[serde(with = "time::serde::rfc3339")]
    updated_at: OffsetDateTime,
}

impl EndpointShown {
    /// An endpoint as it is now.
    pub(super) async fn new(ctx: &Context, ring: &KeyRing, endpoint: Model) -> Result<Self> {
        let headers = headers::reveal_map(ring, &endpoint);
        let headers = sealed::or_nothing(headers, endpoint.id, "headers");
        let owner = Owner::of(&endpoint).standing(ctx.app()).await?;
        let retired = retired::read(endpoint.retired_keys.as_deref())?;
        let Credentials { oauth2, client_certificate } = credentials::stored(ring, &endpoint);
        let (schedule, now) = (endpoint.schedule(), ctx.clock().now());
        let end = |scheme| retired::end(&retired, scheme, now);
        Ok(Self {
            events: endpoint.patterns(),
            metadata: endpoint.metadata(),
            filter: endpoint.filter,
            format: endpoint.format,
            id: endpoint.id,
            url: endpoint.url,
            description: endpoint.description,
            is_active: endpoint.is_active,
            includes_changes: endpoint.includes_changes,
            is_thin: endpoint.is_thin,
            is_ordered: endpoint.is_ordered,
            is_polled: endpoint.is_polled,
            receiver_id: endpoint.receiver_id,
            receiver_key_id: endpoint.receiver_key_id,
            max_per_second: endpoint.max_per_second,
            timeout_seconds: schedule.timeout_s,
            retry_delays_seconds: schedule.delays_s,
            expires_after_seconds: schedule.expires_after_s,
            public_key: endpoint.public_key,
            header_names: headers.into_keys().collect(),
            oauth2: oauth2.map(OAuth2Shown::from),
            client_certificate: client_certificate.map(CertificateShown::from),
            owner: OwnerShown {
                id: endpoint.owner_id,
                display_name: endpoint.owner_name,
                api_key_id: endpoint.owner_key_id,
                standing: owner.as_str(),
            },
            consecutive_failures: endpoint.consecutive_failures,
            last_error: endpoint.last_error,
            disabled_at: endpoint.disabled_at,
            disabled_reason: endpoint.disabled_reason,
            previous_secret_expires_at: end(Scheme::Secret),
            previous_key_pair_expires_at: end(Scheme::KeyPair),
            created_at: endpoint.created_at,
            updated_at: endpoint.updated_at,
        })
    }
}
