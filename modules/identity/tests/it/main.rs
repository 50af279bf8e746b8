//! The module behind its boundary: HTTP, and the functions that applications call.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod account_pages;
mod api_keys;
mod audit;
mod browser;
mod clients;
mod invitations;
mod limits;
mod links;
mod log;
mod machines;
mod odd_input;
mod organisations;
mod pages;
mod passkeys;
mod recovery;
mod rights;
mod roles;
mod second_factor;
mod sessions;
mod set_up;
mod sign_in;
mod signed_in;
mod support;
mod unauthorised;
mod users;
mod ways_in;
