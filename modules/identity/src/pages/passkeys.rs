//! Passkeys: the person's list, adding one, and signing in with one.

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;
use svc_core::Result;
use svc_core::settings::Secret;
use svc_messages::Arguments;
use uuid::Uuid;

use super::account::to_sign_in;
use super::answer::{PageError, PageResult};
use super::form::Submitted;
use super::page::Page;
use super::passkey_offer::{AnswerForm, Offer, party, prove};
use super::problems::Problems;
use super::second_step::{RecoveryCodesPage, codes_left, require_password};
use super::sign_in::{self, begin};
use super::visit::Visit;
use crate::passkeys::{self, Added, Challenge, Fault, Passkey, Purpose, Removed};
use crate::second_factor::Proved;
use crate::sessions::{Method, Session};
use crate::{second_factor, store, text};

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
        Ok(visit.answer_with_secret(StatusCode::OK, &page))
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
                return Ok(visit.answer_with_secret(StatusCode::OK, &page));
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
