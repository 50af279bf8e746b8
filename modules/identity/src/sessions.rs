//! Sessions: where a person is signed in, in which browser, for which organisation.
//!
//! A session is what the account pages and the `OpenID` provider know a browser by. Applications and
//! programs have tokens of the provider instead, which carry the session's id (`sid`) and end with it.
//!
//! | What happens | Who | What is left of the session |
//! | --- | --- | --- |
//! | the person proves who it is | [`begin`] | a new one; the one that this browser had is ended |
//! | a request | [`of`], [`by_id`] | its sliding end moves; noted in memory, stored once a minute |
//! | another organisation is chosen | [`choose`] | the same, for that organisation, with what the browser host has of it |
//! | the person proves it again | [`confirm`] | the same, authenticated anew |
//! | sign-out, or ended from the list | [`end`] | nothing |
//! | whoever manages people ends it in its organisation | [`crate::users::sign_out`] | nothing |
//! | the password changes, the person is disabled | [`end_all`] | nothing, perhaps but the one at hand |
//! | the person leaves the organisation | the database | nothing |
//! | no use for `Svc:Auth:SessionIdleTime`, or `Svc:Auth:SessionLifetime` is over | the clock | a row, until it is swept |
//!
//! A crash loses at most the last minute of use. On other nodes a session has ended within
//! `Svc:Identity:CacheLifetime`, and at once where the wake-up arrives.
//!
//! # The cookie
//!
//! `__Host-svc-session` holds 256 random bits, of which the database has the SHA-256. The prefix makes
//! a browser refuse it for another host, another path or without TLS, so no neighbouring site can toss
//! one in. On a plain-http loopback address, where browsers may refuse that, it is `svc-session`; it
//! counts on no other address. A session never takes over a value that a browser brought along.
//!
//! ```text
//! let (session, cookie) = sessions::begin(&app, NewSession { user, organisation, methods, browser }).await?;
//! let answer = ([cookie.header()], Redirect::to("/")).into_response();
//! // Later, from the headers of any request:
//! let Some(session) = sessions::of(&app, &headers).await? else { /* sign in first */ };
//! let principal = session.principal(&app).await?;
//! ```

mod cookie;
mod elsewhere;
pub(crate) mod session;
mod store;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use svc_core::{App, Cache, Clock, Error, OrganisationId, Result, UserId, random_token};
use svc_data::{Context, UnitOfWork};
use svc_database::Database;
use svc_events::Publish as _;
use time::OffsetDateTime;

use crate::audit;
pub use crate::ids::SessionId;
use crate::presented::hash;
use crate::provider::grants;
use crate::settings::{AuthSettings, IdentitySettings};

pub use cookie::{SessionCookie, is_plain_loopback};
pub(crate) use cookie::{cookie, set_cookie};
pub(crate) use elsewhere::{BegunElsewhere, Elsewhere, begun_by};
pub use session::{Method, Session};

/// The topic by which nodes tell each other that sessions have changed or ended.
const TOPIC: &str = "identity.sessions";

/// How often the use of a session is stored at most.
const USE_INTERVAL: Duration = Duration::from_mins(1);

/// Sessions that one person has at most; a further one ends the one that was not used for longest.
const MOST: u64 = 50;

/// The longest description of a browser that is kept, in characters.
const USER_AGENT: usize = 300;

/// The browser that asks: what people recognise a session by, and what names its cookie.
#[derive(Clone, Copy, Debug)]
pub struct Browser<'a> {
    /// The headers of the request.
    pub headers: &'a HeaderMap,
    /// The address of the connection; behind a proxy it is the proxy's.
    pub address: Option<IpAddr>,
}

/// What a new session is to be.
#[derive(Clone, Debug)]
pub struct NewSession<'a> {
    /// The person, who has proved who it is just now.
    pub user: UserId,
    /// One of the person's organisations.
    pub organisation: OrganisationId,
    /// By what it was proved.
    pub methods: Vec<Method>,
    /// Where.
    pub browser: Browser<'a>,
}

/// Sessions were ended, by the person or for it: whoever gave tokens for them takes them back.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionsEnded {
    /// The person.
    pub user: UserId,
    /// The sessions.
    pub sessions: Vec<SessionId>,
}

/// Begins a session, and ends the one that this browser had. The cookie must reach the browser with
/// the answer.
///
/// # Errors
///
/// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for who is no member of the organisation.
pub async fn begin(app: &App, new: NewSession<'_>) -> Result<(Session, SessionCookie)> {
    begin_by(app, new, None, None).await
}

