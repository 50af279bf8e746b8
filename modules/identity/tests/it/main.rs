//! The module behind its boundary: HTTP, and the functions that applications call.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod api_keys;
mod log;
mod rights;
mod roles;
mod set_up;
mod sign_in;
mod support;
mod unauthorised;
mod users;
