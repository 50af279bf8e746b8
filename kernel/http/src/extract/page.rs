use std::borrow::Cow;

use axum::extract::FromRequestParts;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::request::Parts;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use svc_core::{Error, FieldErrors, Result};
use utoipa::{IntoParams, ToSchema};

use super::query;
use crate::problem::{ApiError, ApiResult};
use crate::state::HttpState;

/// Which part of a list is asked for.
///
/// ```text
/// GET /api/v1/deliveries?take=100&after=WyIyMDI2LTAxLTAxIiwxN10
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub struct Page {
    /// How many items at most.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub take: u32,
    /// `next` of the page before; without it the list begins.
    pub after: Option<String>,
}

impl Default for Page {
    fn default() -> Self {
        Self { take: 50, after: None }
    }
}

impl Page {
    /// Where the page before ended, as the list's own type; none at the beginning.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`](svc_core::ErrorKind::Malformed) for a cursor that this list did
    /// not give.
    pub fn cursor<C: DeserializeOwned>(&self) -> Result<Option<C>> {
        let Some(after) = &self.after else { return Ok(None) };
        let bytes = URL_SAFE_NO_PAD.decode(after).ok();
        let cursor = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let refusal = || refuse("after", "expected `next` of the page before");
        cursor.map(Some).ok_or_else(refusal)
    }

    /// How many rows to read: one more than asked for, which tells whether there is a next page.
    #[must_use]
    pub fn limit(&self) -> u64 {
        u64::from(self.take) + 1
    }

    /// Makes the answer from up to [`Page::limit`] items; `cursor` says where an item stands.
    #[must_use]
    pub fn list<T, C: Serialize>(&self, items: Vec<T>, cursor: impl Fn(&T) -> C) -> Listing<T> {
        let mut items = items;
        let take = usize::try_from(self.take).unwrap_or(usize::MAX);
        let has_more = items.len() > take;
        items.truncate(take);
        let last = items.last().filter(|_| has_more);
        let next = last.and_then(|item| encode(&cursor(item)));
        Listing { items, next }
    }

    /// Makes the answer of a list that looks at a part of what there is each time: a page may hold
    /// fewer items than asked for, or none, while there is more behind `next`.
    #[must_use]
    pub fn list_until<T, C: Serialize>(&self, items: Vec<T>, next: Option<C>) -> Listing<T> {
        Listing { items, next: next.and_then(|cursor| encode(&cursor)) }
    }

    fn check(self) -> Result<Self> {
        match self.take {
            1..=200 => Ok(self),
            _ => Err(refuse("take", "expected a whole number from 1 to 200")),
        }
    }
}

/// A cursor is made of ids, times and numbers, which are always JSON.
fn encode<C: Serialize>(cursor: &C) -> Option<String> {
    let json = serde_json::to_vec(cursor).ok()?;
    Some(URL_SAFE_NO_PAD.encode(json))
}

fn refuse(parameter: &str, message: &str) -> Error {
    query::refuse(FieldErrors::from([(parameter.to_owned(), vec![message.to_owned()])]))
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Listing<T> {
    /// The items.
    pub items: Vec<T>,
    /// `after` for the next page; null on the last one.
    pub next: Option<String>,
}

impl FromRequestParts<HttpState> for Page {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &HttpState) -> ApiResult<Self> {
        let page: Self = query::parse(parts.uri.query().unwrap_or_default())?;
        Ok(page.check()?)
    }
}

/// A page of a list that has parameters of its own, which `T` describes.
#[derive(Clone, Debug)]
pub struct Paged<T>(pub Page, pub T);

impl<T: DeserializeOwned> FromRequestParts<HttpState> for Paged<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &HttpState) -> ApiResult<Self> {
        let is_of_page = |name: &str| matches!(name, "take" | "after");
        let query = parts.uri.query().unwrap_or_default();
        let part = |of_page: bool| {
            let mut text = form_urlencoded::Serializer::new(String::new());
            let pairs = form_urlencoded::parse(query.as_bytes());
            text.extend_pairs(
                pairs.filter(|(name, _): &(Cow<'_, str>, _)| is_of_page(name) == of_page),
            );
            text.finish()
        };
        let page: Page = query::parse(&part(true))?;
        Ok(Self(page.check()?, query::parse(&part(false))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_to_the_next_page() {
        let page = Page { take: 2, after: None };
        assert_eq!(page.cursor::<u32>().unwrap(), None);
        let first = page.list(vec![1, 2, 3], |item| *item);
        assert_eq!(first.items, [1, 2]);
        let page = Page { take: 2, after: first.next };
        assert_eq!(page.cursor::<u32>().unwrap(), Some(2));
        assert_eq!(page.list(vec![3], |item| *item).next, None);
    }

    #[test]
    fn a_foreign_cursor_is_malformed() {
        for after in ["", "!", "bm90IGpzb24"] {
            let page = Page { take: 2, after: Some(after.into()) };
            let error = page.cursor::<u32>().unwrap_err();
            assert!(error.message().contains("`after`"), "{}", error.message());
        }
    }
}
