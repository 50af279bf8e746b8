//! What the tests that drive the program from outside, with scripts in other languages, need.
//!
//! Such a crate lies in `e2e/<name>`, its scripts in a folder `receivers` or `clients` of it. It finds
//! the program in `SVC_SHOP_BINARY` and a superuser of PostgreSQL in `SVC_TEST_POSTGRES`. When the
//! scripts have a `package.json`, those packages are installed and `SVC_E2E_NODE` names Node; when
//! they have a `requirements.txt`, `SVC_E2E_PYTHON` names a Python that has those packages. A `receiver.go` is
//! built, and `SVC_E2E_GO` names the program; for a `receiver.rb` and a `receiver.php`, `SVC_E2E_RUBY` and
//! `SVC_E2E_PHP` name what runs them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Result};
use crate::process;
use crate::programs::Programs;
use crate::selection::SHOP;
use crate::workspace::{Package, Workspace};

/// The folders that scripts lie in.
const SCRIPTS: [&str; 2] = ["receivers", "clients"];

/// A receiver in Go.
pub(crate) const GO: &str = "receiver.go";

/// Receivers in other languages: the variable that names the interpreter, the file, and its name.
pub(crate) const INTERPRETED: [(&str, &str, &str); 2] =
    [("SVC_E2E_RUBY", "receiver.rb", "ruby"), ("SVC_E2E_PHP", "receiver.php", "php")];

/// The folder with the scripts of a crate, relative to the root, that has this file.
pub(crate) fn scripts_with(workspace: &Workspace, package: &Package, file: &str) -> Option<String> {
    let folders = SCRIPTS.map(|name| format!("{}/{name}", package.folder));
    folders.into_iter().find(|folder| workspace.has(&format!("{folder}/{file}")))
}

/// Installs the packages of the scripts, and says where all is.
pub(crate) fn variables(
    workspace: &Workspace,
    package: &Package,
    programs: &Programs,
) -> Result<Vec<(&'static str, OsString)>> {
    let shop = programs.shop.clone();
    let shop = shop.ok_or_else(|| Failure::new(format!("cargo built no program `{SHOP}`")))?;
    let mut variables = vec![("SVC_SHOP_BINARY", shop.into())];
    if let Some(scripts) = scripts_with(workspace, package, "package.json") {
        variables.push(("SVC_E2E_NODE", node(&workspace.path(&scripts))?.into()));
    }
    if let Some(scripts) = scripts_with(workspace, package, "requirements.txt") {
        let requirements = workspace.path(&scripts).join("requirements.txt");
        let environment = workspace.target.join("e2e-venv").join(&package.name);
        let python = python(&environment, &requirements, &workspace.root)?;
        variables.push(("SVC_E2E_PYTHON", python.into()));
    }
    if let Some(scripts) = scripts_with(workspace, package, GO) {
        let output = workspace.target.join("e2e-go").join(&package.name);
        variables.push(("SVC_E2E_GO", go(&workspace.path(&scripts), output)?.into()));
    }
    for (variable, file, interpreter) in INTERPRETED {
        if scripts_with(workspace, package, file).is_some() {
            variables.push((variable, installed(interpreter)?.into()));
        }
    }
    Ok(variables)
}

/// Builds the receiver in Go: `go run` would leave it behind when it is killed.
fn go(scripts: &Path, output: PathBuf) -> Result<PathBuf> {
    let mut build = process::command("go", scripts);
    process::run(build.args(["build", "-o"]).arg(&output).arg(GO))?;
    Ok(output)
}

fn installed(program: &str) -> Result<PathBuf> {
    process::find_program(program)
        .ok_or_else(|| Failure::new(format!("found no `{program}` on `PATH`")))
}
fn node(scripts: &Path) -> Result<PathBuf> {
    process::run(process::command("npm", scripts).args(["ci", "--no-audit", "--no-fund"]))?;
    installed("node")
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
