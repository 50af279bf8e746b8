//! People, as the members of an organisation.
//!
//! A person is one in all organisations, so two rules protect people from the administrators of
//! others' organisations, and from those who may do less than they:
//!
//! - The address, name, password and state of somebody who is also a member elsewhere can't be
//!   changed here; roles, claims and the membership can.
//! - Nobody changes somebody who holds a permission that they don't hold themselves, and nobody
//!   gives a role with such a permission.
//!
//! An organisation always keeps an administrator who isn't disabled. Changes of its people lock the
//! organisation first, so that two administrators can't remove each other at the same time.

mod changing;
mod following;
mod rows;
mod signed_in;

use std::collections::BTreeSet;

use sea_orm::ActiveValue::Set;
use svc_core::settings::Secret;
use svc_core::{Error, PrincipalKind, Result, UserId};
use svc_data::{Context, UnitOfWork};

use crate::acting::{actor, lock, require_without_end};
use crate::audit::{self, RightsChange};
use crate::email::Email;
use crate::ids::RoleId;
use crate::model::{api_key, membership, user};
use crate::permissions::{MANAGE, MANAGE_CLAIMS};
use crate::service::{IdentityService, check_claims};
use crate::{errors, passwords, sessions, store, text};

use changing::{Changing, PersonChange, email_taken, replace_claims, replace_roles, require_free};
pub(crate) use following::{by_trusted_address, set_roles, signs_in_elsewhere, take_in};

pub use rows::{Claims, User};
pub use signed_in::{SignedIn, sign_out, sign_out_everywhere, signed_in};

use rows::{find_membership, find_user, insert_membership, views};

/// Who a new person is, and what the person may do in the organisation.
#[derive(Clone, Debug, Default)]
pub struct NewUser {
    /// The mail address, unique without regard to case; empty for a machine user.
    pub email: String,
    /// The name that people know the person by.
    pub display_name: String,
    /// Whether it is to act for a program: without address, password and sessions, with API keys only.
    pub is_machine: bool,
    /// The password, with which the address counts as confirmed. Only the system gives one, as the set-up
    /// does: everybody else chooses it when accepting an [invitation](crate::invitations).
    pub password: Option<Secret>,
    /// The roles.
    pub roles: BTreeSet<RoleId>,
    /// The claims.
    pub claims: Claims,
}

/// What is to change; what is none stays as it is.
#[derive(Clone, Debug, Default)]
pub struct UserChange {
    /// A new mail address.
    pub email: Option<String>,
    /// A new name.
    pub display_name: Option<String>,
    /// A new password; only the system gives one.
    pub password: Option<Secret>,
    /// Whether the person is disabled.
    pub disabled: Option<bool>,
    /// The roles in place of those that the person has.
    pub roles: Option<BTreeSet<RoleId>>,
    /// The claims in place of those that the person has.
    pub claims: Option<Claims>,
}

impl UserChange {
    /// Whether the person itself changes, and not only what the person is in the organisation.
    fn is_personal(&self) -> bool {
        self.email.is_some()
            || self.display_name.is_some()
            || self.password.is_some()
            || self.disabled.is_some()
    }
}

/// Makes a person known, as a member of the organisation that is acted in.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without `Identity.Manage`, for a role with a
/// permission that the caller doesn't hold, for claims without `Identity.ManageClaims`, by a key that ends,
/// and for a password from anybody but the system;
/// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for what breaks a rule;
/// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) for the address of another member.
pub async fn create(ctx: &Context, new: NewUser) -> Result<UserId> {
    ctx.require(MANAGE)?;
    require_no_password(ctx, new.password.as_ref())?;
    require_without_end(ctx).await?;
    if !new.claims.is_empty() {
        ctx.require(MANAGE_CLAIMS)?;
    }
    let checked = CheckedUser::check(ctx, new).await?;
    ctx.transact(async |uow| {
        lock(&uow).await?;
        checked.insert(&uow).await
    })
    .await
}

/// A new person whose details are valid and whose password is hashed, which takes too long to be
/// done within a transaction.
pub(crate) struct CheckedUser {
    is_confirmed: bool,
    /// None for a machine user.
    email: Option<Email>,
    display_name: String,
    password_hash: Option<String>,
    roles: BTreeSet<RoleId>,
    claims: Claims,
}

impl CheckedUser {
    pub(crate) async fn check(ctx: &Context, new: NewUser) -> Result<Self> {
        let email = if new.is_machine { None } else { Some(Email::parse(&new.email)?) };
        if new.is_machine && !new.email.is_empty() {
            return Err(Error::invalid("a machine user has no mail address")
                .field("email", "must be left out for a machine user"));
        }
        if new.is_machine && new.password.is_some() {
            return Err(errors::IS_MACHINE.error("a machine user has no password"));
        }
        let display_name = text::name("displayName", &new.display_name)?;
        check_claims(&new.claims)?;
        let password_hash = match new.password {
            Some(password) => {
                Some(hash_password(ctx, password, &[&display_name, &new.email]).await?)
            }
            None => None,
        };
        let NewUser { roles, claims, .. } = new;
        let is_confirmed = password_hash.is_some();
        Ok(Self { is_confirmed, email, display_name, password_hash, roles, claims })
    }

