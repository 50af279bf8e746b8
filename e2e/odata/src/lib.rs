//! The shop's entity sets, used by OData clients that nobody here wrote.
//!
//! - [`Shop`]: the `shop` program in a process of its own, with its sample data, an administrator
//!   and a clerk who may see little.
//! - [`script`]: a script of `clients/` on Node or Python, which must end well.
//!
//! `cargo xtask test --only e2e-odata` builds the program, installs the packages, and names all in
//! `SVC_SHOP_BINARY`, `SVC_E2E_NODE` and `SVC_E2E_PYTHON`.

mod clients;
mod shop;

pub use clients::{Program, clients, node_test, script, script_with};
pub use shop::{Shop, ask_program};

/// The variable that tells a test what it needs.
///
/// # Panics
///
/// When it isn't set, with how to run these tests.
#[must_use]
pub fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!("{name} is not set; run these tests with `cargo xtask test --only e2e-odata`")
    })
}
