//! Background jobs at their boundary: what is enqueued runs, on either database, and on several
//! nodes.
#![expect(clippy::unwrap_used, reason = "a test that can't go on should say where")]

mod cancellation;
mod enqueuing;
mod fixture;
mod leases;
mod listing;
mod outages;
mod progress;
mod registration;
mod retries;
mod schedules;
mod shutdown;
mod uniqueness;

extern crate self as svc_testing;
#[path = "../../../testing/src/database.rs"]
#[allow(missing_docs, unreachable_pub, dead_code)]
mod database;
#[path = "../../../testing/src/macros.rs"]
mod macros;
pub use database::ThrowAwayDatabase;
pub use svc_data::Backend;
