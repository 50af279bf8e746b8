//! Who an account at another issuer is here.
//!
//! | Step | What a crash leaves |
//! | --- | --- |
//! | the account is looked up by issuer and subject | nothing |
//! | it is unknown: a person is found or made, with the account, in one transaction | nothing, or both |
//! | the person becomes a member of each organisation that the issuer says | the ones before; the next sign-in goes on |
//! | roles are set, where the issuer says them | the same |

use std::collections::BTreeSet;

use sea_orm::{QueryResult, Statement};
use svc_core::{App, Error, OrganisationId, Result, UserId};
use svc_data::{Context, UnitOfWork};
use svc_database::{Database, column};
use uuid::Uuid;

use super::issuers::ExternalIssuer;
use super::mapping::Described;
use crate::email::Email;
use crate::errors::{ADDRESS_TAKEN, LAST_ADMINISTRATOR};
use crate::service::IdentityService;
use crate::text::is_storable;
use crate::users::{self, CheckedUser, NewUser};
use crate::{acting, roles};

/// Why somebody whom an issuer knows doesn't come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turned {
    /// The settings lead to no organisation.
    NoOrganisation,
    /// The issuer names no mail address.
    NoAddress,
    /// Another member has the address, and nobody says that they are the same.
    AddressTaken,
    /// The person is disabled.
    Disabled,
}

impl Turned {
    /// Its name, for the log.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::NoOrganisation => "no_organisation",
            Self::NoAddress => "no_address",
            Self::AddressTaken => "address_taken",
            Self::Disabled => "disabled",
        }
    }
}

/// The person of an account, and the organisation that it comes to first.
pub(super) type Admitted = std::result::Result<(UserId, OrganisationId), Turned>;

/// Finds or makes the person of an account, with memberships and roles as the issuer says.
pub(super) async fn admit(
    app: &App,
    issuer: &ExternalIssuer,
    described: &Described,
) -> Result<Admitted> {
    let organisations = organisations_of(app, issuer, described).await?;
    let Some(first) = organisations.first().copied() else {
        tracing::warn!(
            issuer = issuer.name,
            "somebody can't sign in, since the settings lead to no organisation: set \
             `Organisation`, or `OrganisationClaim`, of the issuer"
        );
        return Ok(Err(Turned::NoOrganisation));
    };
    if !is_known(app, issuer, &described.subject).await?
        && let Err(turned) = make(app, issuer, described, first).await?
    {
        return Ok(Err(turned));
    }
    let gone = || Error::not_found("the account was taken out just now");
    let found = find(app, issuer, &described.subject).await?;
    let (user, is_disabled) = found.ok_or_else(gone)?;
    if is_disabled {
        return Ok(Err(Turned::Disabled));
    }
    for organisation in organisations {
        follow(app, issuer, described, user, organisation).await?;
    }
    Ok(Ok((user, first)))
}

/// Whether a text can name an account.
pub(super) fn is_subject(text: &str) -> bool {
    !text.is_empty() && is_storable(text)
}

/// Whether an account is known.
pub(super) async fn is_known(app: &App, issuer: &ExternalIssuer, subject: &str) -> Result<bool> {
    Ok(find(app, issuer, subject).await?.is_some())
}

/// The person of an account, and whether it is disabled.
async fn find(app: &App, issuer: &ExternalIssuer, subject: &str) -> Result<Option<(UserId, bool)>> {
    let service = app.service::<IdentityService>()?;
    let rows = service.database().rows(account(service.database(), issuer, subject)).await?;
    read(&rows)
}

pub(super) fn account(database: &Database, issuer: &ExternalIssuer, subject: &str) -> Statement {
    database.statement(
        "SELECT u.id, CASE WHEN u.disabled_at IS NULL THEN 0 ELSE 1 END \
         FROM identity_external_accounts a JOIN identity_users u ON u.id = a.user_id \
         WHERE a.issuer = ? AND a.subject = ?",
        [issuer.key().into(), subject.into()],
    )
}

pub(super) fn read(rows: &[QueryResult]) -> Result<Option<(UserId, bool)>> {
    rows.first().map(|row| Ok((UserId(column(row, 0)?), column::<i32>(row, 1)? == 1))).transpose()
}

