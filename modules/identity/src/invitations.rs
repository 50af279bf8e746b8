//! Invitations: how somebody becomes a member whom an administrator knows by a mail address only.
//!
//! | Step | Who is there afterwards |
//! | --- | --- |
//! | an administrator invites an address, with roles | a member without a password, whose address isn't confirmed: it opens nothing |
//! | the link reaches the address, or is shown to the administrator where nobody delivers mail | |
//! | somebody opens it who has no account: sets a password (`accept`) | the member, confirmed |
//! | somebody opens it whose address is confirmed already: signs in, and joins (`join`) | the person, with one more organisation; what was made for the invitation is gone |
//!
//! So nobody takes an address by inviting it, and an administrator sees the same whether the address is
//! known in another organisation or not.

use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use svc_core::settings::Secret;
use svc_core::{App, Error, ErrorKind, Mail, MailSender, OrganisationId, Result, UserId};
use svc_data::{Context, UnitOfWork};
use svc_messages::{Arguments, Messages};

use crate::acting::{self, lock, require_without_end};
use crate::errors;
use crate::links::{self, Purpose};
use crate::model::{api_key, membership, user};
use crate::permissions::MANAGE;
use crate::store::Invitation;
use crate::{passwords, store, users};

/// A link to an invitation that nobody delivers: for the administrator who invited.
#[derive(Clone, Debug)]
pub struct InvitationLink(Secret);

impl InvitationLink {
    /// The address to pass on to the person, and to nobody else.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

/// Sends a member whose address isn't confirmed a link, in place of any earlier one. Answers with it where
/// no module delivers mail.
///
/// # Errors
///
/// [`ErrorKind::Forbidden`] without `Identity.Manage`, by a key that ends, or for who may do
/// more than the caller; [`ErrorKind::NotFound`] for who is unknown or no
/// member; [`ErrorKind::Conflict`] for who needs no invitation.
pub async fn send(ctx: &Context, id: UserId) -> Result<Option<InvitationLink>> {
    ctx.require(MANAGE)?;
    require_without_end(ctx).await?;
    let (email, link) = ctx
        .transact(async |uow| {
            users::require_changeable(&uow, id).await?;
            let person = ctx.find::<user::Entity>(id.0).await?;
            if person.is_machine {
                return Err(errors::IS_MACHINE
                    .error("a machine user isn't invited; make an API key for it"));
            }
            // Whoever opened the link would sign in as the person.
            if users::signs_in_elsewhere(&uow, id).await? {
                return Err(errors::SIGNS_IN_ELSEWHERE.error(
                    "the person signs in with an account at another issuer, and needs no invitation",
                ));
            }
            if person.confirmed_at.is_some() {
                return Err(errors::ADDRESS_CONFIRMED
                    .error("the person has confirmed the address, and needs no invitation"));
            }
            Ok((person.email, links::make(&uow, id, Purpose::Invitation).await?))
        })
        .await?;
    let organisation = acting::current(ctx).await?.name;
    deliver(ctx.app(), email, &organisation, link).await
}

async fn deliver(
    app: &App,
    email: String,
    organisation: &str,
    link: String,
) -> Result<Option<InvitationLink>> {
    let Some(sender) = app.find_service::<dyn MailSender>() else {
        return Ok(Some(InvitationLink(link.into())));
    };
    let messages = app.service::<Messages>()?;
    let texts = messages.texts(&messages.negotiate(None, None));
    let days = Purpose::Invitation.lifetime().as_secs() / (24 * 60 * 60);
    let arguments = Arguments::new()
        .set("organisation", organisation)
        .set("application", app.name())
        .set("days", days)
        .set("link", link);
    let mail = Mail {
        to: email.into(),
        subject: texts.text_with("identity-mail-invitation-subject", &arguments),
        text: texts.text_with("identity-mail-invitation-text", &arguments).into(),
    };
    sender.send(mail).await.map(|()| None)
}

/// The invitation behind a link, as long as it works.
pub(crate) async fn read(app: &App, code: &str) -> Result<Option<Invitation>> {
    let Some(user) = links::read(app, Purpose::Invitation, code).await? else { return Ok(None) };
    store::invitation(app, user).await
}

/// Accepts an invitation with a new password, which is checked already; none where the link has ended, or
/// somebody has confirmed the address meanwhile.
pub(crate) async fn accept(app: &App, code: &str, hash: String) -> Result<Option<UserId>> {
    let Some(invitation) = read(app, code).await?.filter(|one| one.known.is_none()) else {
        return Ok(None);
    };
    let ctx = Context::system_in(app, invitation.organisation)?;
    let accepted = ctx.transact(async |uow| {
        let Some(user) = links::take(&uow, Purpose::Invitation, code).await? else {
            return Ok(None);
        };
        let mut record = ctx.find::<user::Entity>(user.0).await?.into_active_model();
        record.confirmed_at = Set(Some(app.clock().now()));
        uow.update(record).await?;
        passwords::put(&uow, user, hash, None).await?;
        uow.after_commit(move || tracing::info!(user.id = %user, "an invitation was accepted"));
        Ok(Some(user))
    });
    match accepted.await {
        // Somebody has confirmed the same address at this moment.
        Err(error) if error.kind() == ErrorKind::Conflict && !error.is_transient() => Ok(None),
        outcome => outcome,
    }
}

/// Accepts an invitation as somebody who has the address for certain and is signed in; none where the link
/// has ended, or is for somebody else.
pub(crate) async fn join(app: &App, code: &str, who: UserId) -> Result<Option<OrganisationId>> {
    let Some(invitation) = read(app, code).await?.filter(|one| one.known == Some(who)) else {
        return Ok(None);
    };
    let organisation = invitation.organisation;
    let ctx = Context::system_in(app, organisation)?;
    ctx.transact(async |uow| {
        lock(&uow).await?;
        let Some(invited) = links::take(&uow, Purpose::Invitation, code).await? else {
            return Ok(None);
        };
        move_membership(&uow, invited, who).await?;
        uow.delete::<user::Entity>(invited.0).await?;
        uow.after_commit(move || {
            tracing::info!(user.id = %who, organisation.id = %organisation, "a person joined");
        });
        Ok(Some(organisation))
    })
    .await
}

async fn move_membership(uow: &UnitOfWork, invited: UserId, who: UserId) -> Result<()> {
    let of = |user: UserId| {
        uow.query::<membership::Entity>().filter(membership::COLUMN.user_id.eq(user.0))
    };
    if of(who).one().await?.is_some() {
        return Err(Error::conflict("the person is a member already"));
    }
    let keys = uow.query::<api_key::Entity>().filter(api_key::COLUMN.user_id.eq(invited.0));
    for key in keys.all().await? {
        uow.delete::<api_key::Entity>(key.id).await?;
    }
    let missing = || Error::not_found("there is no such invitation");
    let mut membership = of(invited).one().await?.ok_or_else(missing)?.into_active_model();
    membership.user_id = Set(who.0);
    uow.update(membership).await.map(drop)
}
