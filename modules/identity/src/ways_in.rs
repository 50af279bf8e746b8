//! The ways into an account, of which the last is never taken off.
//!
//! | Way | What it takes |
//! | --- | --- |
//! | the password | nothing more |
//! | an account at an issuer | that the settings still name the issuer |
//! | a passkey | that it has checked who touches it, at least once; one that can't is a second step alone |
//!
//! Whoever adds or takes off a way locks the person first ([`lock`]), so that such changes follow one another:
//! of two that would each leave the other one's way, the second sees that it is gone. The same holds for what
//! depends on ways: how many passkeys and accounts there are, and whether recovery codes are needed.
//!
//! A recovery code stands in for a passkey that is lost. After a password, or an account elsewhere, it is the
//! second step; for who has [`only_passkeys`](WaysIn::only_passkeys) it is the whole way in.

use svc_core::{App, Error, Result, UserId};
use svc_data::UnitOfWork;
use svc_database::column;
use uuid::Uuid;

use crate::external::issuers::{Account, ExternalIssuers};

/// What lets a person in.
#[derive(Debug)]
pub(crate) struct WaysIn {
    has_password: bool,
    passkeys: Vec<Uuid>,
    accounts: Vec<Account>,
}

/// Locks a person until the unit of work ends. Whoever is gone is not found.
pub(crate) async fn lock(uow: &UnitOfWork, user: UserId) -> Result<()> {
    let database = uow.context().database();
    let lock = database.backend().locking(" FOR NO KEY UPDATE");
    let sql = format!("SELECT 1 FROM identity_users WHERE id = ?{lock}");
    let rows = uow.rows(database.statement(&sql, [user.0.into()])).await?;
    if rows.is_empty() {
        return Err(Error::not_found("there is no such person any more"));
    }
    Ok(())
}

impl WaysIn {
    /// The ways of a person, whom the unit of work has locked.
    pub(crate) async fn of(app: &App, uow: &UnitOfWork, user: UserId) -> Result<Self> {
        let rows =
            async |sql| uow.rows(uow.context().database().statement(sql, [user.0.into()])).await;
        let passwords = rows("SELECT 1 FROM identity_passwords WHERE user_id = ?").await?;
        let passkeys =
            rows("SELECT id FROM identity_passkeys WHERE user_id = ? AND verifies").await?;
        let accounts =
            rows("SELECT issuer, subject FROM identity_external_accounts WHERE user_id = ?")
                .await?;
        let issuers = app.service::<ExternalIssuers>()?;
        let opens = |account: &Account| issuers.all().iter().any(|issuer| account.is_at(issuer));
        let read = |row| Ok(Account { issuer: column(row, 0)?, subject: column(row, 1)? });
        let accounts: Vec<Account> = accounts.iter().map(read).collect::<Result<_>>()?;
        Ok(Self {
            has_password: !passwords.is_empty(),
            passkeys: passkeys.iter().map(|row| column(row, 0)).collect::<Result<_>>()?,
            accounts: accounts.into_iter().filter(opens).collect(),
        })
    }

    /// Whether nothing lets the person in but this passkey.
    pub(crate) fn is_only_passkey(&self, id: Uuid) -> bool {
        self.only_passkeys() && self.passkeys == [id]
    }

    /// Whether nothing lets the person in but this account.
    pub(crate) fn is_only_account(&self, account: &Account) -> bool {
        !self.has_password && self.passkeys.is_empty() && self.accounts == [account.clone()]
    }

    /// Whether the person has neither a password nor an account elsewhere.
    pub(crate) fn only_passkeys(&self) -> bool {
        !self.has_password && self.accounts.is_empty()
    }
}
