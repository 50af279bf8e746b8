//! Accepting an invitation.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use http::StatusCode;
use svc_core::{OrganisationId, Result};
use svc_messages::Arguments;

use super::answer::{PageError, PageResult};
use super::forgotten::{Code, NewPasswordForm, NewPasswordPage, ended};
use super::form::Submitted;
use super::own_path::OwnPath;
use super::page::Page;
use super::problems::Problems;
use super::sign_in::admit;
use super::visit::Visit;
use crate::invitations;
use crate::second_factor::Proved;
use crate::service::IdentityService;
use crate::sessions::{self, Method};
use crate::store::Invitation;

/// For who has an account with the address already.
#[derive(Template)]
#[template(path = "join.html")]
struct JoinPage<'a> {
    page: &'a Page,
    lead: String,
    sign_in_first: String,
    sign_in: String,
    code: &'a str,
    may_join: bool,
}

/// The page that an invitation leads to: a first password, or the membership of one more organisation.
pub(super) async fn show(visit: Visit, Query(code): Query<Code>) -> PageResult {
    let outcome = async {
        let Some(invitation) = invitations::read(&visit.app, &code.code).await? else {
            return Ok(ended(&visit));
        };
        if invitation.known.is_none() {
            let problems = Problems::default();
            return Ok(first_password(&visit, StatusCode::OK, &invitation, &code.code, &problems));
        }
        let session = visit.session().await?;
        let may_join = session.is_some_and(|session| Some(session.user) == invitation.known);
        Ok(join_page(&visit, &invitation, &code.code, may_join))
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Accepts with a first password, and signs in.
pub(super) async fn submit(Submitted(visit, form): Submitted<NewPasswordForm>) -> PageResult {
    let outcome = async {
        let Some(invitation) = invitations::read(&visit.app, &form.code).await? else {
            return Ok(ended(&visit));
        };
        let service = visit.app.service::<IdentityService>()?;
        let mut problems = Problems::default();
        let personal = [&*invitation.display_name, &invitation.email];
        let typed = (&form.password, &form.repeated);
        problems.check_password(&visit.page, service.passwords(), typed, &personal);
        if !problems.is_empty() {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return Ok(first_password(&visit, status, &invitation, &form.code, &problems));
        }
        let hash = service.passwords().hash(form.password.clone()).await?;
        match invitations::accept(&visit.app, &form.code, hash).await? {
            Some(user) => {
                let proved = Proved::new(&visit.app, user, Method::Link);
                admit(&visit, proved, &OwnPath::parse("/")).await
            }
            None => Ok(ended(&visit)),
        }
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Joins one more organisation, as who is signed in and has the address.
pub(super) async fn join(Submitted(visit, form): Submitted<Code>) -> PageResult {
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(ended(&visit)) };
        match invitations::join(&visit.app, &form.code, session.user).await? {
            Some(organisation) => choose(&visit, &session, organisation).await,
            None => Ok(ended(&visit)),
        }
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

async fn choose(
    visit: &Visit,
    session: &sessions::Session,
    organisation: OrganisationId,
) -> Result<Response> {
    sessions::choose(&visit.app, session, organisation).await?;
    Ok(visit.redirect("/"))
}

fn first_password(
    visit: &Visit,
    status: StatusCode,
    invitation: &Invitation,
    code: &str,
    problems: &Problems,
) -> Response {
    let page = NewPasswordPage {
        page: &visit.page,
        form: problems,
        title: visit.page.text("identity-invitation-title"),
        lead: lead(visit, "identity-invitation-lead", invitation),
        button: visit.page.text("identity-invitation-button"),
        action: "/account/invitation",
        code,
        email: &invitation.email,
    };
    visit.answer(status, &page)
}

fn join_page(visit: &Visit, invitation: &Invitation, code: &str, may_join: bool) -> Response {
    let back = OwnPath::parse(&format!("/account/invitation?code={code}"));
    let page = JoinPage {
        page: &visit.page,
        lead: lead(visit, "identity-invitation-join-lead", invitation),
        sign_in_first: visit.page.text_with(
            "identity-invitation-sign-in",
            "email",
            &invitation.email,
        ),
        sign_in: back.behind("/account/sign-in"),
        code,
        may_join,
    };
    visit.answer(StatusCode::OK, &page)
}

fn lead(visit: &Visit, id: &str, invitation: &Invitation) -> String {
    let arguments = Arguments::new()
        .set("organisation", &invitation.organisation_name)
        .set("email", &invitation.email);
    visit.page.texts().text_with(id, &arguments)
}
