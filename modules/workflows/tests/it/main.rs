//! Tests of the module at its boundary: declarations, the routes, the property, what is locked.
#![expect(clippy::unwrap_used, reason = "a test that panics says what is wrong")]

mod approving;
mod asking;
mod comparing;
mod deadlines;
mod declaring;
mod delegating;
mod designing;
mod effects;
mod existing;
mod fixture;
mod groups;
mod live;
mod locking;
mod model;
mod moving;
mod pages;
mod racing;
mod refusals;
mod roles;
mod tasks;
