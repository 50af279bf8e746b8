//! A new password for who has forgotten the old one.
//!
//! Whoever asks learns nothing: the answer is the same for every address and takes as long, since the link
//! is made and sent behind it.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;
use svc_core::settings::Secret;
use svc_core::{Result, UserId};
use svc_messages::Arguments;

use super::answer::{Message, PageError, PageResult};
use super::form::Submitted;
use super::own_path::OwnPath;
use super::page::Page;
use super::problems::Problems;
use super::sign_in::admit;
use super::visit::Visit;
use crate::links::{self, Purpose};
use crate::resets::{Request, Resets};
use crate::second_factor::Proved;
use crate::service::IdentityService;
use crate::sessions::Method;
use crate::sign_in::{email_key, strangers};
use crate::text::secret;
use crate::throttle::{Key, Throttle};
use crate::{passwords, store};

#[derive(Template)]
#[template(path = "forgotten.html")]
struct ForgottenPage<'a> {
    page: &'a Page,
    form: &'a Problems,
    email: &'a str,
}

/// A page on which a password is set by who has a link.
#[derive(Template)]
#[template(path = "new_password.html")]
pub(super) struct NewPasswordPage<'a> {
    pub(super) page: &'a Page,
    pub(super) form: &'a Problems,
    pub(super) title: String,
    pub(super) lead: String,
    pub(super) button: String,
    pub(super) action: &'a str,
    pub(super) code: &'a str,
    pub(super) email: &'a str,
}

#[derive(Deserialize)]
pub(super) struct ForgottenForm {
    email: String,
}

/// The code of a link.
#[derive(Deserialize)]
pub(super) struct Code {
    #[serde(default)]
    pub(super) code: String,
}

#[derive(Deserialize)]
pub(super) struct NewPasswordForm {
    pub(super) code: String,
    #[serde(deserialize_with = "secret")]
    pub(super) password: Secret,
    #[serde(deserialize_with = "secret")]
    pub(super) repeated: Secret,
}

/// Asks for the address.
pub(super) async fn show(visit: Visit) -> PageResult {
    let page = ForgottenPage { page: &visit.page, form: &Problems::default(), email: "" };
    Ok(visit.answer(StatusCode::OK, &page))
}

/// Says that a link is on its way, and sends one where the address is somebody's.
pub(super) async fn submit(Submitted(visit, form): Submitted<ForgottenForm>) -> PageResult {
    let mut problems = Problems::default();
    problems.check_email(&visit.page, &form.email);
    if problems.is_empty()
        && let Err(wait) = count(&visit, &form.email)
    {
        problems.problem = Some(visit.page.wait(wait));
    }
    if !problems.is_empty() {
        let page = ForgottenPage { page: &visit.page, form: &problems, email: &form.email };
        return Ok(visit.answer(StatusCode::UNPROCESSABLE_ENTITY, &page));
    }
    let minutes = Purpose::Reset.lifetime().as_secs() / 60;
    let arguments = Arguments::new().set("email", form.email.trim()).set("minutes", minutes);
    let message = Message {
        page: &visit.page,
        title: visit.page.text("identity-forgotten-sent"),
        detail: visit.page.texts().text_with("identity-forgotten-sent-detail", &arguments),
        reference: None,
        link: None,
    };
    let response = visit.answer(StatusCode::OK, &message);
    let request = Request {
        email_key: email_key(&form.email),
        application: visit.page.application.clone(),
        texts: visit.page.texts().clone(),
    };
    match visit.app.service::<Resets>() {
        Ok(resets) => resets.ask(request),
        Err(error) => return Err(PageError::of(&visit, &error)),
    }
    Ok(response)
}

/// Counts the request like a wrong password, and apart from those: nobody is flooded with mail, and who
/// guesses passwords takes the way by mail from nobody.
fn count(visit: &Visit, email: &str) -> std::result::Result<(), std::time::Duration> {
    let Some(throttle) = visit.app.find_service::<Throttle>() else { return Ok(()) };
    let mut keys = strangers(email_key(email), visit.address);
    for key in &mut keys {
        if let Key::Account(counted) | Key::Domain(counted) = key {
            counted.insert_str(0, "mail to ");
        }
    }
    throttle.take(&keys, visit.app.clock().now_us())
}

/// The page that a link leads to. It uses nothing up: programs that look into mails open links, too.
pub(super) async fn show_reset(visit: Visit, Query(code): Query<Code>) -> PageResult {
    let outcome = async {
        match links::read(&visit.app, Purpose::Reset, &code.code).await? {
            Some(user) => {
                reset_page(&visit, StatusCode::OK, user, &code.code, &Problems::default()).await
            }
            None => Ok(ended(&visit)),
        }
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Sets the new password, which ends all sessions, and signs in.
pub(super) async fn reset(Submitted(visit, form): Submitted<NewPasswordForm>) -> PageResult {
    let outcome = async {
        let Some(user) = links::read(&visit.app, Purpose::Reset, &form.code).await? else {
            return Ok(ended(&visit));
        };
        let service = visit.app.service::<IdentityService>()?;
        let person = store::person(&visit.app, user).await?;
        let mut problems = Problems::default();
        let personal = [&*person.display_name, &person.email];
        let typed = (&form.password, &form.repeated);
        problems.check_password(&visit.page, service.passwords(), typed, &personal);
        if !problems.is_empty() {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return reset_page(&visit, status, user, &form.code, &problems).await;
        }
        let hash = service.passwords().hash(form.password.clone()).await?;
        match passwords::reset(&visit.app, &form.code, hash).await? {
            Some(user) => {
                let proved = Proved::new(&visit.app, user, Method::Link);
                admit(&visit, proved, &OwnPath::parse("/")).await
            }
            None => Ok(ended(&visit)),
        }
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

async fn reset_page(
    visit: &Visit,
    status: StatusCode,
    user: UserId,
    code: &str,
    problems: &Problems,
) -> Result<Response> {
    let email = store::person(&visit.app, user).await?.email;
    let page = NewPasswordPage {
        page: &visit.page,
        form: problems,
        title: visit.page.text("identity-reset-title"),
        lead: visit.page.text_with("identity-reset-lead", "email", &email),
        button: visit.page.text("identity-reset-button"),
        action: "/account/reset",
        code,
        email: &email,
    };
    Ok(visit.answer(status, &page))
}

/// Says that a link doesn't work any more.
pub(super) fn ended(visit: &Visit) -> Response {
    let message = Message {
        page: &visit.page,
        title: visit.page.text("identity-link-ended"),
        detail: visit.page.text("identity-link-ended-detail"),
        reference: None,
        link: None,
    };
    visit.answer(StatusCode::NOT_FOUND, &message)
}
