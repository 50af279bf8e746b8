//! The second step of signing in: a code of an authenticator app (RFC 6238), a passkey
//! ([`passkeys`](crate::passkeys)), or a recovery code.
//!
//! | Step | What is stored |
//! | --- | --- |
//! | set-up page: [`Enrolment::new`] | nothing; the secret travels sealed in the page's form |
//! | the app's code is right: [`switch_on`] | the sealed secret, and hashes of recovery codes, which are shown once |
//! | signing in: [`check`] | the step of the code: neither it nor an earlier one is taken again (RFC 6238, section 5.2) |
//! | a recovery code: [`recover`] | the code is gone |
//! | [`switch_off`] | nothing |
//!
//! Between the password and the code the browser has no session, but a sealed note of what it has proved,
//! for ten minutes ([`Proved`]). Wrong codes are counted like wrong passwords.

use std::time::Duration;

use sea_orm::Statement;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use svc_core::{App, Error, KeyRing, Result, UserId, micros, random_array};
use svc_data::{Context, UnitOfWork};
use svc_database::{Database, column};
use time::OffsetDateTime;
use totp_rs::{Builder, Totp};

use crate::service::IdentityService;
use crate::sessions::{Elsewhere, Method};
use crate::throttle::{Key, Throttle};
use crate::ways_in;

const SECRET: &str = "identity.totp";
const ENROLMENT: &str = "identity.totp.enrolment";
const PROVED: &str = "identity.proved";

/// Recovery codes that a person gets.
const CODES: usize = 10;

/// How long somebody may take for the second step, or for its set-up.
const PATIENCE: Duration = Duration::from_mins(10);

/// Letters of a recovery code: none that is taken for another.
const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";

/// Somebody who has taken the first step of signing in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Proved {
    pub(crate) user: UserId,
    pub(crate) methods: Vec<Method>,
    /// When the password was set that it was proved by.
    pub(crate) password_us: Option<i64>,
    /// The account at another issuer that it was proved by.
    pub(crate) elsewhere: Option<Elsewhere>,
    until_us: i64,
}

impl Proved {
    pub(crate) fn new(app: &App, user: UserId, method: Method) -> Self {
        let methods = vec![method];
        Self { user, methods, password_us: None, elsewhere: None, until_us: until_us(app) }
    }

    /// The same by the password that was set then.
    pub(crate) fn by_password(app: &App, user: UserId, set_at_us: i64) -> Self {
        Self { password_us: Some(set_at_us), ..Self::new(app, user, Method::Password) }
    }

    /// The same by an account at another issuer.
    pub(crate) fn by_account(app: &App, user: UserId, at: Elsewhere) -> Self {
        Self { elsewhere: Some(at), ..Self::new(app, user, Method::External) }
    }

    /// The same with a further step.
    pub(crate) fn and(mut self, method: Method) -> Self {
        self.methods.push(method);
        self
    }

    /// The note that the browser keeps.
    pub(crate) fn seal(&self, app: &App) -> Result<String> {
        seal(app, PROVED, self)
    }

    /// Reads a note; none where it isn't ours, or took too long.
    pub(crate) fn read(app: &App, note: &str) -> Option<Self> {
        open::<Self>(app, PROVED, note).filter(|proved| app.clock().now_us() < proved.until_us)
    }

    /// How long the browser keeps the note, in seconds.
    pub(crate) const fn lifetime() -> u64 {
        PATIENCE.as_secs()
    }
}

/// A secret that is shown to a person, and not yet in use.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Enrolment {
    user: UserId,
    secret: [u8; 20],
    until_us: i64,
}

impl Enrolment {
    pub(crate) fn new(app: &App, user: UserId) -> Self {
        Self { user, secret: random_array(), until_us: until_us(app) }
    }

    /// What the form of the page carries.
    pub(crate) fn seal(&self, app: &App) -> Result<String> {
        seal(app, ENROLMENT, self)
    }

    /// Reads what a form carries; none where it isn't for this person, or took too long.
    pub(crate) fn read(app: &App, user: UserId, form: &str) -> Option<Self> {
        let enrolment: Self = open(app, ENROLMENT, form)?;
        let is_usable = enrolment.user == user && app.clock().now_us() < enrolment.until_us;
        is_usable.then_some(enrolment)
    }

