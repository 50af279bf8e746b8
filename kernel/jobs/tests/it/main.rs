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
mod running_now;
mod schedules;
mod shutdown;
mod turns;
mod uniqueness;
