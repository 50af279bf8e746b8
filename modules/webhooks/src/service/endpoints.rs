//! Endpoints: what an organisation's administrators register.

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait as _, IntoActiveModel as _};
use svc_client::TargetUrl;
use svc_core::{Error, KeyRing, Result, random_array};
use svc_data::{Context, UnitOfWork};
use svc_http::{Listing, Page};
use url::Url;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::shown::EndpointShown;
use super::{Service, key_ring, limits, no_endpoint, wishes};
use crate::credentials::{self, Credentials};
use crate::headers;
use crate::hosts::AllowedHosts;
use crate::input::{Checked, EndpointChange, NewEndpoint, refusal};
use crate::model::endpoint::{self, ActiveModel, Entity, Model};
use crate::names::WAKE_TOPIC;
use crate::owner::Owner;
use crate::receiver::Receiver;
use crate::retention;
use crate::retired::{self, RetiredKey, Scheme};
use crate::sealed;
use crate::signing::{KeyPair, SigningSecret};
use crate::store::{deletions, queues, subscriptions};
use crate::subscription::EventPatterns;

impl Service {
    /// Registers an endpoint; answers with its secret too.
    pub(crate) async fn create(
        &self,
        ctx: &Context,
        new: NewEndpoint,
    ) -> Result<(EndpointShown, Zeroizing<String>)> {
        let (is_active, is_asymmetric, is_polled) =
            (new.is_active, new.is_asymmetric, new.is_polled);
        let change = new.into_change();
        refuse_other_kind(&change, is_polled)?;
        let Checked { url, subscription, secret } = self.check(ctx, &change)?;
        let id = ctx.clock().new_id();
        let url = url.or_else(|| is_polled.then(|| feed_path(id)));
        let url = url.ok_or_else(|| refusal("url", "is required, unless `isPolled` is true"))?;
        let subscription = subscription
            .ok_or_else(|| Error::internal("a new endpoint was checked without its events"))?;
        let secret = secret.unwrap_or_else(generate).expose();
        let ring = key_ring(ctx)?;
        let owner = Owner::calling(ctx)?;
        let now = ctx.clock().now();
        let (key_pair, public_key) = key_pair(&ring, id, is_asymmetric);
        let headers = change.headers.as_ref().map(|given| headers::protect(&ring, id, given));
        let credentials = change.credentials(Credentials::default());
        check_scheme(&url, &credentials)?;
        let address = (!is_polled).then_some(url.as_str());
        self.check_hosts(ctx, address, &credentials).await?;
        let mut record = ActiveModel {
            id: Set(id),
            url: Set(url),
            events: Set(patterns_json(&subscription)?),
            is_active: Set(is_active),
            is_polled: Set(is_polled),
            key_pair: Set(key_pair),
            public_key: Set(public_key),
            headers: Set(headers.transpose()?.flatten()),
            credentials: Set(credentials::protect(&ring, id, &credentials)?),
            owner_id: Set(owner.user.0),
            owner_key_id: Set(owner.key),
            owner_name: Set(ctx.principal().display_name().to_owned()),
            secret: Set(sealed::protect(&ring, id, &secret)),
            consecutive_failures: Set(0),
            disabled_at: Set((!is_active).then_some(now)),
            disabled_reason: Set((!is_active).then(|| switched_off_by(ctx))),
            ..ActiveModel::default()
        };
        change.apply(&mut record);
        if is_polled {
            Receiver::said(change.receiver_key_id.flatten(), owner).keep(&mut record);
        }
        wishes::check(ctx.app(), &record)?;
        let stored = ctx
            .transact(async |uow| {
                limits::take_room(&uow).await?;
                let stored = uow.insert(record).await?;
                subscriptions::add(&uow, id, &subscription).await?;
                Ok(stored)
            })
            .await?;
        Ok((EndpointShown::new(ctx, &ring, stored).await?, secret))
    }

