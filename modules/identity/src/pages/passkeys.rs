//! Passkeys: the person's list, adding one, and signing in with one.
//!
//! A browser uses them by a script of ours, which stands in the page itself; the page's policy names its
//! hash and allows no other. Without a script the pages say so, and all else works.

use std::sync::LazyLock;

use askama::Template;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use svc_core::settings::Secret;
use svc_core::{Result, UserId};
use svc_messages::Arguments;
use uuid::Uuid;

use super::account::to_sign_in;
use super::answer::{PageError, PageResult};
use super::form::Submitted;
use super::own_path::OwnPath;
use super::page::Page;
use super::problems::Problems;
use super::second_step::{RecoveryCodesPage, codes_left, require_password};
use super::sign_in::{self, begin, note_refusal};
use super::visit::Visit;
use crate::audit::Refused;
use crate::passkeys::{self, Added, Challenge, Fault, Party, Passkey, Purpose, Removed};
use crate::provider::issuer_for;
use crate::second_factor::Proved;
use crate::sessions::{Method, Session};
use crate::{second_factor, store, text};

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
fn party(visit: &Visit) -> Option<Party> {
    Party::of(&issuer_for(&visit.app, &visit.headers).ok()?)
}

#[derive(Template)]
#[template(path = "passkeys.html")]
struct PasskeysPage<'a> {
    page: &'a Page,
    form: &'a Problems,
    notice: Option<&'a str>,
    keys: Vec<Row>,
    /// The name that was typed for a further one.
    typed: &'a str,
    /// How many recovery codes are left.
    left: String,
    has_password: bool,
    is_possible: bool,
}

#[derive(Template)]
#[template(path = "new_passkey.html")]
struct NewPasskeyPage<'a> {
    page: &'a Page,
    offer: Offer,
}

/// A key in the list of its person.
struct Row {
    id: Uuid,
    name: String,
    used: String,
    remove_label: String,
}

#[derive(Deserialize)]
pub(super) struct CodesForm {
    #[serde(default, deserialize_with = "text::secret")]
    renewing: Secret,
}

#[derive(Deserialize)]
pub(super) struct NewForm {
    name: String,
    #[serde(default, deserialize_with = "text::secret")]
    current: Secret,
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
    fn read<T: DeserializeOwned>(&self, visit: &Visit) -> Option<(Challenge, T)> {
        let challenge = Challenge::read(&visit.app, &self.challenge, visit.secret.binding())?;
        Some((challenge, serde_json::from_str(&self.answer).ok()?))
    }
}

