//! The command `history`: what an operator does by hand.

use clap::Subcommand;
use svc_core::{App, Error, OneOf, OrganisationId, Result};
use svc_data::Context;
use svc_events::Publish as _;
use uuid::Uuid;

use crate::events::{Blanking, HistoryBlanked};
use crate::seal::Line;
use crate::sealing::{self, seal_lines};
use crate::store;

/// Entries that one transaction blanks.
const AT_ONCE: u64 = 500;

/// What to do with the history.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Check that nothing that was sealed has been changed since
    Check,
    /// Blank the name of a person wherever the person did something; that is recorded itself
    BlankPerson {
        /// The organisation
        organisation: Uuid,
        /// The person
        user: Uuid,
    },
    /// Blank all values that the history of a record tells; that is recorded itself
    BlankRecord {
        /// The organisation
        organisation: Uuid,
        /// The set
        set: String,
        /// The record's key
        record: String,
    },
}

/// Carries an action out, and says what was done.
pub(crate) async fn run(app: App, OneOf { action }: OneOf<Action>) -> Result<String> {
    let (organisation, what) = match action {
        Action::Check => return sealing::check(app).await,
        Action::BlankPerson { organisation, user } => (organisation, Blanking::Person(user)),
        Action::BlankRecord { organisation, set, record } => {
            (organisation, Blanking::Record(set, record))
        }
    };
    let ctx = Context::system_in(&app, OrganisationId(organisation))?;
    let blanked = blank(&ctx, &what).await?;
    if blanked == 0 {
        return Err(Error::not_found("there is nothing of it in the history of that organisation"));
    }
    Ok(format!("{blanked} entries were blanked\n"))
}

/// Blanks something in the whole history, step by step; each step is recorded with what it did.
async fn blank(ctx: &Context, what: &Blanking) -> Result<usize> {
    let mut blanked = 0;
    let mut behind = Uuid::nil();
    loop {
        let step = ctx
            .transact(async |uow| {
                let rows = store::blank(&uow, what, behind, AT_ONCE).await?;
                let Some(last) = rows.last().map(|row| row.id) else { return Ok(None) };
                let digest = |row: &store::Row| Line::Blanked { id: row.id, digest: row.digest() };
                seal_lines(&uow, rows.iter().map(digest).collect()).await?;
                uow.raise_domain(HistoryBlanked::of(what, rows.len()))?;
                Ok(Some((rows.len(), last)))
            })
            .await?;
        let Some((count, last)) = step else { return Ok(blanked) };
        blanked += count;
        behind = last;
    }
}
