//! Endpoints: what an organisation's administrators register.

use std::collections::BTreeMap;

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait as _, IntoActiveModel as _};
use svc_client::TargetUrl;
use svc_core::{Error, FieldErrors, KeyRing, Result, random_array};
use svc_data::{Context, UnitOfWork};
use svc_http::{Listing, Page};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::{Service, key_ring, no_endpoint};
use crate::WAKE_TOPIC;
use crate::endpoint::purpose;
use crate::headers;
use crate::model::endpoint::{self, ActiveModel, Entity, Model};
use crate::signing::{KeyPair, Secret};
use crate::subscription::{Subscription, SubscriptionError};

/// The longest address.
const MAX_URL: usize = 2_048;
/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 500;

/// The highest limit of requests in a second.
const MAX_PER_SECOND: i32 = 10_000;

/// An endpoint to register.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the endpoint")]
pub(crate) struct NewEndpoint {
    pub(crate) url: String,
    pub(crate) events: Vec<String>,
    pub(crate) description: String,
    pub(crate) is_active: bool,
    pub(crate) secret: Option<String>,
    pub(crate) includes_changes: bool,
    pub(crate) is_ordered: bool,
    pub(crate) max_per_second: Option<i32>,
    pub(crate) is_asymmetric: bool,
    pub(crate) headers: BTreeMap<String, String>,
}

/// What changes of an endpoint; what is none stays.
#[derive(Default)]
pub(crate) struct EndpointChange {
    pub(crate) url: Option<String>,
    pub(crate) events: Option<Vec<String>>,
    pub(crate) description: Option<String>,
    pub(crate) is_active: Option<bool>,
    pub(crate) secret: Option<String>,
    pub(crate) includes_changes: Option<bool>,
    pub(crate) is_ordered: Option<bool>,
    #[expect(clippy::option_option, reason = "left out and null are two things in a change")]
    pub(crate) max_per_second: Option<Option<i32>>,
    pub(crate) is_asymmetric: Option<bool>,
    pub(crate) headers: Option<BTreeMap<String, String>>,
}

/// An endpoint, with the names of its custom headers; their values may be tokens.
pub(crate) struct Stored {
    pub(crate) endpoint: Model,
    pub(crate) header_names: Vec<String>,
}

/// Fields that were checked.
#[derive(Default)]
struct Checked {
    url: Option<String>,
    subscription: Option<Subscription>,
    secret: Option<Secret>,
}

impl Service {
    /// Registers an endpoint; answers with its secret too.
    pub(crate) async fn create(
        &self,
        ctx: &Context,
        new: NewEndpoint,
    ) -> Result<(Stored, Zeroizing<String>)> {
        let checked = self.check(&EndpointChange {
            url: Some(new.url),
            events: Some(new.events),
            description: Some(new.description.clone()),
            secret: new.secret,
            headers: Some(new.headers.clone()),
            max_per_second: Some(new.max_per_second),
            ..EndpointChange::default()
        })?;
        let Checked { url: Some(url), subscription: Some(subscription), secret } = checked else {
            return Err(Error::internal("a new endpoint was checked without its fields"));
        };
        let secret = secret.unwrap_or_else(generate).expose();
        let ring = key_ring(ctx)?;
        let id = ctx.clock().new_id();
        let (owner_id, owner_name) = owner(ctx)?;
        let now = ctx.clock().now();
        let (key_pair, public_key) = key_pair(&ring, id, new.is_asymmetric);
        let record = ActiveModel {
            id: Set(id),
            url: Set(url),
            description: Set(new.description),
            events: Set(patterns_json(&subscription)?),
            is_active: Set(new.is_active),
            includes_changes: Set(new.includes_changes),
            is_ordered: Set(new.is_ordered),
            max_per_second: Set(new.max_per_second),
            key_pair: Set(key_pair),
            public_key: Set(public_key),
            headers: Set(headers::protect(&ring, id, &new.headers)?),
            owner_id: Set(owner_id),
            owner_name: Set(owner_name),
            secret: Set(ring.protect(&purpose(id), secret.as_bytes())),
            consecutive_failures: Set(0),
            disabled_at: Set((!new.is_active).then_some(now)),
            disabled_reason: Set((!new.is_active).then(|| switched_off_by(ctx))),
            ..ActiveModel::default()
        };
        let stored = ctx
            .transact(async |uow| {
                let stored = uow.insert(record).await?;
                subscribe(&uow, id, &subscription).await?;
                Ok(stored)
            })
            .await?;
        Ok((self.stored(&ring, stored)?, secret))
    }

