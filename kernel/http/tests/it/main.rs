//! The HTTP host at its boundary: requests against the router of a tiny application, and against
//! a socket where the socket matters.
#![expect(clippy::unwrap_used, reason = "a test that can't go on should say where")]
#![expect(unreachable_pub, reason = "the fixture serves the files beside it")]

mod answers;
mod apps;
mod assembly;
mod authentication;
mod browser;
mod fixture;
mod health;
mod idempotency;
mod messages;
mod metrics;
mod openapi;
mod pages;
mod profile;
mod refusals;
mod serving;
mod settings;
mod shares;
mod telemetry;
mod tools;
