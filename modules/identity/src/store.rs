//! The statements on which every request waits, and those that are not about records.
//!
//! They are written out, in as few round trips as there can be, and read across organisations by
//! key; all the rest of the module goes through a [`Context`](svc_data::Context).

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::QueryResult;
use svc_core::{App, Error, KnownRole, Member, OrganisationId, Result, UserId};
use svc_data::UnitOfWork;
use svc_database::{Database, column, database_error};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::key::KeyHash;

/// A stored API key, as far as a request needs it.
#[derive(Clone, Debug)]
pub(crate) struct StoredKey {
    pub(crate) id: Uuid,
    pub(crate) user: UserId,
    pub(crate) organisation: OrganisationId,
    pub(crate) scope: Option<BTreeSet<String>>,
    pub(crate) expires_at: Option<OffsetDateTime>,
    pub(crate) revoked_at: Option<OffsetDateTime>,
    pub(crate) last_used_at: Option<OffsetDateTime>,
}

impl StoredKey {
    /// Whether the key opens anything at `now`. It ends with the very moment of its end date.
    pub(crate) fn is_usable(&self, now: OffsetDateTime) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// What a person may do in an organisation, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredRights {
    pub(crate) display_name: String,
    pub(crate) is_administrator: bool,
    pub(crate) permissions: BTreeSet<String>,
    pub(crate) roles: BTreeSet<String>,
    pub(crate) claims: BTreeMap<String, Vec<String>>,
}

