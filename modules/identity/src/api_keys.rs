//! API keys of people.
//!
//! A key speaks for its owner within one organisation, and never may more than the owner may: what
//! it may is the owner's rights at that moment, narrowed to the key's scope. Whoever makes one for
//! somebody else needs `Identity.ManageKeys` and all that the owner may; a key of another person names
//! what it is for, so that it doesn't grow with the person's rights. A key that is limited, in what it may or in how long it lasts, makes no key that
//! is limited less.

use std::collections::BTreeSet;

use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use svc_core::{Error, PrincipalKind, Result, UserId};
use svc_data::{Context, UnitOfWork};
use time::{OffsetDateTime, UtcOffset};

use crate::acting::{actor, lock, own_key};
use crate::audit::{self, KeyChange};
use crate::errors;
use crate::ids::ApiKeyId;
use crate::key::{ApiKeySecret, PresentedKey};
use crate::model::{api_key, membership};
use crate::permissions::{MANAGE, MANAGE_KEYS, check_known, require_all};
use crate::service::IdentityService;
use crate::store::{scope_names, scope_text};
use crate::{text, users};

/// The most keys that somebody has in an organisation, so that a program gone wrong is noticed.
const MOST_KEYS: u64 = 1_000;

/// An API key, without what makes it one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// The key.
    pub id: ApiKeyId,
    /// Whom it speaks for.
    pub user: UserId,
    /// What the owner calls it.
    pub name: String,
    /// Its beginning, by which people tell keys apart.
    pub prefix: String,
    /// The permissions that it is limited to; none for all that the owner may do.
    pub scope: Option<BTreeSet<String>>,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// From when on it is refused; none for a key without an end.
    pub expires_at: Option<OffsetDateTime>,
    /// Since when it is revoked.
    pub revoked_at: Option<OffsetDateTime>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<OffsetDateTime>,
}

/// What a new key is to be.
#[derive(Clone, Debug, Default)]
pub struct NewApiKey {
    /// What the owner calls it.
    pub name: String,
    /// The permissions to limit it to; none for all that the owner may do.
    pub scope: Option<BTreeSet<String>>,
    /// From when on it is refused; none for a key without an end.
    pub expires_at: Option<OffsetDateTime>,
}

/// Makes a key for `owner`. The secret is not stored, and so can't be shown again.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) for somebody else's key without
/// `Identity.ManageKeys` or with an owner who may do more than the caller, and for a key with more rights, or a longer life, than the caller has;
/// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for a bad name, an unknown permission, an
/// empty scope or an end that has passed; [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound)
/// for an owner who is no member; [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) for
/// somebody with 1,000 keys.
pub async fn create(
    ctx: &Context,
    owner: UserId,
    new: NewApiKey,
) -> Result<(ApiKeyId, ApiKeySecret)> {
    let is_for_other = require_may_make(ctx, owner).await?;
    let name = text::name("name", &new.name)?;
    check_scope(ctx, new.scope.as_ref())?;
    check_end(ctx, new.expires_at)?;
    require_no_more_than_caller(ctx, &new).await?;
    let secret = ApiKeySecret::generate();
    let id = ctx
        .transact(async |uow| {
            lock(&uow).await?;
            if is_for_other {
                users::require_changeable(&uow, owner).await?;
                require_purpose(&uow, owner, new.scope.is_some()).await?;
            }
            let keys = uow.query::<api_key::Entity>().filter(api_key::COLUMN.user_id.eq(owner.0));
            let alive = keys.filter(api_key::COLUMN.revoked_at.is_null()).count().await?;
            if alive >= MOST_KEYS {
                let message = format!("there are {alive} API keys already; revoke some first");
                return Err(errors::TOO_MANY_KEYS.error(message).with("most", MOST_KEYS));
            }
            let new = NewApiKey { name, ..new };
            insert(&uow, owner, new, secret.presented()).await
        })
        .await?;
    Ok((id, secret))
}

