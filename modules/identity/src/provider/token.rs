//! The token endpoint (RFC 6749, section 3.2), over the network and for parts of the application.

use std::sync::Arc;

use async_trait::async_trait;
use http::HeaderMap;
use svc_core::{
    App, Directory, OrganisationId, Principal, Result, UserId, WeakApp, micros, random_token,
};
use svc_data::Context;
use svc_openid::{
    Claims, CodeChallenge, CodeVerifier, EmbeddedProvider, FirstParty, FirstPartyClient,
    TokenAnswer, TokenFault, TokenRefusal,
};

use super::authenticator::principal_of;
use super::clients::{Clients, KnownClient};
use super::form::{Form, Refused, refused};
use super::grants::{self, Grant};
use super::issuer;
use super::settings::OpenIdSettings;
use super::tokens::{Tokens, grant_holds};
use crate::presented::hash;
use crate::users;

/// What a grant was turned into, before tokens are signed.
struct Exchanged {
    grant: Grant,
    nonce: Option<String>,
    refresh_token: String,
}

/// Answers a request of a client that has proved who it is.
pub(super) async fn answer(
    app: &App,
    issuer: &str,
    client: &KnownClient,
    form: &Form,
) -> Result<Result<TokenAnswer, Refused>> {
    let exchanged = match form.need("grant_type") {
        Ok("authorization_code") => exchange_code(app, client, form).await?,
        Ok("refresh_token") => refresh(app, client, form).await?,
        Ok("client_credentials") => return act_for_itself(app, issuer, client, form).await,
        Ok(_) => Err(refused("unsupported_grant_type", "there is no such way to tokens here")),
        Err(refusal) => Err(refusal),
    };
    let Exchanged { grant, nonce, refresh_token } = match exchanged {
        Ok(exchanged) => exchanged,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let tokens = app.service::<Tokens>()?;
    let access_token = tokens.access(issuer, &grant).await?;
    let id_token = if grant.has_scope("openid") {
        Some(tokens.id(app, issuer, &grant, nonce.as_deref(), &access_token).await?)
    } else {
        None
    };
    Ok(Ok(TokenAnswer {
        access_token,
        token_type: "Bearer".to_owned(),
        expires_in: tokens.lifetime_s(),
        refresh_token: Some(refresh_token),
        id_token,
        scope: Some(grant.scope),
    }))
}

/// One sentence for every reason: who tries codes learns nothing from it.
fn bad_code() -> Refused {
    refused(
        "invalid_grant",
        "the code is not valid: it is unknown, over, used or not this client's",
    )
}

/// The code flow's second half (RFC 6749, section 4.1.3; RFC 7636, section 4.6).
async fn exchange_code(
    app: &App,
    client: &KnownClient,
    form: &Form,
) -> Result<Result<Exchanged, Refused>> {
    let needed = (form.need("code"), form.need("redirect_uri"), form.need("code_verifier"));
    let (code, redirect_uri, verifier) = match needed {
        (Ok(code), Ok(redirect_uri), Ok(verifier)) => (code, redirect_uri, verifier),
        (Err(missing), _, _) | (_, Err(missing), _) | (_, _, Err(missing)) => {
            return Ok(Err(missing));
        }
    };
    let now_us = app.clock().now_us();
    let ctx = Context::system(app)?;
    ctx.transact(async |uow| {
        let hash = hash(code);
        let Some(code) = grants::code(&uow, hash).await? else { return Ok(Err(bad_code())) };
        let grant = grants::hold(&uow, code.grant).await?;
        let Some(grant) = grant.filter(|grant| grant.client == client.id) else {
            grants::end(&uow, code.grant).await?;
            return Ok(Err(bad_code()));
        };
        if !grants::use_code(&uow, hash, now_us).await? {
            tracing::warn!(client.id = client.id, "a code was presented twice; its grant ends");
            grants::end(&uow, grant.id).await?;
            return Ok(Err(bad_code()));
        }
        let verifier = CodeVerifier::parse(verifier);
        let challenge = CodeChallenge::parse(&code.challenge);
        let is_proved = matches!((verifier, challenge), (Some(v), Some(c)) if c.fits(&v));
        let is_good = is_proved && code.redirect_uri == redirect_uri && now_us < code.expires_at_us;
        if !is_good || !may_go_on(app, &grant).await? {
            grants::end(&uow, grant.id).await?;
            return Ok(Err(bad_code()));
        }
        let refresh_token = next_refresh_token(app, &uow, &grant).await?;
        Ok(Ok(Exchanged { grant, nonce: code.nonce, refresh_token }))
    })
    .await
}

/// New tokens for old ones (RFC 6749, section 6), with the next refresh token.
async fn refresh(
    app: &App,
    client: &KnownClient,
    form: &Form,
) -> Result<Result<Exchanged, Refused>> {
    let token = match form.need("refresh_token") {
        Ok(token) => hash(token),
        Err(missing) => return Ok(Err(missing)),
    };
    let bad = || refused("invalid_grant", "the refresh token is not valid; sign in again");
    let now_us = app.clock().now_us();
    let ctx = Context::system(app)?;
    ctx.transact(async |uow| {
        let Some(held) = grants::refresh_token(&uow, token).await? else { return Ok(Err(bad())) };
        // Who isn't the token's client neither uses it up nor ends what hangs on it.
        let grant = grants::hold(&uow, held.grant).await?;
        let Some(grant) = grant.filter(|grant| grant.client == client.id) else {
            return Ok(Err(bad()));
        };
        // What is asked for may be all that was granted, or nothing: a part of it isn't given.
        if form.get("scope").is_some_and(|asked| asked.split(' ').any(|it| !grant.has_scope(it))) {
            return Ok(Err(refused("invalid_scope", "more is asked for than was granted")));
        }
        if !grants::use_refresh_token(&uow, token, now_us).await? {
            tracing::warn!(
                client.id = client.id,
                "a refresh token was presented twice; its grant ends"
            );
            grants::end(&uow, grant.id).await?;
            return Ok(Err(bad()));
        }
        if now_us >= held.expires_at_us {
            return Ok(Err(bad()));
        }
        if !may_go_on(app, &grant).await? {
            grants::end(&uow, grant.id).await?;
            return Ok(Err(bad()));
        }
        let refresh_token = next_refresh_token(app, &uow, &grant).await?;
        Ok(Ok(Exchanged { grant, nonce: None, refresh_token }))
    })
    .await
}

/// A client's own credentials (RFC 6749, section 4.4): it acts as the person that it was registered
/// for.
async fn act_for_itself(
    app: &App,
    issuer: &str,
    client: &KnownClient,
    form: &Form,
) -> Result<Result<TokenAnswer, Refused>> {
    let acts_as = client.acts_as.zip(client.organisation).filter(|_| !client.is_public());
    let Some((user, organisation)) = acts_as else {
        return Ok(Err(refused("unauthorized_client", "the client doesn't act for itself")));
    };
    if form.get("scope").is_some_and(|scope| scope.split(' ').any(|each| each == "openid")) {
        return Ok(Err(refused(
            "invalid_scope",
            "there is nobody to tell about: leave out `openid`",
        )));
    }
    if app.service::<dyn Directory>()?.principal(user, organisation).await?.is_none() {
        return Ok(Err(refused(
            "unauthorized_client",
            "whom the client acts as is disabled or gone",
        )));
    }
    let tokens = app.service::<Tokens>()?;
    let access_token = tokens.access_of_client(issuer, &client.id, user, organisation).await?;
    Ok(Ok(TokenAnswer {
        access_token,
        token_type: "Bearer".to_owned(),
        expires_in: tokens.lifetime_s(),
        refresh_token: None,
        id_token: None,
        scope: None,
    }))
}

/// Whether grant and session still are, and the person still is a member.
async fn may_go_on(app: &App, grant: &Grant) -> Result<bool> {
    if !grant_holds(app, grant).await? {
        return Ok(false);
    }
    let directory = app.service::<dyn Directory>()?;
    Ok(directory.principal(grant.user, grant.organisation).await?.is_some())
}

async fn next_refresh_token(
    app: &App,
    uow: &svc_data::UnitOfWork,
    grant: &Grant,
) -> Result<String> {
    let token = random_token::<32>();
    let lifetime = app.settings::<OpenIdSettings>().refresh_token_lifetime;
    let lifetime_us = micros::of_span(lifetime);
    let expires_at_us = app.clock().now_us().saturating_add(lifetime_us).min(grant.ends_at_us);
    grants::insert_refresh_token(uow, hash(&token), grant.id, expires_at_us).await?;
    Ok(token)
}

/// The provider, as parts of the application reach it.
pub(super) struct Provider(WeakApp);

impl Provider {
    pub(super) fn new(app: &App) -> Self {
        Self(app.downgrade())
    }
}

#[async_trait]
impl EmbeddedProvider for Provider {
    fn register(&self, client: FirstPartyClient) -> Result<FirstParty> {
        self.0.get()?.service::<Clients>()?.register(client)
    }

    fn issuer(&self, headers: &HeaderMap) -> Result<String> {
        issuer::issuer_for(&self.0.get()?, headers)
    }

    async fn token(
        &self,
        issuer: &str,
        client: &FirstParty,
        form: &[(&str, &str)],
    ) -> Result<Result<TokenAnswer, TokenRefusal>> {
        let app = self.0.get()?;
        let found: Option<Arc<KnownClient>> =
            app.service::<Clients>()?.find(client.id, issuer).await?;
        let found = found.filter(|found| found.has_secret(&client.secret));
        let answered = match found {
            Some(found) => answer(&app, issuer, &found, &Form::of_pairs(form)).await?,
            None => Err(refused("invalid_client", "the client isn't known")),
        };
        Ok(answered.map_err(|Refused { code, description }| TokenRefusal {
            error: code.to_owned(),
            error_description: Some(description.into_owned()),
        }))
    }

    async fn check_id_token(
        &self,
        issuer: &str,
        client: &str,
        token: &str,
    ) -> Result<Result<Claims, TokenFault>> {
        self.0.get()?.service::<Tokens>()?.check_id(issuer, client, token, false).await
    }

    async fn principal(&self, access_token: &str) -> Result<Option<Principal>> {
        principal_of(&self.0.get()?, access_token).await
    }

    async fn roles(&self, user: UserId, organisation: OrganisationId) -> Result<Vec<String>> {
        let ctx = Context::system_in(&self.0.get()?, organisation)?;
        Ok(users::view(&ctx, user).await?.roles.into_values().collect())
    }
}
