//! The module behind its routes, on both databases.
#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod finding;
mod fixture;
mod indexing;
mod leaks;
mod limits;
mod nodes;
mod providers;
mod refusals;
