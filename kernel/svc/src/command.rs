//! The command line of an application.

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use svc_application::{Application, Assembled, Configured, Running};
use svc_core::settings::{LoadOptions, SettingsBuilder};
use svc_core::{Clock, Error, Result};
use svc_http::{TelemetrySettings, init_telemetry};

mod metadata;
mod queues;

/// What an application can be told to do.
#[derive(Debug, Parser)]
#[command(
    disable_help_subcommand = true,
    after_help = "Settings are given as `--Svc:Http:Listen=127.0.0.1:5080`, as environment \
                  variables `Svc__Http__Listen`, or in `svc.toml`; `settings` lists them all."
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Bring the database up to date, run the workers and answer requests (the default)
    Serve,
    /// Bring the database up to date
    Migrate {
        /// Only print the SQL that would run
        #[arg(long)]
        dry_run: bool,
    },
    /// Print everything that each module adds
    Modules,
    /// Print every setting, its value, and where that comes from
    Settings {
        /// Print the reference in Markdown instead
        #[arg(long)]
        reference: bool,
    },
    /// Print the entity sets: what they hold, who may do what, what is hidden from whom
    Metadata(metadata::Arguments),
    /// Write the types of the entity sets for clients in TypeScript
    Types(metadata::TypesArguments),
    /// Print the OpenAPI description of the HTTP API
    Openapi,
    /// List, retry or discard messages that could not be handled
    Outbox {
        #[command(subcommand)]
        action: queues::Action,
    },
    /// List, retry or discard background jobs that have failed for good
    Jobs {
        #[command(subcommand)]
        action: queues::Action,
    },
}

/// Runs the command that the process was started with.
pub(crate) async fn run(application: Application) -> ExitCode {
    match try_run(application).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Nobody is left to tell when standard error is gone.
            let _ = writeln!(std::io::stderr(), "{failure}");
            ExitCode::FAILURE
        }
    }
}

async fn try_run(application: Application) -> Result<(), String> {
    let assembled = application.assemble().map_err(|error| error.to_string())?;
    let options = LoadOptions::from_process();
    let words = SettingsBuilder::load(&options).arguments().to_vec();
    let command = parse(&assembled, &words).unwrap_or(Command::Serve);
    if let Command::Modules = command {
        return print(&assembled.assembly().describe());
    }
    if let Command::Settings { reference: true } = command {
        return print(&svc_core::settings::render_reference(assembled.assembly().sections()));
    }
    let configured =
        assembled.configure(&options, Clock::system()).map_err(|error| error.to_string())?;
    act(command, configured).await.map_err(|error| error.report())?
}

/// The command among the words that are no settings; asks for help end the process here.
fn parse(assembled: &Assembled, words: &[String]) -> Option<Command> {
    let name = assembled.name().to_owned();
    let words = std::iter::once(&name).chain(words);
    match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments.command,
        Err(error) => error.exit(),
    }
}

async fn act(command: Command, configured: Configured) -> Result<Result<(), String>> {
    match command {
        Command::Modules | Command::Settings { .. } => {
            Ok(print(&configured.app().all_settings().render()))
        }
        Command::Openapi => Ok(print(&configured.openapi()?)),
        Command::Metadata(arguments) => {
            Ok(print(&metadata::describe(&configured.metadata()?, &arguments)?))
        }
        Command::Types(arguments) => {
            Ok(metadata::types(&configured.metadata()?, &arguments).and_then(|text| print(&text)))
        }
        Command::Migrate { dry_run } => migrate(configured, dry_run).await,
        Command::Outbox { action } => {
            let running = attend(configured).await?;
            Ok(print(&queues::outbox(running.app(), &action).await?))
        }
        Command::Jobs { action } => {
            let running = attend(configured).await?;
            Ok(print(&queues::jobs(running.app(), &action).await?))
        }
        Command::Serve => serve(configured).await.map(Ok),
    }
}

/// Builds an application whose queues somebody looks after. That doesn't upgrade a database on the
/// way: it may be another release's, or the file that a command makes in the wrong folder.
async fn attend(configured: Configured) -> Result<Running> {
    let name = configured.app().name().to_owned();
    let connected = configured.connect().await?;
    match connected.pending_migrations().await?.len() {
        0 => connected.start().await,
        count => Err(Error::conflict(format!(
            "{count} migrations are pending in this database; if it is the right one, run \
             `{name} migrate` first"
        ))),
    }
}

async fn migrate(configured: Configured, dry_run: bool) -> Result<Result<(), String>> {
    let connected = configured.connect().await?;
    let steps =
        if dry_run { connected.pending_migrations().await? } else { connected.migrate().await? };
    if steps.is_empty() {
        return Ok(print("the database is up to date\n"));
    }
    let lines = steps.iter().map(|step| {
        if dry_run { format!("{step}\n") } else { format!("{} {}\n", step.module, step.name) }
    });
    Ok(print(&lines.collect::<String>()))
}

async fn serve(configured: Configured) -> Result<()> {
    let app = configured.app();
    let telemetry = init_telemetry(&app.settings::<TelemetrySettings>(), app.name())?;
    let connected = configured.connect().await?;
    // Two processes on one file of SQLite would undo each other's work.
    connected.take_for_this_process()?;
    let running = connected.start().await?;
    let server = running.bind().await?;
    let address = server.local_addr();
    // The lines are for people who start the program in a terminal.
    let _ = print(&format!(
        "{name} is ready: http://{address}\n  \
         API reference  http://{address}/docs\n  \
         entity sets    http://{address}/odata/v1/$metadata\n  \
         health         http://{address}/health/ready\n",
        name = running.app().name(),
    ));
    let outcome = running.serve(server, asked_to_stop()).await;
    // The last traces are sent when this is dropped, which waits for the collector.
    let sent = tokio::task::spawn_blocking(move || drop(telemetry)).await;
    sent.map_err(|error| Error::internal("sending the last traces failed").caused_by(error))?;
    outcome
}

/// Resolves when the process is asked to end: Ctrl-C, or SIGTERM.
async fn asked_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let interrupted = tokio::signal::ctrl_c();
    match signal(SignalKind::terminate()) {
        Ok(mut terminated) => {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
        }
        // Without the signal's handler, the process ends at once, as it would anyway.
        Err(_) => drop(interrupted.await),
    }
}

fn print(text: &str) -> Result<(), String> {
    match std::io::stdout().write_all(text.as_bytes()) {
        // A reader that has read enough, such as `head`, is no fault.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome.map_err(|error| {
            Error::internal("can't write to standard output").caused_by(error).report()
        }),
    }
}
