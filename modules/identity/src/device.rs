//! Browsers that a person has signed in with before.
//!
//! Wrong passwords are counted for each account. If they were only counted for the account, whoever
//! knows an address could lock its owner out by being wrong often enough. So a browser that has
//! signed in gets a cookie, and attempts from it are counted apart from all others. The cookie opens
//! nothing; who steals it may be wrong a few more times.
//!
//! It is sealed under a key of the application, and names the person, so it can't be made up and does
//! nothing for another account. It lasts for a year since the last sign-in.

use http::{HeaderMap, HeaderValue};
use sha2::{Digest as _, Sha256};
use svc_core::{App, KeyRing, Result, UserId, hex, random_token};

use crate::sessions::{cookie, is_plain_loopback, set_cookie};

const PURPOSE: &str = "identity.device";

/// A year, in seconds.
const LIFETIME: u64 = 365 * 24 * 60 * 60;

/// What tells this browser from others in which the person is known; none where the person isn't known in
/// it.
pub(crate) fn of(app: &App, headers: &HeaderMap, user: UserId) -> Option<String> {
    let value = cookie(is_plain_loopback(app, headers), headers, &name(user))?;
    let ring = app.find_service::<KeyRing>()?;
    let text = String::from_utf8(ring.reveal(PURPOSE, &value).ok()?).ok()?;
    let (person, device) = text.split_once(' ')?;
    (person == user.to_string()).then(|| device.to_owned())
}

/// The cookie that makes the browser one that the person is known in.
///
/// # Errors
///
/// A fault of the program: nobody provides the keys.
pub(crate) fn remember(app: &App, headers: &HeaderMap, user: UserId) -> Result<HeaderValue> {
    let device = of(app, headers, user).unwrap_or_else(random_token::<16>);
    let sealed = app.service::<KeyRing>()?.protect(PURPOSE, format!("{user} {device}").as_bytes());
    Ok(set_cookie(is_plain_loopback(app, headers), &name(user), &sealed, LIFETIME))
}

/// Each person has a cookie of its own in a browser that several share.
fn name(user: UserId) -> String {
    format!("svc-device-{}", hex(&Sha256::digest(user.0.as_bytes())[..6]))
}