    /// Changes an endpoint; whoever does is its owner from then on. At a new origin it has neither the
    /// headers nor the secret of the one before, unless the change gives them anew.
    pub(crate) async fn change(
        &self,
        ctx: &Context,
        id: Uuid,
        change: EndpointChange,
    ) -> Result<EndpointShown> {
        let checked = self.check(ctx, &change)?;
        let given = change.credentials(Credentials::default());
        self.check_hosts(ctx, checked.url.as_deref(), &given).await?;
        let ring = key_ring(ctx)?;
        let owner = Owner::calling(ctx)?;
        let stored = ctx
            .transact(async |uow| {
                let before = locked(&uow, id).await?;
                refuse_other_kind(&change, before.is_polled)?;
                let mut record = before.clone().into_active_model();
                record.owner_id = Set(owner.user.0);
                record.owner_key_id = Set(owner.key);
                record.owner_name = Set(ctx.principal().display_name().to_owned());
                record.owner_gone_at = Set(None);
                let is_moved = checked.url.as_ref().is_some_and(|url| moves(&before.url, url));
                if let Some(url) = checked.url {
                    readdress(&mut record, &before, url);
                }
                if let Some(subscription) = &checked.subscription {
                    record.events = Set(patterns_json(subscription)?);
                    subscriptions::remove(&uow, id).await?;
                    subscriptions::add(&uow, id, subscription).await?;
                }
                change.apply(&mut record);
                if let Some(key) = change.receiver_key_id
                    && key != before.receiver_key_id
                {
                    Receiver::said(key, owner).keep(&mut record);
                }
                if change.has_wishes() {
                    wishes::check(ctx.app(), &record)?;
                }
                if let Some(wanted) = change.is_asymmetric
                    && wanted != before.key_pair.is_some()
                {
                    let (key_pair, public_key) = key_pair(&ring, id, wanted);
                    record.key_pair = Set(key_pair);
                    record.public_key = Set(public_key);
                    if !wanted {
                        let mut retired = retired::read(before.retired_keys.as_deref())?;
                        retired.retain(|key| key.scheme != Scheme::KeyPair);
                        record.retired_keys = Set(retired::written(&retired)?);
                    }
                }
                if let Some(given) = &change.headers {
                    record.headers = Set(headers::protect(&ring, id, given)?);
                } else if is_moved {
                    record.headers = Set(None);
                }
                if is_moved || change.has_credentials() {
                    let kept = if is_moved {
                        Credentials::default()
                    } else {
                        credentials::stored(&ring, &before)
                    };
                    let credentials = change.credentials(kept);
                    check_scheme(record.url.as_ref(), &credentials)?;
                    record.credentials = Set(credentials::protect(&ring, id, &credentials)?);
                }
                if is_moved {
                    let secret = checked.secret.unwrap_or_else(generate).expose();
                    record.secret = Set(sealed::protect(&ring, id, &secret));
                    record.retired_keys = Set(None);
                } else if let Some(secret) = &checked.secret {
                    self.replace_secret(ctx, &mut record, &before, secret, &ring)?;
                }
                if let Some(is_active) = change.is_active {
                    switch(&uow, &mut record, &before, is_active);
                }
                let stored = uow.update(record).await?;
                self.turn_away_after_commit(&uow, id, stored.version);
                // What waits may be due, now that it is on, or has another pace.
                let due = stored.is_active.then_some((id, ctx.clock().now_us()));
                queues::touch(&uow, due).await?;
                Ok(stored)
            })
            .await?;
        EndpointShown::new(ctx, &ring, stored).await
    }

    /// Gives an endpoint a new secret and answers with it; the old one signs for a while longer.
    pub(crate) async fn rotate_secret(
        &self,
        ctx: &Context,
        id: Uuid,
    ) -> Result<(EndpointShown, Zeroizing<String>)> {
        let ring = key_ring(ctx)?;
        let secret = generate();
        let stored = ctx
            .transact(async |uow| {
                let before = locked(&uow, id).await?;
                let mut record = before.clone().into_active_model();
                self.replace_secret(ctx, &mut record, &before, &secret, &ring)?;
                uow.update(record).await
            })
            .await?;
        Ok((EndpointShown::new(ctx, &ring, stored).await?, secret.expose()))
    }

    fn replace_secret(
        &self,
        ctx: &Context,
        record: &mut ActiveModel,
        before: &Model,
        secret: &SigningSecret,
        ring: &KeyRing,
    ) -> Result<()> {
        record.secret = Set(sealed::protect(ring, before.id, &secret.expose()));
        self.retire(ctx, record, Scheme::Secret, &before.secret)
    }

