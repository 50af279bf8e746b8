//! Signing out.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use http::StatusCode;

use super::answer::{Link, Message, PageError, PageResult};
use super::form::Submitted;
use super::own_path::Back;
use super::page::Page;
use super::visit::Visit;
use crate::external::sign_out::sign_out;
use crate::sessions;

#[derive(Template)]
#[template(path = "sign_out.html")]
struct SignOutPage<'a> {
    page: &'a Page,
    question: String,
    back: &'a str,
}

/// Asks whether to sign out: a link of another site must not do it.
pub(super) async fn show(visit: Visit, Query(back): Query<Back>) -> PageResult {
    let back = back.path();
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(signed_out(&visit)) };
        let principal = session.principal(&visit.app).await?;
        let name = principal.map(|person| person.display_name().to_owned()).unwrap_or_default();
        let question = visit.page.text_with("identity-sign-out-question", "name", &name);
        let page = SignOutPage { page: &visit.page, question, back: back.as_str() };
        Ok(visit.answer(StatusCode::OK, &page))
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Ends the session, here and at the issuer by whose account it was begun, and makes the browser forget it.
pub(super) async fn submit(Submitted(visit, back): Submitted<Back>) -> PageResult {
    let outcome = async {
        let back = back.path();
        let mut there = None;
        if let Some(session) = visit.session().await? {
            there = sign_out(&visit.app, &visit.headers, &session, back.as_str()).await?;
            tracing::info!(user.id = %session.user, session.id = %session.id, "a person signed out");
        }
        let mut response = match there {
            Some(issuer) => visit.lead_on(&issuer, "identity-signed-out"),
            None => leave(&visit, back.as_str()),
        };
        let (name, value) = sessions::no_cookie(&visit.app, &visit.headers).header();
        response.headers_mut().append(name, value);
        Ok(response)
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Leads on who has signed out: to this address, or for the application's first page to one that says so.
pub(super) fn leave(visit: &Visit, back: &str) -> Response {
    if back == "/" { signed_out(visit) } else { visit.redirect(back) }
}

fn signed_out(visit: &Visit) -> Response {
    let text = visit.page.text("identity-sign-in-button");
    let message = Message {
        page: &visit.page,
        title: visit.page.text("identity-signed-out"),
        detail: visit.page.text("identity-signed-out-detail"),
        reference: None,
        link: Some(Link { href: "/account/sign-in".to_owned(), text }),
    };
    visit.answer(StatusCode::OK, &message)
}
