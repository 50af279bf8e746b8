//! What the host keeps while the application runs: sessions at hand, their uses, and who renews tokens.
//!
//! # Renewing
//!
//! | Step | Who | What a crash leaves |
//! | --- | --- | --- |
//! | the access token ends within a minute | the first request of the session on a node | the old tokens |
//! | take the session's place on this node | others of the node wait for it | nothing: it is in memory |
//! | begin, lock the session's row | other nodes wait for the row | nothing |
//! | tokens of a later generation? | take them over | nothing |
//! | ask the provider, store what it gives | one transaction with the provider's own | the old tokens, unused |
//! | commit, call the topic `bff` | every node forgets the old ones | the new tokens |
//!
//! A host before the application asks over the network, and so does it in other steps: `renewal.rs`.
//!
//! Whoever waited finds the new tokens and asks nobody. A request whose token still holds doesn't wait
//! for a renewal that another one has begun.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use http::HeaderMap;
use parking_lot::{Mutex, MutexGuard};
use sha2::{Digest as _, Sha256};
use svc_core::{App, Cache, Clock, Error, ErrorKind, KeyRing, Result, micros};
use svc_data::Context;
use svc_database::Database;

use crate::cookie::{Cookies, SESSION};
use crate::issuer::Issuer;
use crate::names::TOPIC;
use crate::session::{Session, SessionHash};
use crate::settings::BffSettings;
use crate::{renewal, store};

/// How long before its end an access token is renewed.
const BEFORE_END_US: i64 = 60_000_000;

/// How often the use of a session is stored at most.
const USE_INTERVAL_US: i64 = 60_000_000;

/// The most sessions that are at hand.
const MOST: usize = 10_000;

/// How long a cookie's value is: 32 bytes in base64 without padding.
const LENGTH: usize = 43;

/// The host.
pub(crate) struct Host {
    pub(crate) issuer: Issuer,
    /// What is asked for.
    pub(crate) scope: String,
    pub(crate) ring: Arc<KeyRing>,
    pub(crate) database: Database,
    pub(crate) clock: Clock,
    idle_us: i64,
    known: Cache<SessionHash, Arc<Session>>,
    /// In an order that every node has: of two that store the same, one waits for the other.
    uses: Mutex<BTreeMap<SessionHash, i64>>,
    renewing: Mutex<HashMap<SessionHash, Arc<tokio::sync::Mutex<()>>>>,
}

impl Host {
    pub(crate) fn new(app: &App, issuer: Issuer, scope: &str) -> Result<Self> {
        let settings = app.settings::<BffSettings>();
        Ok(Self {
            issuer,
            scope: scope.to_owned(),
            ring: app.service()?,
            database: app.service::<Database>()?.essential(),
            clock: app.clock().clone(),
            idle_us: micros::of_span(settings.idle_timeout),
            known: Cache::new(app, TOPIC, MOST, settings.cache_lifetime),
            uses: Mutex::default(),
            renewing: Mutex::default(),
        })
    }

    /// The session of the browser that sent these headers, with an access token that isn't over.
    ///
    /// # Errors
    ///
    /// A fault of the store.
    pub(crate) async fn session(
        &self,
        app: &App,
        headers: &HeaderMap,
    ) -> Result<Option<Arc<Session>>> {
        let Some(id) = self.presented(headers) else { return Ok(None) };
        let Some(session) = self.find(&id).await? else { return Ok(None) };
        let now_us = self.clock.now_us();
        if !self.is_usable(&session, now_us) {
            return Ok(None);
        }
        self.note_use(&session, now_us);
        let left_us = session.tokens_end_at_us - now_us;
        // What can't be renewed lasts to its end.
        if left_us > BEFORE_END_US || (left_us > 0 && session.tokens.refresh.is_none()) {
            return Ok(Some(session));
        }
        self.renewed(app, session).await
    }

    /// What the browser presents as its session.
    pub(crate) fn presented(&self, headers: &HeaderMap) -> Option<SessionHash> {
        if !headers.contains_key(http::header::COOKIE) {
            return None;
        }
        // Under an address that isn't the application's own, no cookie is.
        let address = self.issuer.address(headers).ok()?;
        let value = Cookies::under(&address).get(headers, SESSION)?;
        (value.len() == LENGTH).then(|| hash(&value))
    }

    async fn find(&self, id: &SessionHash) -> Result<Option<Arc<Session>>> {
        if let Some(known) = self.known.get(id) {
            return Ok(Some(known));
        }
        let reading = self.known.begin();
        let found = store::find(&self.database, &self.ring, id).await?.map(Arc::new);
        if let Some(found) = &found {
            self.known.keep(reading, *id, Arc::clone(found));
        }
        Ok(found)
    }

    fn is_usable(&self, session: &Session, now_us: i64) -> bool {
        let noted = self.uses().get(&session.id).copied();
        let used_at_us = noted.map_or(session.used_at_us, |at_us| at_us.max(session.used_at_us));
        now_us < session.ends_at_us && now_us < used_at_us.saturating_add(self.idle_us)
    }

    fn note_use(&self, session: &Session, now_us: i64) {
        if now_us - session.used_at_us >= USE_INTERVAL_US {
            self.uses().insert(session.id, now_us);
        }
    }