    /// Gives an endpoint a new Ed25519 key pair; the old one signs for a while longer.
    pub(crate) async fn rotate_key_pair(&self, ctx: &Context, id: Uuid) -> Result<EndpointShown> {
        let ring = key_ring(ctx)?;
        let stored = ctx
            .transact(async |uow| {
                let before = locked(&uow, id).await?;
                let Some(sealed) = &before.key_pair else {
                    let message = "the endpoint has no key pair; set `isAsymmetric` to get one";
                    return Err(Error::conflict(message));
                };
                let mut record = before.clone().into_active_model();
                let (key_pair, public_key) = key_pair(&ring, id, true);
                record.key_pair = Set(key_pair);
                record.public_key = Set(public_key);
                self.retire(ctx, &mut record, Scheme::KeyPair, sealed)?;
                uow.update(record).await
            })
            .await?;
        EndpointShown::new(ctx, &ring, stored).await
    }

    /// Lets a key that is being replaced sign until the end of the grace period.
    fn retire(
        &self,
        ctx: &Context,
        record: &mut ActiveModel,
        scheme: Scheme,
        sealed: &str,
    ) -> Result<()> {
        let grace = self.settings.secret_grace_period;
        if grace.is_zero() {
            return Ok(());
        }
        let now = ctx.clock().now();
        let mut keys = retired::read(record.retired_keys.as_ref().as_deref())?;
        let key = RetiredKey { scheme, sealed: sealed.to_owned(), until: now + grace };
        retired::add(&mut keys, key, now)?;
        record.retired_keys = Set(retired::written(&keys)?);
        Ok(())
    }

    /// The signing secret.
    pub(crate) async fn secret(&self, ctx: &Context, id: Uuid) -> Result<Zeroizing<String>> {
        let stored = self.find(ctx, id).await?;
        sealed::reveal(&*key_ring(ctx)?, id, &stored.secret).map(Zeroizing::new)
    }

    /// Deletes an endpoint with its deliveries: it is gone at once, and so are they for whoever asks.
    /// A background job deletes their rows, step by step. One that is being sent at the moment may
    /// still arrive; its outcome is dropped.
    pub(crate) async fn delete(&self, ctx: &Context, id: Uuid) -> Result<()> {
        ctx.transact(async |uow| {
            locked(&uow, id).await?;
            uow.delete::<Entity>(id).await?;
            subscriptions::remove(&uow, id).await?;
            deletions::note(&uow, id).await?;
            self.turn_away_after_commit(&uow, id, i64::MAX);
            retention::enqueue_deletion(&uow).await
        })
        .await
    }

    /// One endpoint.
    pub(crate) async fn endpoint(&self, ctx: &Context, id: Uuid) -> Result<EndpointShown> {
        let stored = self.find(ctx, id).await?;
        EndpointShown::new(ctx, &*key_ring(ctx)?, stored).await
    }

    /// The endpoints of the organisation, in the order in which they were registered.
    pub(crate) async fn list(&self, ctx: &Context, page: &Page) -> Result<Listing<EndpointShown>> {
        let mut query = ctx.query::<Entity>().order_by(endpoint::Column::Id).take(page.limit());
        if let Some(after) = page.cursor::<Uuid>()? {
            query = query.filter(endpoint::Column::Id.gt(after));
        }
        let ring = key_ring(ctx)?;
        let mut shown = Vec::new();
        for one in query.all().await? {
            shown.push(EndpointShown::new(ctx, &ring, one).await?);
        }
        Ok(page.list(shown, |one| one.id))
    }

    pub(super) async fn find(&self, ctx: &Context, id: Uuid) -> Result<Model> {
        ctx.get::<Entity>(id).await?.ok_or_else(no_endpoint)
    }

    /// Refuses addresses at hosts that the organisation doesn't allow.
    async fn check_hosts(
        &self,
        ctx: &Context,
        url: Option<&str>,
        credentials: &Credentials,
    ) -> Result<()> {
        let token_url = credentials.oauth2.as_ref().map(|oauth2| oauth2.token_url.as_str());
        if url.is_none() && token_url.is_none() {
            return Ok(());
        }
        let allowed = AllowedHosts::of(ctx).await?;
        for (field, given) in [("url", url), ("oauth2.tokenUrl", token_url)] {
            let Some(given) = given else { continue };
            let refuse = |why: String| refusal(field, why);
            let url = TargetUrl::parse(given, self.endpoints.policy())
                .map_err(|error| refuse(error.to_string()))?;
            allowed.check(&url).map_err(refuse)?;
        }
        Ok(())
    }

