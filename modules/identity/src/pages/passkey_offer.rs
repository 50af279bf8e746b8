//! What a page hands to a browser that is to make or use a passkey, and what comes back.
//!
//! A browser does so by a script of ours, which stands in the page itself; the page's policy names its
//! hash and allows no other. Without a script the pages say so, and all else works.

use std::sync::LazyLock;

use askama::Template;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::CONTENT_SECURITY_POLICY;
use http::{HeaderValue, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use svc_core::{Result, UserId};

use super::own_path::OwnPath;
use super::visit::Visit;
use crate::audit::Refused;
use crate::passkeys::{self, Challenge, Fault, Party, Passkey, Purpose};
use crate::provider::issuer::issuer_for;

/// The script that has a browser make and use passkeys.
pub(crate) const SCRIPT: &str = include_str!("../../templates/passkey.js");

/// What a page's policy says of the script, before what it says of forms.
static SCRIPT_POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(SCRIPT));
    format!("script-src 'sha256-{hash}'; require-trusted-types-for 'script'; form-action")
});

/// What a form hands to the script, and carries back.
pub(super) struct Offer {
    pub(super) options: String,
    pub(super) challenge: String,
    pub(super) back: String,
}

/// Offers to use a key; none where the browser knows the application by no name.
pub(super) fn offer(
    visit: &Visit,
    purpose: Purpose,
    keys: &[Passkey],
    back: &OwnPath,
) -> Result<Option<Offer>> {
    let Some(party) = party(visit) else { return Ok(None) };
    let challenge = Challenge::new(&visit.app, purpose, visit.secret.binding());
    Ok(Some(Offer {
        options: challenge.options(&party, keys),
        challenge: challenge.seal(&visit.app)?,
        back: back.as_str().to_owned(),
    }))
}

/// The place for which this browser uses keys.
pub(super) fn party(visit: &Visit) -> Option<Party> {
    Party::of(&issuer_for(&visit.app, &visit.headers).ok()?)
}

/// What comes back from the script.
#[derive(Deserialize)]
pub(super) struct AnswerForm {
    challenge: String,
    answer: String,
    #[serde(default)]
    r#return: String,
}

impl AnswerForm {
    /// Where it leads afterwards.
    pub(super) fn back(&self) -> OwnPath {
        OwnPath::parse(&self.r#return)
    }

    /// The challenge that was answered, and the answer; none where one of them can't be read.
    pub(super) fn read<T: DeserializeOwned>(&self, visit: &Visit) -> Option<(Challenge, T)> {
        let challenge = Challenge::read(&visit.app, &self.challenge, visit.secret.binding())?;
        Some((challenge, serde_json::from_str(&self.answer).ok()?))
    }
}

/// Whose key has signed the challenge of a form; none where it doesn't hold, which is noted.
pub(super) async fn prove(
    visit: &Visit,
    form: &AnswerForm,
    is_ours: impl Fn(&Purpose) -> bool,
) -> Result<Option<UserId>> {
    let proof = match (form.read(visit), party(visit)) {
        (Some((challenge, used)), Some(party)) if is_ours(challenge.purpose()) => {
            passkeys::prove(&visit.app, &party, &challenge, &used).await?
        }
        _ => Err((None, Fault::Challenge)),
    };
    match proof {
        Ok(user) => Ok(Some(user)),
        Err((user, fault)) => {
            tracing::info!(reason = fault.as_str(), "a passkey was refused");
            visit.note_refusal(user, Refused::WrongPasskey)?;
            Ok(None)
        }
    }
}

impl Visit {
    /// A page with the script, whose policy allows that and no other.
    pub(super) fn answer_with_script(
        &self,
        status: StatusCode,
        template: &impl Template,
    ) -> Response {
        let mut response = self.answer(status, template);
        let name = CONTENT_SECURITY_POLICY;
        let policy = response.headers().get(&name).and_then(|policy| policy.to_str().ok());
        let policy = policy.map(|policy| policy.replacen("form-action", &SCRIPT_POLICY, 1));
        if let Some(Ok(policy)) = policy.map(HeaderValue::try_from) {
            response.headers_mut().insert(name, policy);
        }
        response
    }
}