/// Finds whose the address is, where it can be trusted, or makes a person.
async fn make(
    app: &App,
    issuer: &ExternalIssuer,
    described: &Described,
    organisation: OrganisationId,
) -> Result<std::result::Result<UserId, Turned>> {
    let Some(email) = described.email.as_deref().and_then(|it| Email::parse(it).ok()) else {
        return Ok(Err(Turned::NoAddress));
    };
    let is_trusted = issuer.settings.trusts_addresses && described.is_verified;
    let ctx = Context::system_in(app, organisation)?;
    let new = NewUser {
        email: email.as_str().to_owned(),
        display_name: described.name.clone().unwrap_or_else(|| email.as_str().to_owned()),
        ..NewUser::default()
    };
    let checked = CheckedUser::check(&ctx, new).await?;
    let checked = if is_trusted { checked.confirmed() } else { checked };
    let made = ctx.transact(async |uow| {
        acting::lock(&uow).await?;
        // The same account may have been taken in at this moment, in another tab.
        let rows = uow.rows(account(ctx.database(), issuer, &described.subject)).await?;
        if let Some((user, _)) = read(&rows)? {
            return Ok(user);
        }
        let known = if is_trusted { users::by_trusted_address(&uow, &email).await? } else { None };
        let user = match known {
            Some(user) => user,
            None => checked.insert(&uow).await?,
        };
        remember(&uow, issuer, &described.subject, user).await?;
        let name = issuer.name.clone();
        uow.after_commit(move || {
            tracing::info!(user.id = %user, issuer = name, "an account of an issuer was taken in");
        });
        Ok(user)
    });
    match made.await {
        Err(error) if error.code() == ADDRESS_TAKEN.name() => Ok(Err(Turned::AddressTaken)),
        outcome => outcome.map(Ok),
    }
}

pub(super) async fn remember(
    uow: &UnitOfWork,
    issuer: &ExternalIssuer,
    subject: &str,
    user: UserId,
) -> Result<()> {
    let context = uow.context();
    let statement = context.database().statement(
        "INSERT INTO identity_external_accounts (issuer, subject, user_id, created_at) \
         VALUES (?, ?, ?, ?)",
        [issuer.key().into(), subject.into(), user.0.into(), context.clock().now().into()],
    );
    uow.execute(statement).await.map(drop)
}

/// Makes the person a member, with the roles that the issuer says.
async fn follow(
    app: &App,
    issuer: &ExternalIssuer,
    described: &Described,
    user: UserId,
    organisation: OrganisationId,
) -> Result<()> {
    let ctx = Context::system_in(app, organisation)?;
    users::take_in(&ctx, user).await?;
    let Some(names) = &described.roles else { return Ok(()) };
    let wanted = roles::by_names(&ctx, names).await?;
    match users::set_roles(&ctx, user, wanted).await {
        Err(error) if error.code() == LAST_ADMINISTRATOR.name() => {
            tracing::warn!(
                user.id = %user,
                issuer = issuer.name,
                "the issuer doesn't call the last administrator one; the roles stay as they are"
            );
            Ok(())
        }
        outcome => outcome,
    }
}

/// Where somebody belongs: where the issuer says, or else where the settings do, or else the only
/// organisation that there is.
async fn organisations_of(
    app: &App,
    issuer: &ExternalIssuer,
    described: &Described,
) -> Result<Vec<OrganisationId>> {
    let settings = &issuer.settings;
    let named = match (&settings.organisation_claim, &settings.organisation) {
        (Some(_), _) => described.organisations.clone().unwrap_or_default(),
        (None, Some(one)) => vec![one.clone()],
        (None, None) => return Ok(only_organisation(app).await?.into_iter().collect()),
    };
    let mut found = BTreeSet::new();
    let mut in_order = Vec::new();
    for name in named {
        if let Some(id) = organisation(app, &name).await?
            && found.insert(id)
        {
            in_order.push(id);
        }
    }
    Ok(in_order)
}

/// The organisation of an id or a name; none for a name that two have.
async fn organisation(app: &App, name: &str) -> Result<Option<OrganisationId>> {
    let service = app.service::<IdentityService>()?;
    let database = service.database();
    let statement = match name.parse::<Uuid>() {
        Ok(id) => {
            database.statement("SELECT id FROM identity_organisations WHERE id = ?", [id.into()])
        }
        Err(_) => database.statement(
            "SELECT id FROM identity_organisations WHERE name = ? LIMIT 2",
            [name.into()],
        ),
    };
    one(&database.rows(statement).await?)
}

async fn only_organisation(app: &App) -> Result<Option<OrganisationId>> {
    let service = app.service::<IdentityService>()?;
    let database = service.database();
    let sql = "SELECT id FROM identity_organisations LIMIT 2";
    one(&database.rows(database.statement(sql, [])).await?)
}

fn one(rows: &[QueryResult]) -> Result<Option<OrganisationId>> {
    match rows {
        [row] => Ok(Some(OrganisationId(column(row, 0)?))),
        _ => Ok(None),
    }
}