    /// Checks all fields that are given, and whether who calls may be told what is listed.
    fn check(&self, ctx: &Context, change: &EndpointChange) -> Result<Checked> {
        let checked = change.check(self.endpoints.policy(), &self.settings)?;
        if let Some(subscription) = &checked.subscription {
            wishes::check_permitted(ctx, subscription)?;
        }
        Ok(checked)
    }
}

/// Where what an endpoint is told is fetched.
fn feed_path(id: Uuid) -> String {
    format!("/api/v1/webhooks/{id}/feed")
}

/// Refuses what is said of requests, where none are made, and of who fetches, where nobody does.
fn refuse_other_kind(change: &EndpointChange, is_polled: bool) -> Result<()> {
    match change.of_requests().filter(|_| is_polled) {
        Some(field) => Err(refusal(field, "is of no use where the receiver fetches (`isPolled`)")),
        None if !is_polled && change.receiver_key_id.flatten().is_some() => {
            let why = "is of no use where deliveries are sent, and not fetched (`isPolled`)";
            Err(refusal("receiverKeyId", why))
        }
        None => Ok(()),
    }
}

/// Refuses a certificate for an address where nobody asks for one.
fn check_scheme(url: &str, credentials: &Credentials) -> Result<()> {
    if credentials.client_certificate.is_none() || url.starts_with("https:") {
        return Ok(());
    }
    Err(refusal("clientCertificate", "needs an address that begins with `https:`"))
}

/// Switches an endpoint on or off, where it isn't already.
fn switch(uow: &UnitOfWork, record: &mut ActiveModel, before: &Model, is_active: bool) {
    if before.is_active == is_active {
        return;
    }
    record.is_active = Set(is_active);
    if is_active {
        record.consecutive_failures = Set(0);
        record.last_error = Set(None);
        record.disabled_at = Set(None);
        record.disabled_reason = Set(None);
        uow.wake_after_commit(WAKE_TOPIC);
    } else {
        record.disabled_at = Set(Some(uow.context().clock().now()));
        record.disabled_reason = Set(Some(switched_off_by(uow.context())));
    }
}

fn switched_off_by(ctx: &Context) -> String {
    format!("switched off by {}", ctx.principal().display_name())
}

fn generate() -> SigningSecret {
    SigningSecret::generate(|bytes| {
        bytes.copy_from_slice(&random_array::<{ SigningSecret::GENERATED_BYTES }>());
    })
}

/// A new key pair as it is stored, and its public half; none where none is wanted.
fn key_pair(ring: &KeyRing, id: Uuid, is_wanted: bool) -> (Option<String>, Option<String>) {
    if !is_wanted {
        return (None, None);
    }
    let pair = KeyPair::generate(|bytes| bytes.copy_from_slice(&random_array::<32>()));
    (Some(sealed::protect(ring, id, &pair.expose())), Some(pair.public_key()))
}

/// Gives an endpoint an address. What failed at another one before says nothing of it.
fn readdress(record: &mut ActiveModel, before: &Model, url: String) {
    if url != before.url {
        record.consecutive_failures = Set(0);
        record.last_error = Set(None);
    }
    record.url = Set(url);
}

/// Whether an address is of another origin, so that whoever gets requests there is a stranger to what
/// was agreed with the one before.
fn moves(before: &str, after: &str) -> bool {
    let origin = |url: &str| Url::parse(url).ok().map(|url| url.origin());
    origin(before) != origin(after)
}

async fn locked(uow: &UnitOfWork, id: Uuid) -> Result<Model> {
    let query = uow.query::<Entity>().filter(endpoint::Column::Id.eq(id)).for_update();
    query.one().await?.ok_or_else(no_endpoint)
}

fn patterns_json(subscription: &EventPatterns) -> Result<String> {
    serde_json::to_string(subscription.patterns())
        .map_err(|error| Error::internal("patterns can't be made JSON").caused_by(error))
}
