//! Building the shop and starting it: `cargo xtask run`.

use std::env;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cargo;
use crate::client;
use crate::failure::{Failure, Result};
use crate::process;
use crate::selection::SHOP;
use crate::steps::FEATURES;
use crate::workspace::Workspace;

/// The argument that asks for the program as it is released.
const RELEASED: &str = "--released";

/// The variable that names the environment; in `development` a start prints an address that signs in.
pub(crate) const ENVIRONMENT: &str = "SVC_ENVIRONMENT";

/// The setting that asks for sample data.
const SAMPLE: &str = "--Svc:Sample:Data=";

/// Builds the web client and the server with it, and becomes the server, so that signals reach it and nothing else.
///
/// The program is the one that tests drive: it is built in a few minutes. `--released` asks for the
/// optimised one, which takes about three times as long to build.
pub(crate) fn main(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let (released, arguments): (Vec<_>, Vec<_>) =
        arguments.iter().cloned().partition(|argument| argument == RELEASED);
    let arguments = server_arguments(&arguments)?;
    client::build(workspace)?;
    let program = build(&workspace.root, !released.is_empty())?;
    // The server runs where the user is: relative paths in its arguments and its settings file count
    // from there.
    let mut server = process::command(&program, Path::new("."));
    if env::var_os(ENVIRONMENT).is_none() {
        server.env(ENVIRONMENT, "development");
    }
    let cause = server.arg("serve").args(arguments).exec();
    Err(Failure::at(&program, "start", &cause))
}

/// Builds the shop and gives the path of its program.
pub(crate) fn build(root: &Path, is_released: bool) -> Result<PathBuf> {
    let mut cargo = cargo::command(root);
    // The program alone, with the features of the whole workspace: nothing is compiled anew for it.
    cargo.args(["build", "--package", SHOP, "--package", FEATURES, "--bin", SHOP]);
    cargo.args(["--message-format", "json-render-diagnostics"]);
    if is_released {
        cargo.arg("--release");
    }
    let messages = process::output(&mut cargo)?;
    program_in(&messages)
        .ok_or_else(|| Failure::new(format!("cargo built no program from the crate `{SHOP}`")))
}

/// The program among cargo's messages, one JSON object per line.
fn program_in(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == SHOP)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

/// Spells `--database` out as the setting that it stands for, and asks for sample data unless something
/// is said of it; the rest is the server's business.
pub(crate) fn server_arguments(arguments: &[String]) -> Result<Vec<String>> {
    let mut rest = arguments.iter();
    let mut passed = Vec::new();
    while let Some(argument) = rest.next() {
        let database = match argument.strip_prefix("--database") {
            Some("") => Some(rest.next().map(String::as_str).ok_or_else(no_database)?),
            Some(value) => value.strip_prefix('='),
            None => None,
        };
        passed.push(match database {
            Some("") => return Err(no_database()),
            Some(url) => format!("--Svc:Database:Url={url}"),
            None => argument.clone(),
        });
    }
    if !passed.iter().any(|argument| argument.starts_with(SAMPLE)) {
        passed.push(format!("{SAMPLE}true"));
    }
    Ok(passed)
}

fn no_database() -> Failure {
    Failure::new("`--database` needs a URL, such as `--database postgres://localhost/shop`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(arguments: &[&str]) -> Result<Vec<String>> {
        server_arguments(&arguments.iter().map(|&each| each.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_database_becomes_a_setting() {
        let database = "--Svc:Database:Url=postgres://h/d";
        let expected = ["--Svc:Http:Port=1", database, "--verbose", "--Svc:Sample:Data=true"];
        let apart = ["--Svc:Http:Port=1", "--database", "postgres://h/d", "--verbose"];
        let joined = ["--Svc:Http:Port=1", "--database=postgres://h/d", "--verbose"];
        assert_eq!(passed(&apart).unwrap(), expected);
        assert_eq!(passed(&joined).unwrap(), expected);
    }

    #[test]
    fn a_database_without_a_url_is_refused() {
        assert!(passed(&["--database"]).is_err());
        assert!(passed(&["--database="]).is_err());
    }

    #[test]
    fn an_argument_that_only_begins_like_it_is_passed_on() {
        let expected = ["--databases", "--Svc:Sample:Data=true"];
        assert_eq!(passed(&["--databases"]).unwrap(), expected);
    }

    #[test]
    fn who_says_something_of_sample_data_is_heard() {
        assert_eq!(passed(&["--Svc:Sample:Data=false"]).unwrap(), ["--Svc:Sample:Data=false"]);
    }

    #[test]
    fn finds_the_program_among_the_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"svc"},"executable":null}
not JSON
{"reason":"compiler-artifact","target":{"name":"shop"},"executable":"/target/release/shop"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(program_in(messages), Some(PathBuf::from("/target/release/shop")));
        assert_eq!(program_in(""), None);
    }
}
