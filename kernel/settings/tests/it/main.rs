//! Settings and profiles at their boundary.
#![expect(clippy::unwrap_used, reason = "a test that can't go on should say where")]

mod declaring;
mod fixture;
mod profiles;
mod values;
