//! The tests that drive the released program from outside, with receivers in other languages.
//!
//! Such a crate lies in `e2e/<name>`. It finds the program in `SVC_SHOP_BINARY` and a superuser of
//! PostgreSQL in `SVC_TEST_POSTGRES`. When it has `receivers/package.json`, those packages are
//! installed and `SVC_E2E_NODE` names Node; when it has `receivers/requirements.txt`, `SVC_E2E_PYTHON`
//! names a Python that has those packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Result};
use crate::postgres;
use crate::process;
use crate::server;
use crate::test;
use crate::workspace::{Package, Workspace};

/// Builds the program, installs the receivers' packages and runs the crate's tests.
pub(crate) fn run(workspace: &Workspace, package: &Package, postgres_url: &str) -> Result<()> {
    let receivers = workspace.path(&package.folder).join("receivers");
    let mut cargo = process::cargo(&workspace.root);
    cargo.args(["test", "--package", &package.name, "--no-fail-fast"]);
    cargo.env("SVC_SHOP_BINARY", server::build(&workspace.root)?);
    cargo.env(postgres::VARIABLE, postgres_url);
    if receivers.join("package.json").exists() {
        cargo.env("SVC_E2E_NODE", node(&receivers)?);
    }
    let requirements = receivers.join("requirements.txt");
    if requirements.exists() {
        let environment = workspace.target.join("e2e-venv").join(&package.name);
        cargo.env("SVC_E2E_PYTHON", python(&environment, &requirements, &workspace.root)?);
    }
    test::configure(&mut cargo);
    process::run(&mut cargo)
}

fn node(receivers: &Path) -> Result<PathBuf> {
    process::run(process::command("npm", receivers).args(["ci", "--no-audit", "--no-fund"]))?;
    process::find_program("node").ok_or_else(|| Failure::new("found no `node` on `PATH`"))
}

/// A Python of our own with the required packages, so that nothing is installed on the machine.
fn python(environment: &Path, requirements: &Path, root: &Path) -> Result<PathBuf> {
    let python = environment.join("bin").join("python");
    // One that no longer starts was made by a Python that is gone.
    if !process::succeeds(Command::new(&python).args(["-m", "pip", "--version"])) {
        fs::create_dir_all(environment)
            .map_err(|cause| Failure::at(environment, "create", &cause))?;
        let mut venv = process::command("python3", root);
        process::run(venv.args(["-m", "venv", "--clear"]).arg(environment))?;
    }
    let mut pip = process::command(&python, root);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    process::run(pip.arg(requirements))?;
    Ok(python)
}
