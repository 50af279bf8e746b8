//! Accounts at other issuers that belong to who is signed in.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;
use svc_core::Result;
use svc_core::settings::Secret;

use super::account::{Done, to_sign_in};
use super::answer::{PageError, PageResult};
use super::external::begin_linking;
use super::form::Submitted;
use super::page::Page;
use super::problems::Problems;
use super::second_step::require_password;
use super::visit::Visit;
use crate::external::issuers::{Account, ExternalIssuer, ExternalIssuers};
use crate::external::linking::{Unlinked, accounts_of, unlink};
use crate::sessions::Session;
use crate::store;
use crate::text::secret;

#[derive(Template)]
#[template(path = "accounts.html")]
struct AccountsPage<'a> {
    page: &'a Page,
    form: &'a Problems,
    notice: Option<&'a str>,
    accounts: Vec<Row>,
    issuers: Vec<Choice>,
    has_password: bool,
}

/// An account in the list.
struct Row {
    issuer: String,
    title: String,
    subject: String,
    off_label: String,
}

/// An issuer of which an account can be linked.
struct Choice {
    name: String,
    text: String,
}

#[derive(Deserialize)]
pub(super) struct AccountsForm {
    /// The issuer to link an account of.
    #[serde(default)]
    link: Option<String>,
    /// The account to take off: its issuer, a space, and its name there.
    #[serde(default)]
    unlink: Option<String>,
    #[serde(default, deserialize_with = "secret")]
    current: Secret,
}

/// The page.
pub(super) async fn show(visit: Visit, Query(done): Query<Done>) -> PageResult {
    let notice = match done.done.as_str() {
        "linked" => Some("identity-accounts-linked"),
        "unlinked" => Some("identity-accounts-unlinked"),
        _ => None,
    };
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        page(&visit, StatusCode::OK, &session, notice, &Problems::default()).await
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

/// Begins to link an account, or takes one off. Both take the password of who has one.
pub(super) async fn submit(Submitted(mut visit, form): Submitted<AccountsForm>) -> PageResult {
    visit.page.shown_at("/account/accounts");
    let outcome = async {
        let Some(session) = visit.session().await? else { return Ok(to_sign_in(&visit)) };
        let mut problems = Problems::default();
        let user = session.user;
        require_password(&visit, user, form.current, "current", &mut problems).await?;
        if problems.is_empty() {
            if let Some(name) = &form.link {
                return begin_linking(&visit, &session, name).await;
            }
            if let Some((issuer, subject)) =
                form.unlink.as_deref().and_then(|it| it.split_once(' '))
            {
                let off = Account { issuer: issuer.to_owned(), subject: subject.to_owned() };
                match unlink(&visit.app, user, &off).await? {
                    Unlinked::Done => return Ok(visit.redirect("/account/accounts?done=unlinked")),
                    Unlinked::Last => {
                        problems.problem = Some(visit.page.text("identity-accounts-last"));
                    }
                    Unlinked::Unknown => {
                        problems.problem = Some(visit.page.text("identity-accounts-unknown"));
                    }
                }
            }
        }
        page(&visit, StatusCode::UNPROCESSABLE_ENTITY, &session, None, &problems).await
    };
    outcome.await.map_err(|error| PageError::of(&visit, &error))
}

async fn page(
    visit: &Visit,
    status: StatusCode,
    session: &Session,
    notice: Option<&str>,
    problems: &Problems,
) -> Result<Response> {
    let issuers = visit.app.service::<ExternalIssuers>()?;
    let row = |account: Account| {
        let known = issuers.all().iter().find(|issuer| account.is_at(issuer));
        let title = known.map_or(account.issuer.as_str(), |issuer| issuer.title()).to_owned();
        let off_label = visit.page.text_with("identity-accounts-off-label", "issuer", &title);
        Row { issuer: account.issuer, title, off_label, subject: account.subject }
    };
    let accounts = accounts_of(&visit.app, session.user).await?;
    let choice = |issuer: &std::sync::Arc<ExternalIssuer>| Choice {
        name: issuer.name.clone(),
        text: visit.page.text_with("identity-accounts-link", "issuer", issuer.title()),
    };
    let person = store::person(&visit.app, session.user).await?;
    let page = AccountsPage {
        page: &visit.page,
        form: problems,
        notice,
        accounts: accounts.into_iter().map(row).collect(),
        issuers: issuers.all().iter().map(choice).collect(),
        has_password: person.password_hash.is_some(),
    };
    Ok(visit.answer(status, &page))
}
