//! The statements of sessions.

use sea_orm::{QueryResult, Value};
use svc_core::{Error, OrganisationId, Result, UserId};
use svc_data::UnitOfWork;
use svc_database::{Database, column, database_error};
use time::OffsetDateTime;

use super::Which;
use super::elsewhere::BegunElsewhere;
use super::session::{Method, Session};
use crate::ids::SessionId;

const COLUMNS: &str = "id, user_id, organisation_id, authenticated_at, methods, created_at, \
                       used_at, ends_at, user_agent, address";

/// Whether somebody who isn't disabled is a member of an organisation.
pub(super) async fn is_member(
    uow: &UnitOfWork,
    user: UserId,
    organisation: OrganisationId,
) -> Result<bool> {
    let statement = uow.context().database().statement(
        "SELECT 1 FROM identity_memberships m JOIN identity_users u ON u.id = m.user_id \
         WHERE m.user_id = ? AND m.organisation_id = ? AND u.disabled_at IS NULL",
        [user.0.into(), organisation.0.into()],
    );
    Ok(!uow.rows(statement).await?.is_empty())
}

/// The same of who has the password that was set at this time, which stays as it is until the unit of work
/// ends.
pub(super) async fn hold_member(
    uow: &UnitOfWork,
    user: UserId,
    organisation: OrganisationId,
    password_us: i64,
) -> Result<bool> {
    // Writing locks the row on both databases; who changes the password waits, or has been first.
    let statement = uow.context().database().statement(
        "UPDATE identity_passwords SET changed_at_us = changed_at_us \
         WHERE user_id = ? AND changed_at_us = ? AND EXISTS (SELECT 1 FROM identity_memberships m \
         JOIN identity_users u ON u.id = m.user_id WHERE m.user_id = identity_passwords.user_id \
         AND m.organisation_id = ? AND u.disabled_at IS NULL)",
        [user.0.into(), password_us.into(), organisation.0.into()],
    );
    Ok(uow.execute(statement).await? == 1)
}

pub(super) async fn insert(uow: &UnitOfWork, session: &Session, hash: [u8; 32]) -> Result<()> {
    let sql = format!(
        "INSERT INTO identity_sessions ({COLUMNS}, token_hash) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    );
    let values: [Value; 11] = [
        session.id.0.into(),
        session.user.0.into(),
        session.organisation.0.into(),
        session.authenticated_at.into(),
        names(&session.methods).into(),
        session.created_at.into(),
        session.used_at.into(),
        session.ends_at.into(),
        session.user_agent.clone().into(),
        session.address.map(|address| address.to_string()).into(),
        hash.to_vec().into(),
    ];
    uow.execute(uow.context().database().statement(&sql, values)).await.map(drop)
}

/// The session with this hash, of somebody who isn't disabled.
pub(super) async fn by_hash(database: &Database, hash: [u8; 32]) -> Result<Option<Session>> {
    one(database, "token_hash", hash.to_vec().into()).await
}

/// The session with this id, of somebody who isn't disabled.
pub(super) async fn by_id(database: &Database, id: SessionId) -> Result<Option<Session>> {
    one(database, "id", id.0.into()).await
}

async fn one(database: &Database, column: &str, value: Value) -> Result<Option<Session>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM identity_sessions WHERE {column} = ? AND NOT EXISTS \
         (SELECT 1 FROM identity_users u WHERE u.id = user_id AND u.disabled_at IS NOT NULL)"
    );
    let rows = database.rows(database.statement(&sql, [value])).await?;
    rows.first().map(read).transpose()
}

/// The sessions of a person, the youngest first.
pub(super) async fn of_user(database: &Database, user: UserId) -> Result<Vec<Session>> {
    let sql = format!("SELECT {COLUMNS} FROM identity_sessions WHERE user_id = ? ORDER BY id DESC");
    let rows = database.rows(database.statement(&sql, [user.0.into()])).await?;
    rows.iter().map(read).collect()
}

pub(super) async fn choose(
    uow: &UnitOfWork,
    id: SessionId,
    organisation: OrganisationId,
) -> Result<()> {
    let statement = uow.context().database().statement(
        "UPDATE identity_sessions SET organisation_id = ? WHERE id = ?",
        [organisation.0.into(), id.0.into()],
    );
    uow.execute(statement).await.map(drop)
}

pub(super) async fn confirm(
    uow: &UnitOfWork,
    id: SessionId,
    methods: &[Method],
    now: OffsetDateTime,
) -> Result<()> {
    let statement = uow.context().database().statement(
        "UPDATE identity_sessions SET methods = ?, authenticated_at = ? WHERE id = ?",
        [names(methods).into(), now.into(), id.0.into()],
    );
    uow.execute(statement).await.map(drop)
}

/// Sessions that are gone, with their person.
type Ended = Vec<(SessionId, UserId)>;

pub(super) async fn delete(uow: &UnitOfWork, user: UserId, id: SessionId) -> Result<Ended> {
    delete_where(uow, "user_id = ? AND id = ?", vec![user.0.into(), id.0.into()]).await
}

pub(super) async fn delete_by_hash(uow: &UnitOfWork, hash: [u8; 32]) -> Result<Ended> {
    delete_where(uow, "token_hash = ?", vec![hash.to_vec().into()]).await
}

