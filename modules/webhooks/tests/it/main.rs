//! Tests of the crate at its boundaries: public functions, and the network.
#![expect(clippy::unwrap_used, reason = "a test that panics says what is wrong")]

mod address_literals;
mod address_properties;
mod address_urls;
mod delivering;
mod fixture;
mod sender_basics;
mod sender_dns;
mod sender_hostile;
mod sender_tls;
mod signing;
mod support;
