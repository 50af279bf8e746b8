//! Passkeys: keys of a person's device or key ring, as the second step or in place of the password
//! (Web Authentication Level 3).
//!
//! | Step | Who | What a crash leaves |
//! | --- | --- | --- |
//! | the person proves the password again, and names the key | the pages | nothing |
//! | a [`Challenge`] goes out, sealed, in the page's form | [`Challenge::seal`] | nothing: it is stored nowhere |
//! | the browser has a key made, and sends what it is | [`add`] | nothing, or the key with recovery codes |
//! | signing in, or the second step: a challenge, and a signature over it | [`prove`] | nothing, or the key's new count and the spent challenge |
//! | another name, or none any more | [`rename`], [`remove`] | nothing, or all of it |
//!
//! Keys are added and removed one after another ([`ways_in`]), and the only way in isn't removed.
//!
//! A challenge is for one browser (the secret of its form cookie), one purpose, one person where that is
//! known, and five minutes; it is spent in the transaction that takes its answer, so no answer is taken
//! twice. Where the key is all that is asked for, it must have checked who touches it.
//!
//! Who has a passkey is asked for a second step, with it, with the authenticator app or with a recovery
//! code: a password alone opens nothing any more.
//!
//! | Attack | What stops it |
//! | --- | --- |
//! | a page of another site passes a challenge on | the browser signs the origin; keys are bound to the host |
//! | an answer is used again | the challenge is spent |
//! | an answer of another browser is slipped in (login CSRF) | the challenge is bound to the form's secret |
//! | a key that was copied | its count must go on; one that goes back is refused and logged |
//! | somebody's own key as another's second step | the key must be the person's who gave the password |
//! | a found key without the finger or PIN of its person | `UV` is required where the key is all |

mod ceremony;
mod store;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use svc_core::{App, Result, UserId, micros, random_array};
use svc_data::Context;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::second_factor;
use crate::sessions::SessionId;
use crate::ways_in::{self, WaysIn};

pub(crate) use ceremony::{ALGORITHMS, Fault, Made, Party, Used};
pub(crate) use store::{Passkey, list, sweep};

const PURPOSE: &str = "identity.passkey";

/// How long a challenge may be answered.
const PATIENCE: Duration = Duration::from_mins(5);

/// Keys that a person has at most.
pub(crate) const MOST: usize = 20;

/// What a challenge is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// To sign in with nothing else.
    SignIn,
    /// To be the second step of this person.
    SecondStep(UserId),
    /// To be a further key of this person, in this session, with this name.
    Register(UserId, SessionId, String),
}

/// What a key signs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Challenge {
    value: [u8; 32],
    purpose: Purpose,
    browser: [u8; 32],
    until_us: i64,
}

impl Challenge {
    pub(crate) fn new(app: &App, purpose: Purpose, browser: [u8; 32]) -> Self {
        let until_us = app.clock().now_us().saturating_add(micros::of_span(PATIENCE));
        Self { value: random_array(), purpose, browser, until_us }
    }

    /// What the form of a page carries.
    pub(crate) fn seal(&self, app: &App) -> Result<String> {
        second_factor::seal(app, PURPOSE, self)
    }

    /// Reads what a form carries; none where it isn't for this browser, or took too long.
    pub(crate) fn read(app: &App, form: &str, browser: [u8; 32]) -> Option<Self> {
        let read: Self = second_factor::open(app, PURPOSE, form)?;
        (read.browser == browser && app.clock().now_us() < read.until_us).then_some(read)
    }

    pub(crate) fn purpose(&self) -> &Purpose {
        &self.purpose
    }

    fn hash(&self) -> Vec<u8> {
        Sha256::digest(self.value).to_vec()
    }

    fn ends_at(&self) -> OffsetDateTime {
        micros::to_time(self.until_us)
    }

    /// What the page's script hands to the browser, with the keys that it is to use, or not to make again.
    pub(crate) fn options(&self, party: &Party, keys: &[Passkey]) -> String {
        let names: Vec<String> = keys.iter().map(|key| encode(&key.credential)).collect();
        let is_alone = self.purpose == Purpose::SignIn;
        json!({
            "challenge": encode(&self.value),
            "rpId": party.id,
            "timeout": u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX),
            "credentials": names,
            "userVerification": if is_alone { "required" } else { "preferred" },
        })
        .to_string()
    }

    /// The same for a key that is to be made for a person, in the application of this name.
    pub(crate) fn making(
        &self,
        party: &Party,
        keys: &[Passkey],
        application: &str,
        person: (UserId, &str, &str),
    ) -> String {
        let (user, email, display_name) = person;
        let names: Vec<String> = keys.iter().map(|key| encode(&key.credential)).collect();
        json!({
            "challenge": encode(&self.value),
            "rpId": party.id,
            "rpName": application,
            "timeout": u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX),
            "credentials": names,
            "algorithms": ALGORITHMS,
            "user": { "id": encode(user.0.as_bytes()), "name": email, "displayName": display_name },
        })
        .to_string()
    }
}

