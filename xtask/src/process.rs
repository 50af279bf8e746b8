//! Starting other programs.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use crate::failure::{Failure, Result};

/// A command without the variables that `cargo run` sets for xtask itself.
///
/// Build scripts may watch `CARGO_PKG_NAME` and its kind: if they leaked into a nested cargo, a build
/// by hand and one by a chore would throw away each other's work.
pub(crate) fn command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(describes_the_running_package) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs the command with the terminal's input and output, and fails when it does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    run_until(command, Child::wait)
}

/// As [`run`]; `wait` waits for the process.
pub(crate) fn run_until(
    command: &mut Command,
    wait: impl FnOnce(&mut Child) -> io::Result<ExitStatus>,
) -> Result<()> {
    let mut child = command.spawn().map_err(|cause| cannot_start(command, &cause))?;
    let status = wait(&mut child).map_err(|cause| {
        Failure::new(format!("lost the process of `{}`: {cause}", line(command)))
    })?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` ended with {status}", line(command))))
}

/// Runs the command and gives what it wrote to standard output; its error output is part of the failure.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|cause| cannot_start(command, &cause))?;
    if !output.status.success() {
        return Err(Failure::new(format!(
            "`{}` ended with {}: {}",
            line(command),
            output.status,
            last_lines(&said(&output), 10)
        )));
    }
    String::from_utf8(output.stdout)
        .map_err(|cause| Failure::new(format!("`{}` did not write UTF-8: {cause}", line(command))))
}

/// Runs the command with the terminal's error output, and gives what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|cause| cannot_start(command, &cause))?;
    if !output.status.success() {
        return Err(Failure::new(format!("`{}` ended with {}", line(command), output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether the command can be started and succeeds; what it writes is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// The program's file in one of the folders of `PATH`.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The number of the user that runs this process.
pub(crate) fn user_id() -> Result<u32> {
    id_of(&[])
}

/// The number of the named user, when the machine knows it, and of the user's main group.
pub(crate) fn account_ids(name: &str) -> Option<(u32, u32)> {
    Some((id_of(&["-u", name]).ok()?, id_of(&["-g", name]).ok()?))
}

/// The last `count` lines of a text, without white space around them.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

fn id_of(arguments: &[&str]) -> Result<u32> {
    let mut command = Command::new("id");
    command.args(if arguments.is_empty() { &["-u"] } else { arguments });
    let text = capture(&mut command)?;
    text.trim()
        .parse()
        .map_err(|cause| Failure::new(format!("`{}` wrote no number: {cause}", line(&command))))
}

fn describes_the_running_package(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_")
        || variable.starts_with("CARGO_MANIFEST_")
        || matches!(
            variable,
            "CARGO_BIN_NAME" | "CARGO_CRATE_NAME" | "CARGO_PRIMARY_PACKAGE" | "OUT_DIR"
        )
}

fn said(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.trim().is_empty() {
        return String::from_utf8_lossy(&output.stdout).into_owned();
    }
    errors.into_owned()
}

fn cannot_start(command: &Command, cause: &std::io::Error) -> Failure {
    Failure::new(format!("could not start `{}`: {cause}", line(command)))
}

fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut line = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_says_what_it_was_and_what_it_said() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo lost >&2; exit 3"]);
        let failure = capture(&mut command).unwrap_err().to_string();
        assert!(failure.starts_with("`sh -c echo lost >&2; exit 3` ended with"), "{failure}");
        assert!(failure.ends_with("lost"), "{failure}");
    }

    #[test]
    fn nested_commands_do_not_see_the_package_of_xtask() {
        assert!(describes_the_running_package("CARGO_PKG_VERSION"));
        assert!(describes_the_running_package("CARGO_MANIFEST_DIR"));
        assert!(!describes_the_running_package("CARGO_HOME"));
        assert!(!describes_the_running_package("CARGO_TARGET_DIR"));
    }

    #[test]
    fn last_lines_keeps_the_end() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc");
        assert_eq!(last_lines("a", 2), "a");
    }
}