pub(super) async fn delete_all(
    uow: &UnitOfWork,
    user: UserId,
    except: Option<SessionId>,
) -> Result<Ended> {
    match except {
        Some(kept) => {
            let values = vec![user.0.into(), kept.0.into()];
            delete_where(uow, "user_id = ? AND id <> ?", values).await
        }
        None => delete_where(uow, "user_id = ?", vec![user.0.into()]).await,
    }
}

/// Deletes sessions of a person that are in an organisation.
pub(super) async fn delete_in(
    uow: &UnitOfWork,
    user: UserId,
    organisation: OrganisationId,
    which: Which,
) -> Result<Ended> {
    let mut values: Vec<Value> = vec![user.0.into(), organisation.0.into()];
    let condition = match which {
        Which::One(id) => {
            values.push(id.0.into());
            "user_id = ? AND organisation_id = ? AND id = ?"
        }
        Which::AllBut(Some(kept)) => {
            values.push(kept.0.into());
            "user_id = ? AND organisation_id = ? AND id <> ?"
        }
        Which::AllBut(None) => "user_id = ? AND organisation_id = ?",
    };
    delete_where(uow, condition, values).await
}

/// Deletes all but the sessions of a person that were used last, so many of them.
pub(super) async fn delete_surplus(uow: &UnitOfWork, user: UserId, kept: u64) -> Result<Ended> {
    let condition = format!(
        "user_id = ? AND id NOT IN (SELECT id FROM identity_sessions WHERE user_id = ? \
         ORDER BY used_at DESC, id DESC LIMIT {kept})"
    );
    delete_where(uow, &condition, vec![user.0.into(), user.0.into()]).await
}

/// Deletes the sessions that were begun by an account elsewhere; those of a person follow one another.
pub(super) async fn delete_begun_elsewhere(
    uow: &UnitOfWork,
    begun: BegunElsewhere<'_>,
) -> Result<Ended> {
    let before = OffsetDateTime::from_unix_timestamp(begun.before_s)
        .map_err(|error| Error::invalid("a time can't be read").caused_by(error))?;
    let mut condition = "issuer = ?".to_owned();
    let mut values: Vec<Value> = vec![before.into(), begun.issuer.into()];
    if let Some(subject) = begun.subject {
        condition.push_str(" AND subject = ?");
        values.push(subject.into());
    }
    if let Some(sid) = begun.sid {
        condition.push_str(match begun.subject {
            Some(_) => " AND (sid = ? OR sid IS NULL)",
            None => " AND sid = ?",
        });
        values.push(sid.into());
    }
    let condition = format!(
        "created_at <= ? AND id IN \
         (SELECT session_id FROM identity_external_sessions WHERE {condition})"
    );
    let mut ended = delete_where(uow, &condition, values).await?;
    ended.sort_by_key(|(_, user)| user.0);
    Ok(ended)
}

async fn delete_where(uow: &UnitOfWork, condition: &str, values: Vec<Value>) -> Result<Ended> {
    let database = uow.context().database();
    let sql = database.backend().delete_in_order("identity_sessions", condition);
    let statement = database.statement(&format!("{sql} RETURNING id, user_id"), values);
    let rows = uow.rows(statement).await?;
    rows.iter().map(|row| Ok((SessionId(column(row, 0)?), UserId(column(row, 1)?)))).collect()
}

/// Notes when sessions were last used.
pub(super) async fn touch(database: &Database, uses: &[(SessionId, OffsetDateTime)]) -> Result<()> {
    use sea_orm::ConnectionTrait as _;
    if uses.is_empty() {
        return Ok(());
    }
    let transaction = database.begin().await?;
    for (id, used_at) in uses {
        let statement = database.statement(
            "UPDATE identity_sessions SET used_at = ? WHERE id = ? AND used_at < ?",
            [(*used_at).into(), id.0.into(), (*used_at).into()],
        );
        transaction.execute_raw(statement).await.map_err(database_error)?;
    }
    transaction.commit().await
}

/// Deletes the sessions whose time is over, or that were not used since `unused`.
pub(super) async fn delete_ended(
    database: &Database,
    now: OffsetDateTime,
    unused: OffsetDateTime,
) -> Result<u64> {
    let condition = "ends_at <= ? OR used_at <= ?";
    let sql = database.backend().delete_unheld("identity_sessions", "id", condition);
    database.execute(database.statement(&sql, [now.into(), unused.into()])).await
}

fn names(methods: &[Method]) -> String {
    methods.iter().map(|method| method.as_str()).collect::<Vec<_>>().join(" ")
}

fn read(row: &QueryResult) -> Result<Session> {
    let methods: String = column(row, 4)?;
    let address: Option<String> = column(row, 9)?;
    Ok(Session {
        id: SessionId(column(row, 0)?),
        user: UserId(column(row, 1)?),
        organisation: OrganisationId(column(row, 2)?),
        authenticated_at: column(row, 3)?,
        methods: methods.split(' ').filter_map(Method::parse).collect(),
        created_at: column(row, 5)?,
        used_at: column(row, 6)?,
        ends_at: column(row, 7)?,
        user_agent: column(row, 8)?,
        address: address.and_then(|address| address.parse().ok()),
    })
}