/// The same for who has proved it by the password that was set at `password_us`, or by an account at another
/// issuer.
///
/// # Errors
///
/// As [`begin`]; [`ErrorKind::Unauthenticated`](svc_core::ErrorKind::Unauthenticated) where the person has
/// another password by now.
pub(crate) async fn begin_by(
    app: &App,
    new: NewSession<'_>,
    password_us: Option<i64>,
    elsewhere: Option<&Elsewhere>,
) -> Result<(Session, SessionCookie)> {
    let sessions = app.service::<Sessions>()?;
    let token = random_token::<32>();
    let now = app.clock().now();
    let session = Session {
        id: SessionId(app.clock().new_id()),
        user: new.user,
        organisation: new.organisation,
        authenticated_at: now,
        methods: new.methods,
        created_at: now,
        used_at: now,
        ends_at: now + sessions.lifetime,
        user_agent: user_agent(new.browser.headers),
        address: new.browser.address,
    };
    let before = cookie::presented(app, new.browser.headers).map(|token| hash(&token));
    let ctx = Context::system_in(app, new.organisation)?;
    ctx.transact(async |uow| {
        admit(&uow, &session, password_us).await?;
        if let Some(before) = before {
            let ended = store::delete_by_hash(&uow, before).await?;
            tell_ended(&uow, ended)?;
        }
        let ended = store::delete_surplus(&uow, session.user, MOST - 1).await?;
        tell_ended(&uow, ended)?;
        store::insert(&uow, &session, hash(&token)).await?;
        if let Some(at) = elsewhere {
            elsewhere::note(&uow, session.id, at).await?;
        }
        audit::signed_in(&uow, &session)
    })
    .await?;
    Ok((session, SessionCookie::new(app, new.browser.headers, &token, sessions.lifetime)))
}

/// Whether the person of a new session may have it, with one statement where that is by a password: it is
/// asked for by every sign-in.
async fn admit(uow: &UnitOfWork, session: &Session, password_us: Option<i64>) -> Result<()> {
    let Session { user, organisation, .. } = *session;
    if let Some(at_us) = password_us
        && store::hold_member(uow, user, organisation, at_us).await?
    {
        return Ok(());
    }
    if !store::is_member(uow, user, organisation).await? {
        return Err(Error::not_found("the person isn't a member of the organisation"));
    }
    match password_us {
        None => Ok(()),
        Some(_) => Err(Error::unauthenticated("the password has been changed; sign in anew")),
    }
}

/// The session of the browser that sent these headers, where it is signed in.
///
/// # Errors
///
/// A fault of the store.
pub async fn of(app: &App, headers: &HeaderMap) -> Result<Option<Session>> {
    let Some(token) = cookie::presented(app, headers) else { return Ok(None) };
    let sessions = app.service::<Sessions>()?;
    let found = store::by_hash(&sessions.database, hash(&token)).await?;
    Ok(sessions.usable(found))
}

/// A session by its id, as long as it holds: whether what was given for it holds still. Counts as use.
///
/// # Errors
///
/// A fault of the store.
pub async fn by_id(app: &App, id: SessionId) -> Result<Option<Session>> {
    let sessions = app.service::<Sessions>()?;
    let mut known = sessions.known.get(&id);
    if known.is_none() {
        let reading = sessions.known.begin();
        known = store::by_id(&sessions.database, id).await?;
        if let Some(found) = &known {
            sessions.known.keep(reading, id, found.clone());
        }
    }
    Ok(sessions.usable(known))
}

/// The sessions of a person that hold, the youngest first.
///
/// # Errors
///
/// A fault of the store.
pub async fn list(app: &App, user: UserId) -> Result<Vec<Session>> {
    let sessions = app.service::<Sessions>()?;
    let now = app.clock().now();
    let mut found = store::of_user(&sessions.database, user).await?;
    found.retain(|session| sessions.is_usable(session, now));
    Ok(found)
}

/// Goes on for another organisation of the person, with the same session. The browser host goes with it: from
/// the next request on, what it asks is asked in that organisation.
///
/// # Errors
///
/// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for who is no member of it.
pub async fn choose(app: &App, session: &Session, organisation: OrganisationId) -> Result<()> {
    let ctx = Context::system_in(app, organisation)?;
    ctx.transact(async |uow| {
        if !store::is_member(&uow, session.user, organisation).await? {
            return Err(Error::not_found("there is no such organisation"));
        }
        store::choose(&uow, session.id, organisation).await?;
        grants::follow(&uow, session.id, organisation).await?;
        uow.wake_after_commit(TOPIC);
        Ok(())
    })
    .await
}

/// Notes that the person of a session has proved anew who it is.
///
/// # Errors
///
/// A fault of the store.
pub async fn confirm(app: &App, session: &Session, methods: &[Method]) -> Result<()> {
    let ctx = Context::system_in(app, session.organisation)?;
    ctx.transact(async |uow| {
        store::confirm(&uow, session.id, methods, app.clock().now()).await?;
        uow.wake_after_commit(TOPIC);
        Ok(())
    })
    .await
}

/// Ends one session of a person; nothing where there is none.
///
/// # Errors
///
/// A fault of the store.
pub async fn end(app: &App, user: UserId, id: SessionId) -> Result<()> {
    let ctx = Context::system(app)?;
    ctx.transact(async |uow| {
        let ended = store::delete(&uow, user, id).await?;
        tell_ended(&uow, ended)
    })
    .await
}

