//! The command `organisations`: what an operator does with all of them by hand.
//!
//! Whoever administers an organisation may do everything in it and nothing in another, so nobody who is signed in
//! sees all of them.

use std::fmt::Write as _;

use clap::Subcommand;
use svc_core::{App, OneOf, OrganisationId, Result};
use svc_data::Context;
use uuid::Uuid;

use crate::users::{self, NewUser};
use crate::{acting, invitations, organisations, roles};

/// How many are listed.
const LISTED: usize = 100;

/// How many are read at once, to look for a name among them.
const AT_ONCE: u32 = 500;

/// What to do with organisations.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List a hundred, in the order in which they were made
    List {
        /// Only those with this in their name
        search: Option<String>,
        /// Only those that were made after this one
        #[arg(long)]
        after: Option<Uuid>,
    },
    /// Make one, and invite its first administrator
    Create {
        /// Its name
        name: String,
        /// The mail address of the administrator
        #[arg(long)]
        email: String,
        /// The name of the administrator
        #[arg(long, default_value = roles::ADMINISTRATOR)]
        display_name: String,
    },
    /// Give one another name
    Rename {
        /// The organisation
        organisation: Uuid,
        /// The new name
        name: String,
    },
}

/// Carries out an action, and says what was done.
pub(crate) async fn run(app: App, OneOf { action }: OneOf<Action>) -> Result<String> {
    match action {
        Action::List { search, after } => list(&app, search, after.map(OrganisationId)).await,
        Action::Create { name, email, display_name } => {
            create(&app, &name, email, display_name).await
        }
        Action::Rename { organisation, name } => {
            let ctx = Context::system_in(&app, OrganisationId(organisation))?;
            organisations::rename(&ctx, &name).await?;
            Ok(format!("organisation {organisation} has another name\n"))
        }
    }
}

async fn list(
    app: &App,
    search: Option<String>,
    mut after: Option<OrganisationId>,
) -> Result<String> {
    let (system, search) = (Context::system(app)?, search.unwrap_or_default().to_lowercase());
    let mut found = Vec::new();
    // Cases of letters are the same on both databases here alone.
    while found.len() <= LISTED {
        let next = organisations::list(&system, after, AT_ONCE).await?;
        let Some(last) = next.last() else { break };
        after = Some(last.id);
        found.extend(next.into_iter().filter(|one| one.name.to_lowercase().contains(&search)));
    }
    let mut found = found.into_iter();
    let mut text = String::new();
    for one in found.by_ref().take(LISTED) {
        let made = one.created_at.date();
        let _ = writeln!(text, "{}  {}  {} members  since {made}", one.id, one.name, one.members);
    }
    match (text.is_empty(), found.next()) {
        (true, _) => text.push_str("there is no such organisation\n"),
        (false, Some(_)) => text.push_str("there are more; see them with `--after` the last one\n"),
        (false, None) => {}
    }
    Ok(text)
}

async fn create(app: &App, name: &str, email: String, display_name: String) -> Result<String> {
    let system = Context::system(app)?;
    let new = NewUser { email, display_name, ..NewUser::default() };
    let made = system.transact(async |uow| {
        let organisation = organisations::create(uow.context(), name).await?;
        let within = acting::within(uow.context(), organisation);
        let administrator = within.transact(async |uow| {
            let role = roles::administrator(uow.context()).await?;
            users::create(uow.context(), NewUser { roles: [role].into(), ..new }).await
        });
        Ok((organisation, administrator.await?))
    });
    let (organisation, administrator) = made.await?;
    let ctx = Context::system_in(app, organisation)?;
    Ok(match invitations::send(&ctx, administrator).await? {
        Some(link) => format!(
            "organisation {organisation} is made; pass this link on to its administrator, and to nobody \
             else:\n{}\n",
            link.expose()
        ),
        None => format!("organisation {organisation} is made, and its administrator is invited\n"),
    })
}
