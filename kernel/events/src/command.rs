//! The command `outbox`: messages that have failed for good, in all organisations.

use std::fmt::Write as _;

use clap::Subcommand;
use svc_core::{App, OneOf, Result};
use svc_data::Context;

use crate::dead_letter::Selection;
use crate::outbox::Outbox;

/// How many are listed.
const LISTED: u32 = 100;

/// What to do with messages that have failed for good.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List the newest hundred
    List,
    /// Hand them over again
    Retry {
        /// Only those of this handler
        handler: Option<String>,
    },
    /// Remove them for good
    Discard {
        /// Those of this handler; `all` for every one
        handler: String,
    },
}

/// Carries out an action, and says what was done.
pub(crate) async fn run(app: App, OneOf { action }: OneOf<Action>) -> Result<String> {
    let outbox = app.service::<Outbox>()?;
    let ctx = Context::system(&app)?;
    let of = |handler: Option<String>| Selection { handler, ..Selection::default() };
    match action {
        Action::List => {
            let page = outbox.dead_letters(&ctx, &of(None), None, LISTED).await?;
            if page.letters.is_empty() {
                return Ok("no message has failed for good\n".to_owned());
            }
            let mut text = String::new();
            for letter in &page.letters {
                let _ = writeln!(
                    text,
                    "{}  {}  {}  {} attempts\n    {}",
                    letter.id, letter.handler, letter.name, letter.attempts, letter.error
                );
            }
            Ok(text)
        }
        Action::Retry { handler } => {
            let count = outbox.retry(&ctx, &of(handler)).await?;
            Ok(format!("{count} messages wait to be handled again\n"))
        }
        Action::Discard { handler } => {
            let handler = (handler != "all").then_some(handler);
            let count = outbox.discard(&ctx, &of(handler)).await?;
            Ok(format!("{count} messages were discarded\n"))
        }
    }
}