    /// With these roles in place of those it was checked with.
    pub(crate) fn with_role(mut self, role: RoleId) -> Self {
        self.roles = [role].into();
        self
    }

    /// With an address that is known to be the person's.
    pub(crate) fn confirmed(self) -> Self {
        Self { is_confirmed: true, ..self }
    }

    pub(crate) async fn insert(self, uow: &UnitOfWork) -> Result<UserId> {
        if let Some(email) = &self.email {
            require_free(uow, email, None).await?;
        }
        let confirmed_at = self.is_confirmed.then(|| uow.context().clock().now());
        let record = user::ActiveModel {
            email_key: Set(self.email.as_ref().map(Email::key).unwrap_or_default()),
            email: Set(self.email.as_ref().map(|it| it.as_str().to_owned()).unwrap_or_default()),
            is_machine: Set(self.email.is_none()),
            display_name: Set(self.display_name),
            confirmed_at: Set(confirmed_at),
            ..Default::default()
        };
        let id = UserId(uow.insert(record).await.map_err(email_taken)?.id);
        if let Some(hash) = self.password_hash {
            store::put_password(uow, id, hash).await?;
        }
        let membership = insert_membership(uow, id).await?;
        replace_roles(uow, membership, &self.roles).await?;
        replace_claims(uow, membership, &self.claims).await?;
        audit::person_changed(uow, id, RightsChange::Added)?;
        let organisation = uow.context().organisation()?;
        let actor = actor(uow.context());
        uow.after_commit(move || {
            tracing::info!(
                user.id = %id,
                organisation.id = %organisation,
                actor.id = actor,
                "a person was made known"
            );
        });
        Ok(id)
    }
}

/// Makes somebody who is known a member of the organisation that is acted in as well. Only the
/// system may, since it is for the person to agree: an administrator can't take people in unasked.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) for anybody else;
/// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for an unknown person;
/// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) for a member.
pub async fn add_member(ctx: &Context, id: UserId, roles: BTreeSet<RoleId>) -> Result<()> {
    if ctx.principal().kind() != PrincipalKind::System {
        return Err(Error::forbidden("only the application itself makes known people members"));
    }
    ctx.transact(async |uow| {
        lock(&uow).await?;
        find_user(uow.context(), id).await?;
        let membership = insert_membership(&uow, id).await?;
        replace_roles(&uow, membership, &roles).await?;
        audit::person_changed(&uow, id, RightsChange::Added)?;
        let organisation = ctx.organisation()?;
        uow.after_commit(move || {
            tracing::info!(
                user.id = %id,
                organisation.id = %organisation,
                "a person became a member"
            );
        });
        Ok(())
    })
    .await
}

/// Gives somebody a role besides those that the person has.
///
/// # Errors
///
/// As [`change`].
pub async fn grant(ctx: &Context, id: UserId, role: RoleId) -> Result<()> {
    let mut roles: BTreeSet<RoleId> = get(ctx, id).await?.roles.into_keys().collect();
    roles.insert(role);
    change(ctx, id, UserChange { roles: Some(roles), ..UserChange::default() }).await
}

/// Members in the order in which they were made known, at most `take` of those behind `after`.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without `Identity.Manage`.
pub async fn list(ctx: &Context, after: Option<UserId>, take: u64) -> Result<Vec<User>> {
    ctx.require(MANAGE)?;
    let query = ctx.query::<membership::Entity>().order_by(membership::COLUMN.user_id).take(take);
    let query = match after {
        Some(after) => query.filter(membership::COLUMN.user_id.gt(after.0)),
        None => query,
    };
    views(ctx, query.all().await?).await
}

/// One member.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without `Identity.Manage`;
/// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for who is unknown or no member.
pub async fn get(ctx: &Context, id: UserId) -> Result<User> {
    ctx.require(MANAGE)?;
    view(ctx, id).await
}

/// One member, for who may see that one.
pub(crate) async fn view(ctx: &Context, id: UserId) -> Result<User> {
    let membership = find_membership(ctx, id).await?;
    let missing = || Error::internal("a member got lost");
    views(ctx, vec![membership]).await?.pop().ok_or_else(missing)
}

