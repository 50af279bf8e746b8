//! Tests of the crate at its boundaries: the management API, public functions, and the network.
#![expect(clippy::unwrap_used, reason = "a test that panics says what is wrong")]

mod allowances;
mod backfilling;
mod bounds;
mod cancelling;
mod credentials;
mod delivering;
mod described;
mod fetching;
mod filtering;
mod finding;
mod fixture;
mod handing_over;
mod hanging;
mod limits;
mod log;
mod management;
mod owners;
mod racing;
mod recovering;
mod refusals;
mod rules;
mod schedules;
mod secrets;
mod sending;
mod settings;
mod signing;
mod states;
mod table;
mod traces;
mod wide;
mod wishes;
