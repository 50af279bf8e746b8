//! The own name and mail address.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;
use svc_core::settings::Secret;
use svc_core::{Result, UserId};

use super::account::to_sign_in;
use super::answer::{Link, Message, PageError, PageResult};
use super::forgotten::{Code, ended};
use super::form::Submitted;
use super::own_path::OwnPath;
use super::page::Page;
use super::problems::Problems;
use super::visit::Visit;
use crate::email::Email;
use crate::links::{self, Purpose};
use crate::own::{self, Asked, Taken};
use crate::store;
use crate::text::secret;

#[derive(Template)]
#[template(path = "details.html")]
struct DetailsPage<'a> {
    page: &'a Page,
    form: &'a Problems,
    display_name: &'a str,
    email: &'a str,
    has_password: bool,
}

#[derive(Template)]
#[template(path = "new_address.html")]
struct NewAddressPage<'a> {
    page: &'a Page,
    code: &'a str,
}

#[derive(Deserialize)]
pub(super) struct DetailsForm {
    name: String,
    email: String,
    #[serde(default, deserialize_with = "secret")]
    current: Secret,
}

/// The page.
pub(super) async fn show(visit: Visit) -> PageResult {
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        let person = store::person(&visit.app, session.user).await?;
        let page = DetailsPage {
            page: &visit.page,
            form: &Problems::default(),
            display_name: &person.display_name,
            email: &person.email,
            has_password: person.password_hash.is_some(),
        };
        Ok(visit.answer(StatusCode::OK, &page))
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Changes the name at once, and sends a link to a new address.
pub(super) async fn submit(Submitted(visit, form): Submitted<DetailsForm>) -> PageResult {
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        let person = store::person(&visit.app, session.user).await?;
        let mut problems = Problems::default();
        problems.check_name(&visit.page, "name", &form.name);
        problems.check_email(&visit.page, &form.email);
        let is_new = form.email.trim() != person.email;
        if problems.is_empty() && is_new {
            ask(&visit, session.user, &form, &mut problems).await?;
        }
        if !problems.is_empty() {
            let page = DetailsPage {
                page: &visit.page,
                form: &problems,
                display_name: &form.name,
                email: &form.email,
                has_password: person.password_hash.is_some(),
            };
            return Ok(visit.answer(StatusCode::UNPROCESSABLE_ENTITY, &page));
        }
        if form.name.trim() != person.display_name {
            own::rename(&visit.app, session.user, session.organisation, &form.name).await?;
        }
        let done = if is_new { "/account?done=address" } else { "/account?done=details" };
        Ok(visit.redirect(done))
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

async fn ask(
    visit: &Visit,
    user: UserId,
    form: &DetailsForm,
    problems: &mut Problems,
) -> Result<()> {
    let email = Email::parse(&form.email)?;
    let (current, texts) = (form.current.clone(), visit.page.texts());
    match own::ask_for_address(&visit.app, user, &email, current, texts).await? {
        Asked::Sent => {}
        Asked::Wrong => problems.add("current", visit.page.text("identity-password-wrong")),
        Asked::Wait(wait) => problems.problem = Some(visit.page.wait(wait)),
    }
    Ok(())
}

/// The page that a link to a new address leads to, for who is signed in. It uses nothing up.
pub(super) async fn show_address(visit: Visit, Query(code): Query<Code>) -> PageResult {
    let outcome = async {
        let Some(user) = links::read(&visit.app, Purpose::Address, &code.code).await? else {
            return Ok(ended(&visit));
        };
        let Some(session) = visit.session().await? else {
            let query = serde_urlencoded::to_string([("code", &code.code)]).unwrap_or_default();
            let here = OwnPath::parse(&format!("/account/address?{query}"));
            return Ok(visit.redirect(&here.behind("/account/sign-in")));
        };
        if session.user != user {
            return Ok(ended(&visit));
        }
        let page = NewAddressPage { page: &visit.page, code: &code.code };
        Ok(visit.answer(StatusCode::OK, &page))
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Takes the new address.
pub(super) async fn take_address(Submitted(visit, form): Submitted<Code>) -> PageResult {
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        Ok(match own::take_address(&visit.app, session.user, &form.code).await? {
            Taken::Done => told(&visit, StatusCode::OK, "identity-address-changed"),
            Taken::Ended => ended(&visit),
            Taken::Someone => told(&visit, StatusCode::CONFLICT, "identity-address-taken"),
        })
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

fn told(visit: &Visit, status: StatusCode, text: &str) -> Response {
    let link =
        Link { href: "/account".to_owned(), text: visit.page.text("identity-account-title") };
    let message = Message {
        page: &visit.page,
        title: visit.page.text("identity-address-title"),
        detail: visit.page.text(text),
        reference: None,
        link: Some(link),
    };
    visit.answer(status, &message)
}
