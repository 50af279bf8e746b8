//! The web client, built before the program that carries it: [`mod@crate::cargo`] tells each build of it.

use std::fs;
use std::path::Path;

use crate::failure::Result;
use crate::prerequisites;
use crate::process;
use crate::workspace::Workspace;

/// The folder of the client's sources.
const FOLDER: &str = "web";

/// The folders whose packages it is built of.
const INSTALLED: [&str; 2] = ["shell", FOLDER];

/// Builds the client, with the packages that its lock files name.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    prerequisites::ensure_for_programs(workspace)?;
    for folder in INSTALLED.map(|folder| workspace.path(folder)) {
        if !is_installed(&folder) {
            process::run(process::command("npm", &folder).args(["ci", "--no-audit", "--no-fund"]))?;
        }
    }
    process::run(process::command("npm", &workspace.path(FOLDER)).args(["run", "build"]))
}

/// Whether npm installed what the lock file names as it is now.
fn is_installed(folder: &Path) -> bool {
    let changed = |file: &str| fs::metadata(folder.join(file)).and_then(|it| it.modified()).ok();
    match (changed("package-lock.json"), changed("node_modules/.package-lock.json")) {
        (Some(named), Some(installed)) => installed >= named,
        _ => false,
    }
}
