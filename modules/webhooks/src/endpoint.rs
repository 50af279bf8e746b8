//! Endpoints ready for sending: address checked, keys revealed. Kept in memory by version.

use std::collections::HashMap;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue, header};
use parking_lot::Mutex;
use sea_orm::ColumnTrait as _;
use svc_client::{AddressError, AddressPolicy, TargetUrl};
use svc_core::{App, Error, KeyRing, Result};
use svc_data::Context;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::credentials::ReadyCredentials;
use crate::headers;
use crate::in_flight::Home;
use crate::model::endpoint;
use crate::owner::Owner;
use crate::retired::{self, Scheme};
use crate::schedule::Schedule;
use crate::sealed;
use crate::signing::{SigningKey, signed_headers};
use crate::store::claim::Claimed;

/// What the requests call themselves.
const USER_AGENT: &str = concat!("Svc-Webhooks/", env!("CARGO_PKG_VERSION"));

/// The most endpoints that are kept; more are loaded again when they are needed.
const KEPT: usize = 10_000;

/// An endpoint, prepared for sending.
pub(crate) struct LoadedEndpoint {
    pub(crate) version: i64,
    pub(crate) owner: Owner,
    pub(crate) url: Result<TargetUrl, AddressError>,
    /// Its address as people gave it.
    pub(crate) address: Box<str>,
    pub(crate) schedule: Schedule,
    /// What was made before this delivery and queued by this time was cancelled.
    cancelled: Option<(Uuid, i64)>,
    /// The sentence says why nothing can be signed.
    keys: Result<Keys, String>,
    headers: HeaderMap,
    /// The sentence says why nothing can be sent.
    pub(crate) credentials: Result<ReadyCredentials, String>,
}

/// The secret, the key pair where there is one, and those that were replaced: each until its end,
/// newest first within its scheme.
type Keys = Vec<(SigningKey, Option<OffsetDateTime>)>;

impl LoadedEndpoint {
    fn new(stored: &endpoint::Model, ring: &KeyRing, policy: &AddressPolicy) -> Self {
        let keys = keys(stored, ring).map_err(|error| {
            let error = error.report();
            tracing::error!(endpoint.id = %stored.id, error, "a signing secret can't be used");
            "the signing secret can't be revealed; rotate it".to_owned()
        });
        let mut all = HeaderMap::new();
        all.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        all.extend(sealed::or_nothing(headers::reveal(ring, stored), stored.id, "headers"));
        Self {
            version: stored.version,
            owner: Owner::of(stored),
            url: TargetUrl::parse(&stored.url, policy),
            address: stored.url.as_str().into(),
            schedule: stored.schedule(),
            cancelled: stored.cancelled_to.zip(stored.cancelled_us),
            keys,
            headers: all,
            credentials: ReadyCredentials::new(stored, ring, policy),
        }
    }

    /// Whether a delivery was cancelled with all that waited, whatever its row says.
    pub(crate) fn has_cancelled(&self, claimed: &Claimed) -> bool {
        let is_before = |(to, us): (Uuid, i64)| claimed.id < to && claimed.queued_us <= us;
        self.cancelled.is_some_and(is_before)
    }

    /// The headers of one attempt: signed with the present keys, and with those that were replaced
    /// while they still hold.
    pub(crate) fn headers(
        &self,
        event: Uuid,
        now: OffsetDateTime,
        body: &[u8],
    ) -> Result<HeaderMap, String> {
        // What belongs to the signature comes last and wins.
        let mut all = self.headers.clone();
        for (name, value) in &self.signature(event, now, body)? {
            all.insert(name, value.clone());
        }
        Ok(all)
    }

    /// Those of them that a receiver verifies.
    pub(crate) fn signature(
        &self,
        event: Uuid,
        now: OffsetDateTime,
        body: &[u8],
    ) -> Result<HeaderMap, String> {
        let keys = self.keys.as_ref().map_err(Clone::clone)?;
        let holds = |until: &Option<OffsetDateTime>| until.is_none_or(|until| now < until);
        let signing: Vec<&SigningKey> =
            keys.iter().filter(|(_, until)| holds(until)).map(|(key, _)| key).collect();
        Ok(signed_headers(&signing, event, now, body))
    }

    /// Where its requests go, and whose they are. An address that is refused leads nowhere.
    pub(crate) fn home(&self) -> Home {
        let origin = self.url.as_ref().map_or_else(|_| "".into(), |url| Arc::clone(url.origin()));
        Home { origin, organisation: self.owner.organisation.0 }
    }

    /// Where its tokens are got, where it needs some.
    pub(crate) fn token_url(&self) -> Option<&TargetUrl> {
        self.credentials.as_ref().ok()?.tokens.as_ref()?.url.as_ref().ok()
    }
}

/// The keys of an endpoint, revealed.
fn keys(stored: &endpoint::Model, ring: &KeyRing) -> Result<Keys> {
    let key = |text: &str| {
        SigningKey::parse(&sealed::reveal(ring, stored.id, text)?)
            .map_err(|error| Error::internal("a stored key is none").caused_by(error))
    };
    let retired = retired::read(stored.retired_keys.as_deref())?;
    let mut all = Vec::with_capacity(2 + retired.len());
    for (scheme, present) in
        [(Scheme::Secret, Some(&stored.secret)), (Scheme::KeyPair, stored.key_pair.as_ref())]
    {
        if let Some(present) = present {
            all.push((key(present)?, None));
        }
        for one in retired.iter().filter(|one| one.scheme == scheme) {
            all.push((key(&one.sealed)?, Some(one.until)));
        }
    }
    Ok(all)
}

/// The endpoints that this node has sent to. An entry serves as long as the version that a claim
/// names, so a change is seen by the next claim on every node.
pub(crate) struct Endpoints {
    policy: AddressPolicy,
    kept: Mutex<HashMap<Uuid, Arc<LoadedEndpoint>>>,
}

impl Endpoints {
    pub(crate) fn new(policy: AddressPolicy) -> Self {
        Self { policy, kept: Mutex::default() }
    }

    pub(crate) fn policy(&self) -> &AddressPolicy {
        &self.policy
    }

    /// The endpoints of these identifiers and versions. One that is gone is left out.
    pub(crate) async fn load(
        &self,
        app: &App,
        wanted: &HashMap<Uuid, i64>,
    ) -> Result<HashMap<Uuid, Arc<LoadedEndpoint>>> {
        let (mut found, missing) = self.find(wanted);
        if missing.is_empty() {
            return Ok(found);
        }
        let ring = app.service::<KeyRing>()?;
        let stored = Context::system(app)?
            .query::<endpoint::Entity>()
            .filter(endpoint::Column::Id.is_in(missing))
            .all()
            .await?;
        let mut kept = self.kept.lock();
        if kept.len() + stored.len() > KEPT {
            kept.clear();
        }
        for stored in stored {
            let loaded = Arc::new(LoadedEndpoint::new(&stored, &ring, &self.policy));
            kept.insert(stored.id, Arc::clone(&loaded));
            found.insert(stored.id, loaded);
        }
        Ok(found)
    }

    fn find(&self, wanted: &HashMap<Uuid, i64>) -> (HashMap<Uuid, Arc<LoadedEndpoint>>, Vec<Uuid>) {
        let kept = self.kept.lock();
        let mut found = HashMap::with_capacity(wanted.len());
        let mut missing = Vec::new();
        for (id, version) in wanted {
            match kept.get(id).filter(|kept| kept.version >= *version) {
                Some(kept) => drop(found.insert(*id, Arc::clone(kept))),
                None => missing.push(*id),
            }
        }
        (found, missing)
    }
}
