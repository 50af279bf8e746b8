//! The second step of signing in.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use http::header::SET_COOKIE;
use http::{HeaderValue, StatusCode};
use serde::Deserialize;
use svc_core::{Result, UserId};

use super::answer::{Link, Message, PageError, PageResult};
use super::form::Submitted;
use super::own_path::OwnPath;
use super::page::Page;
use super::passkey_offer::{AnswerForm, Offer, offer, prove};
use super::problems::Problems;
use super::sign_in::{PROVED_COOKIE, begin};
use super::visit::Visit;
use crate::audit::Refused;
use crate::passkeys::{self, Purpose};
use crate::second_factor::{self, Checked, Proved};
use crate::sessions::{Method, cookie, set_cookie};

#[derive(Template)]
#[template(path = "second_factor.html")]
struct SecondFactorPage<'a> {
    page: &'a Page,
    form: &'a Problems,
    back: &'a str,
    by_recovery: bool,
    has_app: bool,
    offer: Option<Offer>,
    other: String,
}

#[derive(Deserialize)]
pub(super) struct Way {
    #[serde(default)]
    r#return: String,
    #[serde(default)]
    recovery: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct CodeForm {
    code: String,
    #[serde(default)]
    r#return: String,
    #[serde(default)]
    recovery: Option<String>,
}

/// The page.
pub(super) async fn show(visit: Visit, Query(way): Query<Way>) -> PageResult {
    let back = OwnPath::parse(&way.r#return);
    let outcome = async {
        let Some(proved) = proved(&visit) else { return Ok(ended(&visit, &back)) };
        let by_recovery = way.recovery.is_some();
        let user = proved.user;
        page(&visit, StatusCode::OK, user, &back, by_recovery, &Problems::default()).await
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Takes the code.
pub(super) async fn submit(Submitted(visit, form): Submitted<CodeForm>) -> PageResult {
    let back = OwnPath::parse(&form.r#return);
    let by_recovery = form.recovery.is_some();
    let outcome = async {
        let Some(proved) = proved(&visit) else { return Ok(ended(&visit, &back)) };
        let user = proved.user;
        let (checked, method, wrong) = if by_recovery {
            let checked = second_factor::recover(&visit.app, proved.user, &form.code).await?;
            (checked, Method::RecoveryCode, "identity-second-factor-recovery-wrong")
        } else {
            let checked = second_factor::check(&visit.app, proved.user, &form.code).await?;
            (checked, Method::OneTimeCode, "identity-second-factor-wrong")
        };
        let mut problems = Problems::default();
        match checked {
            Checked::Right => {
                let mut response = begin(&visit, proved.and(method), &back).await?;
                response.headers_mut().append(SET_COOKIE, no_note(&visit));
                return Ok(response);
            }
            Checked::Wrong => {
                visit.note_refusal(Some(proved.user), Refused::WrongCode)?;
                problems.add("code", visit.page.text(wrong));
            }
            Checked::Wait(wait) => {
                visit.note_refusal(Some(proved.user), Refused::TooManyAttempts)?;
                problems.problem = Some(visit.page.wait(wait));
            }
        }
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        page(&visit, status, user, &back, by_recovery, &problems).await
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Takes what a passkey has signed.
pub(super) async fn submit_passkey(Submitted(visit, form): Submitted<AnswerForm>) -> PageResult {
    let back = form.back();
    let outcome = async {
        let Some(proved) = proved(&visit) else { return Ok(ended(&visit, &back)) };
        let user = proved.user;
        let is_ours = |purpose: &Purpose| *purpose == Purpose::SecondStep(user);
        if prove(&visit, &form, is_ours).await?.is_some() {
            let mut response = begin(&visit, proved.and(Method::Passkey), &back).await?;
            response.headers_mut().append(SET_COOKIE, no_note(&visit));
            return Ok(response);
        }
        let problems = Problems::whole(visit.page.text("identity-passkey-refused"));
        page(&visit, StatusCode::UNPROCESSABLE_ENTITY, user, &back, false, &problems).await
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

fn proved(visit: &Visit) -> Option<Proved> {
    let note = cookie(visit.is_plain(), &visit.headers, PROVED_COOKIE)?;
    Proved::read(&visit.app, &note)
}

fn no_note(visit: &Visit) -> HeaderValue {
    set_cookie(visit.is_plain(), PROVED_COOKIE, "", 0)
}

async fn page(
    visit: &Visit,
    status: StatusCode,
    user: UserId,
    back: &OwnPath,
    by_recovery: bool,
    problems: &Problems,
) -> Result<Response> {
    let mut other = vec![("return", back.as_str())];
    if !by_recovery {
        other.push(("recovery", "1"));
    }
    let query = serde_urlencoded::to_string(other).unwrap_or_default();
    let keys = passkeys::list(&visit.app, user).await?;
    let offer = if keys.is_empty() || by_recovery {
        None
    } else {
        offer(visit, Purpose::SecondStep(user), &keys, back)?
    };
    let has_script = offer.is_some();
    let page = SecondFactorPage {
        page: &visit.page,
        form: problems,
        back: back.as_str(),
        by_recovery,
        has_app: second_factor::is_on(&visit.app, user).await?,
        offer,
        other: format!("/account/second-factor?{query}"),
    };
    Ok(if has_script {
        visit.answer_with_script(status, &page)
    } else {
        visit.answer(status, &page)
    })
}

fn ended(visit: &Visit, back: &OwnPath) -> Response {
    let link = Link {
        href: back.behind("/account/sign-in"),
        text: visit.page.text("identity-sign-in-button"),
    };
    let message = Message {
        page: &visit.page,
        title: visit.page.text("identity-link-ended"),
        detail: visit.page.text("identity-second-factor-ended"),
        reference: None,
        link: Some(link),
    };
    visit.answer(StatusCode::FORBIDDEN, &message)
}
