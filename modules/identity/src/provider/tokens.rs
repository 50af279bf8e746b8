//! Making tokens, and telling whether an access token still opens anything.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use svc_core::{App, Cache, Clock, OrganisationId, Result, UserId};
use svc_data::Context;
use svc_database::Database;
use svc_openid::{Claims, Expected, TokenFault, TokenType};
use uuid::Uuid;

use super::clients::Clients;
use super::grants::{self, Grant};
use super::issuer;
use super::settings::OpenIdSettings;
use super::signing_keys::SigningKeys;
use crate::presented::{hash, issuer_of};
use crate::sessions;
use crate::settings::IdentitySettings;
use crate::users;

/// An access token whose signature holds, and what it says.
#[derive(Clone, Debug)]
pub(super) struct AccessToken {
    pub(super) issuer: String,
    pub(super) client: String,
    pub(super) user: UserId,
    /// The one for which it was made; its grant may be for another by now ([`Tokens::organisation`]).
    organisation: OrganisationId,
    /// None where a client acts for itself.
    grant: Option<Uuid>,
    scope: String,
    ends_at_us: i64,
}

impl AccessToken {
    /// Whether it is for a scope.
    pub(super) fn has_scope(&self, name: &str) -> bool {
        self.scope.split(' ').any(|each| each == name)
    }

    /// The grant that it hangs on.
    pub(super) fn grant(&self) -> Option<Uuid> {
        self.grant
    }

    pub(super) fn scope(&self) -> &str {
        &self.scope
    }
}

/// Makes and checks tokens.
pub(super) struct Tokens {
    database: Database,
    clock: Clock,
    keys: Arc<SigningKeys>,
    lifetime_s: i64,
    /// Checked tokens by their SHA-256, so that a signature is looked at once.
    checked: Cache<[u8; 32], Arc<AccessToken>>,
    grants: Cache<Uuid, Arc<Grant>>,
}

impl Tokens {
    pub(super) fn new(app: &App) -> Result<Self> {
        let (settings, own) =
            (app.settings::<IdentitySettings>(), app.settings::<OpenIdSettings>());
        let entries = usize::try_from(settings.cache_entries).unwrap_or(usize::MAX);
        Ok(Self {
            database: app.service::<Database>()?.essential(),
            clock: app.clock().clone(),
            keys: app.service()?,
            lifetime_s: i64::try_from(own.access_token_lifetime.as_secs()).unwrap_or(i64::MAX),
            checked: Cache::new(app, "identity.tokens", entries, own.access_token_lifetime),
            grants: Cache::new(app, grants::TOPIC, entries, settings.cache_lifetime),
        })
    }

    /// For how many seconds an access token holds.
    pub(super) fn lifetime_s(&self) -> u64 {
        self.lifetime_s.unsigned_abs()
    }

    fn now_s(&self) -> i64 {
        self.clock.now_us().div_euclid(1_000_000)
    }

    /// An access token for a grant (RFC 9068, section 2.2).
    pub(super) async fn access(&self, issuer: &str, grant: &Grant) -> Result<String> {
        let mut claims = self.access_claims(issuer, &grant.client, grant.user, grant.organisation);
        claims.insert("scope".to_owned(), grant.scope.clone().into());
        claims.insert("gid".to_owned(), grant.id.to_string().into());
        claims.insert("sid".to_owned(), grant.session.to_string().into());
        add_authentication(&mut claims, grant);
        self.keys.current().await?.sign(TokenType::Access, &claims)
    }

    /// An access token for a client that acts for itself (RFC 6749, section 4.4).
    pub(super) async fn access_of_client(
        &self,
        issuer: &str,
        client: &str,
        user: UserId,
        organisation: OrganisationId,
    ) -> Result<String> {
        let claims = self.access_claims(issuer, client, user, organisation);
        self.keys.current().await?.sign(TokenType::Access, &claims)
    }

    fn access_claims(
        &self,
        issuer: &str,
        client: &str,
        user: UserId,
        organisation: OrganisationId,
    ) -> Map<String, Value> {
        let now = self.now_s();
        let claims = json!({
            "iss": issuer,
            "sub": user.to_string(),
            "aud": issuer,
            "exp": now + self.lifetime_s,
            "iat": now,
            "jti": self.clock.new_id().to_string(),
            "client_id": client,
            "org": organisation.to_string(),
        });
        match claims {
            Value::Object(claims) => claims,
            _ => Map::new(),
        }
    }

    /// An ID token (OpenID Connect Core, section 2).
    pub(super) async fn id(
        &self,
        app: &App,
        issuer: &str,
        grant: &Grant,
        nonce: Option<&str>,
        access_token: &str,
    ) -> Result<String> {
        let now = self.now_s();
        let mut claims = about_person(app, grant.user, grant.organisation, &grant.scope).await?;
        let own = [
            ("iss", json!(issuer)),
            ("sub", json!(grant.user.to_string())),
            ("aud", json!(grant.client)),
            ("exp", json!(now + self.lifetime_s)),
            ("iat", json!(now)),
            ("sid", json!(grant.session.to_string())),
            ("org", json!(grant.organisation.to_string())),
            ("at_hash", json!(half_hash(access_token))),
        ];
        claims.extend(own.map(|(name, value)| (name.to_owned(), value)));
        add_authentication(&mut claims, grant);
        if let Some(nonce) = nonce {
            claims.insert("nonce".to_owned(), nonce.into());
        }
        self.keys.current().await?.sign(TokenType::Id, &claims)
    }

