//! Who knows a person's password: what the page for signing in asks.
//!
//! | Step | Refused because of it |
//! | --- | --- |
//! | look the address up | nothing yet: an unknown one goes on like a known one |
//! | count the attempt ([`throttle`](crate::throttle)) | too many: [`Attempted::Wait`], before anything is hashed |
//! | compare the password, or a hash that nobody has | [`Attempted::Wrong`], after the same time |
//! | bring a hash of an older cost up to date | nothing; only where it is still the one that was compared |
//! | take the attempt back | |
//! | begin the session ([`begin`](crate::sessions::begin)) | the password was changed meanwhile: that ends all sessions, and one that the old password opens must not come after |

use std::net::IpAddr;
use std::time::Duration;

use http::HeaderMap;
use svc_core::settings::Secret;
use svc_core::{App, Result, UserId};
use svc_data::Context;

use crate::email::Email;
use crate::password::Verdict;
use crate::service::IdentityService;
use crate::store::StoredPassword;
use crate::throttle::{Key, Throttle};
use crate::{device, store};

/// Somebody at the page for signing in.
pub(crate) struct Attempt<'a> {
    pub(crate) email: &'a str,
    pub(crate) password: Secret,
    pub(crate) headers: &'a HeaderMap,
    /// From where; none where it isn't known.
    pub(crate) address: Option<IpAddr>,
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempted {
    /// It is this person, with the password that was set at this time, in microseconds of Unix time.
    Right(UserId, i64),
    /// Address and password don't belong together, or the person may not sign in. It says who has the
    /// address, for the record of refusals and nobody else.
    Wrong(Option<UserId>),
    /// Too many attempts were wrong; the next may be made after this time. It says who has the address, as
    /// above.
    Wait(Option<UserId>, Duration),
}

/// Judges an attempt, within the limits on how often somebody may be wrong.
///
/// # Errors
///
/// A fault of the store; [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) while too many
/// passwords are being checked.
pub(crate) async fn attempt(app: &App, attempt: Attempt<'_>) -> Result<Attempted> {
    let service = app.service::<IdentityService>()?;
    let throttle = app.service::<Throttle>()?;
    let email_key = email_key(attempt.email);
    let found = store::password_by_email(service.database(), &email_key).await?;
    let user = found.as_ref().map(|found| found.user);
    let device = user.and_then(|user| device::of(app, attempt.headers, user));
    let keys = match device {
        Some(device) => vec![Key::Device(device)],
        None => strangers(email_key, attempt.address),
    };
    if let Err(wait) = throttle.take(&keys, app.clock().now_us()) {
        return Ok(Attempted::Wait(user, wait));
    }
    match compare(app, &service, found, attempt.password).await? {
        Some((user, set_at_us)) => {
            throttle.give_back(&keys, app.clock().now_us());
            Ok(Attempted::Right(user, set_at_us))
        }
        None => Ok(Attempted::Wrong(user)),
    }
}

/// What an attempt is counted by that comes from a browser which the account isn't known in.
pub(crate) fn strangers(email_key: String, address: Option<IpAddr>) -> Vec<Key> {
    let domain = email_key.rsplit_once('@').map_or("", |(_, domain)| domain).to_owned();
    let mut keys = vec![Key::Account(email_key), Key::Domain(domain)];
    keys.extend(address.map(Key::address));
    keys
}

/// The person with this address and password; none where either is wrong, or the person is disabled
/// or has no password. Every answer takes as long as the others, so that nobody learns which
/// addresses are known. Limits on how often may be asked are the caller's.
///
/// # Errors
///
/// A fault of the store; [`ErrorKind::Unavailable`](svc_core::ErrorKind::Unavailable) while too many
/// passwords are being checked.
pub async fn check_password(app: &App, email: &str, password: Secret) -> Result<Option<UserId>> {
    let service = app.service::<IdentityService>()?;
    let found = store::password_by_email(service.database(), &email_key(email)).await?;
    Ok(compare(app, &service, found, password).await?.map(|(user, _)| user))
}

/// The form in which an address is looked for. What is no address belongs to nobody, and is looked for all
/// the same; nobody has one longer than this.
pub(crate) fn email_key(email: &str) -> String {
    // No address has a space in it, and no text of PostgreSQL a U+0000.
    let letter = |letter: char| if letter == '\0' { ' ' } else { letter };
    let shortened =
        || email.trim().chars().take(254).map(letter).collect::<String>().to_lowercase();
    Email::parse(email).map_or_else(|_| shortened(), |email| email.key())
}

/// Whose password it is, and when that was set.
async fn compare(
    app: &App,
    service: &IdentityService,
    found: Option<StoredPassword>,
    password: Secret,
) -> Result<Option<(UserId, i64)>> {
    let hash = found.as_ref().map(|found| found.hash.clone());
    let verdict = service.passwords().verify(hash, password.clone()).await?;
    let Some(StoredPassword { user, hash: outdated, set_at_us }) = found else { return Ok(None) };
    match verdict {
        Verdict::Wrong => return Ok(None),
        Verdict::Right => {}
        Verdict::RightButOutdated => {
            let hash = service.passwords().hash(password).await?;
            let ctx = Context::system(app)?;
            let stored =
                ctx.transact(async |uow| store::rehash(&uow, user, &outdated, hash).await).await?;
            if stored {
                tracing::info!(user.id = %user, "a password hash was brought to the current cost");
            }
        }
    }
    Ok(Some((user, set_at_us)))
}
