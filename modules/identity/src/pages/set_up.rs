//! The set-up of an empty system: the organisation and its first administrator.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;
use svc_core::settings::Secret;

use super::answer::{PageError, PageResult};
use super::form::Submitted;
use super::own_path::{Back, OwnPath};
use super::page::Page;
use super::problems::Problems;
use super::sign_in::admit;
use super::visit::Visit;
use crate::second_factor::Proved;
use crate::service::IdentityService;
use crate::sessions::Method;
use crate::set_up::{SetUp, is_set_up, set_up};
use crate::text::secret;
use crate::users::NewUser;

#[derive(Template)]
#[template(path = "set_up.html")]
struct SetUpPage<'a> {
    page: &'a Page,
    form: &'a Problems,
    back: &'a str,
    given: &'a Given,
}

/// What was typed, without the passwords: they are typed anew.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Given {
    organisation: String,
    display_name: String,
    email: String,
    #[serde(default)]
    r#return: String,
}

#[derive(Deserialize)]
pub(super) struct SetUpForm {
    #[serde(flatten)]
    given: Given,
    #[serde(deserialize_with = "secret")]
    password: Secret,
    #[serde(deserialize_with = "secret")]
    repeated: Secret,
}

/// The page; once there is an organisation it leads to the application.
pub(super) async fn show(visit: Visit, Query(back): Query<Back>) -> PageResult {
    let back = back.path();
    match is_set_up(&visit.app).await {
        Ok(true) => Ok(visit.redirect(back.as_str())),
        Ok(false) => {
            Ok(page(&visit, StatusCode::OK, &back, &Given::default(), &Problems::default()))
        }
        Err(error) => Err(PageError::of(&visit, &error)),
    }
}

/// Sets the system up and signs its administrator in, unless somebody else was faster.
pub(super) async fn submit(Submitted(visit, form): Submitted<SetUpForm>) -> PageResult {
    let SetUpForm { given, password, repeated } = form;
    let back = OwnPath::parse(&given.r#return);
    let outcome = async {
        if is_set_up(&visit.app).await? {
            return Ok(visit.redirect(back.as_str()));
        }
        let mut problems = Problems::default();
        problems.check_name(&visit.page, "organisation", &given.organisation);
        problems.check_name(&visit.page, "displayName", &given.display_name);
        problems.check_email(&visit.page, &given.email);
        let service = visit.app.service::<IdentityService>()?;
        let personal = [&*given.display_name, &given.email, &given.organisation];
        let typed = (&password, &repeated);
        problems.check_password(&visit.page, service.passwords(), typed, &personal);
        if !problems.is_empty() {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return Ok(page(&visit, status, &back, &given, &problems));
        }
        let administrator = NewUser {
            email: given.email.clone(),
            display_name: given.display_name.clone(),
            password: Some(password.clone()),
            ..NewUser::default()
        };
        let organisation = given.organisation.clone();
        match set_up(&visit.app, SetUp { organisation, administrator, api_key: None }).await? {
            Some(done) => {
                tracing::info!(
                    organisation.id = %done.organisation,
                    user.id = %done.administrator,
                    "the first organisation was made on the set-up page"
                );
                admit(&visit, Proved::new(&visit.app, done.administrator, Method::Password), &back)
                    .await
            }
            None => Ok(visit.redirect(back.as_str())),
        }
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

fn page(
    visit: &Visit,
    status: StatusCode,
    back: &OwnPath,
    given: &Given,
    problems: &Problems,
) -> Response {
    let page = SetUpPage { page: &visit.page, form: problems, back: back.as_str(), given };
    visit.answer(status, &page)
}
