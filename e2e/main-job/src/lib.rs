//! The main job, as a new user does it: the built program in a fresh folder, receivers that
//! nobody here wrote, and faults.
//!
//! - [`Shop`]: the `shop` program in a process of its own, which can be killed and started again.
//! - [`Client`]: whoever calls it.
//! - [`Receiver`]: a receiver on Node, Python or Rust that verifies with the `standardwebhooks` package
//!   of its language, or in Go, Ruby or PHP with what the language has.
//!
//! `cargo xtask test --only e2e-main-job` builds the program and the receiver in Go, installs the packages, and
//! names all of it in `SVC_SHOP_BINARY` and `SVC_E2E_NODE`, `_PYTHON`, `_GO`, `_RUBY` and `_PHP`.

use std::path::{Path, PathBuf};

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

/// A program of this crate, which cargo builds beside its tests: they lie in a folder below it.
///
/// # Panics
///
/// When the test can't tell where it lies.
#[must_use]
pub fn beside_the_tests(program: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test knows where it is");
    let folder = test.parent().and_then(Path::parent).expect("cargo's folder of programs");
    folder.join(program)
}
