//! The statements of passkeys.

use svc_core::{App, Result, UserId};
use svc_data::UnitOfWork;
use svc_database::{Database, column};
use time::OffsetDateTime;
use uuid::Uuid;

use super::ceremony::{NewKey, StoredKey, UsedKey};
use crate::service::IdentityService;

/// A key in the list of its person.
#[derive(Clone, Debug)]
pub(crate) struct Passkey {
    pub(crate) id: Uuid,
    pub(crate) credential: Vec<u8>,
    pub(crate) name: String,
    pub(crate) used_at: Option<OffsetDateTime>,
}

/// A key, with whose it is.
pub(super) struct KnownKey {
    pub(super) id: Uuid,
    pub(super) user: UserId,
    pub(super) key: StoredKey,
}

/// The keys of a person, the oldest first.
pub(crate) async fn list(app: &App, user: UserId) -> Result<Vec<Passkey>> {
    let service = app.service::<IdentityService>()?;
    let database = service.database();
    let statement = database.statement(
        "SELECT id, credential_id, name, used_at FROM identity_passkeys \
         WHERE user_id = ? ORDER BY id",
        [user.0.into()],
    );
    let rows = database.rows(statement).await?;
    let read = |row| {
        Ok(Passkey {
            id: column(row, 0)?,
            credential: column(row, 1)?,
            name: column(row, 2)?,
            used_at: column(row, 3)?,
        })
    };
    rows.iter().map(read).collect()
}

/// The key of this name, of somebody who isn't disabled.
pub(super) async fn by_credential(app: &App, credential: &[u8]) -> Result<Option<KnownKey>> {
    let service = app.service::<IdentityService>()?;
    let database = service.database();
    let statement = database.statement(
        "SELECT k.id, k.user_id, k.algorithm, k.public_key, k.sign_count FROM identity_passkeys k \
         JOIN identity_users u ON u.id = k.user_id \
         WHERE k.credential_id = ? AND u.disabled_at IS NULL",
        [credential.to_vec().into()],
    );
    let rows = database.rows(statement).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let count: i64 = column(row, 4)?;
    let key = StoredKey {
        algorithm: column(row, 2)?,
        public_key: column(row, 3)?,
        count: u32::try_from(count).unwrap_or(u32::MAX),
    };
    Ok(Some(KnownKey { id: column(row, 0)?, user: UserId(column(row, 1)?), key }))
}

/// Stores a key, unless the person, who is locked, has `most`, or somebody has it; then says so.
pub(super) async fn insert(
    uow: &UnitOfWork,
    user: UserId,
    name: &str,
    key: &NewKey,
    most: usize,
) -> Result<bool> {
    let context = uow.context();
    let sql = "SELECT COUNT(*) FROM identity_passkeys WHERE user_id = ?";
    let rows = uow.rows(context.database().statement(sql, [user.0.into()])).await?;
    let count: i64 = rows.first().map_or(Ok(0), |row| column(row, 0))?;
    if usize::try_from(count).is_ok_and(|count| count >= most) {
        return Ok(false);
    }
    let statement = context.database().statement(
        "INSERT INTO identity_passkeys \
         (id, user_id, credential_id, algorithm, public_key, sign_count, verifies, name, created_at) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (credential_id) DO NOTHING",
        [
            context.clock().new_id().into(),
            user.0.into(),
            key.id.clone().into(),
            key.algorithm.into(),
            key.public_key.clone().into(),
            i64::from(key.count).into(),
            key.verifies.into(),
            name.into(),
            context.clock().now().into(),
        ],
    );
    Ok(uow.execute(statement).await? == 1)
}

/// Notes that a key was used, and whether it checked who touched it; false where another use with this
/// count, or a later one, came first.
pub(super) async fn touch(uow: &UnitOfWork, id: Uuid, used: UsedKey) -> Result<bool> {
    let count = i64::from(used.count);
    let statement = uow.context().database().statement(
        "UPDATE identity_passkeys SET sign_count = ?, used_at = ?, verifies = verifies OR ? \
         WHERE id = ? AND (sign_count < ? OR sign_count = 0 AND ? = 0)",
        [
            count.into(),
            uow.context().clock().now().into(),
            used.verified.into(),
            id.into(),
            count.into(),
            count.into(),
        ],
    );
    Ok(uow.execute(statement).await? == 1)
}

pub(super) async fn rename(uow: &UnitOfWork, user: UserId, id: Uuid, name: &str) -> Result<()> {
    let sql = "UPDATE identity_passkeys SET name = ? WHERE id = ? AND user_id = ?";
    let values = [name.into(), id.into(), user.0.into()];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

pub(super) async fn delete(uow: &UnitOfWork, user: UserId, id: Uuid) -> Result<()> {
    let sql = "DELETE FROM identity_passkeys WHERE id = ? AND user_id = ?";
    let values = [id.into(), user.0.into()];
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

/// Spends a challenge; false where it was spent before.
pub(super) async fn spend(uow: &UnitOfWork, hash: &[u8], ends_at: OffsetDateTime) -> Result<bool> {
    let statement = uow.context().database().statement(
        "INSERT INTO identity_spent_challenges (challenge_hash, ends_at) VALUES (?, ?) \
         ON CONFLICT (challenge_hash) DO NOTHING",
        [hash.to_vec().into(), ends_at.into()],
    );
    Ok(uow.execute(statement).await? == 1)
}

/// Forgets spent challenges that have ended, and says how many there were.
pub(crate) async fn sweep(database: &Database, now: OffsetDateTime) -> Result<u64> {
    let sql = "DELETE FROM identity_spent_challenges WHERE ends_at <= ?";
    database.execute(database.statement(sql, [now.into()])).await
}
