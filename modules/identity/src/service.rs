//! What the module keeps while the application runs: the rights of those who call, for a short
//! time.
//!
//! | What happens | Who | What it means for a right that was taken away |
//! | --- | --- | --- |
//! | a commit changes a record | [`ForgetOnChange`] | nothing: the change can't be seen yet |
//! | after the commit, here and on other nodes | [`Cache`] | it is gone |
//! | another node doesn't hear of it | the lifetime of entries | it is gone there after a few seconds |
//!
//! Each time all is forgotten: rights seldom change, one role may change those of everybody, and to
//! load somebody's rights anew takes two statements.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use svc_core::{
    App, Cache, Clock, Directory, Error, KnownRole, Means, Member, OrganisationId,
    PermissionCatalogue, PermissionSet, Principal, Result, UserId,
};
use svc_data::{Captured, CommitHook, Context, UnitOfWork};
use svc_database::Database;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::key::{KeyHash, PresentedKey};
use crate::password::Passwords;
use crate::permissions;
use crate::refusals::Refusal;
use crate::settings::IdentitySettings;
use crate::store::{self, StoredKey, StoredRights};

/// The module's name.
pub(crate) const NAME: &str = "identity";

/// The topic by which nodes tell each other that rights have changed.
pub(crate) const TOPIC: &str = "identity";

/// How often the last use of a key is stored at most.
pub(crate) const USE_INTERVAL: Duration = Duration::from_mins(1);

/// The service that knows who may do what: the application's [`Directory`].
pub struct IdentityService {
    database: Database,
    clock: Clock,
    permissions: Arc<PermissionCatalogue>,
    passwords: Passwords,
    keys: Cache<KeyHash, KnownKey>,
    keys_by_id: Cache<Uuid, KnownKey>,
    people: Cache<(UserId, OrganisationId), Principal>,
    /// In an order that every node has: of two that store the same, one waits for the other.
    uses: Mutex<BTreeMap<Uuid, OffsetDateTime>>,
}

#[derive(Clone)]
struct KnownKey {
    key: Arc<StoredKey>,
    principal: Principal,
}

impl IdentityService {
    pub(crate) fn new(app: &App) -> Result<Self> {
        let settings = app.settings::<IdentitySettings>();
        let entries = usize::try_from(settings.cache_entries).unwrap_or(usize::MAX);
        Ok(Self {
            database: app.service::<Database>()?.essential(),
            clock: app.clock().clone(),
            permissions: app.service::<PermissionCatalogue>()?,
            passwords: Passwords::new(settings.password_min_length)?,
            keys: Cache::new(app, TOPIC, entries, settings.cache_lifetime),
            keys_by_id: Cache::new(app, TOPIC, entries, settings.cache_lifetime),
            people: Cache::new(app, TOPIC, entries, settings.cache_lifetime),
            uses: Mutex::default(),
        })
    }

    /// The service of an application.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal) when the application has no module
    /// `identity`.
    pub(crate) fn of(ctx: &Context) -> Result<Arc<Self>> {
        ctx.app().service::<Self>()
    }

    pub(crate) fn permissions(&self) -> &PermissionCatalogue {
        &self.permissions
    }

