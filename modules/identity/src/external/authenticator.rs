//! Who calls the API with an access token of another issuer.

use std::sync::Arc;

use async_trait::async_trait;
use http::header::AUTHORIZATION;
use http::request::Parts;
use svc_core::{App, Cache, Directory, Error, Means, OrganisationId, Principal, Result, UserId};
use svc_http::Authenticator;
use svc_openid::TOLERANCE_S;

use super::accounts::{admit, is_known, is_subject};
use super::issuers::{ExternalIssuer, ExternalIssuers};
use super::mapping::Described;
use crate::presented::{bearer_token, hash, issuer_of};
use crate::service::TOPIC;
use crate::settings::IdentitySettings;

/// Knows `Authorization: Bearer <access token>` of the issuers that have an `Audience`. All other tokens
/// are for whoever comes next.
pub(super) struct ForeignTokenAuthenticator;

/// Tokens that were checked, and whom they stand for; nobody for an account that doesn't come in here, so
/// that its issuer isn't asked about it with every request.
pub(super) struct KnownTokens(Cache<[u8; 32], Option<Known>>);

#[derive(Clone, Copy)]
struct Known {
    user: UserId,
    organisation: OrganisationId,
    ends_at_us: i64,
}

impl KnownTokens {
    pub(super) fn new(app: &App) -> Self {
        let settings = app.settings::<IdentitySettings>();
        let entries = usize::try_from(settings.cache_entries).unwrap_or(usize::MAX);
        Self(Cache::new(app, TOPIC, entries, settings.cache_lifetime))
    }
}

#[async_trait]
impl Authenticator for ForeignTokenAuthenticator {
    async fn authenticate(&self, app: &App, request: &Parts) -> Result<Option<Principal>> {
        let issuers = app.service::<ExternalIssuers>()?;
        if issuers.all().is_empty() {
            return Ok(None);
        }
        let mut headers = request.headers.get_all(AUTHORIZATION).iter();
        let (Some(header), None) = (headers.next(), headers.next()) else { return Ok(None) };
        let Some(token) = header.to_str().ok().and_then(bearer_token) else { return Ok(None) };
        let issuer = issuer_of(token).and_then(|said| issuers.of_token(&said));
        let Some(issuer) = issuer else { return Ok(None) };
        let Some(known) = known(app, issuer, token).await? else { return Err(refused()) };
        let directory = app.service::<dyn Directory>()?;
        let principal = directory.principal(known.user, known.organisation).await?;
        principal.map(|it| Some(it.known_by(Means::Header))).ok_or_else(refused)
    }
}

fn refused() -> Error {
    Error::unauthenticated(
        "the access token is not valid; it may be over, or for somebody else: sign in again",
    )
}

/// Whom a token stands for; none for one that opens nothing.
async fn known(app: &App, issuer: &Arc<ExternalIssuer>, token: &str) -> Result<Option<Known>> {
    let tokens = app.service::<KnownTokens>()?;
    let hash = hash(token);
    if let Some(known) = tokens.0.get(&hash) {
        return Ok(known.filter(|known| app.clock().now_us() < known.ends_at_us));
    }
    let audience = issuer.settings.audience.as_deref().unwrap_or_default();
    let claims = match issuer.remote.check_access_token(token, audience).await? {
        Ok(claims) if is_subject(&claims.sub) => claims,
        Ok(_) => return Ok(None),
        Err(fault) => {
            tracing::debug!(reason = fault.as_str(), issuer = issuer.name, "a token was refused");
            return Ok(None);
        }
    };
    let mut more = claims.more;
    let first = Described::of(&issuer.settings, &claims.sub, &more);
    let says_where = issuer.settings.organisation_claim.is_none() || first.organisations.is_some();
    // What an access token doesn't say, its issuer may say of its person.
    if !says_where || !is_known(app, issuer, &claims.sub).await? {
        for (name, value) in issuer.remote.about(token, &claims.sub).await? {
            more.entry(name).or_insert(value);
        }
    }
    let described = Described::of(&issuer.settings, &claims.sub, &more);
    let ends_at_s = claims.exp.unwrap_or_default().saturating_add(TOLERANCE_S);
    let known = match admit(app, issuer, &described).await? {
        Ok((user, organisation)) => {
            Some(Known { user, organisation, ends_at_us: ends_at_s.saturating_mul(1_000_000) })
        }
        Err(turned) => {
            tracing::info!(reason = turned.as_str(), issuer = issuer.name, "a token was refused");
            None
        }
    };
    // Whoever was taken in has changed rights, so the reading begins here.
    let reading = tokens.0.begin();
    tokens.0.keep(reading, hash, known);
    Ok(known)
}