/// The list.
pub(super) async fn show(visit: Visit) -> PageResult {
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        list(&visit, StatusCode::OK, &session, ("", None), &Problems::default()).await
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Renames keys, or removes one.
pub(super) async fn change(
    Submitted(mut visit, form): Submitted<Vec<(String, String)>>,
) -> PageResult {
    visit.page.shown_at("/account/passkeys");
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        let (user, mut problems) = (session.user, Problems::default());
        let field = |name: &str| form.iter().find(|(known, _)| known == name).map(|(_, it)| it);
        let notice = if let Some(id) = field("remove").and_then(|id| id.parse::<Uuid>().ok()) {
            let current = field("removing").cloned().unwrap_or_default();
            require_password(&visit, user, current.into(), "removing", &mut problems).await?;
            if problems.is_empty() && passkeys::remove(&visit.app, user, id).await? == Removed::Last
            {
                problems.problem = Some(visit.page.text("identity-passkey-last"));
            }
            "identity-passkey-removed"
        } else {
            for key in passkeys::list(&visit.app, user).await? {
                let Some(name) = field(&format!("name-{}", key.id)) else { continue };
                match text::name("name", name) {
                    Ok(name) => passkeys::rename(&visit.app, user, key.id, &name).await?,
                    Err(_) => problems.problem = Some(visit.page.text("identity-invalid-name")),
                }
            }
            "identity-passkey-renamed"
        };
        let (status, notice) = if problems.is_empty() {
            (StatusCode::OK, Some(notice))
        } else {
            (StatusCode::UNPROCESSABLE_ENTITY, None)
        };
        list(&visit, status, &session, ("", notice), &problems).await
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Makes new recovery codes in place of the earlier ones.
pub(super) async fn renew_codes(Submitted(mut visit, form): Submitted<CodesForm>) -> PageResult {
    visit.page.shown_at("/account/passkeys");
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        let (user, mut problems) = (session.user, Problems::default());
        require_password(&visit, user, form.renewing, "renewing", &mut problems).await?;
        if !problems.is_empty() {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return list(&visit, status, &session, ("", None), &problems).await;
        }
        let Some(codes) = second_factor::new_codes(&visit.app, user).await? else {
            return Ok(visit.redirect("/account/passkeys"));
        };
        let is_on = "identity-recovery-renewed";
        let page = RecoveryCodesPage { page: &visit.page, is_on, codes };
        Ok(visit.answer(StatusCode::OK, &page))
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Asks for the password, and then has the browser make a key.
pub(super) async fn prepare(Submitted(mut visit, form): Submitted<NewForm>) -> PageResult {
    visit.page.shown_at("/account/passkeys");
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        let user = session.user;
        let mut problems = Problems::default();
        problems.check_name(&visit.page, "name", &form.name);
        if problems.is_empty() {
            require_password(&visit, user, form.current, "current", &mut problems).await?;
        }
        let party = party(&visit);
        let (true, Some(party)) = (problems.is_empty(), party) else {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return list(&visit, status, &session, (&form.name, None), &problems).await;
        };
        let person = store::person(&visit.app, user).await?;
        let keys = passkeys::list(&visit.app, user).await?;
        let purpose = Purpose::Register(user, session.id, form.name.trim().to_owned());
        let challenge = Challenge::new(&visit.app, purpose, visit.secret.binding());
        let about = (user, person.email.as_str(), person.display_name.as_str());
        let offer = Offer {
            options: challenge.making(&party, &keys, &visit.page.application, about),
            challenge: challenge.seal(&visit.app)?,
            back: String::new(),
        };
        let page = NewPasskeyPage { page: &visit.page, offer };
        Ok(visit.answer_with_script(StatusCode::OK, &page))
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Takes the key that the browser has made.
pub(super) async fn add(Submitted(mut visit, form): Submitted<AnswerForm>) -> PageResult {
    visit.page.shown_at("/account/passkeys");
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        let added = match (form.read(&visit), party(&visit)) {
            (Some((challenge, made)), Some(party)) if is_of(&challenge, &session) => {
                passkeys::add(&visit.app, &party, &challenge, &made).await?
            }
            _ => Err(Fault::Challenge),
        };
        let mut problems = Problems::default();
        match added {
            Ok(Added::Done(Some(codes))) => {
                let is_on = "identity-passkey-added";
                let page = RecoveryCodesPage { page: &visit.page, is_on, codes };
                return Ok(visit.answer(StatusCode::OK, &page));
            }
            Ok(Added::Done(None)) => {
                let said = ("", Some("identity-passkey-added"));
                return list(&visit, StatusCode::OK, &session, said, &problems).await;
            }
            Ok(Added::Refused) => {}
            Err(fault) => tracing::info!(reason = fault.as_str(), "a passkey was not added"),
        }
        let most = passkeys::MOST.to_string();
        let problem = visit.page.text_with("identity-passkey-not-added", "most", &most);
        problems.problem = Some(problem);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        list(&visit, status, &session, ("", None), &problems).await
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

fn is_of(challenge: &Challenge, session: &Session) -> bool {
    let Purpose::Register(user, id, _) = challenge.purpose() else { return false };
    *user == session.user && *id == session.id
}

/// Signs in with a key and nothing else.
pub(super) async fn sign_in(Submitted(visit, form): Submitted<AnswerForm>) -> PageResult {
    let back = form.back();
    let outcome = async {
        let is_ours = |purpose: &Purpose| *purpose == Purpose::SignIn;
        if let Some(user) = prove(&visit, &form, is_ours).await? {
            let proved = Proved::new(&visit.app, user, Method::Passkey);
            return begin(&visit, proved, &back).await;
        }
        let problems = Problems::whole(visit.page.text("identity-passkey-refused"));
        sign_in::page(&visit, StatusCode::UNPROCESSABLE_ENTITY, &back, "", &problems)
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
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
            note_refusal(visit, user, Refused::WrongPasskey)?;
            Ok(None)
        }
    }
}

async fn list(
    visit: &Visit,
    status: StatusCode,
    session: &Session,
    (name, notice): (&str, Option<&str>),
    problems: &Problems,
) -> Result<Response> {
    let person = store::person(&visit.app, session.user).await?;
    let keys = passkeys::list(&visit.app, session.user).await?;
    let count = second_factor::codes_left(&visit.app, session.user).await?;
    let page = PasskeysPage {
        page: &visit.page,
        form: problems,
        notice,
        keys: keys.into_iter().map(|key| row(&visit.page, key)).collect(),
        typed: name,
        left: codes_left(&visit.page, count),
        has_password: person.password_hash.is_some(),
        is_possible: party(visit).is_some(),
    };
    Ok(visit.answer(status, &page))
}

fn row(page: &Page, key: Passkey) -> Row {
    let used = match key.used_at {
        Some(at) => {
            page.texts().text_with("identity-passkey-used", &Arguments::new().set("at", at))
        }
        None => page.text("identity-passkey-unused"),
    };
    let remove_label = page.text_with("identity-passkey-remove-label", "name", &key.name);
    Row { id: key.id, used, remove_label, name: key.name }
}

impl Visit {
    /// A page with the script, whose policy allows that and no other.
    pub(super) fn answer_with_script(
        &self,
        status: StatusCode,
        template: &impl Template,
    ) -> Response {
        let mut response = self.answer(status, template);
        let name = http::header::CONTENT_SECURITY_POLICY;
        let policy = response.headers().get(&name).and_then(|policy| policy.to_str().ok());
        let policy = policy.map(|policy| policy.replacen("form-action", &SCRIPT_POLICY, 1));
        if let Some(Ok(policy)) = policy.map(HeaderValue::try_from) {
            response.headers_mut().insert(name, policy);
        }
        response
    }
}
