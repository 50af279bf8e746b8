//! What goes with a request from its first layer to its last: the place that it takes among those of its person, and the
//! headers that its answer gets.
//!
//! The place is taken when it is known who calls, and kept until the last byte of the answer was taken. Routes for
//! everybody, such as `/health/ready`, ask for none, so they never wait behind requests. An event stream gives its place
//! back when it begins: it is idle most of the time, and whoever serves it has a limit of its own.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;
use svc_core::{Place, Principal, Result, Share, Shares};

/// Goes with a request, and keeps its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Admission(Arc<Kept>);

#[derive(Debug, Default)]
struct Kept {
    place: Mutex<Option<Place>>,
    headers: Mutex<HeaderMap>,
}

impl Admission {
    /// Takes a place for a principal, unless the request has one already.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::TooManyRequests`](svc_core::ErrorKind::TooManyRequests) when it doesn't get one
    /// in time.
    pub(crate) async fn admit(&self, shares: &Shares, who: &Principal) -> Result<()> {
        let share = Share::of(who);
        if share == Share::BACKGROUND || self.0.place.lock().is_some() {
            return Ok(());
        }
        let place = shares.take(share).await?;
        *self.0.place.lock() = Some(place);
        Ok(())
    }

    /// Gives the place back.
    pub(super) fn end(&self) {
        let place = self.0.place.lock().take();
        drop(place);
    }

    /// Adds to an answer what was said while the request was served.
    pub(super) fn complete(&self, headers: &mut HeaderMap) {
        let mut last = None;
        for (name, value) in std::mem::take(&mut *self.0.headers.lock()) {
            // A map that is taken apart names a header only with the first of its values.
            if let Some(name) = name.or_else(|| last.clone()) {
                headers.append(name.clone(), value);
                last = Some(name);
            }
        }
    }
}

/// The headers that the answer to a request gets, whoever writes it: for authenticators and extractors, which see
/// requests only. A handler sets headers on its own answer.
///
/// ```
/// use http::{HeaderValue, header::SET_COOKIE, request::Parts};
/// use svc_http::ResponseHeaders;
///
/// fn forget_session(request: &Parts) {
///     let gone = HeaderValue::from_static("session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax");
///     ResponseHeaders::of(request).append(SET_COOKIE, gone);
/// }
/// ```
#[derive(Clone, Debug)]
pub struct ResponseHeaders(Admission);

impl ResponseHeaders {
    /// Those of the answer to a request.
    #[must_use]
    pub fn of(request: &Parts) -> Self {
        // Outside of a host there is nobody who would answer.
        Self(request.extensions.get::<Admission>().cloned().unwrap_or_default())
    }

    /// Adds a header to those that the answer has; also on an error.
    pub fn append(&self, name: HeaderName, value: HeaderValue) {
        self.0.0.headers.lock().append(name, value);
    }
}
