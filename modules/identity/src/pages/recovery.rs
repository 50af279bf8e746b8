//! Coming in by a recovery code, for who has lost the passkey that was the only way in.

use askama::Template;
use axum::response::Response;
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use serde::Deserialize;

use super::answer::{PageError, PageResult};
use super::form::Submitted;
use super::own_path::OwnPath;
use super::page::Page;
use super::problems::Problems;
use super::sign_in::begin;
use super::visit::Visit;
use crate::audit::Refused;
use crate::recovery::{Recovered, recover};
use crate::second_factor::Proved;
use crate::sessions::Method;

/// Where another passkey is added.
const NEXT: &str = "/account/passkeys";

#[derive(Template)]
#[template(path = "recovery.html")]
struct RecoveryPage<'a> {
    page: &'a Page,
    form: &'a Problems,
}

#[derive(Deserialize)]
pub(super) struct RecoveryForm {
    code: String,
}

/// The page.
pub(super) async fn show(visit: Visit) -> Response {
    page(&visit, StatusCode::OK, &Problems::default())
}

/// Takes the code.
pub(super) async fn submit(Submitted(visit, form): Submitted<RecoveryForm>) -> PageResult {
    let outcome = async {
        let mut problems = Problems::default();
        match recover(&visit.app, &form.code, visit.address).await? {
            Recovered::Right(user) => {
                let proved = Proved::new(&visit.app, user, Method::RecoveryCode);
                begin(&visit, proved, &OwnPath::parse(NEXT)).await
            }
            Recovered::Wrong(user) => {
                visit.note_refusal(user, Refused::WrongCode)?;
                problems.add("code", visit.page.text("identity-recovery-refused"));
                Ok(page(&visit, StatusCode::UNPROCESSABLE_ENTITY, &problems))
            }
            Recovered::Wait(wait) => {
                problems.problem = Some(visit.page.wait(wait));
                let mut response = page(&visit, StatusCode::TOO_MANY_REQUESTS, &problems);
                let seconds = HeaderValue::from(wait.as_secs().max(1));
                response.headers_mut().insert(RETRY_AFTER, seconds);
                Ok(response)
            }
        }
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

fn page(visit: &Visit, status: StatusCode, problems: &Problems) -> Response {
    visit.answer(status, &RecoveryPage { page: &visit.page, form: problems })
}
