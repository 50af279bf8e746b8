use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Shop;

/// What runs a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Node, with the packages of `clients/package.json`.
    Node,
    /// Python, with the packages of `clients/requirements.txt`.
    Python,
}

/// The folder of the scripts and their packages.
#[must_use]
pub fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}

/// Runs a script against the shop, and answers with what it wrote.
///
/// # Panics
///
/// When it fails, with what it wrote.
#[must_use]
pub fn script(program: Program, arguments: &[&str], shop: &Shop) -> String {
    script_with(program, arguments, &shop.variables())
}

/// Runs a file of tests of Node's own runner against the shop.
///
/// # Panics
///
/// When a test fails, or there is none.
pub fn node_test(file: &str, shop: &Shop) {
    let arguments = ["--test", "--test-reporter=tap", file];
    let text = script(Program::Node, &arguments, shop);
    let passed = text.lines().find_map(|line| line.strip_prefix("# pass "));
    assert!(passed.is_some_and(|count| count != "0"), "{file} has no tests:\n{text}");
}

/// Runs a script with these variables, and answers with what it wrote.
///
/// # Panics
///
/// When it fails, with what it wrote.
#[must_use]
pub fn script_with(program: Program, arguments: &[&str], variables: &[(&str, String)]) -> String {
    let name = match program {
        Program::Node => "SVC_E2E_NODE",
        Program::Python => "SVC_E2E_PYTHON",
    };
    let output = Command::new(crate::variable(name))
        .current_dir(clients())
        .args(arguments)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .output()
        .expect("the language is installed");
    let [wrote, errors] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    let text = format!("{wrote}{errors}");
    assert!(output.status.success(), "{program:?} {arguments:?}:\n{text}");
    text
}
