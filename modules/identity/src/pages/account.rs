//! The own account.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;
use svc_core::settings::Secret;
use svc_core::{App, Result};
use svc_messages::Arguments;
use uuid::Uuid;

use super::answer::{PageError, PageResult};
use super::form::Submitted;
use super::page::Page;
use super::problems::Problems;
use super::session_row::Row;
use super::visit::Visit;
use crate::external::issuers::ExternalIssuers;
use crate::passwords::{self, Changed};
use crate::service::IdentityService;
use crate::sessions::{self, Session, SessionId};
use crate::text::secret;
use crate::{members, own, passkeys, second_factor, store};

#[derive(Template)]
#[template(path = "account.html")]
#[expect(clippy::struct_excessive_bools, reason = "each is a part of the page, shown or not")]
struct AccountPage<'a> {
    page: &'a Page,
    form: &'a Problems,
    notice: Option<&'a str>,
    name: String,
    email: String,
    organisation: String,
    has_several: bool,
    has_password: bool,
    has_second_step: bool,
    has_issuers: bool,
    passkeys: String,
    sessions: Vec<Row>,
}

/// What was done just now.
#[derive(Deserialize)]
pub(super) struct Done {
    #[serde(default)]
    pub(super) done: String,
}

/// What the page can say was done, by its name in the address.
const NOTICES: [(&str, &str); 7] = [
    ("password", "identity-password-changed"),
    ("session", "identity-session-ended"),
    ("program", "identity-session-program-ended"),
    ("sessions", "identity-sessions-ended"),
    ("second-step-off", "identity-totp-is-off"),
    ("details", "identity-details-changed"),
    ("address", "identity-address-sent"),
];

#[derive(Deserialize)]
pub(super) struct PasswordForm {
    #[serde(deserialize_with = "secret")]
    current: Secret,
    #[serde(deserialize_with = "secret")]
    password: Secret,
    #[serde(deserialize_with = "secret")]
    repeated: Secret,
}

#[derive(Deserialize)]
pub(super) struct SessionsForm {
    /// The browser to sign out; `others` for all but this one, and for programs, too.
    #[serde(default)]
    session: String,
    /// The program that is to go on no more.
    #[serde(default)]
    program: String,
}

/// The page.
pub(super) async fn show(mut visit: Visit, Query(done): Query<Done>) -> PageResult {
    let notice = NOTICES.iter().find(|(name, _)| *name == done.done).map(|(_, id)| *id);
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        page(&mut visit, StatusCode::OK, &session, notice, &Problems::default()).await
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Changes the password, which signs the person out everywhere else.
pub(super) async fn change_password(
    Submitted(mut visit, form): Submitted<PasswordForm>,
) -> PageResult {
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        let mut problems = Problems::default();
        let person = store::person(&visit.app, session.user).await?;
        let service = visit.app.service::<IdentityService>()?;
        let personal = [&*person.display_name, &person.email];
        let typed = (&form.password, &form.repeated);
        problems.check_password(&visit.page, service.passwords(), typed, &personal);
        if problems.is_empty() {
            let changed =
                passwords::change(&visit.app, &session, form.current, form.password.clone());
            match changed.await? {
                Changed::Done => return Ok(visit.redirect("/account?done=password")),
                Changed::Wrong => {
                    problems.add("current", visit.page.text("identity-password-wrong"));
                }
                Changed::Wait(wait) => problems.problem = Some(visit.page.wait(wait)),
            }
        }
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        page(&mut visit, status, &session, None, &problems).await
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Ends one of the sessions or what one program was given, or all but the session of this browser.
pub(super) async fn end_sessions(Submitted(visit, form): Submitted<SessionsForm>) -> PageResult {
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        if form.session == "others" {
            own::sign_out_elsewhere(&visit.app, &session).await?;
            return Ok(visit.redirect("/account?done=sessions"));
        }
        if let Ok(id) = form.program.parse() {
            own::end_program(&visit.app, session.user, id).await?;
            return Ok(visit.redirect("/account?done=program"));
        }
        if let Ok(id) = form.session.parse::<Uuid>() {
            sessions::end(&visit.app, session.user, SessionId(id)).await?;
        }
        Ok(visit.redirect("/account?done=session"))
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

pub(super) fn to_sign_in(visit: &Visit) -> Response {
    visit.redirect("/account/sign-in?return=%2Faccount")
}

async fn page(
    visit: &mut Visit,
    status: StatusCode,
    session: &Session,
    notice: Option<&str>,
    problems: &Problems,
) -> Result<Response> {
    visit.page.shown_at("/account");
    let app: &App = &visit.app;
    let person = store::person(app, session.user).await?;
    let organisations = members::organisations_of(app, session.user).await?;
    let chosen = organisations.iter().find(|one| one.id == session.organisation);
    let now = app.clock().now();
    let has_several = organisations.len() > 1;
    let rows = sessions::list(app, session.user).await?;
    let rows = rows.iter().map(|one| Row::new(&visit.page, one, session, now));
    let programs = own::programs(app, session.user, &organisations).await?.into_iter();
    let programs = programs.map(|one| Row::of_program(&visit.page, one, has_several, now));
    let count = passkeys::list(app, session.user).await?.len();
    let count = Arguments::new().set("count", u64::try_from(count).unwrap_or_default());
    let page = AccountPage {
        page: &visit.page,
        form: problems,
        notice,
        organisation: chosen.map(|one| one.name.clone()).unwrap_or_default(),
        has_several,
        has_password: person.password_hash.is_some(),
        has_second_step: second_factor::is_on(app, session.user).await?,
        has_issuers: !app.service::<ExternalIssuers>()?.all().is_empty(),
        passkeys: visit.page.texts().text_with("identity-passkeys-count", &count),
        name: person.display_name,
        email: person.email,
        sessions: rows.chain(programs).collect(),
    };
    Ok(visit.answer(status, &page))
}
