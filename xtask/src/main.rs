//! The project's chores, as `cargo xtask <chore>`.
//!
//! - `run` builds the shop and starts it.
//! - `dev` does so again whenever a file is touched.
//! - `test` runs everything that must hold before a change is taken in.
//! - `check` runs the project's own conventions alone, in a second or two.
//! - `postgres` starts a PostgreSQL server for tests in the background.
//!
//! Each chore is a module. They share [`process`] (starting programs), [`mod@cargo`] (starting that one),
//! [`workspace`] (what cargo knows) and [`failure`] (the one error).

mod build;
mod cargo;
mod check;
mod client;
mod dev;
mod documentation;
mod end_to_end;
mod failure;
mod memory;
mod postgres;
mod prerequisites;
mod process;
mod processor;
mod programs;
mod request;
mod selection;
mod server;
mod steps;
mod summary;
mod test;
mod workspace;

use std::env;
use std::process::ExitCode;

use failure::{Failure, Result};
use workspace::Workspace;

const USAGE: &str = "usage: cargo xtask <chore>

  run [--released] [--database <url>] [--Svc:<section>:<setting>=<value>]…
            builds the shop and starts it; other arguments go to the server
  dev [the same]
            builds the shop and runs it, and does so again whenever a file is touched
  test [--only <step, crate, folder or file>]… [--repeat <times>] [--released] [--list]
            runs all steps, or only those that are named
  check     runs the conventions checks alone
  postgres [--stop]
            starts a PostgreSQL server for tests in the background, or stops it";

fn main() -> ExitCode {
    let done = match documentation::folder() {
        Some(folder) => {
            documentation::stand_in(&folder, &env::args_os().skip(1).collect::<Vec<_>>())
        }
        None => dispatch(&env::args().skip(1).collect::<Vec<_>>()),
    };
    match done {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<ExitCode> {
    let Some((chore, rest)) = arguments.split_first() else {
        return Err(Failure::new(USAGE));
    };
    match chore.as_str() {
        "run" => server::main(&Workspace::load()?, rest)?,
        "dev" => dev::main(&Workspace::load()?, rest)?,
        "test" => return test::main(&Workspace::load()?, rest),
        "check" => check::main(&Workspace::load()?)?,
        "postgres" => postgres::main(&Workspace::load()?.target, rest)?,
        "help" | "--help" | "-h" => println!("{USAGE}"),
        _ => return Err(Failure::new(format!("there is no chore `{chore}`\n\n{USAGE}"))),
    }
    Ok(ExitCode::SUCCESS)
}
