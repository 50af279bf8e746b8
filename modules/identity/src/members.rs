//! To which organisations a person belongs.

use svc_core::{App, Error, OrganisationId, Result, UserId};
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

/// The name of an organisation, and whether a person belongs to others, too.
pub(crate) async fn organisation_and_others(
    app: &App,
    user: UserId,
    here: OrganisationId,
) -> Result<(String, bool)> {
    let service = app.service::<IdentityService>()?;
    let database = service.database();
    let statement = database.statement(
        "SELECT o.name, EXISTS (SELECT 1 FROM identity_memberships m \
         WHERE m.user_id = ? AND m.organisation_id <> o.id) \
         FROM identity_organisations o WHERE o.id = ?",
        [user.0.into(), here.0.into()],
    );
    let rows = database.rows(statement).await?;
    let row = rows.first().ok_or_else(|| Error::not_found("there is no such organisation"))?;
    Ok((column(row, 0)?, column(row, 1)?))
}