/// Stores a key.
pub(crate) async fn insert(
    uow: &UnitOfWork,
    owner: UserId,
    new: NewApiKey,
    key: PresentedKey<'_>,
) -> Result<ApiKeyId> {
    let of_owner = membership::COLUMN.user_id.eq(owner.0);
    let missing = || Error::not_found("there is no such person");
    uow.query::<membership::Entity>().filter(of_owner).one().await?.ok_or_else(missing)?;
    let record = api_key::ActiveModel {
        user_id: Set(owner.0),
        name: Set(new.name),
        prefix: Set(key.shown().to_owned()),
        key_hash: Set(key.hash().as_bytes().to_vec()),
        scope: Set(new.scope.as_ref().map(scope_text)),
        expires_at: Set(new.expires_at),
        ..Default::default()
    };
    let id = ApiKeyId(uow.insert(record).await?.id);
    audit::key_changed(uow, id, owner, KeyChange::Made)?;
    let (actor, limited) = (actor(uow.context()), new.scope.is_some());
    uow.after_commit(move || {
        tracing::info!(
            api_key.id = %id,
            user.id = %owner,
            actor.id = actor,
            limited,
            "an API key was made"
        );
    });
    Ok(id)
}

/// Keys of `owner` in the order in which they were made, at most `take` of those behind `after`.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without `Identity.Manage` or
/// `Identity.ManageKeys`, except for own keys and a caller without limits.
pub async fn list(
    ctx: &Context,
    owner: UserId,
    after: Option<ApiKeyId>,
    take: u64,
) -> Result<Vec<ApiKey>> {
    require_visible(ctx, owner).await?;
    let query = ctx.query::<api_key::Entity>().filter(api_key::COLUMN.user_id.eq(owner.0));
    let query = match after {
        Some(after) => query.filter(api_key::COLUMN.id.gt(after.0)),
        None => query,
    };
    let keys = query.order_by(api_key::COLUMN.id).take(take).all().await?;
    Ok(keys.into_iter().map(ApiKey::from).collect())
}

/// One key.
///
/// # Errors
///
/// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when it is unknown, of another
/// organisation, or somebody else's and the caller has neither permission; otherwise as [`list`].
pub async fn get(ctx: &Context, id: ApiKeyId) -> Result<ApiKey> {
    find_visible(ctx, id).await.map(ApiKey::from)
}

/// Revokes a key: it is refused from then on, and stays in the list.
///
/// # Errors
///
/// As [`get`]; [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) for the key of somebody who may do
/// more than the caller.
pub async fn revoke(ctx: &Context, id: ApiKeyId) -> Result<()> {
    let key = find_visible(ctx, id).await?;
    if key.revoked_at.is_some() {
        return Ok(());
    }
    ctx.transact(async |uow| {
        if ctx.principal().user_id() != Some(UserId(key.user_id)) {
            users::require_changeable(&uow, UserId(key.user_id)).await?;
        }
        let mut record = key.into_active_model();
        record.revoked_at = Set(Some(ctx.clock().now()));
        let key = uow.update(record).await?;
        audit::key_changed(&uow, ApiKeyId(key.id), UserId(key.user_id), KeyChange::Revoked)?;
        let actor = actor(ctx);
        uow.after_commit(move || {
            tracing::info!(
                api_key.id = %key.id,
                user.id = %key.user_id,
                actor.id = actor,
                "an API key was revoked"
            );
        });
        Ok(())
    })
    .await
}

impl From<api_key::Model> for ApiKey {
    fn from(key: api_key::Model) -> Self {
        Self {
            id: ApiKeyId(key.id),
            user: UserId(key.user_id),
            name: key.name,
            prefix: key.prefix,
            scope: key.scope.as_deref().map(scope_names),
            created_at: key.created_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
            last_used_at: key.last_used_at,
        }
    }
}