/// Changes a member.
///
/// # Errors
///
/// As [`create`]; [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) for who may do more than
/// the caller; [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for who is unknown or no
/// member; [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) for the last administrator, and
/// for changes of a person who is also a member elsewhere.
pub async fn change(ctx: &Context, id: UserId, change: UserChange) -> Result<()> {
    ctx.require(MANAGE)?;
    require_no_password(ctx, change.password.as_ref())?;
    let email = change.email.as_deref().map(Email::parse).transpose()?;
    let display_name = change.display_name.as_deref();
    let display_name = display_name.map(|name| text::name("displayName", name)).transpose()?;
    if let Some(claims) = &change.claims {
        check_claims(claims)?;
        ctx.require(MANAGE_CLAIMS)?;
    }
    // Who may not change the person, or asks for one who isn't there, costs no hash.
    let before = find_user(ctx, UserId(find_membership(ctx, id).await?.user_id)).await?;
    if before.is_machine && (email.is_some() || change.password.is_some()) {
        return Err(errors::IS_MACHINE
            .error("a machine user has no mail address and no password; make an API key for it"));
    }
    let password_hash = match change.password.clone() {
        Some(password) => {
            let email = email.as_ref().map_or(before.email.as_str(), Email::as_str);
            let name = display_name.as_deref().unwrap_or(&before.display_name);
            Some(hash_password(ctx, password, &[name, email]).await?)
        }
        None => None,
    };
    ctx.transact(async |uow| {
        let changing = Changing::begin(&uow, id).await?;
        if change.is_personal() {
            changing.require_no_other_organisation()?;
            let person = PersonChange { email, display_name, disabled: change.disabled };
            changing.change_person(person).await?;
        }
        if let Some(hash) = password_hash {
            passwords::put(&uow, id, hash, None).await?;
        }
        if change.disabled == Some(true) {
            sessions::end_all(&uow, id, None).await?;
        }
        if let Some(roles) = &change.roles {
            replace_roles(&uow, changing.membership, roles).await?;
        }
        if let Some(claims) = &change.claims {
            replace_claims(&uow, changing.membership, claims).await?;
        }
        changing.keep_an_administrator().await?;
        if change.roles.is_some() || change.claims.is_some() || change.disabled.is_some() {
            audit::person_changed(&uow, id, RightsChange::Changed)?;
        }
        log_change(&uow, id, &change);
        Ok(())
    })
    .await
}

/// Takes somebody out of the organisation, with roles, claims and API keys. Who is no member of any
/// other is forgotten altogether.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without `Identity.Manage`, or for who
/// may do more than the caller; [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for who is
/// unknown or no member; [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) for the last
/// administrator.
pub async fn remove(ctx: &Context, id: UserId) -> Result<()> {
    ctx.require(MANAGE)?;
    ctx.transact(async |uow| {
        let removal = Changing::begin(&uow, id).await?;
        replace_roles(&uow, removal.membership, &BTreeSet::new()).await?;
        replace_claims(&uow, removal.membership, &Claims::new()).await?;
        let keys = uow.query::<api_key::Entity>().filter(api_key::COLUMN.user_id.eq(id.0));
        for key in keys.all().await? {
            uow.delete::<api_key::Entity>(key.id).await?;
        }
        uow.delete::<membership::Entity>(removal.membership).await?;
        if !removal.is_member_elsewhere {
            uow.delete::<user::Entity>(id.0).await?;
        }
        removal.keep_an_administrator().await?;
        audit::person_changed(&uow, id, RightsChange::Removed)?;
        let (organisation, actor) = (ctx.organisation()?, actor(ctx));
        let forgotten = !removal.is_member_elsewhere;
        uow.after_commit(move || {
            tracing::info!(
                user.id = %id,
                organisation.id = %organisation,
                actor.id = actor,
                forgotten,
                "a person was taken out of the organisation"
            );
        });
        Ok(())
    })
    .await
}

/// Insists that the caller may change a member: that it holds all that the member may.
pub(crate) async fn require_changeable(uow: &UnitOfWork, id: UserId) -> Result<()> {
    Changing::begin(uow, id).await.map(drop)
}

/// Whether a member is a machine user.
pub(crate) async fn is_machine(ctx: &Context, id: UserId) -> Result<bool> {
    Ok(find_user(ctx, UserId(find_membership(ctx, id).await?.user_id)).await?.is_machine)
}

/// Nobody but the person sets a password; the system does where there is nobody yet.
fn require_no_password(ctx: &Context, password: Option<&Secret>) -> Result<()> {
    if password.is_some() && ctx.principal().kind() != PrincipalKind::System {
        return Err(Error::forbidden("people set their passwords themselves; send an invitation"));
    }
    Ok(())
}

/// Logs what was changed, once it is, and not to what.
fn log_change(uow: &UnitOfWork, id: UserId, change: &UserChange) {
    let actor = actor(uow.context());
    let (email, name) = (change.email.is_some(), change.display_name.is_some());
    let (password, disabled) = (change.password.is_some(), change.disabled);
    let (roles, claims) = (change.roles.is_some(), change.claims.is_some());
    uow.after_commit(move || {
        tracing::info!(
            user.id = %id,
            actor.id = actor,
            email,
            name,
            password,
            disabled,
            roles,
            claims,
            "a person was changed"
        );
    });
}

async fn hash_password(ctx: &Context, password: Secret, personal: &[&str]) -> Result<String> {
    let service = IdentityService::of(ctx)?;
    service.passwords().check_rule(&password, personal)?;
    service.passwords().hash(password).await
}
