//! Links that are sent to people, and prove that they read the mail of an address.
//!
//! | What happens | What a crash in between leaves |
//! | --- | --- |
//! | [`make`]: a row with the hash of the link's code, in place of the one before | nothing |
//! | the link is sent, or shown to who may see it | a link that nobody has; the next one replaces it |
//! | a page reads it ([`read`]) | nothing is used up: programs that look into mails open links, too |
//! | the person sends the page's form: [`take`], in the transaction of what it is for | nothing, or all of it |
//!
//! Codes have 256 random bits; the database has their SHA-256.

use std::time::Duration;

use svc_core::settings::WebUrl;
use svc_core::{App, Result, UserId, random_token};
use svc_data::UnitOfWork;
use svc_database::{Database, column};
use svc_http::HttpSettings;
use time::OffsetDateTime;

use crate::email::Email;
use crate::presented::hash;
use crate::service::IdentityService;

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To become a member.
    Invitation,
    /// To set a new password.
    Reset,
    /// To have another mail address.
    Address,
}

impl Purpose {
    fn as_str(self) -> &'static str {
        match self {
            Self::Invitation => "invitation",
            Self::Reset => "reset",
            Self::Address => "address",
        }
    }

    /// How long a link works.
    pub(crate) fn lifetime(self) -> Duration {
        match self {
            Self::Invitation => Duration::from_hours(7 * 24),
            Self::Reset => Duration::from_mins(30),
            Self::Address => Duration::from_hours(24),
        }
    }

    fn page(self) -> &'static str {
        match self {
            Self::Invitation => "/account/invitation",
            Self::Reset => "/account/reset",
            Self::Address => "/account/address",
        }
    }
}

/// Makes a link for a person, and answers with its address.
pub(crate) async fn make(uow: &UnitOfWork, user: UserId, purpose: Purpose) -> Result<String> {
    store(uow, user, purpose, None).await
}

/// Makes a link that goes to an address which is to become the person's.
pub(crate) async fn make_for_address(
    uow: &UnitOfWork,
    user: UserId,
    email: &Email,
) -> Result<String> {
    store(uow, user, Purpose::Address, Some(email)).await
}

async fn store(
    uow: &UnitOfWork,
    user: UserId,
    purpose: Purpose,
    email: Option<&Email>,
) -> Result<String> {
    let code = random_token::<32>();
    let ends_at = uow.context().clock().now() + purpose.lifetime();
    let statement = uow.context().database().statement(
        "INSERT INTO identity_links (user_id, purpose, token_hash, ends_at, email) \
         VALUES (?, ?, ?, ?, ?) ON CONFLICT (user_id, purpose) DO UPDATE \
         SET token_hash = excluded.token_hash, ends_at = excluded.ends_at, email = excluded.email",
        [
            user.0.into(),
            purpose.as_str().into(),
            hash(&code).to_vec().into(),
            ends_at.into(),
            email.map(|email| email.as_str().to_owned()).into(),
        ],
    );
    uow.execute(statement).await?;
    let base = base(uow.context().app());
    Ok(format!("{base}{}?code={code}", purpose.page()))
}

/// Whose link this is, as long as it works.
pub(crate) async fn read(app: &App, purpose: Purpose, code: &str) -> Result<Option<UserId>> {
    let service = app.service::<IdentityService>()?;
    let database = service.database();
    let statement = database.statement(
        "SELECT user_id FROM identity_links WHERE token_hash = ? AND purpose = ? AND ends_at > ?",
        [hash(code).to_vec().into(), purpose.as_str().into(), app.clock().now().into()],
    );
    let rows = database.rows(statement).await?;
    rows.first().map(|row| Ok(UserId(column(row, 0)?))).transpose()
}

/// Uses a link up; none where it doesn't work any more.
pub(crate) async fn take(uow: &UnitOfWork, purpose: Purpose, code: &str) -> Result<Option<UserId>> {
    let now = uow.context().clock().now();
    let statement = uow.context().database().statement(
        "DELETE FROM identity_links WHERE token_hash = ? AND purpose = ? AND ends_at > ? \
         RETURNING user_id",
        [hash(code).to_vec().into(), purpose.as_str().into(), now.into()],
    );
    let rows = uow.rows(statement).await?;
    rows.first().map(|row| Ok(UserId(column(row, 0)?))).transpose()
}

/// Uses a person's link to a new address up, and answers with that; none where it doesn't work any more, or
/// is somebody else's.
pub(crate) async fn take_address(
    uow: &UnitOfWork,
    user: UserId,
    code: &str,
) -> Result<Option<String>> {
    let now = uow.context().clock().now();
    let statement = uow.context().database().statement(
        "DELETE FROM identity_links WHERE token_hash = ? AND user_id = ? AND purpose = ? \
         AND ends_at > ? RETURNING email",
        [hash(code).to_vec().into(), user.0.into(), Purpose::Address.as_str().into(), now.into()],
    );
    uow.rows(statement).await?.first().map_or(Ok(None), |row| column(row, 0))
}

/// Makes the links of a person worthless: whoever changes the password makes an earlier link useless.
pub(crate) async fn drop_all(uow: &UnitOfWork, user: UserId) -> Result<()> {
    let sql = "DELETE FROM identity_links WHERE user_id = ?";
    uow.execute(uow.context().database().statement(sql, [user.0.into()])).await.map(drop)
}

/// Deletes links that have ended, and says how many there were.
pub(crate) async fn sweep(database: &Database, now: OffsetDateTime) -> Result<u64> {
    let sql = database.backend().delete_unheld("identity_links", "token_hash", "ends_at <= ?");
    database.execute(database.statement(&sql, [now.into()])).await
}

/// Where people reach the application.
fn base(app: &App) -> String {
    let settings = app.settings::<HttpSettings>();
    match settings.public_url.as_ref().map(WebUrl::as_str) {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => format!("http://{}", settings.listen),
    }
}
