//! Switching the second step on and off, which needs the password once more: a browser that was left open
//! isn't enough.

use std::fmt::Write as _;

use askama::Template;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use qrcodegen::{QrCode, QrCodeEcc};
use serde::Deserialize;
use svc_core::settings::Secret;
use svc_core::{Error, Result, UserId};
use svc_messages::Arguments;

use super::account::to_sign_in;
use super::answer::{PageError, PageResult};
use super::form::Submitted;
use super::page::Page;
use super::problems::Problems;
use super::visit::Visit;
use crate::passwords::{self, Changed};
use crate::second_factor::{self, Enrolment};
use crate::sessions::Session;
use crate::store;

#[derive(Template)]
#[template(path = "enrol.html")]
struct EnrolPage<'a> {
    page: &'a Page,
    form: &'a Problems,
    picture: String,
    key: String,
    enrolment: String,
    has_password: bool,
}

#[derive(Template)]
#[template(path = "recovery_codes.html")]
pub(super) struct RecoveryCodesPage<'a> {
    pub(super) page: &'a Page,
    /// What is on now.
    pub(super) is_on: &'a str,
    pub(super) codes: Vec<String>,
}

#[derive(Template)]
#[template(path = "switch_off.html")]
struct SwitchOffPage<'a> {
    page: &'a Page,
    form: &'a Problems,
    left: String,
    has_password: bool,
}

#[derive(Deserialize)]
pub(super) struct EnrolForm {
    enrolment: String,
    code: String,
    #[serde(default)]
    current: String,
}

#[derive(Deserialize)]
pub(super) struct OffForm {
    wish: String,
    #[serde(default)]
    current: String,
}

/// The page to switch it on, or off where it is on.
pub(super) async fn show(visit: Visit) -> PageResult {
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        if second_factor::is_on(&visit.app, session.user).await? {
            return off_page(&visit, StatusCode::OK, &session, &Problems::default()).await;
        }
        let enrolment = Enrolment::new(&visit.app, session.user);
        enrol_page(&visit, StatusCode::OK, &session, &enrolment, &Problems::default()).await
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Switches it on, and shows recovery codes.
pub(super) async fn switch_on(Submitted(visit, form): Submitted<EnrolForm>) -> PageResult {
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        let Some(enrolment) = Enrolment::read(&visit.app, session.user, &form.enrolment) else {
            return Ok(visit.redirect("/account/second-step"));
        };
        let mut problems = Problems::default();
        require_password(&visit, session.user, form.current.into(), "current", &mut problems)
            .await?;
        if problems.is_empty() {
            match second_factor::switch_on(&visit.app, &enrolment, &form.code).await? {
                Some(codes) => {
                    let page = RecoveryCodesPage {
                        page: &visit.page,
                        is_on: "identity-totp-is-on",
                        codes,
                    };
                    return Ok(visit.answer_with_secret(StatusCode::OK, &page));
                }
                None => problems.add("code", visit.page.text("identity-totp-wrong")),
            }
        }
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        enrol_page(&visit, status, &session, &enrolment, &problems).await
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Switches it off, or makes new recovery codes.
pub(super) async fn switch_off(Submitted(visit, form): Submitted<OffForm>) -> PageResult {
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        let mut problems = Problems::default();
        require_password(&visit, session.user, form.current.into(), "current", &mut problems)
            .await?;
        if !problems.is_empty() {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return off_page(&visit, status, &session, &problems).await;
        }
        if form.wish == "codes"
            && let Some(codes) = second_factor::new_codes(&visit.app, session.user).await?
        {
            let page = RecoveryCodesPage { page: &visit.page, is_on: "identity-totp-is-on", codes };
            return Ok(visit.answer_with_secret(StatusCode::OK, &page));
        }
        second_factor::switch_off(&visit.app, session.user).await?;
        Ok(visit.redirect("/account?done=second-step-off"))
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Asks for the password of who has one, in this field of the form.
pub(super) async fn require_password(
    visit: &Visit,
    user: UserId,
    current: Secret,
    field: &'static str,
    problems: &mut Problems,
) -> Result<()> {
    if store::person(&visit.app, user).await?.password_hash.is_none() {
        return Ok(());
    }
    match passwords::confirm(&visit.app, user, current).await? {
        Changed::Done => {}
        Changed::Wrong => problems.add(field, visit.page.text("identity-password-wrong")),
        Changed::Wait(wait) => problems.problem = Some(visit.page.wait(wait)),
    }
    Ok(())
}

async fn enrol_page(
    visit: &Visit,
    status: StatusCode,
    session: &Session,
    enrolment: &Enrolment,
    problems: &Problems,
) -> Result<Response> {
    let person = store::person(&visit.app, session.user).await?;
    let page = EnrolPage {
        page: &visit.page,
        form: problems,
        picture: picture(&enrolment.address(&visit.page.application, &person.email)?)?,
        key: enrolment.key(),
        enrolment: enrolment.seal(&visit.app)?,
        has_password: person.password_hash.is_some(),
    };
    Ok(visit.answer_with_secret(status, &page))
}

async fn off_page(
    visit: &Visit,
    status: StatusCode,
    session: &Session,
    problems: &Problems,
) -> Result<Response> {
    let person = store::person(&visit.app, session.user).await?;
    let count = second_factor::codes_left(&visit.app, session.user).await?;
    let page = SwitchOffPage {
        page: &visit.page,
        form: problems,
        left: codes_left(&visit.page, count),
        has_password: person.password_hash.is_some(),
    };
    Ok(visit.answer(status, &page))
}

/// How many recovery codes a person has left, in words.
pub(super) fn codes_left(page: &Page, count: i64) -> String {
    let arguments = Arguments::new().set("count", count);
    page.texts().text_with("identity-totp-recovery-left", &arguments)
}

/// A text as a QR code, in an address that an `img` shows without asking anybody.
fn picture(text: &str) -> Result<String> {
    let drawn = QrCode::encode_text(text, QrCodeEcc::Medium)
        .map_err(|error| Error::internal("the picture could not be made").caused_by(error))?;
    let (size, border) = (drawn.size(), 4);
    let mut path = String::new();
    for y in 0..size {
        for x in (0..size).filter(|x| drawn.get_module(*x, y)) {
            // Writing to a `String` never fails.
            let _ = write!(path, "M{},{}h1v1h-1z", x + border, y + border);
        }
    }
    let whole = size + 2 * border;
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {whole} {whole}\" \
         shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0,0h{whole}v{whole}h-{whole}z\"/>\
         <path d=\"{path}\"/></svg>"
    );
    Ok(format!("data:image/svg+xml;base64,{}", STANDARD.encode(svg)))
}
