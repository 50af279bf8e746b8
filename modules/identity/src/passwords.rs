//! A person's own password, changed by the person.

use std::time::Duration;

use svc_core::settings::Secret;
use svc_core::{App, Result, UserId};
use svc_data::{Context, UnitOfWork};

use crate::links::{self, Purpose};
use crate::password::Verdict;
use crate::provider::grants;
use crate::service::IdentityService;
use crate::sessions::{self, Session, SessionId};
use crate::store;
use crate::throttle::{Key, Throttle};

/// What came of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    /// The current password was right; a new one holds, and all other sessions have ended.
    Done,
    /// The current password is another.
    Wrong,
    /// The current password was wrong too often; the next try may be made after this time.
    Wait(Duration),
}

/// Changes the password of who is signed in, who must know the current one: a browser that was left open
/// isn't enough. The new one is checked already.
///
/// # Errors
///
/// A fault of the store; [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) while too many
/// passwords are being checked.
pub(crate) async fn change(
    app: &App,
    session: &Session,
    current: Secret,
    new: Secret,
) -> Result<Changed> {
    let confirmed = confirm(app, session.user, current).await?;
    if confirmed != Changed::Done {
        return Ok(confirmed);
    }
    let hash = app.service::<IdentityService>()?.passwords().hash(new).await?;
    let ctx = Context::system_in(app, session.organisation)?;
    ctx.transact(async |uow| put(&uow, session.user, hash, Some(session.id)).await).await?;
    tracing::info!(user.id = %session.user, "a person changed the own password");
    Ok(Changed::Done)
}

/// Asks who is signed in for the password once more, before something that an open browser isn't enough for.
///
/// # Errors
///
/// As [`change`].
pub(crate) async fn confirm(app: &App, user: UserId, current: Secret) -> Result<Changed> {
    let (service, throttle) = (app.service::<IdentityService>()?, app.service::<Throttle>()?);
    let keys = [Key::Device(user.to_string())];
    if let Err(wait) = throttle.take(&keys, app.clock().now_us()) {
        return Ok(Changed::Wait(wait));
    }
    let stored = store::person(app, user).await?.password_hash;
    if service.passwords().verify(stored, current).await? == Verdict::Wrong {
        return Ok(Changed::Wrong);
    }
    throttle.give_back(&keys, app.clock().now_us());
    Ok(Changed::Done)
}

/// Sets a new password for who has a link, and ends all sessions; none where the link doesn't work any more.
///
/// # Errors
///
/// A fault of the store.
pub(crate) async fn reset(app: &App, code: &str, hash: String) -> Result<Option<UserId>> {
    let ctx = Context::system(app)?;
    ctx.transact(async |uow| {
        let Some(user) = links::take(&uow, Purpose::Reset, code).await? else { return Ok(None) };
        put(&uow, user, hash, None).await?;
        uow.after_commit(move || {
            tracing::info!(user.id = %user, "a person set a new password by a link");
        });
        Ok(Some(user))
    })
    .await
}

/// Stores a new password, makes links to set another worthless, and ends the sessions of the person, all but `kept`,
/// with the grants that outlive them.
pub(crate) async fn put(
    uow: &UnitOfWork,
    user: UserId,
    hash: String,
    kept: Option<SessionId>,
) -> Result<()> {
    store::put_password(uow, user, hash).await?;
    links::drop_all(uow, user).await?;
    grants::password_changed(uow);
    sessions::end_all(uow, user, kept).await
}
