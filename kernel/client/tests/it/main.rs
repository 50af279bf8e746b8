//! The client at its boundary: addresses as text, and the network.
#![expect(clippy::unwrap_used, reason = "a test that panics says what is wrong")]

mod address_literals;
mod address_properties;
mod address_urls;
mod proxy;
mod sending_basics;
mod sending_dns;
mod sending_hostile;
mod sending_tls;
mod settings;
mod support;
