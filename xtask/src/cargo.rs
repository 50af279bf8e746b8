//! Calls of cargo.
//!
//! `svc-web` puts the folder into the program that `SVC_WEB_CLIENT` names. Every cargo that a chore starts
//! is told of the web client once that is [built](crate::client), so that all of them build the same.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;

/// The folder of the built web client.
const CLIENT: &str = "web/dist";

/// The variable by which the build of `svc-web` is told where the client is.
const VARIABLE: &str = "SVC_WEB_CLIENT";

/// The cargo that started this chore, told of the web client where that is built.
pub(crate) fn command(folder: &Path) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = process::command(program, folder);
    if let Some(client) = built_client(folder) {
        cargo.env(VARIABLE, client);
    }
    cargo
}

/// The folder of the built client; none before it is built.
fn built_client(root: &Path) -> Option<PathBuf> {
    let folder = root.join(CLIENT);
    folder.join("index.html").is_file().then_some(folder)
}
