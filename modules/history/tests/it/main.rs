//! Tests of the module at its boundary: what is captured, and the routes.
#![expect(clippy::unwrap_used, reason = "a test that panics says what is wrong")]

mod auditing;
mod capturing;
mod depot;
mod fixture;
mod leaks;
mod nodes;
mod obstacles;
mod others;
mod reading;
mod refusals;
mod restoring;
mod telling;
mod upkeep;
