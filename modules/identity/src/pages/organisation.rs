//! The choice of an organisation, for who belongs to several.

use askama::Template;
use axum::extract::Query;
use http::StatusCode;
use serde::Deserialize;
use svc_core::OrganisationId;
use uuid::Uuid;

use super::answer::{PageError, PageResult};
use super::form::Submitted;
use super::own_path::{Back, OwnPath};
use super::page::Page;
use super::visit::Visit;
use crate::{members, sessions};

#[derive(Template)]
#[template(path = "organisation.html")]
struct OrganisationPage<'a> {
    page: &'a Page,
    back: &'a str,
    organisations: Vec<Choice>,
}

struct Choice {
    id: Uuid,
    name: String,
    is_chosen: bool,
}

#[derive(Deserialize)]
pub(super) struct ChoiceForm {
    organisation: Uuid,
    #[serde(default)]
    r#return: String,
}

/// The organisations of who is signed in.
pub(super) async fn show(visit: Visit, Query(back): Query<Back>) -> PageResult {
    let back = back.path();
    let outcome = async {
        let Some(session) = visit.session().await? else {
            return Ok(visit.redirect(&back.behind("/account/sign-in")));
        };
        let organisations = members::organisations_of(&visit.app, session.user).await?;
        let choice = |organisation: members::Organisation| Choice {
            id: organisation.id.0,
            is_chosen: organisation.id == session.organisation,
            name: organisation.name,
        };
        let page = OrganisationPage {
            page: &visit.page,
            back: back.as_str(),
            organisations: organisations.into_iter().map(choice).collect(),
        };
        Ok(visit.answer(StatusCode::OK, &page))
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Goes on with the one that was chosen.
pub(super) async fn submit(Submitted(visit, form): Submitted<ChoiceForm>) -> PageResult {
    let back = OwnPath::parse(&form.r#return);
    let outcome = async {
        let Some(session) = visit.session().await? else {
            return Ok(visit.redirect(&back.behind("/account/sign-in")));
        };
        sessions::choose(&visit.app, &session, OrganisationId(form.organisation)).await?;
        Ok(visit.go_on(&back))
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}
