//! The command line of an application.

use std::io::Write as _;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use svc_application::{Application, Assembled, Configured, Running};
use svc_core::settings::{LoadOptions, SettingsBuilder};
use svc_core::{Clock, Error, Result};
use svc_http::{TelemetrySettings, init_telemetry};

mod metadata;

/// What an application can be told to do.
#[derive(Debug, Parser)]
#[command(
    about = "Serves the application, and does its upkeep",
    disable_help_subcommand = true,
    after_help = "Settings are given as `--Svc:Http:Listen=127.0.0.1:5080`, as environment \
                  variables `Svc__Http__Listen`, or in `svc.toml`; `settings` lists them all."
)]
struct Arguments {
    /// Print the application's name and version
    #[arg(short = 'V', long, exclusive = true)]
    version: bool,
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
        /// Only print the SQL from the tables to what the entities say: a beginning of a migration
        #[arg(long, conflicts_with = "dry_run")]
        draft: bool,
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
}

/// What the process is asked to do.
enum Asked {
    /// A command of the program itself.
    Own(Command),
    /// The command that a module added, by its name, with its arguments.
    Module(String, ArgMatches),
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

/// The command that makes another program of this one.
#[cfg(feature = "bff")]
const BROWSER_HOST: &str = "browser-host";

/// The program that was asked for: the application, or the browser host before it, with the words that are
/// left.
#[cfg(feature = "bff")]
fn program_of(
    application: Assembled,
    words: Vec<String>,
) -> Result<(Assembled, Vec<String>), String> {
    if words.first().is_none_or(|word| word != BROWSER_HOST) {
        return Ok((application, words));
    }
    let name = svc_bff::BrowserHost::name_before(application.name());
    let host = Application::new(name).module(svc_bff::BrowserHost).assemble();
    Ok((host.map_err(|error| error.to_string())?, words[1..].to_vec()))
}

async fn try_run(application: Application) -> Result<(), String> {
    let options = LoadOptions::from_process();
    let words = SettingsBuilder::load(&options).arguments().to_vec();
    let assembled = application.assemble().map_err(|error| error.to_string())?;
    #[cfg(feature = "bff")]
    let (assembled, words) = program_of(assembled, words)?;
    let asked = parse(&assembled, &words)?;
    if let Asked::Own(Command::Modules) = asked {
        return print(&assembled.assembly().describe());
    }
    if let Asked::Own(Command::Settings { reference: true }) = asked {
        return print(&svc_core::settings::render_reference(assembled.assembly().sections()));
    }
    let configured =
        assembled.configure(&options, Clock::system()).map_err(|error| error.to_string())?;
    let outcome = match asked {
        Asked::Own(command) => act(command, configured).await,
        Asked::Module(name, arguments) => run_of_module(configured, &name, &arguments).await,
    };
    outcome.map_err(|error| error.report())?
}

/// The command among the words that are no settings; who asks for help or the version ends the process here.
fn parse(assembled: &Assembled, words: &[String]) -> Result<Asked, String> {
    let mut known = Arguments::command();
    for command in assembled.commands() {
        let name = command.name();
        if known.find_subcommand(name).is_some() {
            return Err(format!(
                "a module adds the command `{name}`, which the program has itself; give it \
                 another name"
            ));
        }
        known = known.subcommand(command.words().clone());
    }
    #[cfg(feature = "bff")]
    if !svc_bff::BrowserHost::is_name(assembled.name()) {
        let host = clap::Command::new(BROWSER_HOST);
        let about = "Be the browser host before the application; it has these commands, too";
        known = known.subcommand(host.about(about));
    }
    let name = assembled.name().to_owned();
    let words = std::iter::once(&name).chain(words);
    let mut matches = known.try_get_matches_from(words).unwrap_or_else(|error| error.exit());
    let is_module_s = |name: &str| assembled.commands().iter().any(|known| known.name() == name);
    if matches.subcommand_name().is_some_and(is_module_s) {
        let named = matches.remove_subcommand().map(|(name, of)| Asked::Module(name, of));
        return named.ok_or_else(|| "the command was not read".to_owned());
    }
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if arguments.version {
        print(&format!("{name} {}\n", assembled.version()))?;
        std::process::exit(0);
    }
    Ok(Asked::Own(arguments.command.unwrap_or(Command::Serve)))
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
        Command::Migrate { draft: true, .. } => draft(configured).await,
        Command::Migrate { dry_run, .. } => migrate(configured, dry_run).await,
        Command::Serve => serve(configured).await.map(Ok),
    }
}

/// Runs the command of a module in an application that is built and doesn't work.
async fn run_of_module(
    mut configured: Configured,
    name: &str,
    arguments: &ArgMatches,
) -> Result<Result<(), String>> {
    let mut commands = configured.take_commands().into_iter();
    let command = commands.find(|command| command.name() == name);
    let command = command.ok_or_else(|| Error::internal(format!("no module adds `{name}`")))?;
    let running = attend(configured).await?;
    let outcome = command.run(running.app().clone(), arguments).await;
    running.stop().await;
    Ok(print(&outcome?))
}

/// Builds an application that an operator looks after. That doesn't upgrade a database on the
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

async fn draft(configured: Configured) -> Result<Result<(), String>> {
    let text = configured.connect().await?.draft_migration().await?;
    Ok(print(if text.is_empty() { "-- the tables are what the entities say\n" } else { &text }))
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
