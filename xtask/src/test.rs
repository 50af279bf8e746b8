//! `cargo xtask test`: runs the steps one after the other and says in the end what came of each.
//!
//! A step that fails doesn't keep the next ones from running: one run shows all that is wrong. The
//! PostgreSQL server is started for the first step that needs one, and stopped before the summary.

use std::env;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::check;
use crate::end_to_end;
use crate::failure::{Failure, Result};
use crate::postgres::{self, TestServer};
use crate::prerequisites;
use crate::process;
use crate::steps::{self, Action, CargoCall, Step};
use crate::summary::{self, Outcome};
use crate::workspace::Workspace;

/// Runs the steps that the arguments ask for.
pub(crate) fn main(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let all = steps::all(workspace);
    let names = all.iter().map(|step| step.name.clone()).collect::<Vec<_>>().join(", ");
    let chosen = match Request::parse(arguments)? {
        Request::List => {
            println!("{}", names.replace(", ", "\n"));
            return Ok(ExitCode::SUCCESS);
        }
        Request::Run { only } => steps::only(all, &only).map_err(|unknown| {
            Failure::new(format!("there is no step `{unknown}`, the steps are {names}"))
        })?,
    };

    let mut run = Run { workspace, server: None };
    let mut outcomes: Vec<Outcome> = chosen.iter().map(|step| run.timed(step)).collect();
    if let Some(Ok(server)) = run.server
        && let Err(failure) = server.stop()
    {
        eprintln!("{failure}");
        // A server that stays behind must not look like success.
        let step = "postgres-stop".to_owned();
        outcomes.push(Outcome { step, passed: false, duration: Duration::ZERO });
    }
    print!("\n{}", summary::render(&outcomes));
    Ok(if summary::failed(&outcomes) == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    /// The steps with these names, or all when there is none.
    Run { only: Vec<String> },
    /// The names of the steps.
    List,
}

impl Request {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut only = Vec::new();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--list" => return Ok(Self::List),
                "--only" => only.push(rest.next().cloned().ok_or_else(usage)?),
                other => match other.strip_prefix("--only=") {
                    Some(name) => only.push(name.to_owned()),
                    None => return Err(usage()),
                },
            }
        }
        Ok(Self::Run { only })
    }
}

fn usage() -> Failure {
    Failure::new("usage: cargo xtask test [--only <step>]… [--list]")
}

/// What the steps of one run share.
struct Run<'a> {
    workspace: &'a Workspace,
    /// The server or why there is none, once a step asked for it.
    server: Option<Result<TestServer>>,
}

impl Run<'_> {
    fn timed(&mut self, step: &Step) -> Outcome {
        println!("\n== {}", step.name);
        let start = Instant::now();
        let result = self.perform(&step.action);
        if let Err(failure) = &result {
            eprintln!("{failure}");
        }
        let outcome =
            Outcome { step: step.name.clone(), passed: result.is_ok(), duration: start.elapsed() };
        let seconds = outcome.duration.as_secs_f64();
        println!("== {} {} after {seconds:.1} s", step.name, outcome.result());
        outcome
    }

    fn perform(&mut self, action: &Action) -> Result<()> {
        match action {
            Action::Prerequisites => prerequisites::ensure(self.workspace),
            Action::Conventions => check::main(self.workspace),
            Action::Cargo(call) => self.cargo(call),
            Action::Npm { folder, arguments } => {
                process::run(process::command("npm", &self.workspace.path(folder)).args(*arguments))
            }
            Action::EndToEnd(package) => {
                let url = self.postgres()?;
                end_to_end::run(self.workspace, package, &url)
            }
        }
    }

    fn cargo(&mut self, call: &CargoCall) -> Result<()> {
        let mut cargo = process::cargo(&self.workspace.root);
        cargo.args(&call.arguments).envs(call.variables.iter().copied());
        if call.needs_postgres {
            cargo.env(postgres::VARIABLE, self.postgres()?);
        }
        configure(&mut cargo);
        process::run(&mut cargo)
    }

    fn postgres(&mut self) -> Result<String> {
        let server =
            self.server.get_or_insert_with(|| TestServer::start(&self.workspace.root)).as_ref();
        server.map(|server| server.url().to_owned()).map_err(Clone::clone)
    }
}

/// Sets what holds for every cargo of a test run.
pub(crate) fn configure(cargo: &mut Command) {
    // A snapshot that differs is a failure, never a file that is quietly renewed.
    cargo.env("INSTA_UPDATE", "no").env_remove("INSTA_FORCE_PASS");
    // A fresh machine gains nothing from these and pays in time and disk. A developer's machine keeps
    // its own, because other values would rebuild everything.
    if env::var_os("CI").is_some_and(|value| !value.is_empty()) {
        cargo.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Request> {
        Request::parse(&arguments.iter().map(|&each| each.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn reads_which_steps_to_run() {
        let run = |names: &[&str]| Request::Run {
            only: names.iter().map(|&name| name.to_owned()).collect(),
        };
        assert_eq!(parse(&[]).unwrap(), run(&[]));
        assert_eq!(parse(&["--only", "doc", "--only=test"]).unwrap(), run(&["doc", "test"]));
        assert_eq!(parse(&["--list"]).unwrap(), Request::List);
        assert!(parse(&["--only"]).is_err());
        assert!(parse(&["doc"]).is_err());
    }
}