    /// The secret as people type it, in groups of four.
    pub(crate) fn key(&self) -> String {
        let text = totp_rs::Secret::from(self.secret).to_base32();
        let groups: Vec<&str> =
            text.as_bytes().chunks(4).filter_map(|group| std::str::from_utf8(group).ok()).collect();
        groups.join(" ")
    }

    /// The address that an app reads from a picture.
    pub(crate) fn address(&self, application: &str, email: &str) -> Result<String> {
        // A colon parts the two names.
        let (application, email) = (application.replace(':', " "), email.replace(':', " "));
        let builder = Builder::new().with_secret(self.secret).with_account_name(email);
        let totp =
            builder.with_issuer(Some(application)).build().map_err(|error| unusable(&error))?;
        totp.to_url().map_err(|error| unusable(&error))
    }
}

/// Whether the person is asked for a second step: by codes of an app, or by a passkey.
pub(crate) async fn is_needed(app: &App, user: UserId) -> Result<bool> {
    let service = app.service::<IdentityService>()?;
    let statement = asks(service.database(), user);
    Ok(!service.database().rows(statement).await?.is_empty())
}

/// What asks the person for a second step: nothing where that isn't needed.
fn asks(database: &Database, user: UserId) -> Statement {
    let sql = "SELECT 1 FROM identity_totp WHERE user_id = ? \
               UNION ALL SELECT 1 FROM identity_passkeys WHERE user_id = ?";
    database.statement(sql, [user.0.into(), user.0.into()])
}

/// Whether the person has codes of an app.
pub(crate) async fn is_on(app: &App, user: UserId) -> Result<bool> {
    let service = app.service::<IdentityService>()?;
    let sql = "SELECT 1 FROM identity_totp WHERE user_id = ?";
    let statement = service.database().statement(sql, [user.0.into()]);
    Ok(!service.database().rows(statement).await?.is_empty())
}

/// How many recovery codes the person has left.
pub(crate) async fn codes_left(app: &App, user: UserId) -> Result<i64> {
    let service = app.service::<IdentityService>()?;
    let sql = "SELECT COUNT(*) FROM identity_recovery_codes WHERE user_id = ?";
    let statement = service.database().statement(sql, [user.0.into()]);
    service.database().rows(statement).await?.first().map_or(Ok(0), |row| column(row, 0))
}

/// Switches the second step on, where `code` is what the app shows now; answers with recovery codes.
pub(crate) async fn switch_on(
    app: &App,
    enrolment: &Enrolment,
    code: &str,
) -> Result<Option<Vec<String>>> {
    let now = app.clock().now();
    let Some(step) = totp(enrolment.secret)?.check(&digits(code), seconds(now)) else {
        return Ok(None);
    };
    let sealed = app.service::<KeyRing>()?.protect(SECRET, &enrolment.secret);
    let user = enrolment.user;
    let ctx = Context::system(app)?;
    let codes = ctx.transact(async |uow| {
        let statement = ctx.database().statement(
            "INSERT INTO identity_totp (user_id, secret, last_step, created_at) VALUES (?, ?, ?, ?) \
             ON CONFLICT (user_id) DO UPDATE \
             SET secret = excluded.secret, last_step = excluded.last_step",
            [user.0.into(), sealed.into(), stored(step).into(), now.into()],
        );
        ways_in::lock(&uow, user).await?;
        uow.execute(statement).await?;
        replace_codes(&uow, user).await
    });
    let codes = codes.await?;
    tracing::info!(user.id = %user, "a person switched the second step on");
    Ok(Some(codes))
}

/// Switches codes of an app off, and makes recovery codes worthless where nothing asks for them any more.
pub(crate) async fn switch_off(app: &App, user: UserId) -> Result<()> {
    let ctx = Context::system(app)?;
    ctx.transact(async |uow| {
        ways_in::lock(&uow, user).await?;
        let sql = "DELETE FROM identity_totp WHERE user_id = ?";
        uow.execute(ctx.database().statement(sql, [user.0.into()])).await?;
        drop_needless_codes(&uow, user).await
    })
    .await?;
    tracing::info!(user.id = %user, "a person switched the second step off");
    Ok(())
}

