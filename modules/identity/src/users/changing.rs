//! A member who is being changed, and the rules that such changes keep.

use std::collections::BTreeSet;
use std::sync::Arc;

use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use svc_core::{Error, ErrorKind, Principal, PrincipalKind, Result, UserId};
use svc_data::UnitOfWork;
use svc_database::column;
use uuid::Uuid;

use super::rows::{Claims, claim_rows, find_membership, find_user, role_rows, roles_of};
use crate::acting::{lock, require_without_end};
use crate::email::Email;
use crate::errors;
use crate::ids::RoleId;
use crate::model::{claim, membership, membership_role};
use crate::permissions::require_all;
use crate::{roles, store};

/// What changes of the person itself.
pub(super) struct PersonChange {
    pub(super) email: Option<Email>,
    pub(super) display_name: Option<String>,
    pub(super) disabled: Option<bool>,
}

/// A member who is about to be changed, in an organisation that is locked.
pub(super) struct Changing<'a> {
    uow: &'a UnitOfWork,
    user: UserId,
    pub(super) membership: Uuid,
    pub(super) is_member_elsewhere: bool,
    was_administrator: bool,
}

impl<'a> Changing<'a> {
    /// Insists that the caller may do all that the member may.
    pub(super) async fn begin(uow: &'a UnitOfWork, id: UserId) -> Result<Self> {
        lock(uow).await?;
        let membership = find_membership(uow.context(), id).await?.id;
        let held = roles_of(uow.context(), membership).await?;
        for role in &held {
            require_all(uow.context().principal(), role.permissions.iter().map(String::as_str))?;
        }
        let everywhere = uow.context().acting_as(Arc::new(Principal::system()));
        let memberships = everywhere.query::<membership::Entity>();
        let count = memberships.filter(membership::COLUMN.user_id.eq(id.0)).count().await?;
        Ok(Self {
            uow,
            user: id,
            membership,
            was_administrator: held.iter().any(|role| role.is_administrator),
            is_member_elsewhere: count > 1,
        })
    }

    /// Insists that the person is a member of this organisation alone, unless the system acts.
    pub(super) fn require_no_other_organisation(&self) -> Result<()> {
        if self.is_member_elsewhere
            && self.uow.context().principal().kind() != PrincipalKind::System
        {
            return Err(errors::BELONGS_ELSEWHERE.error(
                "the person also belongs to another organisation, so the address, name, password \
                 and state can't be changed here; take the person out of this organisation instead",
            ));
        }
        Ok(())
    }

    /// Insists that an administrator is left, where this was one.
    pub(super) async fn keep_an_administrator(&self) -> Result<()> {
        let organisation = self.uow.context().organisation()?;
        if self.was_administrator && store::count_administrators(self.uow, organisation).await? == 0
        {
            return Err(errors::LAST_ADMINISTRATOR.error(
                "this is the organisation's last administrator; make somebody else one first",
            ));
        }
        Ok(())
    }

    pub(super) async fn change_person(&self, change: PersonChange) -> Result<()> {
        let person = find_user(self.uow.context(), self.user).await?;
        let is_confirmed = person.confirmed_at.is_some();
        let mut record = person.into_active_model();
        if let Some(email) = change.email {
            if is_confirmed && self.uow.context().principal().kind() != PrincipalKind::System {
                return Err(errors::ADDRESS_CONFIRMED
                    .error("the person has confirmed the address, so only the person changes it"));
            }
            require_free(self.uow, &email, Some(self.user)).await?;
            record.email_key = Set(email.key());
            record.email = Set(email.as_str().to_owned());
        }
        if let Some(display_name) = change.display_name {
            record.display_name = Set(display_name);
        }
        match change.disabled {
            // Who is disabled already stays so since then.
            Some(true) if record.disabled_at.as_ref().is_none() => {
                record.disabled_at = Set(Some(self.uow.context().clock().now()));
            }
            Some(false) => record.disabled_at = Set(None),
            _ => {}
        }
        self.uow.update(record).await.map(drop).map_err(email_taken)
    }
}

/// Gives a member these roles and no others. The caller must hold what the new ones hold.
pub(super) async fn replace_roles(
    uow: &UnitOfWork,
    member: Uuid,
    wanted: &BTreeSet<RoleId>,
) -> Result<()> {
    let rows = role_rows(uow.context(), &[member]).await?;
    let held: BTreeSet<RoleId> = rows.iter().map(|row| RoleId(row.role_id)).collect();
    let added: BTreeSet<RoleId> = wanted.difference(&held).copied().collect();
    if !added.is_empty() {
        require_without_end(uow.context()).await?;
    }
    for role in roles::by_ids(uow.context(), &added).await? {
        require_all(uow.context().principal(), role.permissions.iter().map(String::as_str))?;
    }
    for row in rows.iter().filter(|row| !wanted.contains(&RoleId(row.role_id))) {
        uow.delete::<membership_role::Entity>(row.id).await?;
    }
    let records = added.iter().map(|role| membership_role::ActiveModel {
        membership_id: Set(member),
        role_id: Set(role.0),
        ..Default::default()
    });
    uow.insert_many(records.collect::<Vec<_>>()).await.map(drop)
}

pub(super) async fn replace_claims(uow: &UnitOfWork, member: Uuid, wanted: &Claims) -> Result<()> {
    let mut wanted: BTreeSet<(String, String)> = wanted
        .iter()
        .flat_map(|(name, values)| values.iter().map(|value| (name.clone(), value.clone())))
        .collect();
    for row in claim_rows(uow.context(), &[member]).await? {
        if !wanted.remove(&(row.name, row.claim_value)) {
            uow.delete::<claim::Entity>(row.id).await?;
        }
    }
    if !wanted.is_empty() {
        require_without_end(uow.context()).await?;
    }
    let records = wanted.into_iter().map(|(name, claim_value)| claim::ActiveModel {
        membership_id: Set(member),
        name: Set(name),
        claim_value: Set(claim_value),
        ..Default::default()
    });
    uow.insert_many(records.collect::<Vec<_>>()).await.map(drop)
}

/// Insists that no other member has the address. Whether somebody elsewhere has it is nobody's business
/// here: an address that isn't confirmed may be written down more than once.
pub(super) async fn require_free(
    uow: &UnitOfWork,
    email: &Email,
    except: Option<UserId>,
) -> Result<()> {
    let organisation = uow.context().organisation()?;
    let statement = uow.context().database().statement(
        "SELECT u.id FROM identity_users u JOIN identity_memberships m ON m.user_id = u.id \
         WHERE u.email_key = ? AND m.organisation_id = ?",
        [email.key().into(), organisation.0.into()],
    );
    for row in uow.rows(statement).await? {
        let id: Uuid = column(&row, 0)?;
        if except != Some(UserId(id)) {
            return Err(errors::ADDRESS_TAKEN.error("the mail address is in use already"));
        }
    }
    Ok(())
}

pub(super) fn email_taken(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Conflict if !error.is_transient() => {
            errors::ADDRESS_TAKEN.error("the mail address is in use already").caused_by(error)
        }
        _ => error,
    }
}