fn encode(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
}

/// What came of a key that was made.
#[derive(Debug)]
pub(crate) enum Added {
    /// The person has it, and these recovery codes, where there were none left.
    Done(Option<Vec<String>>),
    /// The person has as many as there may be, or somebody has this one.
    Refused,
}

/// Takes a key that was made for a challenge of a person's session.
pub(crate) async fn add(
    app: &App,
    party: &Party,
    challenge: &Challenge,
    made: &Made,
) -> Result<std::result::Result<Added, Fault>> {
    let Purpose::Register(user, _, name) = &challenge.purpose else { return Ok(Err(Fault::Kind)) };
    let key = match ceremony::check_made(party, &challenge.value, made) {
        Ok(key) => key,
        Err(fault) => return Ok(Err(fault)),
    };
    let user = *user;
    let ctx = Context::system(app)?;
    let outcome = ctx.transact(async |uow| {
        if !store::spend(&uow, &challenge.hash(), challenge.ends_at()).await? {
            return Ok(Err(Fault::Challenge));
        }
        ways_in::lock(&uow, user).await?;
        if !store::insert(&uow, user, name, &key, MOST).await? {
            return Ok(Ok(Added::Refused));
        }
        let codes = second_factor::codes_where_none(&uow, user).await?;
        Ok(Ok(Added::Done(codes)))
    });
    let outcome = outcome.await?;
    if let Ok(Added::Done(_)) = &outcome {
        tracing::info!(user.id = %user, "a person added a passkey");
    }
    Ok(outcome)
}

/// Who has signed a challenge, or whose key it was that didn't, and why.
pub(crate) type Proof = std::result::Result<UserId, (Option<UserId>, Fault)>;

/// Checks a signature over a challenge, and notes that the key was used.
pub(crate) async fn prove(
    app: &App,
    party: &Party,
    challenge: &Challenge,
    used: &Used,
) -> Result<Proof> {
    let Some(key) = store::by_credential(app, &used.id.0).await? else {
        return Ok(Err((None, Fault::Unknown)));
    };
    let whose = match &challenge.purpose {
        // The key says whose it is, and must be right.
        Purpose::SignIn => used.user.0 == key.user.0.as_bytes(),
        Purpose::SecondStep(asked) => {
            *asked == key.user && (used.user.0.is_empty() || used.user.0 == asked.0.as_bytes())
        }
        Purpose::Register(..) => return Ok(Err((None, Fault::Kind))),
    };
    if !whose {
        return Ok(Err((Some(key.user), Fault::Unknown)));
    }
    let is_alone = challenge.purpose == Purpose::SignIn;
    let checked = ceremony::check_used(party, &challenge.value, used, &key.key, is_alone);
    let used = match checked {
        Ok(used) => used,
        Err(fault) => {
            if fault == Fault::Counter {
                tracing::warn!(
                    user.id = %key.user,
                    passkey.id = %key.id,
                    "a passkey's count went back: there may be a copy of it; have its person remove it"
                );
            }
            return Ok(Err((Some(key.user), fault)));
        }
    };
    let ctx = Context::system(app)?;
    let outcome = ctx.transact(async |uow| {
        if !store::spend(&uow, &challenge.hash(), challenge.ends_at()).await? {
            return Ok(Err((Some(key.user), Fault::Challenge)));
        }
        if !store::touch(&uow, key.id, used).await? {
            return Ok(Err((Some(key.user), Fault::Counter)));
        }
        Ok(Ok(key.user))
    });
    outcome.await
}

/// Gives one of a person's keys another name; nothing where there is none.
pub(crate) async fn rename(app: &App, user: UserId, id: Uuid, name: &str) -> Result<()> {
    let ctx = Context::system(app)?;
    ctx.transact(async |uow| store::rename(&uow, user, id, name).await).await
}

/// What came of removing a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    /// It opens nothing any more.
    Done,
    /// Nothing else would let the person in.
    Last,
}

/// Takes one of a person's keys out, unless it is the only way in, and the recovery codes with the last thing
/// that asks for them.
pub(crate) async fn remove(app: &App, user: UserId, id: Uuid) -> Result<Removed> {
    let ctx = Context::system(app)?;
    let removed = ctx.transact(async |uow| {
        ways_in::lock(&uow, user).await?;
        if WaysIn::of(app, &uow, user).await?.is_only_passkey(id) {
            return Ok(Removed::Last);
        }
        store::delete(&uow, user, id).await?;
        second_factor::drop_needless_codes(&uow, user).await?;
        Ok(Removed::Done)
    });
    let removed = removed.await?;
    if removed == Removed::Done {
        tracing::info!(user.id = %user, "a person removed a passkey");
    }
    Ok(removed)
}