/// Makes new recovery codes in place of all earlier ones; none where nothing asks for them.
pub(crate) async fn new_codes(app: &App, user: UserId) -> Result<Option<Vec<String>>> {
    let ctx = Context::system(app)?;
    ctx.transact(async |uow| {
        ways_in::lock(&uow, user).await?;
        if uow.rows(asks(ctx.database(), user)).await?.is_empty() {
            return Ok(None);
        }
        replace_codes(&uow, user).await.map(Some)
    })
    .await
}

/// Makes recovery codes for who has none, and is locked.
pub(crate) async fn codes_where_none(
    uow: &UnitOfWork,
    user: UserId,
) -> Result<Option<Vec<String>>> {
    let sql = "SELECT 1 FROM identity_recovery_codes WHERE user_id = ? LIMIT 1";
    let statement = uow.context().database().statement(sql, [user.0.into()]);
    if !uow.rows(statement).await?.is_empty() {
        return Ok(None);
    }
    replace_codes(uow, user).await.map(Some)
}

/// Makes recovery codes of a person, who is locked, worthless where neither an app nor a passkey asks for a
/// second step.
pub(crate) async fn drop_needless_codes(uow: &UnitOfWork, user: UserId) -> Result<()> {
    let sql = "DELETE FROM identity_recovery_codes WHERE user_id = ? \
               AND NOT EXISTS (SELECT 1 FROM identity_totp WHERE user_id = ?) \
               AND NOT EXISTS (SELECT 1 FROM identity_passkeys WHERE user_id = ?)";
    let values = [user.0.into(), user.0.into(), user.0.into()];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

/// What came of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// It is right, and used up.
    Right,
    /// It is wrong, or was used before.
    Wrong,
    /// Too many were wrong; the next may be tried after this time.
    Wait(Duration),
}

/// Takes a code of the person's app.
pub(crate) async fn check(app: &App, user: UserId, code: &str) -> Result<Checked> {
    counted(app, user, async || {
        let service = app.service::<IdentityService>()?;
        let database = service.database();
        let sql = "SELECT secret FROM identity_totp WHERE user_id = ?";
        let rows = database.rows(database.statement(sql, [user.0.into()])).await?;
        let Some(row) = rows.first() else { return Ok(false) };
        let sealed: String = column(row, 0)?;
        let secret = app.service::<KeyRing>()?.reveal(SECRET, &sealed)?;
        let secret: [u8; 20] = secret
            .try_into()
            .map_err(|_| Error::internal("the secret of a second step has another length"))?;
        let now = app.clock().now();
        let Some(step) = totp(secret)?.check(&digits(code), seconds(now)) else {
            return Ok(false);
        };
        let taken = "UPDATE identity_totp SET last_step = ? WHERE user_id = ? AND last_step < ?";
        let step = stored(step);
        let statement = database.statement(taken, [step.into(), user.0.into(), step.into()]);
        Ok(database.execute(statement).await? == 1)
    })
    .await
}

/// Takes one of the person's recovery codes.
pub(crate) async fn recover(app: &App, user: UserId, code: &str) -> Result<Checked> {
    counted(app, user, async || {
        let ctx = Context::system(app)?;
        ctx.transact(async |uow| spend_code(&uow, user, code).await).await
    })
    .await
}

/// Uses up one of a person's recovery codes; false where it is none.
pub(crate) async fn spend_code(uow: &UnitOfWork, user: UserId, code: &str) -> Result<bool> {
    let sql = "DELETE FROM identity_recovery_codes WHERE user_id = ? AND code_hash = ?";
    let values = [user.0.into(), hash(code).into()];
    Ok(uow.execute(uow.context().database().statement(sql, values)).await? == 1)
}

/// Whose recovery code it is; nobody's where that person is disabled.
pub(crate) async fn whose_code(app: &App, code: &str) -> Result<Option<UserId>> {
    let service = app.service::<IdentityService>()?;
    let sql = "SELECT c.user_id FROM identity_recovery_codes c \
               JOIN identity_users u ON u.id = c.user_id \
               WHERE c.code_hash = ? AND u.disabled_at IS NULL";
    let statement = service.database().statement(sql, [hash(code).into()]);
    let rows = service.database().rows(statement).await?;
    rows.first().map(|row| column(row, 0).map(UserId)).transpose()
}

