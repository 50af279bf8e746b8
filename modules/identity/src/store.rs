//! The statements on which every request waits, and those that are not about records.
//!
//! They are written out, in as few round trips as there can be, and read across organisations by
//! key; all the rest of the module goes through a [`Context`](svc_data::Context).

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::{QueryResult, TryGetable};
use svc_core::{OrganisationId, Result, UserId};
use svc_data::{Database, UnitOfWork, database_error};
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

/// The key with this hash.
pub(crate) async fn key_by_hash(database: &Database, hash: KeyHash) -> Result<Option<StoredKey>> {
    let statement = database.statement(
        "SELECT id, user_id, organisation_id, scope, expires_at, revoked_at, last_used_at, \
         key_hash FROM identity_api_keys WHERE key_hash = ?",
        [hash.as_bytes().to_vec().into()],
    );
    let rows = database.rows(statement).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let stored: Vec<u8> = get(row, 7)?;
    if !hash.matches(&stored) {
        return Ok(None);
    }
    Ok(Some(StoredKey {
        id: get(row, 0)?,
        user: UserId(get(row, 1)?),
        organisation: OrganisationId(get(row, 2)?),
        scope: get::<Option<String>>(row, 3)?.as_deref().map(scope_names),
        expires_at: get(row, 4)?,
        revoked_at: get(row, 5)?,
        last_used_at: get(row, 6)?,
    }))
}

/// The rights of a person in an organisation; none for who is unknown, disabled or no member.
pub(crate) async fn rights(
    database: &Database,
    user: UserId,
    organisation: OrganisationId,
) -> Result<Option<StoredRights>> {
    let statement = database.statement(
        "SELECT u.display_name, m.id, r.is_administrator, p.permission \
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
    let membership: Uuid = get(first, 1)?;
    let mut rights = StoredRights { display_name: get(first, 0)?, ..StoredRights::default() };
    for row in &rows {
        rights.is_administrator |= get::<Option<bool>>(row, 2)?.unwrap_or(false);
        rights.permissions.extend(get::<Option<String>>(row, 3)?);
    }
    let statement = database.statement(
        "SELECT name, claim_value FROM identity_claims WHERE membership_id = ? \
         ORDER BY name, claim_value",
        [membership.into()],
    );
    for row in database.rows(statement).await? {
        rights.claims.entry(get(&row, 0)?).or_default().push(get(&row, 1)?);
    }
    Ok(Some(rights))
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

/// How many administrators who aren't disabled the organisation has, as the unit of work sees it.
pub(crate) async fn count_administrators(
    uow: &UnitOfWork,
    organisation: OrganisationId,
) -> Result<i64> {
    let statement = uow.context().database().statement(
        "SELECT COUNT(*) FROM identity_membership_roles mr \
         JOIN identity_roles r ON r.id = mr.role_id \
         JOIN identity_memberships m ON m.id = mr.membership_id \
         JOIN identity_users u ON u.id = m.user_id \
         WHERE mr.organisation_id = ? AND r.is_administrator = ? AND u.disabled_at IS NULL",
        [organisation.0.into(), true.into()],
    );
    uow.rows(statement).await?.first().map_or(Ok(0), |row| get(row, 0))
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

/// A person who may sign in, with the hash of the password where there is one.
pub(crate) async fn password_by_email(
    database: &Database,
    email_key: &str,
) -> Result<Option<(UserId, String)>> {
    let statement = database.statement(
        "SELECT u.id, p.password_hash FROM identity_users u \
         JOIN identity_passwords p ON p.user_id = u.id \
         WHERE u.email_key = ? AND u.disabled_at IS NULL",
        [email_key.into()],
    );
    let rows = database.rows(statement).await?;
    rows.first().map(|row| Ok((UserId(get(row, 0)?), get(row, 1)?))).transpose()
}

const ANY_ORGANISATION: &str = "SELECT 1 FROM identity_organisations LIMIT 1";

/// Whether there is any organisation.
pub(crate) async fn is_set_up(database: &Database) -> Result<bool> {
    Ok(!database.rows(database.statement(ANY_ORGANISATION, [])).await?.is_empty())
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

fn get<T: TryGetable>(row: &QueryResult, index: usize) -> Result<T> {
    row.try_get_by_index(index).map_err(database_error)
}
