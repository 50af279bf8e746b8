//! The keys that are being used.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use svc_core::{Error, Result};

/// The keys that are being used on this node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flights(Arc<Mutex<HashSet<String>>>);

/// A key that is being used.
pub(super) struct Flight {
    flights: Flights,
    id: String,
}

impl Flights {
    /// Takes a key, for as long as the answer is kept.
    ///
    /// # Errors
    ///
    /// That it is being used.
    pub(super) fn begin(&self, id: &str) -> Result<Flight> {
        if self.0.lock().insert(id.to_owned()) {
            return Ok(Flight { flights: self.clone(), id: id.to_owned() });
        }
        Err(in_flight())
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.flights.0.lock().remove(&self.id);
    }
}

/// That a key is being used.
pub(super) fn in_flight() -> Error {
    Error::conflict(
        "a request with this `Idempotency-Key` is being served; come back for its answer",
    )
    .retry_after(Duration::from_secs(1))
}