    /// Checks an ID token of ours. `may_be_over` for one that only says whom a request is about.
    pub(super) async fn check_id(
        &self,
        issuer: &str,
        client: &str,
        token: &str,
        may_be_over: bool,
    ) -> Result<Result<Claims, TokenFault>> {
        let keys = self.keys.keys().await?;
        Ok(keys.set.check(
            token,
            &Expected {
                kind: TokenType::Id,
                issuer,
                audience: client,
                now: self.now_s(),
                tolerance: 0,
                may_be_over,
            },
        ))
    }

    /// Reads an access token of ours. That its signature holds doesn't mean that it opens anything:
    /// [`Tokens::organisation`] says that.
    pub(super) async fn check_access(
        &self,
        app: &App,
        token: &str,
    ) -> Result<Result<Arc<AccessToken>, TokenFault>> {
        let hash = hash(token);
        if let Some(known) = self.checked.get(&hash) {
            let is_over = self.clock.now_us() >= known.ends_at_us;
            return Ok(if is_over { Err(TokenFault::Time) } else { Ok(known) });
        }
        let Some(issuer) = issuer_of(token).filter(|said| issuer::is_own(app, said)) else {
            return Ok(Err(TokenFault::Issuer));
        };
        let keys = self.keys.keys().await?;
        let reading = self.checked.begin();
        let checked = keys.set.check(
            token,
            &Expected {
                kind: TokenType::Access,
                issuer: &issuer,
                audience: &issuer,
                now: self.now_s(),
                tolerance: 0,
                may_be_over: false,
            },
        );
        let claims = match checked {
            Ok(claims) => claims,
            Err(fault) => return Ok(Err(fault)),
        };
        let Some(token) = read(claims) else { return Ok(Err(TokenFault::Claims)) };
        let token = Arc::new(token);
        self.checked.keep(reading, hash, Arc::clone(&token));
        Ok(Ok(token))
    }

    /// The organisation in which the token opens anything now: that of its grant, or of its client. None where
    /// what it hangs on is no more: grant and session, or client.
    pub(super) async fn organisation(
        &self,
        app: &App,
        token: &AccessToken,
    ) -> Result<Option<OrganisationId>> {
        let Some(id) = token.grant else {
            let client = app.service::<Clients>()?.find(&token.client, &token.issuer).await?;
            let holds = client.is_some_and(|client| client.acts_as == Some(token.user));
            return Ok(holds.then_some(token.organisation));
        };
        let grant = if let Some(known) = self.grants.get(&id) {
            known
        } else {
            let reading = self.grants.begin();
            let Some(grant) = grants::load(&self.database, id).await? else {
                return Ok(None);
            };
            let grant = Arc::new(grant);
            self.grants.keep(reading, id, Arc::clone(&grant));
            grant
        };
        Ok(grant_holds(app, &grant).await?.then_some(grant.organisation))
    }
}

/// Whether a grant's time isn't over and its session, where it hangs on one, still is.
pub(super) async fn grant_holds(app: &App, grant: &Grant) -> Result<bool> {
    if app.clock().now_us() >= grant.ends_at_us {
        return Ok(false);
    }
    Ok(grant.is_offline || sessions::by_id(app, grant.session).await?.is_some())
}

/// What a client may know of a person, by the scopes `profile`, `email` and `roles` (OpenID Connect
/// Core, section 5.4).
pub(super) async fn about_person(
    app: &App,
    user: UserId,
    organisation: OrganisationId,
    scope: &str,
) -> Result<Map<String, Value>> {
    let mut claims = Map::new();
    let has = |name: &str| scope.split(' ').any(|each| each == name);
    if !(has("profile") || has("email") || has("roles")) {
        return Ok(claims);
    }
    let person = users::view(&Context::system_in(app, organisation)?, user).await?;
    if has("profile") {
        claims.insert("name".to_owned(), person.display_name.into());
        claims.insert("updated_at".to_owned(), person.updated_at.unix_timestamp().into());
    }
    if has("email") {
        claims.insert("email".to_owned(), person.email.into());
    }
    if has("roles") {
        let roles: Vec<Value> = person.roles.into_values().map(Value::from).collect();
        claims.insert("roles".to_owned(), roles.into());
    }
    Ok(claims)
}

fn add_authentication(claims: &mut Map<String, Value>, grant: &Grant) {
    let methods: Vec<&str> = grant.methods.split(' ').filter(|it| !it.is_empty()).collect();
    let at_s = grant.authenticated_at_us.div_euclid(1_000_000);
    claims.insert("auth_time".to_owned(), at_s.into());
    claims.insert("amr".to_owned(), json!(methods));
}

/// The left half of a SHA-256 (OpenID Connect Core, section 3.1.3.6).
fn half_hash(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(&Sha256::digest(token.as_bytes())[..16])
}

fn read(claims: Claims) -> Option<AccessToken> {
    let id = |name: &str| claims.text(name)?.parse::<Uuid>().ok();
    let grant = match claims.more.get("gid") {
        Some(_) => Some(id("gid")?),
        None => None,
    };
    if grant.is_some() {
        // A token of a session says which.
        let _: Uuid = claims.sid.as_deref()?.parse().ok()?;
    }
    Some(AccessToken {
        client: claims.text("client_id")?.to_owned(),
        user: UserId(claims.sub.parse().ok()?),
        organisation: OrganisationId(id("org")?),
        grant,
        scope: claims.text("scope").unwrap_or_default().to_owned(),
        ends_at_us: claims.exp?.checked_mul(1_000_000)?,
        issuer: claims.iss,
    })
}
