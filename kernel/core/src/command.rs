//! Commands that a module adds to the program: what an operator does with it by hand.

use std::fmt;
use std::pin::Pin;

use clap::{ArgMatches, Args, Subcommand};

use crate::{App, Error, Kind, Registry, Result};

/// Arguments of a command that does one of several things, `shop jobs list`: each is a case of `A`.
#[derive(Clone, Debug, Args)]
pub struct OneOf<A: Subcommand> {
    /// Which of them.
    #[command(subcommand)]
    pub action: A,
}

type Running = Pin<Box<dyn Future<Output = Result<String>> + Send>>;

type Run = Box<dyn Fn(App, &ArgMatches) -> Result<Running> + Send + Sync>;

/// A command of the program that a module adds ([`Registry::command`]).
///
/// It runs in an application that is connected and built, on a database without pending
/// migrations; workers don't run beside it.
pub struct Command {
    words: clap::Command,
    run: Run,
}

impl Command {
    /// Its name, description and arguments, for the program's command line.
    #[must_use]
    pub fn words(&self) -> &clap::Command {
        &self.words
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.words.get_name()
    }

    /// Runs it, and answers with the text that is printed.
    ///
    /// # Errors
    ///
    /// Arguments that were not read by [`Command::words`], or the fault of the command itself.
    pub async fn run(&self, app: App, arguments: &ArgMatches) -> Result<String> {
        (self.run)(app, arguments)?.await
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Command").field(&self.name()).finish()
    }
}

impl Registry {
    /// Adds a command to the program, `shop <name> …`. `A` is what `clap` reads its arguments
    /// into, [`OneOf`] its cases where it does several things; what `run` answers with is printed.
    ///
    /// ```
    /// use svc_core::{Registry, Result};
    ///
    /// #[derive(clap::Args)]
    /// struct Greeting {
    ///     /// Whom to greet
    ///     name: String,
    /// }
    ///
    /// fn configure(registry: &mut Registry) {
    ///     registry.command("greet", "Greet somebody", async |_app, greeting: Greeting| {
    ///         Ok(format!("Good day, {}\n", greeting.name))
    ///     });
    /// }
    /// # let _ = configure;
    /// ```
    pub fn command<A, F, Fut>(&mut self, name: &'static str, about: &'static str, run: F)
    where
        A: Args,
        F: Fn(App, A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String>> + Send + 'static,
    {
        let words = A::augment_args(clap::Command::new(name)).about(about);
        self.contribute(Kind::COMMAND, name, about);
        let run = move |app, matches: &ArgMatches| {
            let arguments = A::from_arg_matches(matches).map_err(|error| {
                Error::internal("a command was given the arguments of another").caused_by(error)
            })?;
            Ok(Box::pin(run(app, arguments)) as Running)
        };
        self.part::<Vec<Command>>().push(Command { words, run: Box::new(run) });
    }
}
