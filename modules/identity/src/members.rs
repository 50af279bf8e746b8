//! To which organisations a person belongs.

use svc_core::{App, OrganisationId, Result, UserId};
use svc_database::column;

use crate::service::IdentityService;

/// An organisation that somebody belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Organisation {
    pub(crate) id: OrganisationId,
    pub(crate) name: String,
}

/// The organisations of a person, by name. Nobody belongs to so many that a page couldn't show them; more
/// than 500 are left out.
pub(crate) async fn organisations_of(app: &App, user: UserId) -> Result<Vec<Organisation>> {
    let service = app.service::<IdentityService>()?;
    let database = service.database();
    let statement = database.statement(
        "SELECT o.id, o.name FROM identity_memberships m \
         JOIN identity_organisations o ON o.id = m.organisation_id \
         WHERE m.user_id = ? ORDER BY o.name, o.id LIMIT 500",
        [user.0.into()],
    );
    let rows = database.rows(statement).await?;
    rows.iter()
        .map(|row| Ok(Organisation { id: OrganisationId(column(row, 0)?), name: column(row, 1)? }))
        .collect()
}

/// Whether a person belongs to another organisation than this one, too.
pub(crate) async fn belongs_elsewhere(
    app: &App,
    user: UserId,
    here: OrganisationId,
) -> Result<bool> {
    let service = app.service::<IdentityService>()?;
    let database = service.database();
    let statement = database.statement(
        "SELECT 1 FROM identity_memberships WHERE user_id = ? AND organisation_id <> ? LIMIT 1",
        [user.0.into(), here.0.into()],
    );
    Ok(!database.rows(statement).await?.is_empty())
}
