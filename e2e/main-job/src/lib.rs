//! The main job, as a new user does it: the built program in a fresh folder, receivers that
//! nobody here wrote, and faults.
//!
//! - [`Shop`]: the `shop` program in a process of its own, which can be killed and started again.
//! - [`Client`]: whoever calls it.
//! - [`Receiver`]: a receiver on Node, Python or Rust that verifies with the `standardwebhooks` package
//!   of its language.
//!
//! `cargo xtask test --only e2e-main-job` builds the program, installs the packages, and names
//! both in `SVC_SHOP_BINARY`, `SVC_E2E_NODE` and `SVC_E2E_PYTHON`.

mod client;
mod receiver;
mod shop;

pub use client::{Answer, Client};
pub use receiver::{Language, Received, Receiver};
pub use shop::{API_KEY, Shop};

/// The variable that tells a test what it needs.
///
/// # Panics
///
/// When it isn't set, with how to run these tests.
#[must_use]
pub fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!("{name} is not set; run these tests with `cargo xtask test --only e2e-main-job`")
    })
}
