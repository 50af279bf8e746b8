//! The statements of sessions.

use sea_orm::{QueryResult, Value};
use svc_core::{Error, KeyRing, Result, hex};
use svc_data::UnitOfWork;
use svc_database::{Database, column, database_error};

use crate::session::{Session, SessionHash, Tokens};

const COLUMNS: &str = "id, issuer, subject, provider_session, tokens, generation, \
                       tokens_end_at_us, used_at_us, ends_at_us";

pub(crate) async fn insert(uow: &UnitOfWork, ring: &KeyRing, session: &Session) -> Result<()> {
    let sql = format!(
        "INSERT INTO bff_sessions ({COLUMNS}, claimed_until_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"
    );
    let values: [Value; 9] = [
        session.id.to_vec().into(),
        session.issuer.clone().into(),
        session.subject.clone().into(),
        session.sid.clone().into(),
        seal(ring, &session.id, &session.tokens)?.into(),
        session.generation.into(),
        session.tokens_end_at_us.into(),
        session.used_at_us.into(),
        session.ends_at_us.into(),
    ];
    execute(uow, &sql, values).await
}

pub(crate) async fn find(
    database: &Database,
    ring: &KeyRing,
    id: &SessionHash,
) -> Result<Option<Session>> {
    let sql = format!("SELECT {COLUMNS} FROM bff_sessions WHERE id = ?");
    let rows = database.rows(database.statement(&sql, [id.to_vec().into()])).await?;
    rows.first().map(|row| read(ring, row)).transpose()
}

/// The session as it is now; nobody else changes it until the unit of work ends.
pub(crate) async fn lock(
    uow: &UnitOfWork,
    ring: &KeyRing,
    id: &SessionHash,
) -> Result<Option<Session>> {
    let database = uow.context().database();
    let lock = database.backend().locking(" FOR UPDATE");
    let sql = format!("SELECT {COLUMNS} FROM bff_sessions WHERE id = ?{lock}");
    let rows = uow.rows(database.statement(&sql, [id.to_vec().into()])).await?;
    rows.first().map(|row| read(ring, row)).transpose()
}

pub(crate) async fn put_tokens(uow: &UnitOfWork, ring: &KeyRing, session: &Session) -> Result<()> {
    let sql = "UPDATE bff_sessions SET tokens = ?, generation = ?, tokens_end_at_us = ?, \
               claimed_until_us = 0 WHERE id = ?";
    let values: [Value; 4] = [
        seal(ring, &session.id, &session.tokens)?.into(),
        session.generation.into(),
        session.tokens_end_at_us.into(),
        session.id.to_vec().into(),
    ];
    execute(uow, sql, values).await
}

/// Claims the renewal of a session whose tokens nobody has renewed; false where somebody else has it, or
/// did it.
pub(crate) async fn claim(
    database: &Database,
    session: &Session,
    now_us: i64,
    until_us: i64,
) -> Result<bool> {
    let sql = "UPDATE bff_sessions SET claimed_until_us = ? \
               WHERE id = ? AND generation = ? AND claimed_until_us <= ?";
    let values: [Value; 4] =
        [until_us.into(), session.id.to_vec().into(), session.generation.into(), now_us.into()];
    Ok(database.execute(database.statement(sql, values)).await? > 0)
}

/// Gives a claim back, of which nothing came.
pub(crate) async fn give_back(database: &Database, id: &SessionHash) -> Result<()> {
    let sql = "UPDATE bff_sessions SET claimed_until_us = 0 WHERE id = ?";
    database.execute(database.statement(sql, [id.to_vec().into()])).await.map(drop)
}

pub(crate) async fn delete(uow: &UnitOfWork, id: &SessionHash) -> Result<()> {
    execute(uow, "DELETE FROM bff_sessions WHERE id = ?", [id.to_vec().into()]).await
}

/// What an issuer says has ended: a session by its name there, all of a person, or one of a person, which a
/// session without a name might be.
pub(crate) struct Named<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) subject: Option<&'a str>,
    pub(crate) sid: Option<&'a str>,
    /// Sessions that last longer were begun later.
    pub(crate) ends_before_us: i64,
}

/// Deletes what an issuer names, and says how many sessions that were.
pub(crate) async fn delete_named(uow: &UnitOfWork, named: &Named<'_>) -> Result<u64> {
    let mut sql = "DELETE FROM bff_sessions WHERE issuer = ? AND ends_at_us <= ?".to_owned();
    let mut values: Vec<Value> = vec![named.issuer.into(), named.ends_before_us.into()];
    if let Some(subject) = named.subject {
        sql.push_str(" AND subject = ?");
        values.push(subject.into());
    }
    if let Some(sid) = named.sid {
        sql.push_str(match named.subject {
            Some(_) => " AND (provider_session = ? OR provider_session IS NULL)",
            None => " AND provider_session = ?",
        });
        values.push(sid.into());
    }
    uow.execute(uow.context().database().statement(&sql, values)).await
}

/// Notes when sessions were last used.
pub(crate) async fn touch(database: &Database, uses: &[(SessionHash, i64)]) -> Result<()> {
    use sea_orm::ConnectionTrait as _;
    if uses.is_empty() {
        return Ok(());
    }
    let transaction = database.begin().await?;
    for (id, used_at_us) in uses {
        let statement = database.statement(
            "UPDATE bff_sessions SET used_at_us = ? WHERE id = ? AND used_at_us < ?",
            [(*used_at_us).into(), id.to_vec().into(), (*used_at_us).into()],
        );
        transaction.execute_raw(statement).await.map_err(database_error)?;
    }
    transaction.commit().await
}

/// Deletes at most `most` sessions that are over, or that were not used since `unused_us`.
pub(crate) async fn sweep(
    database: &Database,
    now_us: i64,
    unused_us: i64,
    most: u64,
) -> Result<u64> {
    let condition = format!("ends_at_us <= ? OR used_at_us <= ? LIMIT {most}");
    let sql = database.backend().delete_unheld("bff_sessions", "id", &condition);
    database.execute(database.statement(&sql, [now_us.into(), unused_us.into()])).await
}

async fn execute(
    uow: &UnitOfWork,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<()> {
    uow.execute(uow.context().database().statement(sql, values)).await.map(drop)
}

fn purpose(id: &SessionHash) -> String {
    format!("bff.session:{}", hex(id))
}

fn seal(ring: &KeyRing, id: &SessionHash, tokens: &Tokens) -> Result<String> {
    let text = serde_json::to_vec(tokens)
        .map_err(|error| Error::internal("tokens can't be kept").caused_by(error))?;
    Ok(ring.protect(&purpose(id), &text))
}

fn read(ring: &KeyRing, row: &QueryResult) -> Result<Session> {
    let unreadable = || Error::internal("a kept sign-in can't be read");
    let id: Vec<u8> = column(row, 0)?;
    let id: SessionHash = id.try_into().map_err(|_| unreadable())?;
    let sealed: String = column(row, 4)?;
    let tokens = ring.reveal(&purpose(&id), &sealed)?;
    Ok(Session {
        id,
        issuer: column(row, 1)?,
        subject: column(row, 2)?,
        sid: column(row, 3)?,
        tokens: serde_json::from_slice(&tokens).map_err(|error| unreadable().caused_by(error))?,
        generation: column(row, 5)?,
        tokens_end_at_us: column(row, 6)?,
        used_at_us: column(row, 7)?,
        ends_at_us: column(row, 8)?,
    })
}
