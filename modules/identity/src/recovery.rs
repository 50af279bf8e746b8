//! A recovery code in place of a lost passkey, for who has no other way in.
//!
//! | Who | What a code is |
//! | --- | --- |
//! | has a password, or an account at an issuer | the second step after it ([`second_factor::recover`]) |
//! | has passkeys alone ([`ways_in`]) | the whole way in, as the passkey is |
//!
//! A code is 80 random bits, so it says whose it is: no address is asked for, and nobody learns which there
//! are. Wrong ones are counted by where they come from. Whoever is in is led to the passkeys, to add another.

use std::net::IpAddr;
use std::time::Duration;

use svc_core::{App, Result, UserId};
use svc_data::Context;

use crate::second_factor;
use crate::throttle::{Key, Throttle};
use crate::ways_in::{self, WaysIn};

/// What came of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recovered {
    /// It was this person's, and is used up.
    Right(UserId),
    /// It is nobody's, or that of somebody who has to begin another way; then it holds still.
    Wrong(Option<UserId>),
    /// Too many were wrong; the next may be tried after this time.
    Wait(Duration),
}

/// Takes a recovery code that comes alone, from an address where that is known.
pub(crate) async fn recover(app: &App, code: &str, address: Option<IpAddr>) -> Result<Recovered> {
    let throttle = app.service::<Throttle>()?;
    let keys: Vec<Key> = address.map(Key::address).into_iter().collect();
    if let Err(wait) = throttle.take(&keys, app.clock().now_us()) {
        return Ok(Recovered::Wait(wait));
    }
    // A guess takes no place among those who write.
    let Some(user) = second_factor::whose_code(app, code).await? else {
        return Ok(Recovered::Wrong(None));
    };
    let ctx = Context::system(app)?;
    let recovered = ctx.transact(async |uow| {
        ways_in::lock(&uow, user).await?;
        let is_alone = WaysIn::of(app, &uow, user).await?.only_passkeys();
        if !is_alone || !second_factor::spend_code(&uow, user, code).await? {
            return Ok(Recovered::Wrong(Some(user)));
        }
        Ok(Recovered::Right(user))
    });
    let recovered = recovered.await?;
    if let Recovered::Right(user) = recovered {
        throttle.give_back(&keys, app.clock().now_us());
        tracing::info!(user.id = %user, "a person came in by a recovery code alone");
    }
    Ok(recovered)
}