    /// Changes an endpoint; whoever does is its owner from then on.
    pub(crate) async fn change(
        &self,
        ctx: &Context,
        id: Uuid,
        change: EndpointChange,
    ) -> Result<Stored> {
        let checked = self.check(&change)?;
        let ring = key_ring(ctx)?;
        let (owner_id, owner_name) = owner(ctx)?;
        let stored = ctx
            .transact(async |uow| {
                let before = locked(&uow, id).await?;
                let mut record = before.clone().into_active_model();
                record.owner_id = Set(owner_id);
                record.owner_name = Set(owner_name);
                if let Some(url) = checked.url {
                    record.url = Set(url);
                }
                if let Some(subscription) = &checked.subscription {
                    record.events = Set(patterns_json(subscription)?);
                    unsubscribe(&uow, id).await?;
                    subscribe(&uow, id, subscription).await?;
                }
                if let Some(description) = change.description {
                    record.description = Set(description);
                }
                if let Some(includes) = change.includes_changes {
                    record.includes_changes = Set(includes);
                }
                if let Some(is_ordered) = change.is_ordered {
                    record.is_ordered = Set(is_ordered);
                }
                if let Some(max_per_second) = change.max_per_second {
                    record.max_per_second = Set(max_per_second);
                }
                if let Some(wanted) = change.is_asymmetric
                    && wanted != before.key_pair.is_some()
                {
                    let (key_pair, public_key) = key_pair(&ring, id, wanted);
                    record.key_pair = Set(key_pair);
                    record.public_key = Set(public_key);
                }
                if let Some(given) = &change.headers {
                    record.headers = Set(headers::protect(&ring, id, given)?);
                }
                if let Some(secret) = &checked.secret {
                    self.replace_secret(ctx, &mut record, &before, secret, &ring);
                }
                if let Some(is_active) = change.is_active {
                    switch(&uow, &mut record, &before, is_active);
                }
                uow.update(record).await
            })
            .await?;
        self.stored(&ring, stored)
    }

    /// Gives an endpoint a new secret and answers with it; the old one signs for a while longer.
    pub(crate) async fn rotate_secret(
        &self,
        ctx: &Context,
        id: Uuid,
    ) -> Result<(Stored, Zeroizing<String>)> {
        let ring = key_ring(ctx)?;
        let secret = generate();
        let stored = ctx
            .transact(async |uow| {
                let before = locked(&uow, id).await?;
                let mut record = before.clone().into_active_model();
                self.replace_secret(ctx, &mut record, &before, &secret, &ring);
                uow.update(record).await
            })
            .await?;
        Ok((self.stored(&ring, stored)?, secret.expose()))
    }

    fn replace_secret(
        &self,
        ctx: &Context,
        record: &mut ActiveModel,
        before: &Model,
        secret: &Secret,
        ring: &KeyRing,
    ) {
        let exposed = secret.expose();
        record.secret = Set(ring.protect(&purpose(before.id), exposed.as_bytes()));
        let grace = self.settings.secret_grace_period;
        let has_grace = !grace.is_zero();
        record.previous_secret = Set(has_grace.then(|| before.secret.clone()));
        record.previous_secret_expires_at = Set(has_grace.then(|| ctx.clock().now() + grace));
    }

    /// The signing secret.
    pub(crate) async fn secret(&self, ctx: &Context, id: Uuid) -> Result<Zeroizing<String>> {
        let stored = self.find(ctx, id).await?;
        let bytes = key_ring(ctx)?.reveal(&purpose(id), &stored.secret)?;
        String::from_utf8(bytes)
            .map(Zeroizing::new)
            .map_err(|error| Error::internal("a stored secret is no text").caused_by(error))
    }

    /// Deletes an endpoint with its deliveries. One that is being sent at the moment may still
    /// arrive; its outcome is dropped.
    pub(crate) async fn delete(&self, ctx: &Context, id: Uuid) -> Result<()> {
        ctx.transact(async |uow| {
            locked(&uow, id).await?;
            uow.delete::<Entity>(id).await?;
            unsubscribe(&uow, id).await?;
            for sql in [
                "DELETE FROM webhooks_deliveries WHERE endpoint_id = ?",
                "DELETE FROM webhooks_paces WHERE endpoint_id = ?",
            ] {
                uow.execute(uow.context().database().statement(sql, [id.into()])).await?;
            }
            Ok(())
        })
        .await
    }

    /// One endpoint.
    pub(crate) async fn endpoint(&self, ctx: &Context, id: Uuid) -> Result<Stored> {
        let stored = self.find(ctx, id).await?;
        self.stored(&*key_ring(ctx)?, stored)
    }

    /// The endpoints of the organisation, in the order in which they were registered.
    pub(crate) async fn list(&self, ctx: &Context, page: &Page) -> Result<Listing<Stored>> {
        let mut query = ctx.query::<Entity>().order_by(endpoint::Column::Id).take(page.limit());
        if let Some(after) = page.cursor::<Uuid>()? {
            query = query.filter(endpoint::Column::Id.gt(after));
        }
        let ring = key_ring(ctx)?;
        let stored = query.all().await?;
        let stored: Vec<Stored> =
            stored.into_iter().map(|one| self.stored(&ring, one)).collect::<Result<_>>()?;
        Ok(page.list(stored, |one| one.endpoint.id))
    }

