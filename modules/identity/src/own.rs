//! What a person sees and changes of the own account: the name, the mail address, and who else goes on in their name.
//!
//! | Step | Which address counts |
//! | --- | --- |
//! | the person asks for another one, with the password ([`ask_for_address`]) | the old one |
//! | a link reaches the new address, and the old one is told, which can still stop it by another password | the old one |
//! | the person confirms on the link's page, signed in ([`take_address`]) | the new one; all links are worthless |
//!
//! A link alone gives nobody the account, so a mistyped address is no loss. Whether somebody has the new
//! address shows only to who reads its mail.

use std::time::Duration;

use sea_orm::{ActiveValue::Set, IntoActiveModel as _};
use svc_core::settings::Secret;
use svc_core::{App, ErrorKind, Mail, MailSender, OrganisationId, Result, UserId, micros};
use svc_data::Context;
use svc_messages::{Arguments, Texts};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::email::Email;
use crate::links::{self, Purpose};
use crate::members::Organisation;
use crate::model::user;
use crate::passwords::{self, Changed};
use crate::provider::{clients, grants};
use crate::sessions::{self, Session};
use crate::settings::is_development;
use crate::text::application_name;
use crate::throttle::{Key, Throttle};
use crate::{store, text};

/// Gives a person another name.
///
/// # Errors
///
/// [`ErrorKind::Invalid`] for what is no name.
pub(crate) async fn rename(
    app: &App,
    user: UserId,
    organisation: OrganisationId,
    name: &str,
) -> Result<()> {
    let name = text::name("displayName", name)?;
    let ctx = Context::system_in(app, organisation)?;
    ctx.transact(async |uow| {
        let mut record = ctx.find::<user::Entity>(user.0).await?.into_active_model();
        record.display_name = Set(name);
        uow.update(record).await.map(drop)
    })
    .await
}

/// What came of a wish for another address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A link is on its way there.
    Sent,
    /// The password is another.
    Wrong,
    /// It was asked, or the password was wrong, too often; the next try may be made after this time.
    Wait(Duration),
}

/// Sends a link to the address that a person wants to have, and tells the old one. It takes the password of
/// who has one: a browser that was left open isn't enough. Nobody is flooded with mail.
pub(crate) async fn ask_for_address(
    app: &App,
    user: UserId,
    email: &Email,
    current: Secret,
    texts: &Texts,
) -> Result<Asked> {
    let person = store::person(app, user).await?;
    if person.password_hash.is_some() {
        match passwords::confirm(app, user, current).await? {
            Changed::Done => {}
            Changed::Wrong => return Ok(Asked::Wrong),
            Changed::Wait(wait) => return Ok(Asked::Wait(wait)),
        }
    }
    let keys = [Key::Account(format!("address of {user}"))];
    if let Err(wait) = app.service::<Throttle>()?.take(&keys, app.clock().now_us()) {
        return Ok(Asked::Wait(wait));
    }
    let ctx = Context::system(app)?;
    let link = ctx.transact(async |uow| links::make_for_address(&uow, user, email).await).await?;
    let Some(sender) = app.find_service::<dyn MailSender>() else {
        tell_developer(app, user, &link);
        return Ok(Asked::Sent);
    };
    let arguments = Arguments::new()
        .set("application", application_name(app))
        .set("hours", Purpose::Address.lifetime().as_secs() / 3_600)
        .set("address", email.as_str())
        .set("link", link);
    let new = ("identity-mail-address-subject", "identity-mail-address-text");
    let old = ("identity-mail-address-old-subject", "identity-mail-address-old-text");
    for (to, (subject, text)) in [(email.as_str(), new), (person.email.as_str(), old)] {
        let mail = Mail {
            to: to.to_owned().into(),
            subject: texts.text_with(subject, &arguments),
            text: texts.text_with(text, &arguments).into(),
        };
        sender.send(mail).await?;
    }
    Ok(Asked::Sent)
}

/// Where nobody delivers mail: in development the log has the link, and elsewhere only the fault.
fn tell_developer(app: &App, user: UserId, link: &str) {
    if is_development(app) {
        tracing::info!(user.id = %user, link, "no module delivers mail; the link to a new address");
    } else {
        tracing::warn!(
            user.id = %user,
            "somebody wants another mail address, and no module delivers mail; add one that does"
        );
    }
}

/// What came of a link to a new address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The address is the person's.
    Done,
    /// The link has ended, or is somebody else's.
    Ended,
    /// Somebody else has confirmed the address meanwhile.
    Someone,
}

/// Gives a person the address that a link of theirs was sent to.
pub(crate) async fn take_address(app: &App, user: UserId, code: &str) -> Result<Taken> {
    let ctx = Context::system(app)?;
    let outcome = ctx.transact(async |uow| {
        let address = links::take_address(&uow, user, code).await?;
        let Some(email) = address.and_then(|address| Email::parse(&address).ok()) else {
            return Ok(Taken::Ended);
        };
        let mut record = ctx.find::<user::Entity>(user.0).await?.into_active_model();
        record.email_key = Set(email.key());
        record.email = Set(email.as_str().to_owned());
        record.confirmed_at = Set(Some(app.clock().now()));
        uow.update(record).await?;
        links::drop_all(&uow, user).await?;
        uow.after_commit(move || {
            tracing::info!(user.id = %user, "a person confirmed another mail address");
        });
        Ok(Taken::Done)
    });
    match outcome.await {
        Err(error) if error.kind() == ErrorKind::Conflict && !error.is_transient() => {
            Ok(Taken::Someone)
        }
        outcome => outcome,
    }
}

/// A registered program that goes on in a person's name, in one organisation, without a browser.
pub(crate) struct Program {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) organisation: String,
    /// When it last renewed its tokens, or was let in.
    pub(crate) used_at: OffsetDateTime,
}

/// The programs that go on in a person's name in these organisations, each the youngest first.
pub(crate) async fn programs(
    app: &App,
    user: UserId,
    organisations: &[Organisation],
) -> Result<Vec<Program>> {
    let mut found = Vec::new();
    for organisation in organisations {
        let ctx = Context::system_in(app, organisation.id)?;
        let now_us = ctx.clock().now_us();
        let mut given = grants::given_by(ctx.database(), user, organisation.id, now_us).await?;
        given.retain(|one| one.is_offline);
        if given.is_empty() {
            continue;
        }
        let known = clients::list(&ctx).await?;
        found.extend(given.into_iter().map(|one| {
            let client = known.iter().find(|client| client.id == one.client);
            Program {
                id: one.id,
                name: client.map(|client| client.name.clone()).unwrap_or_default(),
                organisation: organisation.name.clone(),
                used_at: micros::to_time(one.used_at_us),
            }
        }));
    }
    Ok(found)
}

/// Ends what a program was given of a person; nothing where it has nothing of them.
pub(crate) async fn end_program(app: &App, user: UserId, id: Uuid) -> Result<()> {
    let ctx = Context::system(app)?;
    ctx.transact(async |uow| grants::end_offline(&uow, user, None, Some(id)).await.map(drop)).await
}

/// Signs a person out everywhere but in the browser `here`: in all others, and of the programs that go on without one.
pub(crate) async fn sign_out_elsewhere(app: &App, here: &Session) -> Result<()> {
    let ctx = Context::system_in(app, here.organisation)?;
    ctx.transact(async |uow| {
        sessions::end_all(&uow, here.user, Some(here.id)).await?;
        grants::end_offline(&uow, here.user, None, None).await.map(drop)
    })
    .await
}
