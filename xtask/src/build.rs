//! The one build of a test run, with the lints of Clippy.
//!
//! `cargo clippy` checks all crates, dependencies too, and makes no code of them: a build behind it
//! begins anew. Clippy's driver is the compiler with more lints, so as cargo's wrapper for the crates
//! of the workspace it lints what it builds. It leaves out a few optimisations of the compiler's middle
//! part, which is nothing to test programs; what is shipped is built without it.
//!
//! What the driver warns of fails the step, and keeps no test from running.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::process;

/// The variable that names cargo's wrapper for the compiler, for crates of the workspace alone.
const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// What came of a build.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Built {
    /// Cargo's messages about what it made.
    pub(crate) artifacts: Vec<Value>,
    /// How many warnings there are; they were shown.
    pub(crate) warnings: usize,
    /// Why not all of it was made; errors of the compiler were shown.
    pub(crate) failure: Option<Failure>,
}

/// Makes a call of cargo compile the crates of the workspace as the build of a test run does, so that
/// both share what they make.
pub(crate) fn lint(cargo: &mut Command, root: &Path) -> Result<()> {
    cargo.env(WRAPPER, driver(root)?);
    Ok(())
}

/// Runs a call of cargo that builds, and shows what the compiler says.
pub(crate) fn run(cargo: &mut Command) -> Result<Built> {
    let cannot = |cause: &dyn std::fmt::Display| Failure::new(format!("cargo can't run: {cause}"));
    cargo.args(["--message-format", "json"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut process = cargo.spawn().map_err(|cause| cannot(&cause))?;
    let output = process.stdout.take().ok_or_else(|| cannot(&"it has no output"))?;
    let mut messages = Messages::default();
    for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
        if let Some(said) = messages.read(&line) {
            eprint!("{said}");
        }
    }
    let status = process.wait().map_err(|cause| cannot(&cause))?;
    let mut built = messages.built;
    if !status.success() {
        built.failure = Some(Failure::new(format!("`cargo test --no-run` ended with {status}")));
    }
    Ok(built)
}

/// Clippy's driver of the toolchain that compiles.
fn driver(root: &Path) -> Result<PathBuf> {
    let sysroot = process::capture(process::command("rustc", root).args(["--print", "sysroot"]))?;
    let own = Path::new(sysroot.trim()).join("bin").join("clippy-driver");
    let found = if own.is_file() { Some(own) } else { process::find_program("clippy-driver") };
    found.ok_or_else(|| {
        Failure::new("found no `clippy-driver`; install it with `rustup component add clippy`")
    })
}

/// Reads cargo's messages, one JSON object per line.
#[derive(Default)]
struct Messages {
    built: Built,
    /// What was shown: a library and its tests warn of the same line.
    shown: BTreeSet<String>,
}

impl Messages {
    /// Reads a line; gives what is to be shown of it.
    fn read(&mut self, line: &str) -> Option<String> {
        let message: Value = serde_json::from_str(line).ok()?;
        if message["reason"] == "compiler-artifact" {
            self.built.artifacts.push(message);
            return None;
        }
        let diagnostic = &message["message"];
        // The compiler's own count of its warnings has no place in a file.
        if diagnostic["spans"].as_array().is_none_or(Vec::is_empty) && diagnostic["code"].is_null()
        {
            return None;
        }
        let said = diagnostic["rendered"].as_str()?.to_owned();
        if !self.shown.insert(said.clone()) {
            return None;
        }
        self.built.warnings += usize::from(diagnostic["level"] == "warning");
        Some(said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_shown_and_counted_once() {
        let mut messages = Messages::default();
        let warning = r#"{"reason":"compiler-message","message":{"level":"warning","code":{"code":"dead_code"},"spans":[{}],"rendered":"warning: never used\n"}}"#;
        assert_eq!(messages.read(warning).unwrap(), "warning: never used\n");
        assert_eq!(messages.read(warning), None);
        let count = r#"{"reason":"compiler-message","message":{"level":"warning","code":null,"spans":[],"rendered":"warning: 1 warning emitted\n"}}"#;
        assert_eq!(messages.read(count), None);
        let error = r#"{"reason":"compiler-message","message":{"level":"error","code":null,"spans":[{}],"rendered":"error: expected `;`\n"}}"#;
        assert!(messages.read(error).unwrap().contains("expected"));
        let artifact = r#"{"reason":"compiler-artifact","executable":null}"#;
        for line in [artifact, "not JSON", r#"{"reason":"build-finished","success":true}"#] {
            assert_eq!(messages.read(line), None);
        }
        assert_eq!((messages.built.warnings, messages.built.artifacts.len()), (1, 1));
    }
}
