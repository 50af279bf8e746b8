//! The statements of grants, codes and refresh tokens.
//!
//! Whoever ends a grant locks it and then, by the cascade, the codes and tokens that hang on it. So whoever uses
//! one of those up holds its grant first ([`hold`]): the other way round, a renewal and a sign-out at the same
//! moment would wait for each other until PostgreSQL broke one of them off. Several grants are locked in the order
//! of their ids, and the sweep waits for nobody.

use sea_orm::{QueryResult, Value};
use svc_core::{OrganisationId, Result, UserId};
use svc_data::UnitOfWork;
use svc_database::{Database, column};
use uuid::Uuid;

use crate::ids::{ClientId, SessionId};

/// The topic by which nodes tell each other that grants have ended.
pub(super) const TOPIC: &str = "identity.grants";

const COLUMNS: &str = "id, client_id, user_id, organisation_id, session_id, is_offline, scope, \
                       methods, authenticated_at_us, ends_at_us, issuer, wants_logout";

/// What a person has let a client do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) id: Uuid,
    pub(super) client: String,
    pub(super) user: UserId,
    pub(super) organisation: OrganisationId,
    pub(super) session: SessionId,
    /// Whether it stays when the session ends.
    pub(super) is_offline: bool,
    /// Names with a space between them.
    pub(super) scope: String,
    /// Values of `amr` with a space between them.
    pub(super) methods: String,
    pub(super) authenticated_at_us: i64,
    pub(super) ends_at_us: i64,
    /// Who the provider was when it was made.
    pub(super) issuer: String,
    /// Whether its client is told when the session ends.
    pub(super) wants_logout: bool,
}

/// A client that is told when a session ends.
pub(super) struct Hearer {
    pub(super) client: String,
    pub(super) issuer: String,
    pub(super) organisation: OrganisationId,
}

impl Grant {
    /// Whether it is for a scope.
    pub(super) fn has_scope(&self, name: &str) -> bool {
        self.scope.split(' ').any(|each| each == name)
    }
}

/// A code as it is stored.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) grant: Uuid,
    pub(super) redirect_uri: String,
    pub(super) challenge: String,
    pub(super) nonce: Option<String>,
    pub(super) expires_at_us: i64,
}

/// A refresh token as it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct RefreshToken {
    pub(super) grant: Uuid,
    pub(super) expires_at_us: i64,
}

