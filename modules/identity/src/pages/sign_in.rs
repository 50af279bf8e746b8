//! Signing in with a password.

use std::sync::Arc;

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use http::header::{RETRY_AFTER, SET_COOKIE};
use http::{HeaderValue, StatusCode};
use serde::Deserialize;
use svc_core::settings::Secret;
use svc_core::{App, ErrorKind, OrganisationId, Result, UserId};

use super::answer::{PageError, PageResult};
use super::form::Submitted;
use super::own_path::{Back, OwnPath};
use super::page::Page;
use super::passkey_offer::{Offer, offer};
use super::problems::Problems;
use super::visit::Visit;
use crate::audit::Refused;
use crate::external::issuers::{ExternalIssuer, ExternalIssuers};
use crate::passkeys::Purpose;
use crate::second_factor::Proved;
use crate::sessions::{self, NewSession, set_cookie};
use crate::sign_in::{Attempt, Attempted, attempt};
use crate::text::secret;
use crate::{device, members, second_factor, set_up};

/// The cookie in which a browser keeps what its person has proved.
pub(super) const PROVED_COOKIE: &str = "svc-proved";

/// A button of the sign-in page.
struct Button {
    href: String,
    text: String,
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    page: &'a Page,
    form: &'a Problems,
    notice: Option<&'a str>,
    back: &'a str,
    email: &'a str,
    buttons: Vec<Button>,
    offer: Option<Offer>,
}

#[derive(Deserialize)]
pub(super) struct SignInForm {
    email: String,
    #[serde(deserialize_with = "secret")]
    password: Secret,
    #[serde(default)]
    r#return: String,
}

/// The page. Who is signed in already is led on; an empty system is set up first.
pub(super) async fn show(visit: Visit, Query(asked): Query<Back>) -> PageResult {
    let back = asked.path();
    let outcome = async {
        if !set_up::is_set_up(&visit.app).await? {
            return Ok(visit.redirect(&back.behind("/account/set-up")));
        }
        if visit.session().await?.is_some() && !back.leads_on() {
            return Ok(visit.redirect(back.as_str()));
        }
        page(&visit, StatusCode::OK, &back, &asked.login_hint, &Problems::default())
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Judges what was typed.
pub(super) async fn submit(Submitted(visit, form): Submitted<SignInForm>) -> PageResult {
    let back = OwnPath::parse(&form.r#return);
    let tried = Attempt {
        email: &form.email,
        password: form.password,
        headers: &visit.headers,
        address: visit.address,
    };
    let outcome = async {
        match attempt(&visit.app, tried).await? {
            Attempted::Right(user, set_at_us) => {
                admit(&visit, Proved::by_password(&visit.app, user, set_at_us), &back).await
            }
            Attempted::Wrong(user) => {
                visit.note_refusal(user, Refused::WrongPassword)?;
                let problem = visit.page.text("identity-sign-in-refused");
                let problems = Problems::whole(problem);
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                page(&visit, status, &back, &form.email, &problems)
            }
            Attempted::Wait(user, wait) => {
                visit.note_refusal(user, Refused::TooManyAttempts)?;
                let problems = Problems::whole(visit.page.wait(wait));
                let status = StatusCode::TOO_MANY_REQUESTS;
                let mut response = page(&visit, status, &back, &form.email, &problems)?;
                let seconds = HeaderValue::from(wait.as_secs().max(1));
                response.headers_mut().insert(RETRY_AFTER, seconds);
                Ok(response)
            }
        }
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

pub(super) fn page(
    visit: &Visit,
    status: StatusCode,
    back: &OwnPath,
    email: &str,
    problems: &Problems,
) -> Result<Response> {
    let offer = offer(visit, Purpose::SignIn, &[], back)?;
    let has_script = offer.is_some();
    let page = SignInPage {
        page: &visit.page,
        form: problems,
        notice: None,
        back: back.as_str(),
        email,
        buttons: buttons(visit, back)?,
        offer,
    };
    Ok(if has_script {
        visit.answer_with_script(status, &page)
    } else {
        visit.answer(status, &page)
    })
}

/// The buttons of the sign-in page, one for each issuer.
fn buttons(visit: &Visit, back: &OwnPath) -> Result<Vec<Button>> {
    let issuers = visit.app.service::<ExternalIssuers>()?;
    let button = |issuer: &Arc<ExternalIssuer>| Button {
        href: back.behind(&format!("/account/external/{}", issuer.name)),
        text: visit.page.text_with("identity-external-button", "issuer", issuer.title()),
    };
    Ok(issuers.all().iter().map(button).collect())
}

/// Admits somebody who has taken the first step: signs in, or asks for the second step where the person has
/// one.
pub(super) async fn admit(visit: &Visit, proved: Proved, back: &OwnPath) -> Result<Response> {
    if second_factor::is_needed(&visit.app, proved.user).await? {
        return ask_for_second_step(visit, &proved, back);
    }
    begin(visit, proved, back).await
}

/// Leads a browser to the second step, with a note of the first.
fn ask_for_second_step(visit: &Visit, proved: &Proved, back: &OwnPath) -> Result<Response> {
    let note = proved.seal(&visit.app)?;
    let mut response = visit.redirect(&back.behind("/account/second-factor"));
    let cookie = set_cookie(visit.is_plain(), PROVED_COOKIE, &note, Proved::lifetime());
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(response)
}

/// Signs somebody in who has proved who it is: a new session, the browser known from now on. Who belongs
/// to several organisations chooses one next.
pub(super) async fn begin(visit: &Visit, proved: Proved, back: &OwnPath) -> Result<Response> {
    let Proved { user, methods, password_us, elsewhere, .. } = proved;
    let organisations = members::organisations_of(&visit.app, user).await?;
    let Some(first) = organisations.first() else {
        let problem = visit.page.text("identity-sign-in-no-organisation");
        let problems = Problems::whole(problem);
        return page(visit, StatusCode::FORBIDDEN, back, "", &problems);
    };
    let has_several = organisations.len() > 1;
    let chosen =
        if has_several { last_chosen(&visit.app, user, &organisations).await? } else { None };
    let organisation = chosen.unwrap_or(first.id);
    let new = NewSession { user, organisation, methods, browser: visit.browser() };
    let (session, cookie) =
        match sessions::begin_by(&visit.app, new, password_us, elsewhere.as_ref()).await {
            Err(error) if error.kind() == ErrorKind::Unauthenticated => {
                let problems = Problems::whole(visit.page.text("identity-sign-in-refused"));
                return page(visit, StatusCode::UNPROCESSABLE_ENTITY, back, "", &problems);
            }
            outcome => outcome?,
        };
    tracing::info!(user.id = %user, session.id = %session.id, "a person signed in");
    let mut response = if has_several {
        visit.redirect(&back.behind("/account/organisation"))
    } else {
        visit.go_on(back)
    };
    let headers = response.headers_mut();
    let (name, value) = cookie.header();
    headers.append(name, value);
    headers.append(SET_COOKIE, device::remember(&visit.app, &visit.headers, user)?);
    Ok(response)
}

/// The organisation of the person's latest session, where the person still belongs to it.
async fn last_chosen(
    app: &App,
    user: UserId,
    organisations: &[members::Organisation],
) -> Result<Option<OrganisationId>> {
    let latest = sessions::list(app, user).await?.into_iter().next();
    let latest = latest.map(|session| session.organisation);
    Ok(latest.filter(|id| organisations.iter().any(|organisation| organisation.id == *id)))
}
