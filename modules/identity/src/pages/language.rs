//! The choice of a language, at the foot of each page.

use axum::extract::Query;
use http::header::SET_COOKIE;
use serde::Deserialize;

use super::answer::PageResult;
use super::own_path::OwnPath;
use super::page::{LANGUAGE_COOKIE, LANGUAGES};
use super::visit::Visit;
use crate::sessions::set_cookie;

/// A year, in seconds.
const LANGUAGE_LIFETIME: u64 = 365 * 24 * 60 * 60;

#[derive(Deserialize)]
pub(super) struct Choice {
    language: String,
    #[serde(default)]
    r#return: String,
}

/// Remembers a language, and leads back.
pub(super) async fn choose(visit: Visit, Query(choice): Query<Choice>) -> PageResult {
    let known = LANGUAGES.iter().find(|(code, _)| *code == choice.language);
    let mut response = visit.redirect(OwnPath::parse(&choice.r#return).as_str());
    if let Some((code, _)) = known {
        let cookie = set_cookie(visit.is_plain(), LANGUAGE_COOKIE, code, LANGUAGE_LIFETIME);
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}
