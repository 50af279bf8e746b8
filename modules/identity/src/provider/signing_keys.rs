//! The keys that sign tokens, one after another.
//!
//! | When | What |
//! | --- | --- |
//! | the first start, or the first token where that comes before | the first key is made, and signs at once |
//! | a day before `Svc:OpenId:KeyLifetime` is over | the next one is made and published; it doesn't sign yet |
//! | `KeyLifetime` is over | the next one signs |
//! | two days later | the last one is deleted, with nothing left that it signed |
//!
//! Whoever fetched the published keys may keep them for an hour, so each knows a key before it signs.
//! Two nodes that make the next key at once store one: the other finds its generation taken. A crash
//! leaves a stored key or none.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use svc_core::{App, Cache, Clock, Error, KeyRing, Result, Wakes, micros};
use svc_database::{Database, column};
use svc_openid::KeySet;

use super::settings::OpenIdSettings;
use super::signing::SigningKey;

const TOPIC: &str = "identity.signing_keys";
const HOUR: Duration = Duration::from_hours(1);
/// How long a key is published before it signs.
const AHEAD: Duration = Duration::from_hours(24);
/// How long a key stays published after its last signature: longer than any token holds.
const BEHIND: Duration = Duration::from_hours(48);

/// The keys of a moment.
pub(super) struct Keys {
    /// In the order of their generations.
    all: Vec<(i64, i64, Arc<SigningKey>)>,
    /// What is published (RFC 7517, section 5).
    pub(super) document: Value,
    /// The same, to check tokens with.
    pub(super) set: KeySet,
}

impl Keys {
    /// The key that signs now.
    fn current(&self, now_us: i64) -> Option<&Arc<SigningKey>> {
        let signs = |(_, from_us, _): &&(i64, i64, _)| *from_us <= now_us;
        self.all.iter().rev().find(signs).map(|(_, _, key)| key)
    }
}

/// Keeps the keys at hand.
pub(super) struct SigningKeys {
    database: Database,
    clock: Clock,
    ring: Arc<KeyRing>,
    wakes: Wakes,
    lifetime: Duration,
    known: Cache<(), Arc<Keys>>,
}

impl SigningKeys {
    pub(super) fn new(app: &App) -> Result<Self> {
        Ok(Self {
            database: app.service::<Database>()?.essential(),
            clock: app.clock().clone(),
            ring: app.service()?,
            wakes: app.wakes().clone(),
            lifetime: app.settings::<OpenIdSettings>().key_lifetime,
            known: Cache::new(app, TOPIC, 1, HOUR),
        })
    }

    /// The keys, of which one signs now.
    pub(super) async fn keys(&self) -> Result<Arc<Keys>> {
        let keys = self.known.get_or_read((), self.load()).await?;
        if keys.current(self.clock.now_us()).is_some() {
            return Ok(keys);
        }
        self.make(1, self.clock.now_us()).await?;
        self.known.get_or_read((), self.load()).await
    }

    /// The key that signs now.
    pub(super) async fn current(&self) -> Result<Arc<SigningKey>> {
        let keys = self.keys().await?;
        let missing = || Error::internal("no key signs tokens");
        keys.current(self.clock.now_us()).cloned().ok_or_else(missing)
    }

    /// Makes the next key when its time has come, deletes those that are over, and says how many keys
    /// were made and deleted.
    pub(super) async fn rotate(&self) -> Result<usize> {
        let keys = self.load().await?;
        let now_us = self.clock.now_us();
        let Some((generation, from_us, _)) = keys.all.last() else { return Ok(0) };
        let mut done = 0;
        let over_us = from_us.saturating_add(micros::of_span(self.lifetime));
        if *from_us <= now_us && now_us >= over_us - micros::of_span(AHEAD) {
            self.make(generation + 1, over_us.max(now_us + micros::of_span(AHEAD))).await?;
            done += 1;
        }
        let oldest_us = now_us - micros::of_span(BEHIND);
        for pair in keys.all.windows(2) {
            let [(generation, _, key), (_, next_from_us, _)] = pair else { continue };
            if *next_from_us <= oldest_us {
                let sql = "DELETE FROM identity_signing_keys WHERE generation = ?";
                self.database.execute(self.database.statement(sql, [(*generation).into()])).await?;
                tracing::info!(key.id = key.id(), "a key for tokens is over");
                done += 1;
            }
        }
        if done > 0 {
            self.wakes.call(TOPIC);
        }
        Ok(done)
    }

    async fn make(&self, generation: i64, signs_from_us: i64) -> Result<()> {
        let id = self.clock.new_id().to_string();
        let made = tokio::task::spawn_blocking(move || SigningKey::generate(id)).await;
        let key = made.map_err(|error| {
            Error::internal("a key for tokens can't be made").caused_by(error)
        })??;
        let private = self.ring.protect(&purpose(key.id()), &key.to_pkcs8()?);
        let statement = self.database.statement(
            "INSERT INTO identity_signing_keys (generation, id, private_key, created_at_us, \
             signs_from_us) VALUES (?, ?, ?, ?, ?) ON CONFLICT (generation) DO NOTHING",
            [
                generation.into(),
                key.id().into(),
                private.into(),
                self.clock.now_us().into(),
                signs_from_us.into(),
            ],
        );
        if self.database.execute(statement).await? == 1 {
            tracing::info!(key.id = key.id(), generation, "a key for tokens was made");
        }
        self.wakes.call(TOPIC);
        Ok(())
    }

    async fn load(&self) -> Result<Arc<Keys>> {
        let sql = "SELECT generation, signs_from_us, id, private_key FROM identity_signing_keys \
                   ORDER BY generation";
        let mut all = Vec::new();
        for row in self.database.rows(self.database.statement(sql, [])).await? {
            let (id, private): (String, String) = (column(&row, 2)?, column(&row, 3)?);
            let bytes = self.ring.reveal(&purpose(&id), &private)?;
            let key = Arc::new(SigningKey::from_pkcs8(id, &bytes)?);
            all.push((column(&row, 0)?, column(&row, 1)?, key));
        }
        let public: Vec<Value> = all.iter().map(|(_, _, key)| key.public_jwk()).collect();
        let document = json!({ "keys": public });
        let unreadable = || Error::internal("the public keys can't be read");
        let set = KeySet::parse(document.to_string().as_bytes()).ok_or_else(unreadable)?;
        Ok(Arc::new(Keys { all, document, set }))
    }
}

fn purpose(id: &str) -> String {
    format!("identity.signing_key:{id}")
}