/// The scope of a key as it is stored: names with a space between them, as in RFC 6749, section
/// 3.3.
pub(crate) fn scope_text(scope: &BTreeSet<String>) -> String {
    scope.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Reads what [`scope_text`] wrote.
pub(crate) fn scope_names(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The columns of a [`StoredKey`].
const KEY: &str = "id, user_id, organisation_id, scope, expires_at, revoked_at, last_used_at";

/// The key with this hash.
pub(crate) async fn key_by_hash(database: &Database, hash: KeyHash) -> Result<Option<StoredKey>> {
    let sql = format!("SELECT {KEY}, key_hash FROM identity_api_keys WHERE key_hash = ?");
    let statement = database.statement(&sql, [hash.as_bytes().to_vec().into()]);
    let rows = database.rows(statement).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let stored: Vec<u8> = column(row, 7)?;
    if !hash.matches(&stored) {
        return Ok(None);
    }
    read_key(row).map(Some)
}

/// The key of this identifier.
pub(crate) async fn key_by_id(database: &Database, id: Uuid) -> Result<Option<StoredKey>> {
    let sql = format!("SELECT {KEY} FROM identity_api_keys WHERE id = ?");
    let rows = database.rows(database.statement(&sql, [id.into()])).await?;
    rows.first().map(read_key).transpose()
}

/// Reads [`KEY`].
fn read_key(row: &QueryResult) -> Result<StoredKey> {
    Ok(StoredKey {
        id: column(row, 0)?,
        user: UserId(column(row, 1)?),
        organisation: OrganisationId(column(row, 2)?),
        scope: column::<Option<String>>(row, 3)?.as_deref().map(scope_names),
        expires_at: column(row, 4)?,
        revoked_at: column(row, 5)?,
        last_used_at: column(row, 6)?,
    })
}

/// The rights of a person in an organisation; none for who is unknown, disabled or no member.
pub(crate) async fn rights(
    database: &Database,
    user: UserId,
    organisation: OrganisationId,
) -> Result<Option<StoredRights>> {
    let statement = database.statement(
        "SELECT u.display_name, m.id, r.is_administrator, p.permission, r.name_key \
         FROM identity_memberships m \
         JOIN identity_users u ON u.id = m.user_id \
         LEFT JOIN identity_membership_roles mr ON mr.membership_id = m.id \
         LEFT JOIN identity_roles r ON r.id = mr.role_id \
         LEFT JOIN identity_role_permissions p ON p.role_id = r.id \
         WHERE m.organisation_id = ? AND m.user_id = ? AND u.disabled_at IS NULL",
        [organisation.0.into(), user.0.into()],
    );
    let rows = database.rows(statement).await?;
    let Some(first) = rows.first() else { return Ok(None) };
    let membership: Uuid = column(first, 1)?;
    let mut rights = StoredRights { display_name: column(first, 0)?, ..StoredRights::default() };
    for row in &rows {
        rights.is_administrator |= column::<Option<bool>>(row, 2)?.unwrap_or(false);
        rights.permissions.extend(column::<Option<String>>(row, 3)?);
        rights.roles.extend(column::<Option<String>>(row, 4)?);
    }
    let statement = database.statement(
        "SELECT name, claim_value FROM identity_claims WHERE membership_id = ? \
         ORDER BY name, claim_value",
        [membership.into()],
    );
    for row in database.rows(statement).await? {
        rights.claims.entry(column(&row, 0)?).or_default().push(column(&row, 1)?);
    }
    Ok(Some(rights))
}

/// People of an organisation who aren't disabled and whose name has a part like this, by their names.
pub(crate) async fn members(
    database: &Database,
    organisation: OrganisationId,
    named: &str,
    most: u32,
) -> Result<Vec<Member>> {
    let sql = format!(
        "SELECT u.id, u.display_name FROM identity_memberships m \
         JOIN identity_users u ON u.id = m.user_id \
         WHERE m.organisation_id = ? AND u.disabled_at IS NULL \
         AND LOWER(u.display_name) LIKE LOWER(?) ESCAPE '!' \
         ORDER BY u.display_name, u.id LIMIT {most}"
    );
    let escaped = ["!", "%", "_"]
        .iter()
        .fold(named.to_owned(), |text, mark| text.replace(mark, &format!("!{mark}")));
    let values = [organisation.0.into(), format!("%{escaped}%").into()];
    let rows = database.rows(database.statement(&sql, values)).await?;
    let read = |row: &QueryResult| {
        Ok(Member { id: UserId(column(row, 0)?), display_name: column(row, 1)? })
    };
    rows.iter().map(read).collect()
}

/// The permissions that the roles of an organisation's people name; those of people who are disabled aside.
pub(crate) async fn granted(
    database: &Database,
    organisation: OrganisationId,
) -> Result<BTreeSet<String>> {
    let statement = database.statement(
        "SELECT DISTINCT p.permission FROM identity_memberships m \
         JOIN identity_users u ON u.id = m.user_id \
         JOIN identity_membership_roles mr ON mr.membership_id = m.id \
         JOIN identity_role_permissions p ON p.role_id = mr.role_id \
         WHERE m.organisation_id = ? AND u.disabled_at IS NULL",
        [organisation.0.into()],
    );
    database.rows(statement).await?.iter().map(|row| column(row, 0)).collect()
}

/// The roles of an organisation by their names; whether somebody has each who isn't disabled.
pub(crate) async fn roles_in(
    database: &Database,
    organisation: OrganisationId,
) -> Result<Vec<KnownRole>> {
    let statement = database.statement(
        "SELECT r.name, COUNT(u.id) FROM identity_roles r \
         LEFT JOIN identity_membership_roles mr ON mr.role_id = r.id \
         LEFT JOIN identity_memberships m ON m.id = mr.membership_id \
         LEFT JOIN identity_users u ON u.id = m.user_id AND u.disabled_at IS NULL \
         WHERE r.organisation_id = ? GROUP BY r.id, r.name, r.name_key ORDER BY r.name_key",
        [organisation.0.into()],
    );
    let read = |row: &QueryResult| {
        Ok(KnownRole { name: column(row, 0)?, is_held: column::<i64>(row, 1)? > 0 })
    };
    database.rows(statement).await?.iter().map(read).collect()
}

/// Notes the last use of keys, where the one that is stored is older than `before`, and says how
/// many were due. Not observed: that a key was used is no change of the key.
pub(crate) async fn touch_keys(
    database: &Database,
    uses: &[(Uuid, OffsetDateTime)],
    at_most_every: std::time::Duration,
) -> Result<()> {
    use sea_orm::ConnectionTrait as _;
    let transaction = database.begin().await?;
    for (key, used_at) in uses {
        let statement = database.statement(
            "UPDATE identity_api_keys SET last_used_at = ? \
             WHERE id = ? AND (last_used_at IS NULL OR last_used_at <= ?)",
            [(*used_at).into(), (*key).into(), (*used_at - at_most_every).into()],
        );
        transaction.execute_raw(statement).await.map_err(database_error)?;
    }
    transaction.commit().await
}

/// How many administrators who are people and not disabled the organisation has, as the unit of work sees it.
pub(crate) async fn count_administrators(
    uow: &UnitOfWork,
    organisation: OrganisationId,
) -> Result<i64> {
    let statement = uow.context().database().statement(
        "SELECT COUNT(*) FROM identity_membership_roles mr \
         JOIN identity_roles r ON r.id = mr.role_id \
         JOIN identity_memberships m ON m.id = mr.membership_id \
         JOIN identity_users u ON u.id = m.user_id \
         WHERE mr.organisation_id = ? AND r.is_administrator = ? AND u.disabled_at IS NULL \
         AND u.is_machine = ?",
        [organisation.0.into(), true.into(), false.into()],
    );
    uow.rows(statement).await?.first().map_or(Ok(0), |row| column(row, 0))
}

/// Stores a password's hash in place of the one before.
pub(crate) async fn put_password(uow: &UnitOfWork, user: UserId, hash: String) -> Result<()> {
    let statement = uow.context().database().statement(
        "INSERT INTO identity_passwords (user_id, password_hash, changed_at_us) VALUES (?, ?, ?) \
         ON CONFLICT (user_id) DO UPDATE \
         SET password_hash = excluded.password_hash, changed_at_us = excluded.changed_at_us",
        [user.0.into(), hash.into(), uow.context().clock().now_us().into()],
    );
    uow.execute(statement).await.map(drop)
}

/// Stores a hash of the current cost in place of `outdated`; false where the password has been changed since
/// that was read.
pub(crate) async fn rehash(
    uow: &UnitOfWork,
    user: UserId,
    outdated: &str,
    hash: String,
) -> Result<bool> {
    let statement = uow.context().database().statement(
        "UPDATE identity_passwords SET password_hash = ? WHERE user_id = ? AND password_hash = ?",
        [hash.into(), user.0.into(), outdated.into()],
    );
    Ok(uow.execute(statement).await? == 1)
}

/// The password of a person who may sign in.
pub(crate) struct StoredPassword {
    pub(crate) user: UserId,
    pub(crate) hash: String,
    /// When it was set; a hash that is brought up to date is of the same password.
    pub(crate) set_at_us: i64,
}

/// The password of whoever has this address, where there is one.
pub(crate) async fn password_by_email(
    database: &Database,
    email_key: &str,
) -> Result<Option<StoredPassword>> {
    let statement = database.statement(
        "SELECT u.id, p.password_hash, p.changed_at_us FROM identity_users u \
         JOIN identity_passwords p ON p.user_id = u.id \
         WHERE u.email_key = ? AND u.disabled_at IS NULL AND u.confirmed_at IS NOT NULL",
        [email_key.into()],
    );
    let rows = database.rows(statement).await?;
    let read = |row: &QueryResult| {
        let user = UserId(column(row, 0)?);
        Ok(StoredPassword { user, hash: column(row, 1)?, set_at_us: column(row, 2)? })
    };
    rows.first().map(read).transpose()
}

/// A person, for the own account page.
pub(crate) struct StoredPerson {
    pub(crate) email: String,
    pub(crate) display_name: String,
    pub(crate) password_hash: Option<String>,
}

/// The database, through the connections that looking up who calls has to itself.
fn database(app: &App) -> Result<Database> {
    Ok(app.service::<Database>()?.essential())
}

/// A person who is there.
pub(crate) async fn person(app: &App, user: UserId) -> Result<StoredPerson> {
    let database = database(app)?;
    let statement = database.statement(
        "SELECT u.email, u.display_name, p.password_hash FROM identity_users u \
         LEFT JOIN identity_passwords p ON p.user_id = u.id WHERE u.id = ?",
        [user.0.into()],
    );
    let rows = database.rows(statement).await?;
    let row = rows.first().ok_or_else(|| Error::not_found("there is no such person"))?;
    Ok(StoredPerson {
        email: column(row, 0)?,
        display_name: column(row, 1)?,
        password_hash: column(row, 2)?,
    })
}

/// The person who has shown that this address is theirs, with the address as it is written to.
pub(crate) async fn confirmed(app: &App, email_key: &str) -> Result<Option<(UserId, String)>> {
    let database = database(app)?;
    let statement = database.statement(
        "SELECT id, email FROM identity_users \
         WHERE email_key = ? AND confirmed_at IS NOT NULL AND disabled_at IS NULL",
        [email_key.into()],
    );
    let rows = database.rows(statement).await?;
    rows.first().map(|row| Ok((UserId(column(row, 0)?), column(row, 1)?))).transpose()
}

/// An invitation that can be accepted.
pub(crate) struct Invitation {
    pub(crate) email: String,
    pub(crate) display_name: String,
    pub(crate) organisation: OrganisationId,
    pub(crate) organisation_name: String,
    /// Who has this address for certain, where somebody has.
    pub(crate) known: Option<UserId>,
}

/// What somebody is invited to whose address isn't confirmed.
pub(crate) async fn invitation(app: &App, user: UserId) -> Result<Option<Invitation>> {
    let database = database(app)?;
    let statement = database.statement(
        "SELECT u.email, u.display_name, o.id, o.name, \
         (SELECT k.id FROM identity_users k \
          WHERE k.email_key = u.email_key AND k.confirmed_at IS NOT NULL) \
         FROM identity_users u JOIN identity_memberships m ON m.user_id = u.id \
         JOIN identity_organisations o ON o.id = m.organisation_id \
         WHERE u.id = ? AND u.confirmed_at IS NULL AND u.disabled_at IS NULL",
        [user.0.into()],
    );
    let rows = database.rows(statement).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    Ok(Some(Invitation {
        email: column(row, 0)?,
        display_name: column(row, 1)?,
        organisation: OrganisationId(column(row, 2)?),
        organisation_name: column(row, 3)?,
        known: column::<Option<Uuid>>(row, 4)?.map(UserId),
    }))
}

/// The administrator of the first organisation who was made known first and isn't disabled.
pub(crate) async fn first_administrator(app: &App) -> Result<Option<Uuid>> {
    let database = database(app)?;
    // Ids carry the time at which they were made.
    let statement = database.statement(
        "SELECT m.user_id FROM identity_membership_roles mr \
         JOIN identity_roles r ON r.id = mr.role_id AND r.is_administrator = ? \
         JOIN identity_memberships m ON m.id = mr.membership_id \
         JOIN identity_users u ON u.id = m.user_id AND u.disabled_at IS NULL \
         AND u.is_machine = ? \
         ORDER BY m.organisation_id, m.user_id LIMIT 1",
        [true.into(), false.into()],
    );
    let rows = database.rows(statement).await?;
    rows.first().map(|row| column(row, 0)).transpose()
}

const ANY_ORGANISATION: &str = "SELECT 1 FROM identity_organisations LIMIT 1";

/// Whether there is any organisation.
pub(crate) async fn is_set_up(database: &Database) -> Result<bool> {
    Ok(!database.rows(database.statement(ANY_ORGANISATION, [])).await?.is_empty())
}

/// Some organisations behind one, in the order of their ids.
pub(crate) async fn organisations(
    database: &Database,
    after: Option<OrganisationId>,
    most: u32,
) -> Result<Vec<OrganisationId>> {
    let after = after.map_or(Uuid::nil(), |after| after.0);
    let sql = "SELECT id FROM identity_organisations WHERE id > ? ORDER BY id LIMIT ?";
    let rows =
        database.rows(database.statement(sql, [after.into(), i64::from(most).into()])).await?;
    rows.iter().map(|row| column(row, 0).map(OrganisationId)).collect()
}

/// Claims the right to set the database up; false where it is set up, or another node has been
/// first. On PostgreSQL this waits for one that is about to.
pub(crate) async fn claim_setup(uow: &UnitOfWork) -> Result<bool> {
    let database = uow.context().database();
    if !uow.rows(database.statement(ANY_ORGANISATION, [])).await?.is_empty() {
        return Ok(false);
    }
    let statement = database.statement(
        "INSERT INTO identity_setup (id, done_at_us) VALUES (1, ?) ON CONFLICT (id) DO NOTHING",
        [uow.context().clock().now_us().into()],
    );
    Ok(uow.execute(statement).await? == 1)
}
