//! The documentation of all libraries, made without a warning while its examples are tried.
//!
//! `cargo doc` would check all dependencies once more, since it wants no code of them. `cargo test --doc` calls rustdoc for
//! each library with what the build made, and has it try the examples. There this program stands in rustdoc's place: it calls
//! rustdoc twice, beside each other, once as it was told to and once for the pages.
//!
//! Cargo tries no examples of a program, so what only a program's own sources say isn't read: `cargo doc` by hand does.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use crate::failure::{Failure, Result};

/// The variable that names cargo's rustdoc.
const RUSTDOC: &str = "RUSTDOC";

/// The variable that has this program stand in for rustdoc, and names the folder of the pages.
const FOLDER: &str = "SVC_DOCUMENTATION";

/// Arguments of rustdoc about trying examples that have a value of their own.
const WITH_VALUE: [&str; 5] = [
    "--test-run-directory",
    "--test-args",
    "--test-runtool",
    "--test-runtool-arg",
    "--test-builder",
];

/// Makes a call of `cargo test --doc` write the pages, too.
pub(crate) fn write_beside(cargo: &mut Command, target: &Path) -> Result<()> {
    let program = env::current_exe()
        .map_err(|cause| Failure::new(format!("xtask can't find itself: {cause}")))?;
    cargo.env(RUSTDOC, program).env(FOLDER, target.join("doc"));
    Ok(())
}

/// The folder of the pages, where this program was called in rustdoc's place.
pub(crate) fn folder() -> Option<PathBuf> {
    env::var_os(FOLDER).map(PathBuf::from)
}

/// Does what rustdoc is asked for; writes the pages of what it tries the examples of.
pub(crate) fn stand_in(folder: &Path, arguments: &[OsString]) -> Result<ExitCode> {
    let cannot = |cause: io::Error| Failure::new(format!("rustdoc can't run: {cause}"));
    let mut examples = rustdoc(arguments);
    let Some(of_pages) = of_pages(arguments) else {
        return Ok(code(examples.status().map_err(cannot)?));
    };
    let mut pages = rustdoc(&of_pages);
    pages.arg("--out-dir").arg(folder).arg("-Dwarnings");
    let pages = pages.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(cannot)?;
    let examples = examples.status().map_err(cannot)?;
    let pages = pages.wait_with_output().map_err(cannot)?;
    // Nobody is left who could be told that this can't be written.
    let _ = io::stderr().write_all(&pages.stderr);
    Ok(if examples.success() { code(pages.status) } else { code(examples) })
}

/// The rustdoc of the toolchain that compiles.
fn rustdoc(arguments: &[OsString]) -> Command {
    let mut rustdoc = Command::new("rustdoc");
    rustdoc.args(arguments).env_remove(FOLDER).env_remove(RUSTDOC);
    rustdoc
}

/// The arguments that have pages written in place of examples tried; none where no examples are meant.
fn of_pages(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let mut is_for_examples = false;
    let mut kept = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        let name = text.split_once('=').map_or(&*text, |(name, _)| name);
        if text == "--test" {
            is_for_examples = true;
        } else if WITH_VALUE.contains(&name) {
            if name == text {
                rest.next();
            }
        } else if text != "--no-capture" {
            kept.push(argument.clone());
        }
    }
    is_for_examples.then_some(kept)
}

fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(line: &str) -> Option<String> {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let kept = of_pages(&arguments)?;
        Some(kept.iter().map(|each| each.to_string_lossy()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn what_is_about_examples_is_left_out() {
        let asked = "--edition=2024 --crate-name svc_core --test src/lib.rs --test-run-directory /p \
                     --test-args=--quiet --test-args x --extern serde=/t/libserde.rlib --no-capture";
        let expected =
            "--edition=2024 --crate-name svc_core src/lib.rs --extern serde=/t/libserde.rlib";
        assert_eq!(pages(asked).as_deref(), Some(expected));
    }

    #[test]
    fn what_tries_no_examples_is_left_alone() {
        assert_eq!(pages("--version --verbose"), None);
    }
}
