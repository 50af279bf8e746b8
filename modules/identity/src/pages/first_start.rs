//! The address that a start in development prints: it signs in, once.
//!
//! | Asked for | |
//! | --- | --- |
//! | environment | `development` (`SVC_ENVIRONMENT`), which is never the default |
//! | where it listens | only on this machine, and `Svc:Http:PublicUrl` names no other |
//! | who opens it | a browser of this machine, asked for by a name of this machine, through no proxy |
//!
//! The code is in the memory of this process alone, and works once. Who is signed in is the first
//! administrator; where there is no organisation yet, the address leads to the set-up.

use std::io::Write as _;

use axum::extract::Query;
use parking_lot::Mutex;
use serde::Deserialize;
use subtle::ConstantTimeEq as _;
use svc_core::{App, Result, UserId, random_token};
use svc_http::HttpSettings;

use super::answer::{PageError, PageResult};
use super::forgotten::ended;
use super::own_path::{OwnPath, PREFIX};
use super::sign_in::admit;
use super::visit::Visit;
use crate::second_factor::Proved;
use crate::sessions::Method;
use crate::settings::is_development;
use crate::{set_up, store};

/// What proxies add to the requests that they pass on.
const PROXIES: [&str; 3] = ["forwarded", "x-forwarded-for", "x-real-ip"];

/// The code of this start, until it is used.
#[derive(Default)]
pub(crate) struct FirstStart {
    code: Mutex<Option<String>>,
}

impl FirstStart {
    fn give(&self, code: String) {
        *self.code.lock() = Some(code);
    }

    /// Uses the code up.
    fn take(&self, given: &str) -> bool {
        let mut code = self.code.lock();
        let is_right =
            code.as_ref().is_some_and(|code| code.as_bytes().ct_eq(given.as_bytes()).into());
        if is_right {
            *code = None;
        }
        is_right
    }
}

/// Makes a code for this start and prints the address, where this is a start in development.
pub(crate) fn announce(app: &App) -> Result<()> {
    let settings = app.settings::<HttpSettings>();
    let is_development = is_development(app);
    let is_local = settings.listen.ip().is_loopback() && settings.public_url.is_none();
    // Where any free port is taken, the address isn't known here.
    if !is_development || !is_local || settings.listen.port() == 0 {
        return Ok(());
    }
    let code = random_token::<32>();
    app.service::<FirstStart>()?.give(code.clone());
    let text = format!(
        "\nTo sign in, open this address once, on this machine:\n\n    \
         http://{}{}/first-start?code={code}\n\n",
        settings.listen, PREFIX
    );
    // Who closed the output doesn't want to read it.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

#[derive(Deserialize)]
pub(super) struct Given {
    #[serde(default)]
    code: String,
}

/// Signs the first administrator in.
pub(super) async fn open(visit: Visit, Query(given): Query<Given>) -> PageResult {
    let is_forwarded = PROXIES.iter().any(|name| visit.headers.contains_key(*name));
    let is_local = visit.is_plain() && visit.peer.is_some_and(|peer| peer.is_loopback());
    let outcome = async {
        if is_forwarded || !is_local || !visit.app.service::<FirstStart>()?.take(&given.code) {
            return Ok(ended(&visit));
        }
        if !set_up::is_set_up(&visit.app).await? {
            return Ok(visit.redirect("/account/set-up"));
        }
        match store::first_administrator(&visit.app).await? {
            Some(user) => {
                let proved = Proved::new(&visit.app, UserId(user), Method::Link);
                admit(&visit, proved, &OwnPath::parse("/")).await
            }
            None => Ok(ended(&visit)),
        }
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once_and_none_works_where_there_is_none() {
        let first_start = FirstStart::default();
        assert!(!first_start.take("") && !first_start.take("code"));
        first_start.give("code".to_owned());
        assert!(!first_start.take("") && !first_start.take("cod") && !first_start.take("codes"));
        assert!(first_start.take("code"));
        assert!(!first_start.take("code"));
    }
}
