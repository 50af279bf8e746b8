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

    #[test]
    fn a_list_goes_on_where_one_more_was_read() {
        let page = |take| Page { take, after: None };
        assert_eq!((page(1).limit(), page(200).limit()), (2, 201));
        for (take, found, shown, next) in [
            (2, 0, 0, None),
            (2, 1, 1, None),
            (2, 2, 2, None),
            (2, 3, 2, Some(1)),
            // More than was asked for changes nothing.
            (2, 9, 2, Some(1)),
            (1, 2, 1, Some(0)),
        ] {
            let listing = page(take).list((0..found).collect(), |item: &i32| *item);
            assert_eq!(listing.items, (0..shown).collect::<Vec<_>>(), "{take} of {found}");
            let after = Page { take, after: listing.next };
            assert_eq!(after.cursor::<i32>().unwrap(), next, "{take} of {found}");
        }
        // A list that looks at a part each time may have found nothing, and go on.
        let empty = page(2).list_until(Vec::<i32>::new(), Some("behind"));
        let after = Page { take: 2, after: empty.next };
        assert_eq!(after.cursor::<String>().unwrap().as_deref(), Some("behind"));
        assert_eq!(page(2).list_until(vec![1], None::<i32>).next, None);
    }

    #[test]
    fn a_cursor_of_another_list_is_malformed() {
        let next = Page::default().list_until(Vec::<i32>::new(), Some((7, "x"))).next;
        let page = Page { take: 2, after: next };
        assert_eq!(page.cursor::<(i32, String)>().unwrap(), Some((7, "x".to_owned())));
        for refused in [
            page.cursor::<(i32, i32)>().err(),
            page.cursor::<(i32, String, i32)>().err(),
            page.cursor::<String>().err(),
        ] {
            assert_eq!(refused.map(|error| error.kind()), Some(svc_core::ErrorKind::Malformed));
        }
    }

    #[test]
    fn from_one_to_two_hundred_may_be_taken() {
        let taken = |query: &str| {
            let page = query::parse::<Page>(query).and_then(Page::check);
            page.map_err(|error| error.message().to_owned())
        };
        assert_eq!(taken("").map(|page| (page.take, page.after)), Ok((50, None)));
        for take in [1, 2, 199, 200] {
            assert_eq!(taken(&format!("take={take}")).map(|page| page.take), Ok(take));
        }
        let range = "the query parameter `take`: expected a whole number from 1 to 200";
        let number = "the query parameter `take`: expected a whole number in range";
        for (take, refusal) in [
            ("0", range),
            ("201", range),
            ("4294967295", range),
            ("4294967296", number),
            ("-1", number),
            ("1.5", number),
            ("", number),
            ("%2010", number),
        ] {
            assert_eq!(taken(&format!("take={take}")).unwrap_err(), refusal, "{take}");
        }
    }
}
