//! The place that a request takes among those of its person, from when it is known who calls until
//! the last byte of the answer was taken.
//!
//! Routes for everybody, such as `/health/ready`, ask for none, so they never wait behind requests.
//! An event stream gives its place back when it begins: it is idle most of the time, and whoever
//! serves it has a limit of its own.

use std::sync::{Arc, Mutex, PoisonError};

use svc_core::{Place, Principal, Result, Share, Shares};

/// Goes with a request, and keeps its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Admission(Arc<Mutex<Option<Place>>>);

impl Admission {
    /// Takes a place for a principal, unless the request has one already.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::TooManyRequests`](svc_core::ErrorKind::TooManyRequests) when it doesn't get one
    /// in time.
    pub(crate) async fn admit(&self, shares: &Shares, who: &Principal) -> Result<()> {
        let share = Share::of(who);
        if share == Share::BACKGROUND || self.lock().is_some() {
            return Ok(());
        }
        let place = shares.take(share).await?;
        *self.lock() = Some(place);
        Ok(())
    }

    /// Gives the place back.
    pub(super) fn end(&self) {
        let place = self.lock().take();
        drop(place);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