    pub(super) async fn find(&self, ctx: &Context, id: Uuid) -> Result<Model> {
        ctx.get::<Entity>(id).await?.ok_or_else(no_endpoint)
    }

    #[expect(clippy::unused_self, reason = "reads as the others do")]
    fn stored(&self, ring: &KeyRing, endpoint: Model) -> Result<Stored> {
        let header_names = headers::reveal_map(ring, &endpoint)?.into_keys().collect();
        Ok(Stored { endpoint, header_names })
    }

    /// Checks all fields that are given, and names each that is wrong.
    fn check(&self, change: &EndpointChange) -> Result<Checked> {
        let mut errors = FieldErrors::new();
        let mut refuse = |field: &str, message: String| {
            errors.entry(field.to_owned()).or_default().push(message);
        };
        let mut checked = Checked::default();
        if let Some(url) = &change.url {
            match TargetUrl::parse(url, self.endpoints.policy()) {
                Ok(parsed) if parsed.as_str().len() <= MAX_URL => {
                    checked.url = Some(parsed.as_str().to_owned());
                }
                Ok(_) => refuse("url", format!("must have at most {MAX_URL} characters")),
                Err(error) => refuse("url", error.to_string()),
            }
        }
        if let Some(events) = &change.events {
            match Subscription::parse(events) {
                Ok(subscription) => checked.subscription = Some(subscription),
                Err(error) => {
                    let field = match &error {
                        SubscriptionError::Pattern { index, .. } => format!("events[{index}]"),
                        _ => "events".to_owned(),
                    };
                    refuse(&field, error.to_string());
                }
            }
        }
        if let Some(secret) = &change.secret {
            match Secret::parse(secret) {
                Ok(secret) => checked.secret = Some(secret),
                Err(error) => refuse("secret", error.to_string()),
            }
        }
        if let Some(description) = &change.description {
            if description.chars().count() > MAX_DESCRIPTION {
                refuse("description", format!("must have at most {MAX_DESCRIPTION} characters"));
            }
            if description.contains('\0') {
                refuse("description", "must not contain the character U+0000".to_owned());
            }
        }
        if let Some(Some(limit)) = change.max_per_second
            && !(1..=MAX_PER_SECOND).contains(&limit)
        {
            let expected = format!("must be from 1 to {MAX_PER_SECOND}, or null for no limit");
            refuse("maxPerSecond", expected);
        }
        if let Some(Err(found)) = change.headers.as_ref().map(headers::check) {
            errors.extend(found);
        }
        if errors.is_empty() {
            return Ok(checked);
        }
        Err(Error::invalid("the endpoint is not valid").with_fields(errors))
    }
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

fn generate() -> Secret {
    Secret::generate(|bytes| bytes.copy_from_slice(&random_array::<{ Secret::GENERATED_BYTES }>()))
}

/// A new key pair as it is stored, and its public half; none where none is wanted.
fn key_pair(ring: &KeyRing, id: Uuid, is_wanted: bool) -> (Option<String>, Option<String>) {
    if !is_wanted {
        return (None, None);
    }
    let pair = KeyPair::generate(|bytes| bytes.copy_from_slice(&random_array::<32>()));
    let sealed = ring.protect(&purpose(id), pair.expose().as_bytes());
    (Some(sealed), Some(pair.public_key()))
}

/// Whose rights decide what the endpoint gets.
fn owner(ctx: &Context) -> Result<(Uuid, String)> {
    let principal = ctx.principal();
    let user = principal.user_id().ok_or_else(|| {
        Error::forbidden("an endpoint belongs to a person; the system can't own one")
    })?;
    Ok((user.0, principal.display_name().to_owned()))
}

async fn locked(uow: &UnitOfWork, id: Uuid) -> Result<Model> {
    let query = uow.query::<Entity>().filter(endpoint::Column::Id.eq(id)).for_update();
    query.one().await?.ok_or_else(no_endpoint)
}

fn patterns_json(subscription: &Subscription) -> Result<String> {
    serde_json::to_string(subscription.patterns())
        .map_err(|error| Error::internal("patterns can't be made JSON").caused_by(error))
}

async fn subscribe(uow: &UnitOfWork, id: Uuid, subscription: &Subscription) -> Result<()> {
    let organisation = uow.context().organisation()?.0;
    let patterns = subscription.patterns();
    let sql = format!(
        "INSERT INTO webhooks_subscriptions (pattern, organisation_id, endpoint_id) VALUES {}",
        vec!["(?, ?, ?)"; patterns.len()].join(", ")
    );
    let values = patterns
        .iter()
        .flat_map(|pattern| [pattern.as_str().into(), organisation.into(), id.into()]);
    uow.execute(uow.context().database().statement(&sql, values)).await.map(drop)
}

async fn unsubscribe(uow: &UnitOfWork, id: Uuid) -> Result<()> {
    let sql = "DELETE FROM webhooks_subscriptions WHERE endpoint_id = ?";
    uow.execute(uow.context().database().statement(sql, [id.into()])).await.map(drop)
}