/// Ends sessions of a person that are in the organisation that is acted in, and says which they were.
pub(crate) async fn end_here(
    uow: &UnitOfWork,
    user: UserId,
    which: Which,
) -> Result<Vec<SessionId>> {
    let ended = store::delete_in(uow, user, uow.context().organisation()?, which).await?;
    let ids = ended.iter().map(|(id, _)| *id).collect();
    tell_ended(uow, ended)?;
    Ok(ids)
}

/// Some of the sessions of a person.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    /// This one.
    One(SessionId),
    /// All, but for the one at hand where there is one.
    AllBut(Option<SessionId>),
}

/// Ends the sessions of a person, all but `except`: with the unit of work that changed a password or
/// disabled the person.
///
/// # Errors
///
/// A fault of the store.
pub async fn end_all(uow: &UnitOfWork, user: UserId, except: Option<SessionId>) -> Result<()> {
    let ended = store::delete_all(uow, user, except).await?;
    tell_ended(uow, ended)
}

/// Ends the sessions that were begun so, and says how many they were. Of one that was begun without a name
/// there the account alone decides.
///
/// # Errors
///
/// A fault of the store.
pub(crate) async fn end_begun_elsewhere(app: &App, begun: BegunElsewhere<'_>) -> Result<usize> {
    let ctx = Context::system(app)?;
    ctx.transact(async |uow| {
        let ended = store::delete_begun_elsewhere(&uow, begun).await?;
        let count = ended.len();
        for of_person in ended.chunk_by(|(_, one), (_, other)| one == other) {
            tell_ended(&uow, of_person.to_vec())?;
        }
        Ok(count)
    })
    .await
}

/// The cookie that takes a browser's session away, for the answer to a sign-out.
#[must_use]
pub fn no_cookie(app: &App, headers: &HeaderMap) -> SessionCookie {
    SessionCookie::none(app, headers)
}

fn tell_ended(uow: &UnitOfWork, ended: Vec<(SessionId, UserId)>) -> Result<()> {
    let Some((_, user)) = ended.first().copied() else { return Ok(()) };
    uow.wake_after_commit(TOPIC);
    let sessions = ended.into_iter().map(|(id, _)| id).collect();
    uow.raise_domain(SessionsEnded { user, sessions })
}

/// What a node keeps of sessions.
pub(crate) struct Sessions {
    database: Database,
    clock: Clock,
    idle_time: Duration,
    lifetime: Duration,
    known: Cache<SessionId, Session>,
    /// In an order that every node has: of two that store the same, one waits for the other.
    uses: Mutex<BTreeMap<SessionId, OffsetDateTime>>,
}

impl Sessions {
    pub(crate) fn new(app: &App) -> Result<Self> {
        let (auth, identity) = (app.settings::<AuthSettings>(), app.settings::<IdentitySettings>());
        let entries = usize::try_from(identity.cache_entries).unwrap_or(usize::MAX);
        Ok(Self {
            database: app.service::<Database>()?.essential(),
            clock: app.clock().clone(),
            idle_time: auth.session_idle_time,
            lifetime: auth.session_lifetime,
            known: Cache::new(app, TOPIC, entries, identity.cache_lifetime),
            uses: Mutex::default(),
        })
    }

    /// A session that holds, with its use noted.
    fn usable(&self, found: Option<Session>) -> Option<Session> {
        let now = self.clock.now();
        let session = found.filter(|session| self.is_usable(session, now))?;
        if now - session.used_at >= USE_INTERVAL {
            self.uses().insert(session.id, now);
        }
        Some(session)
    }

    fn is_usable(&self, session: &Session, now: OffsetDateTime) -> bool {
        let noted = self.uses().get(&session.id).copied();
        let used_at = noted.map_or(session.used_at, |noted| noted.max(session.used_at));
        now < session.ends_at && now < used_at + self.idle_time
    }

    /// Stores when sessions were last used, and says how many were.
    pub(crate) async fn store_uses(&self) -> Result<usize> {
        let uses: Vec<_> = self.uses().iter().map(|(id, at)| (*id, *at)).collect();
        store::touch(&self.database, &uses).await?;
        let mut noted = self.uses();
        for (id, at) in &uses {
            // Unless it has been used again meanwhile.
            if noted.get(id) == Some(at) {
                noted.remove(id);
            }
        }
        Ok(uses.len())
    }

    /// Deletes what has ended by itself, and says how much it was.
    pub(crate) async fn sweep(&self) -> Result<u64> {
        let now = self.clock.now();
        store::delete_ended(&self.database, now, now - self.idle_time).await
    }

    fn uses(&self) -> MutexGuard<'_, BTreeMap<SessionId, OffsetDateTime>> {
        self.uses.lock()
    }
}

/// Provides the application with what it keeps of sessions.
pub(crate) fn provide(app: &App) -> Result<()> {
    app.provide(Arc::new(Sessions::new(app)?));
    Ok(())
}

fn user_agent(headers: &HeaderMap) -> String {
    let text = headers.get(http::header::USER_AGENT).and_then(|value| value.to_str().ok());
    text.unwrap_or_default().chars().take(USER_AGENT).collect()
}
