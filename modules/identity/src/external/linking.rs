//! Accounts at other issuers that a person links with the own one, and takes off again.
//!
//! Whose account it becomes is decided by who is signed in, in the very session that began the linking, after
//! the password where there is one; an address that the issuer writes down plays no part. An account is one
//! person's: one that is somebody else's stays so. The only way in isn't taken off ([`ways_in`]).

use svc_core::{App, Result, UserId};
use svc_data::{Context, UnitOfWork};
use svc_database::column;

use super::accounts::{account, read, remember};
use super::issuers::{Account, ExternalIssuer};
use crate::service::IdentityService;
use crate::text::is_storable;
use crate::ways_in::{self, WaysIn};

/// Accounts that a person has linked at most.
const MOST: i64 = 20;

/// The accounts of a person.
pub(crate) async fn accounts_of(app: &App, user: UserId) -> Result<Vec<Account>> {
    let service = app.service::<IdentityService>()?;
    let statement = service.database().statement(
        "SELECT issuer, subject FROM identity_external_accounts WHERE user_id = ? \
         ORDER BY issuer, subject",
        [user.0.into()],
    );
    let rows = service.database().rows(statement).await?;
    rows.iter()
        .map(|row| Ok(Account { issuer: column(row, 0)?, subject: column(row, 1)? }))
        .collect()
}

/// Links an account with a person; false where it is somebody else's, or there are too many.
pub(crate) async fn link(
    app: &App,
    issuer: &ExternalIssuer,
    subject: &str,
    user: UserId,
) -> Result<bool> {
    let ctx = Context::system(app)?;
    let linked = ctx.transact(async |uow| {
        ways_in::lock(&uow, user).await?;
        let rows = uow.rows(account(ctx.database(), issuer, subject)).await?;
        if let Some((known, _)) = read(&rows)? {
            return Ok(known == user);
        }
        if count(&uow, user).await? >= MOST {
            return Ok(false);
        }
        remember(&uow, issuer, subject, user).await?;
        let name = issuer.name.clone();
        uow.after_commit(move || {
            tracing::info!(user.id = %user, issuer = name, "a person linked an account of an issuer");
        });
        Ok(true)
    });
    match linked.await {
        // Somebody else was first by a moment.
        Err(error) if error.kind() == svc_core::ErrorKind::Conflict && !error.is_transient() => {
            Ok(false)
        }
        outcome => outcome,
    }
}

async fn count(uow: &UnitOfWork, user: UserId) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM identity_external_accounts WHERE user_id = ?";
    let rows = uow.rows(uow.context().database().statement(sql, [user.0.into()])).await?;
    rows.first().map_or(Ok(0), |row| column(row, 0))
}

/// What came of taking an account off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unlinked {
    /// It opens nothing here any more.
    Done,
    /// Nothing else would let the person in.
    Last,
    /// The person has no such account, or none any more.
    Unknown,
}

/// Takes an account of a person off, unless it is the only way in.
pub(crate) async fn unlink(app: &App, user: UserId, off: &Account) -> Result<Unlinked> {
    if !is_storable(&off.issuer) || !is_storable(&off.subject) {
        return Ok(Unlinked::Unknown);
    }
    let ctx = Context::system(app)?;
    ctx.transact(async |uow| {
        ways_in::lock(&uow, user).await?;
        if WaysIn::of(app, &uow, user).await?.is_only_account(off) {
            return Ok(Unlinked::Last);
        }
        let statement = ctx.database().statement(
            "DELETE FROM identity_external_accounts WHERE issuer = ? AND subject = ? AND user_id = ?",
            [off.issuer.clone().into(), off.subject.clone().into(), user.0.into()],
        );
        Ok(if uow.execute(statement).await? == 1 { Unlinked::Done } else { Unlinked::Unknown })
    })
    .await
}