    pub(crate) fn passwords(&self) -> &Passwords {
        &self.passwords
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Who an API key speaks for at this moment; none for a text that lets nobody in, whatever the reason.
    ///
    /// # Errors
    ///
    /// A fault of the store.
    pub async fn principal_of_key(&self, presented: &str) -> Result<Option<Principal>> {
        Ok(self.judge_key(presented).await?.ok())
    }

    /// As [`IdentityService::principal_of_key`], with the reason, which the caller never learns.
    pub(crate) async fn judge_key(&self, presented: &str) -> Result<Result<Principal, Refusal>> {
        let Ok(presented) = PresentedKey::parse(presented) else {
            return Ok(Err(Refusal::Malformed));
        };
        let hash = presented.hash();
        let now = self.clock.now();
        let known = match self.keys.get(&hash) {
            Some(known) => known,
            None => match self.load_key(hash).await? {
                Ok(known) => known,
                Err(refusal) => return Ok(Err(refusal)),
            },
        };
        // A key may have ended since it was remembered, so this is asked every time.
        if !known.key.is_usable(now) {
            return Ok(Err(Refusal::Ended));
        }
        self.note_use(&known.key, now);
        Ok(Ok(known.principal))
    }

    /// Keys that don't hold aren't remembered, or guessing could push out those that do.
    async fn load_key(&self, hash: KeyHash) -> Result<Result<KnownKey, Refusal>> {
        let reading = self.keys.begin();
        let Some(key) = store::key_by_hash(&self.database, hash).await? else {
            return Ok(Err(Refusal::Unknown));
        };
        let known = self.know(key).await?;
        if let Ok(known) = &known {
            self.keys.keep(reading, hash, known.clone());
        }
        Ok(known)
    }

    /// Whom a stored key speaks for.
    async fn know(&self, key: StoredKey) -> Result<Result<KnownKey, Refusal>> {
        if !key.is_usable(self.clock.now()) {
            return Ok(Err(Refusal::Ended));
        }
        let rights = store::rights(&self.database, key.user, key.organisation).await?;
        let Some(rights) = rights else { return Ok(Err(Refusal::OwnerGone)) };
        let principal = self.key_principal(&key, rights);
        Ok(Ok(KnownKey { key: Arc::new(key), principal }))
    }

    fn key_principal(&self, key: &StoredKey, rights: StoredRights) -> Principal {
        let person = self.person(key.user, key.organisation, rights);
        let person = person.known_by(Means::ApiKey(key.id));
        if let Some(scope) = &key.scope {
            return person.through_api_key(scope);
        }
        // Without a scope it stands for its owner in everything.
        let all = person.permissions().names().map(str::to_owned).collect();
        let roles: Vec<String> = person.roles().map(str::to_owned).collect();
        person.through_api_key(&all).with_roles(roles)
    }

    fn person(
        &self,
        user: UserId,
        organisation: OrganisationId,
        rights: StoredRights,
    ) -> Principal {
        let StoredRights { display_name, is_administrator, permissions, roles, claims } = rights;
        let permissions = self.effective(is_administrator, permissions);
        let person = Principal::user(user, display_name, organisation, permissions);
        person.with_roles(roles).with_claims(claims)
    }

    /// The permissions that hold: all there are for an administrator, and of those that were
    /// granted the ones that a module still declares.
    pub(crate) fn effective(
        &self,
        is_administrator: bool,
        granted: impl IntoIterator<Item = String>,
    ) -> PermissionSet {
        if is_administrator {
            return permissions::everything(&self.permissions);
        }
        granted.into_iter().filter(|name| self.permissions.contains(name)).collect()
    }

    fn note_use(&self, key: &StoredKey, now: OffsetDateTime) {
        if key.last_used_at.is_none_or(|last| now - last >= USE_INTERVAL) {
            self.uses.lock().insert(key.id, now);
        }
    }

    /// Stores when keys were last used, and says how many were used since it was last called. What
    /// is lost in a crash is the use of at most a minute.
    pub(crate) async fn store_uses(&self) -> Result<usize> {
        let uses: Vec<_> = std::mem::take(&mut *self.uses.lock()).into_iter().collect();
        if uses.is_empty() {
            return Ok(0);
        }
        if let Err(error) = store::touch_keys(&self.database, &uses, USE_INTERVAL).await {
            // Kept for the next time, unless the key has been used again meanwhile.
            let mut kept = self.uses.lock();
            for (key, used_at) in uses {
                kept.entry(key).or_insert(used_at);
            }
            return Err(error);
        }
        Ok(uses.len())
    }
}

#[async_trait]
impl Directory for IdentityService {
    async fn principal(
        &self,
        user: UserId,
        organisation: OrganisationId,
    ) -> Result<Option<Principal>> {
        let asked = (user, organisation);
        if let Some(principal) = self.people.get(&asked) {
            return Ok(Some(principal));
        }
        let reading = self.people.begin();
        let Some(rights) = store::rights(&self.database, user, organisation).await? else {
            return Ok(None);
        };
        let principal = self.person(user, organisation, rights);
        self.people.keep(reading, asked, principal.clone());
        Ok(Some(principal))
    }

    async fn principal_through(
        &self,
        user: UserId,
        organisation: OrganisationId,
        key: Uuid,
    ) -> Result<Option<Principal>> {
        let known = if let Some(known) = self.keys_by_id.get(&key) {
            known
        } else {
            let reading = self.keys_by_id.begin();
            let Some(stored) = store::key_by_id(&self.database, key).await? else {
                return Ok(None);
            };
            let Ok(known) = self.know(stored).await? else { return Ok(None) };
            self.keys_by_id.keep(reading, key, known.clone());
            known
        };
        let KnownKey { key, principal } = known;
        let is_theirs = key.user == user && key.organisation == organisation;
        Ok((is_theirs && key.is_usable(self.clock.now())).then_some(principal))
    }

    async fn members(
        &self,
        organisation: OrganisationId,
        named: &str,
        most: u32,
    ) -> Result<Vec<Member>> {
        store::members(&self.database, organisation, named, most).await
    }

    async fn granted_in(
        &self,
        organisation: OrganisationId,
        permissions: &BTreeSet<String>,
    ) -> Result<Option<BTreeSet<String>>> {
        let granted = store::granted(&self.database, organisation).await?;
        Ok(Some(granted.intersection(permissions).cloned().collect()))
    }

    async fn roles_in(&self, organisation: OrganisationId) -> Result<Option<Vec<KnownRole>>> {
        store::roles_in(&self.database, organisation).await.map(Some)
    }

    async fn organisations(
        &self,
        after: Option<OrganisationId>,
        most: u32,
    ) -> Result<Vec<OrganisationId>> {
        store::organisations(&self.database, after, most).await
    }
}

impl std::fmt::Debug for IdentityService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IdentityService")
    }
}

/// Forgets rights after every commit that changed a record of this module, whoever made the change.
pub(crate) struct ForgetOnChange;

#[async_trait]
impl CommitHook for ForgetOnChange {
    async fn before_commit(&self, uow: &UnitOfWork, captured: &Captured) -> Result<()> {
        if captured.changes.iter().any(|change| change.model.module == NAME) {
            uow.wake_after_commit(TOPIC);
        }
        Ok(())
    }
}

/// Refuses claims whose names are kept for the framework.
pub(crate) fn check_claims(claims: &BTreeMap<String, Vec<String>>) -> Result<()> {
    let mut problems = Error::invalid("the claims are not valid");
    for (name, values) in claims {
        let problem = if name.is_empty() || name.chars().count() > 100 {
            "must have a name of 1 to 100 characters"
        } else if name.starts_with("svc.") {
            "must have a name that doesn't begin with `svc.`, which is kept for the framework"
        } else if values.iter().any(|value| value.chars().count() > 200) {
            "must have values of at most 200 characters"
        } else if values.len() > 1_000 {
            "must have at most 1000 values"
        } else {
            continue;
        };
        problems = problems.field(format!("claims.{name}"), problem);
    }
    if problems.fields().is_empty() { Ok(()) } else { Err(problems) }
}