pub(super) async fn insert(uow: &UnitOfWork, grant: &Grant, now_us: i64) -> Result<()> {
    let sql = format!(
        "INSERT INTO identity_grants ({COLUMNS}, created_at_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    );
    let values: [Value; 13] = [
        grant.id.into(),
        grant.client.clone().into(),
        grant.user.0.into(),
        grant.organisation.0.into(),
        grant.session.0.into(),
        grant.is_offline.into(),
        grant.scope.clone().into(),
        grant.methods.clone().into(),
        grant.authenticated_at_us.into(),
        grant.ends_at_us.into(),
        grant.issuer.clone().into(),
        grant.wants_logout.into(),
        now_us.into(),
    ];
    execute(uow, &sql, values).await.map(drop)
}

pub(super) async fn insert_code(uow: &UnitOfWork, hash: [u8; 32], code: &Code) -> Result<()> {
    let sql = "INSERT INTO identity_codes (code_hash, grant_id, redirect_uri, challenge, nonce, \
               expires_at_us) VALUES (?, ?, ?, ?, ?, ?)";
    let values: [Value; 6] = [
        hash.to_vec().into(),
        code.grant.into(),
        code.redirect_uri.clone().into(),
        code.challenge.clone().into(),
        code.nonce.clone().into(),
        code.expires_at_us.into(),
    ];
    execute(uow, sql, values).await.map(drop)
}

pub(super) async fn insert_refresh_token(
    uow: &UnitOfWork,
    hash: [u8; 32],
    grant: Uuid,
    expires_at_us: i64,
) -> Result<()> {
    let sql = "INSERT INTO identity_refresh_tokens (token_hash, grant_id, expires_at_us) \
               VALUES (?, ?, ?)";
    let values = [hash.to_vec().into(), grant.into(), expires_at_us.into()];
    execute(uow, sql, values).await.map(drop)
}

/// A code, whether it was used or not.
pub(super) async fn code(uow: &UnitOfWork, hash: [u8; 32]) -> Result<Option<Code>> {
    let sql = "SELECT grant_id, redirect_uri, challenge, nonce, expires_at_us FROM identity_codes \
               WHERE code_hash = ?";
    let found = rows(uow, sql, [hash.to_vec().into()]).await?;
    let read = |row| {
        Ok(Code {
            grant: column(row, 0)?,
            redirect_uri: column(row, 1)?,
            challenge: column(row, 2)?,
            nonce: column(row, 3)?,
            expires_at_us: column(row, 4)?,
        })
    };
    found.first().map(read).transpose()
}

/// Uses up a code whose grant is held, and says whether nobody had before.
pub(super) async fn use_code(uow: &UnitOfWork, hash: [u8; 32], now_us: i64) -> Result<bool> {
    let sql = "UPDATE identity_codes SET used_at_us = ? WHERE code_hash = ? AND used_at_us IS NULL";
    Ok(execute(uow, sql, [now_us.into(), hash.to_vec().into()]).await? == 1)
}

/// A refresh token, whether it was used or not.
pub(super) async fn refresh_token(
    uow: &UnitOfWork,
    hash: [u8; 32],
) -> Result<Option<RefreshToken>> {
    let sql = "SELECT grant_id, expires_at_us FROM identity_refresh_tokens WHERE token_hash = ?";
    let found = rows(uow, sql, [hash.to_vec().into()]).await?;
    let read = |row| Ok(RefreshToken { grant: column(row, 0)?, expires_at_us: column(row, 1)? });
    found.first().map(read).transpose()
}

/// Uses up a refresh token whose grant is held, and says whether nobody had before.
pub(super) async fn use_refresh_token(
    uow: &UnitOfWork,
    hash: [u8; 32],
    now_us: i64,
) -> Result<bool> {
    let sql = "UPDATE identity_refresh_tokens SET used_at_us = ? \
               WHERE token_hash = ? AND used_at_us IS NULL";
    Ok(execute(uow, sql, [now_us.into(), hash.to_vec().into()]).await? == 1)
}

/// A grant, which nobody else ends or uses anything of until the unit of work does end.
pub(super) async fn hold(uow: &UnitOfWork, id: Uuid) -> Result<Option<Grant>> {
    let lock = uow.context().database().backend().locking(" FOR UPDATE");
    living(&rows(uow, &by_id(lock), [id.into()]).await?)
}

/// A grant, outside of a unit of work.
pub(super) async fn load(database: &Database, id: Uuid) -> Result<Option<Grant>> {
    living(&database.rows(database.statement(&by_id(""), [id.into()])).await?)
}

/// Finds a grant by its id: what [`read`] takes, and whether it still gives anything. One that outlives its session
/// ends when the person's password is changed: whoever knew the old one may have made it.
fn by_id(lock: &str) -> String {
    format!(
        "SELECT {COLUMNS}, (NOT is_offline OR NOT EXISTS (SELECT 1 FROM identity_passwords p \
         WHERE p.user_id = identity_grants.user_id \
         AND p.changed_at_us > identity_grants.authenticated_at_us)) \
         FROM identity_grants WHERE id = ?{lock}"
    )
}

/// What [`by_id`] has found, where it still gives anything.
fn living(found: &[QueryResult]) -> Result<Option<Grant>> {
    match found.first() {
        Some(row) if column(row, 12)? => read(row).map(Some),
        _ => Ok(None),
    }
}

/// Ends a grant, with all that hangs on it.
pub(super) async fn end(uow: &UnitOfWork, id: Uuid) -> Result<()> {
    end_where(uow, "id = ?", vec![id.into()]).await.map(drop)
}

/// Ends the grants of a condition, and says which they were.
async fn end_where(uow: &UnitOfWork, condition: &str, values: Vec<Value>) -> Result<Vec<Uuid>> {
    let backend = uow.context().database().backend();
    let sql = backend.delete_in_order("identity_grants", condition);
    let ended = rows(uow, &format!("{sql} RETURNING id"), values).await?;
    uow.wake_after_commit(TOPIC);
    ended.iter().map(|row| column(row, 0)).collect()
}

/// What a registered client has of a person, as the person sees it, and whoever manages people.
pub(crate) struct Given {
    pub(crate) id: Uuid,
    pub(crate) client: ClientId,
    pub(crate) session: SessionId,
    /// Whether it stays when the session ends.
    pub(crate) is_offline: bool,
    pub(crate) created_at_us: i64,
    /// When the client last asked for tokens.
    pub(crate) used_at_us: i64,
    pub(crate) ends_at_us: i64,
}

/// What clients that an organisation has registered have of a person, the youngest first; a part of the
/// application goes with the session. What outlives a session is left out where the client can't renew it.
pub(crate) async fn given_by(
    database: &Database,
    user: UserId,
    organisation: OrganisationId,
    now_us: i64,
) -> Result<Vec<Given>> {
    let statement = database.statement(
        "SELECT g.id, g.client_id, g.session_id, g.is_offline, g.created_at_us, g.ends_at_us, \
         (SELECT MAX(t.used_at_us) FROM identity_refresh_tokens t WHERE t.grant_id = g.id) \
         FROM identity_grants g WHERE g.user_id = ? AND g.organisation_id = ? AND g.ends_at_us > ? \
         AND (NOT g.is_offline OR (EXISTS (SELECT 1 FROM identity_refresh_tokens t \
         WHERE t.grant_id = g.id AND t.used_at_us IS NULL AND t.expires_at_us > ?) \
         AND NOT EXISTS (SELECT 1 FROM identity_passwords p WHERE p.user_id = g.user_id \
         AND p.changed_at_us > g.authenticated_at_us))) ORDER BY g.id DESC",
        [user.0.into(), organisation.0.into(), now_us.into(), now_us.into()],
    );
    let mut given = Vec::new();
    for row in database.rows(statement).await? {
        let client: String = column(&row, 1)?;
        // The name of a registered client is an id, and that of a part is none.
        let Ok(client) = client.parse() else { continue };
        let created_at_us = column(&row, 4)?;
        given.push(Given {
            id: column(&row, 0)?,
            client: ClientId(client),
            session: SessionId(column(&row, 2)?),
            is_offline: column(&row, 3)?,
            created_at_us,
            used_at_us: column::<Option<i64>>(&row, 6)?.unwrap_or(created_at_us),
            ends_at_us: column(&row, 5)?,
        });
    }
    Ok(given)
}

/// Ends what outlives the sessions of a person, in one organisation or in all of them, all or one, and says what it was.
pub(crate) async fn end_offline(
    uow: &UnitOfWork,
    user: UserId,
    organisation: Option<OrganisationId>,
    only: Option<Uuid>,
) -> Result<Vec<Uuid>> {
    let mut condition = "user_id = ? AND is_offline = ?".to_owned();
    let mut values: Vec<Value> = vec![user.0.into(), true.into()];
    if let Some(organisation) = organisation {
        condition.push_str(" AND organisation_id = ?");
        values.push(organisation.0.into());
    }
    if let Some(only) = only {
        condition.push_str(" AND id = ?");
        values.push(only.into());
    }
    end_where(uow, &condition, values).await
}

/// Ends the grants of a session, and says which clients are to be told.
pub(super) async fn end_of_session(uow: &UnitOfWork, session: SessionId) -> Result<Vec<Hearer>> {
    let sql = "SELECT DISTINCT client_id, issuer, organisation_id FROM identity_grants \
               WHERE session_id = ? AND wants_logout = ?";
    let hearers = rows(uow, sql, [session.0.into(), true.into()]).await?;
    end_where(uow, "session_id = ? AND is_offline = ?", vec![session.0.into(), false.into()])
        .await?;
    let read = |row: &QueryResult| {
        let organisation = OrganisationId(column(row, 2)?);
        Ok(Hearer { client: column(row, 0)?, issuer: column(row, 1)?, organisation })
    };
    hearers.iter().map(read).collect()
}

/// Has all nodes look anew at grants that outlive their sessions: the password has been changed, with which they end.
pub(crate) fn password_changed(uow: &UnitOfWork) {
    uow.wake_after_commit(TOPIC);
}

/// Goes on in another organisation of the person: parts of the application follow their session. A client
/// that an organisation has registered is for this one alone, and stays there.
pub(crate) async fn follow(
    uow: &UnitOfWork,
    session: SessionId,
    organisation: OrganisationId,
) -> Result<()> {
    let sql = "SELECT id, client_id FROM identity_grants WHERE session_id = ?";
    for row in rows(uow, sql, [session.0.into()]).await? {
        let (id, client): (Uuid, String) = (column(&row, 0)?, column(&row, 1)?);
        // The name of a registered client is an id, and that of a part is none.
        if client.parse::<Uuid>().is_err() {
            let sql = "UPDATE identity_grants SET organisation_id = ? WHERE id = ?";
            execute(uow, sql, [organisation.0.into(), id.into()]).await?;
        }
    }
    uow.wake_after_commit(TOPIC);
    Ok(())
}

/// Ends all grants of a client.
pub(super) async fn end_of_client(uow: &UnitOfWork, client: &str) -> Result<()> {
    end_where(uow, "client_id = ?", vec![client.into()]).await.map(drop)
}

/// Deletes grants whose time is over, or whose session is gone, and used-up tokens, at most `most` of
/// each.
pub(super) async fn sweep(database: &Database, now_us: i64, most: u64) -> Result<u64> {
    let is_over = "ends_at_us <= ? OR (is_offline = ? AND wants_logout = ? AND NOT EXISTS \
                   (SELECT 1 FROM identity_sessions s WHERE s.id = identity_grants.session_id))";
    let sweeps: [(&str, &str, &str, Vec<Value>); 3] = [
        ("identity_grants", "id", is_over, vec![now_us.into(), false.into(), false.into()]),
        ("identity_refresh_tokens", "token_hash", "expires_at_us <= ?", vec![now_us.into()]),
        ("identity_codes", "code_hash", "expires_at_us <= ?", vec![now_us.into()]),
    ];
    let mut done = 0;
    for (table, key, condition, values) in sweeps {
        let some = format!("{condition} LIMIT {most}");
        let sql = database.backend().delete_unheld(table, key, &some);
        done += database.execute(database.statement(&sql, values)).await?;
    }
    Ok(done)
}

async fn rows(
    uow: &UnitOfWork,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<Vec<QueryResult>> {
    uow.rows(uow.context().database().statement(sql, values)).await
}

async fn execute(
    uow: &UnitOfWork,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Result<u64> {
    uow.execute(uow.context().database().statement(sql, values)).await
}

fn read(row: &QueryResult) -> Result<Grant> {
    Ok(Grant {
        id: column(row, 0)?,
        client: column(row, 1)?,
        user: UserId(column(row, 2)?),
        organisation: OrganisationId(column(row, 3)?),
        session: SessionId(column(row, 4)?),
        is_offline: column(row, 5)?,
        scope: column(row, 6)?,
        methods: column(row, 7)?,
        authenticated_at_us: column(row, 8)?,
        ends_at_us: column(row, 9)?,
        issuer: column(row, 10)?,
        wants_logout: column(row, 11)?,
    })
}