async fn counted(
    app: &App,
    user: UserId,
    look: impl AsyncFnOnce() -> Result<bool>,
) -> Result<Checked> {
    let throttle = app.service::<Throttle>()?;
    let keys = [Key::Device(format!("code of {user}"))];
    if let Err(wait) = throttle.take(&keys, app.clock().now_us()) {
        return Ok(Checked::Wait(wait));
    }
    if !look().await? {
        return Ok(Checked::Wrong);
    }
    throttle.give_back(&keys, app.clock().now_us());
    Ok(Checked::Right)
}

async fn replace_codes(uow: &UnitOfWork, user: UserId) -> Result<Vec<String>> {
    let database = uow.context().database();
    let delete = "DELETE FROM identity_recovery_codes WHERE user_id = ?";
    uow.execute(database.statement(delete, [user.0.into()])).await?;
    let codes: Vec<String> = (0..CODES).map(|_| recovery_code()).collect();
    for code in &codes {
        let insert = "INSERT INTO identity_recovery_codes (user_id, code_hash) VALUES (?, ?)";
        uow.execute(database.statement(insert, [user.0.into(), hash(code).into()])).await?;
    }
    Ok(codes)
}

/// 80 random bits, in four groups.
fn recovery_code() -> String {
    let letters: Vec<u8> =
        random_array::<16>().iter().map(|byte| LETTERS[usize::from(byte % 32)]).collect();
    let groups: Vec<&str> =
        letters.chunks(4).filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join("-")
}

/// The hash of a recovery code, however it is written.
fn hash(code: &str) -> Vec<u8> {
    let plain: String =
        code.to_lowercase().chars().filter(char::is_ascii_alphanumeric).take(100).collect();
    Sha256::digest(plain.as_bytes()).to_vec()
}

fn totp(secret: [u8; 20]) -> Result<Totp> {
    Builder::new().with_secret(secret).build().map_err(|error| unusable(&error))
}

fn unusable(error: &totp_rs::TotpError) -> Error {
    Error::internal("a second step can't be computed").context(error.to_string())
}

/// The digits of a code, which people type with spaces.
fn digits(code: &str) -> String {
    code.chars().filter(char::is_ascii_digit).take(10).collect()
}

fn seconds(now: OffsetDateTime) -> u64 {
    u64::try_from(now.unix_timestamp()).unwrap_or(0)
}

fn stored(step: u64) -> i64 {
    i64::try_from(step).unwrap_or(i64::MAX)
}

fn until_us(app: &App) -> i64 {
    app.clock().now_us().saturating_add(micros::of_span(PATIENCE))
}

pub(crate) fn seal<T: Serialize>(app: &App, purpose: &str, value: &T) -> Result<String> {
    let text = serde_json::to_vec(value)
        .map_err(|error| Error::internal("a note can't be written").caused_by(error))?;
    Ok(app.service::<KeyRing>()?.protect(purpose, &text))
}

pub(crate) fn open<T: for<'de> Deserialize<'de>>(
    app: &App,
    purpose: &str,
    sealed: &str,
) -> Option<T> {
    let text = app.find_service::<KeyRing>()?.reveal(purpose, sealed).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_that_of_the_standard() {
        // RFC 6238, appendix B, cut to six digits.
        let totp = totp(*b"12345678901234567890").unwrap();
        for (time, code) in [(59, "287082"), (1_111_111_109, "081804"), (20_000_000_000, "353130")]
        {
            assert_eq!(totp.check(code, time), Some(time / 30), "{time}");
            assert_eq!(totp.check(code, time + 30), Some(time / 30), "a clock may be late");
            assert_eq!(totp.check(code, time + 60), None);
        }
    }

    #[test]
    fn codes_are_read_as_people_write_them() {
        assert_eq!(digits(" 287 082 "), "287082");
        let code = recovery_code();
        assert_eq!(code.len(), 19);
        assert_eq!(hash(&code), hash(&code.to_uppercase().replace('-', " ")));
        assert_ne!(hash(&code), hash(&recovery_code()));
    }
}