    /// Renews the tokens of a session, or takes over those of whoever was first.
    async fn renewed(&self, app: &App, session: Arc<Session>) -> Result<Option<Arc<Session>>> {
        let still_holds = self.clock.now_us() < session.tokens_end_at_us;
        let place = Place::of(self, session.id);
        let turn = match place.turn.try_lock() {
            Ok(turn) => turn,
            Err(_) if still_holds => return Ok(Some(session)),
            Err(_) => place.turn.lock().await,
        };
        let outcome = if self.issuer.is_far() {
            renewal::renew(&Self::of(app)?, app, &session).await
        } else {
            self.renew(app, &session).await
        };
        drop(turn);
        match outcome {
            // An issuer that is away for a moment takes nothing from a token that holds.
            Err(error) if still_holds && error.kind() == ErrorKind::Unavailable => {
                tracing::warn!(error = error.report(), "tokens could not be renewed yet");
                Ok(Some(session))
            }
            outcome => outcome,
        }
    }

    async fn renew(&self, app: &App, old: &Session) -> Result<Option<Arc<Session>>> {
        let ctx = Context::system(app)?;
        let now_us = self.clock.now_us();
        ctx.transact(async |uow| {
            let Some(mut session) = store::lock(&uow, &self.ring, &old.id).await? else {
                return Ok(None);
            };
            if session.generation > old.generation
                || session.tokens_end_at_us - now_us > BEFORE_END_US
            {
                return Ok(Some(Arc::new(session)));
            }
            let is_renewed = self.ask_for_tokens(&mut session).await?;
            if is_renewed {
                store::put_tokens(&uow, &self.ring, &session).await?;
            } else {
                store::delete(&uow, &session.id).await?;
            }
            uow.wake_after_commit(TOPIC);
            Ok(is_renewed.then(|| Arc::new(session)))
        })
        .await
    }

    /// Asks the issuer for new tokens of a session, and says whether it gave them.
    pub(crate) async fn ask_for_tokens(&self, session: &mut Session) -> Result<bool> {
        let reason = match session.tokens.refresh.clone() {
            None => "no refresh token".to_owned(),
            Some(token) => {
                let form = [("grant_type", "refresh_token"), ("refresh_token", &token)];
                match self.issuer.token(&session.issuer, &form).await? {
                    Ok(answer) => {
                        session.tokens_end_at_us = self.end_us(answer.expires_in);
                        session.tokens = session.tokens.after(answer);
                        session.generation += 1;
                        return Ok(true);
                    }
                    Err(refusal) => refusal.error,
                }
            }
        };
        tracing::info!(reason, "a sign-in ends, since its tokens can't be renewed");
        Ok(false)
    }

    /// When tokens are over that last so many seconds from now.
    pub(crate) fn end_us(&self, seconds: u64) -> i64 {
        let span_us = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        self.clock.now_us().saturating_add(span_us)
    }

    /// Stores a new session, in place of the one that this browser had.
    pub(crate) async fn begin(
        &self,
        app: &App,
        session: &Session,
        before: Option<SessionHash>,
    ) -> Result<()> {
        Context::system(app)?
            .transact(async |uow| {
                if let Some(before) = before {
                    store::delete(&uow, &before).await?;
                    uow.wake_after_commit(TOPIC);
                }
                store::insert(&uow, &self.ring, session).await
            })
            .await
    }

    /// Ends a session.
    pub(crate) async fn end(&self, app: &App, id: SessionHash) -> Result<()> {
        Context::system(app)?
            .transact(async |uow| {
                store::delete(&uow, &id).await?;
                uow.wake_after_commit(TOPIC);
                Ok(())
            })
            .await
    }

    /// Until when a session lasts if it isn't used any more, in Unix time in milliseconds.
    pub(crate) fn ends_ms(&self, session: &Session) -> i64 {
        let unused_us = self.clock.now_us().saturating_add(self.idle_us);
        session.ends_at_us.min(unused_us).div_euclid(1_000)
    }

    /// Stores when sessions were last used, and says how many were.
    pub(crate) async fn store_uses(&self) -> Result<usize> {
        let uses: Vec<_> = self.uses().iter().map(|(id, at_us)| (*id, *at_us)).collect();
        store::touch(&self.database, &uses).await?;
        let mut noted = self.uses();
        for (id, at_us) in &uses {
            // Unless it has been used again meanwhile.
            if noted.get(id) == Some(at_us) {
                noted.remove(id);
            }
        }
        Ok(uses.len())
    }

    /// Deletes sessions that are over, and says how many were.
    pub(crate) async fn sweep(&self) -> Result<u64> {
        const BATCH: u64 = 1_000;
        let now_us = self.clock.now_us();
        let mut done = 0;
        loop {
            let swept = store::sweep(&self.database, now_us, now_us - self.idle_us, BATCH).await?;
            if swept == 0 {
                return Ok(done);
            }
            done += swept;
        }
    }

    fn uses(&self) -> MutexGuard<'_, BTreeMap<SessionHash, i64>> {
        self.uses.lock()
    }

    fn renewing(&self) -> MutexGuard<'_, HashMap<SessionHash, Arc<tokio::sync::Mutex<()>>>> {
        self.renewing.lock()
    }

    /// The host of an application.
    pub(crate) fn of(app: &App) -> Result<Arc<Self>> {
        app.service().map_err(|error: Error| error.context("the module `bff` isn't there"))
    }
}

/// The place of a session among those that are renewed on this node.
struct Place<'a> {
    host: &'a Host,
    id: SessionHash,
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl<'a> Place<'a> {
    fn of(host: &'a Host, id: SessionHash) -> Self {
        let turn = Arc::clone(host.renewing().entry(id).or_default());
        Self { host, id, turn }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut renewing = self.host.renewing();
        // Nobody waits for it any more.
        if Arc::strong_count(&self.turn) == 2 {
            renewing.remove(&self.id);
        }
    }
}

/// What a cookie's value is looked up by. It is as random as a key, so a fast hash is enough.
pub(crate) fn hash(value: &str) -> SessionHash {
    Sha256::digest(value.as_bytes()).into()
}