async fn find_visible(ctx: &Context, id: ApiKeyId) -> Result<api_key::Model> {
    let missing = || Error::not_found("there is no such API key");
    let key = ctx.get::<api_key::Entity>(id.0).await?.ok_or_else(missing)?;
    let own = ctx.principal().user_id() == Some(UserId(key.user_id));
    if !own && !may_see_others(ctx) {
        return Err(missing());
    }
    require_visible(ctx, UserId(key.user_id)).await?;
    Ok(key)
}

async fn require_visible(ctx: &Context, owner: UserId) -> Result<()> {
    if ctx.principal().user_id() != Some(owner) {
        return if may_see_others(ctx) { Ok(()) } else { ctx.require(MANAGE) };
    }
    require_unlimited(ctx).await
}

fn may_see_others(ctx: &Context) -> bool {
    ctx.principal().can(MANAGE) || ctx.principal().can(MANAGE_KEYS)
}

/// Insists that the caller may make a key for `owner`; whether that is somebody else.
async fn require_may_make(ctx: &Context, owner: UserId) -> Result<bool> {
    if ctx.principal().kind() == PrincipalKind::System {
        return Ok(false);
    }
    if ctx.principal().user_id() != Some(owner) {
        ctx.require(MANAGE_KEYS)?;
        return Ok(true);
    }
    require_unlimited(ctx).await?;
    Ok(false)
}

/// A key of another person says what it is for: whoever has it would otherwise gain what the person gains.
async fn require_purpose(uow: &UnitOfWork, owner: UserId, has_scope: bool) -> Result<()> {
    if has_scope || users::is_machine(uow.context(), owner).await? {
        return Ok(());
    }
    Err(Error::invalid("a key for another person names what it may")
        .field("permissions", "must name at least one permission in a key for another person"))
}

/// Insists on somebody who signed in, a key without a scope, or one whose scope names
/// `Identity.Manage`: a key that was made for one purpose has no business with other keys.
async fn require_unlimited(ctx: &Context) -> Result<()> {
    match own_key(ctx).await? {
        Some(key) if key.scope.is_some() => ctx.require(MANAGE),
        _ => Ok(()),
    }
}

fn check_scope(ctx: &Context, scope: Option<&BTreeSet<String>>) -> Result<()> {
    let Some(scope) = scope else { return Ok(()) };
    if scope.is_empty() {
        return Err(Error::invalid("the scope of the key is empty").field(
            "permissions",
            "must name at least one permission; leave it out for all that you may do",
        ));
    }
    check_known(scope, IdentityService::of(ctx)?.permissions())
}

fn check_end(ctx: &Context, end: Option<OffsetDateTime>) -> Result<()> {
    if end.is_some_and(|end| end.checked_to_offset(UtcOffset::UTC).is_none()) {
        return Err(Error::invalid("the key can't last that long")
            .field("expiresAt", "must be before the end of the year 9999 in UTC"));
    }
    if end.is_some_and(|end| end <= ctx.clock().now()) {
        return Err(Error::invalid("the key would have ended already")
            .field("expiresAt", "must be in the future"));
    }
    Ok(())
}

async fn require_no_more_than_caller(ctx: &Context, new: &NewApiKey) -> Result<()> {
    if let Some(scope) = &new.scope {
        require_all(ctx.principal(), scope.iter().map(String::as_str))?;
    }
    let Some(own) = own_key(ctx).await? else { return Ok(()) };
    if own.scope.is_some() && new.scope.is_none() {
        return Err(Error::forbidden(
            "a key with a scope can't make one without; name the permissions of the new key",
        ));
    }
    match (own.expires_at, new.expires_at) {
        (Some(own), new) if new.is_none_or(|new| new > own) => Err(Error::forbidden(
            "a key can't make one that lasts longer; name an end that is no later than its own",
        )),
        _ => Ok(()),
    }
}
