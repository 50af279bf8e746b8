//! The log of deliveries, and sending again.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Deserialize;
use svc_core::{Error, OrganisationId, Result, micros};
use svc_data::{Context, UnitOfWork};
use svc_http::{Listing, Page};
use time::OffsetDateTime;
use utoipa::IntoParams;
use uuid::Uuid;

use super::Service;
use crate::entity::{Entity, MAX_NAME};
use crate::model::Status;
use crate::model::delivery::{Delivery, DeliveryDetail};
use crate::owner::Owner;
use crate::store::insert::{self, NewDelivery};
use crate::store::log::events::{self, About};
use crate::store::log::{self, Log};
use crate::store::replay::{self, Redelivery};

/// What the status of an answer may be.
const CODES: RangeInclusive<i16> = 100..=999;

/// Which deliveries to list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct DeliveryFilter {
    /// Only those to this endpoint.
    subscription_id: Option<Uuid>,
    /// Only those that stand here.
    #[param(value_type = Option<Status>, inline)]
    status: Option<Status>,
    /// Only those of events of this type.
    event_type: Option<String>,
    /// Only those of this event, with all that were sent again.
    event_id: Option<Uuid>,
    /// Only those of events about an entity of this set or type; goes with `entityId`.
    #[param(max_length = 200)]
    entity_type: Option<String>,
    /// Only those of events about the entity with this key; goes with `entityType`.
    #[param(max_length = 200)]
    entity_id: Option<String>,
    /// Only those whose last answer had this status.
    #[param(minimum = 100, maximum = 999)]
    status_code: Option<i16>,
    /// Only those queued from this time on.
    #[serde(with = "time::serde::rfc3339::option")]
    since: Option<OffsetDateTime>,
    /// Only those queued before this time.
    #[serde(with = "time::serde::rfc3339::option")]
    until: Option<OffsetDateTime>,
}

impl DeliveryFilter {
    /// The events that are looked for.
    fn about(&self, ctx: &Context) -> Result<Option<About>> {
        let refuse = |field: &str, why: String| {
            Err(Error::malformed("the query can't be answered").field(field, why))
        };
        let (kind, id) = match (&self.event_id, &self.entity_type, &self.entity_id) {
            (None, None, None) => return Ok(None),
            (Some(event), None, None) => return Ok(Some(About::Event(*event))),
            (None, Some(kind), Some(id)) => (kind, id),
            (Some(_), ..) => {
                return refuse("eventId", "goes without `entityType` and `entityId`".to_owned());
            }
            (None, Some(_), None) => {
                return refuse("entityType", "goes with `entityId`".to_owned());
            }
            (None, None, Some(_)) => {
                return refuse("entityId", "goes with `entityType`".to_owned());
            }
        };
        for (field, given) in [("entityType", kind), ("entityId", id)] {
            if given.is_empty() || given.len() > MAX_NAME || given.contains('\0') {
                let expected = format!("expected from 1 to {MAX_NAME} bytes without U+0000");
                return refuse(field, expected);
            }
        }
        Entity::named(ctx, kind, &id.as_str().into()).map(About::Entity).map(Some)
    }
}

impl Service {
    /// The log of the organisation.
    fn log<'a>(&'a self, ctx: &'a Context) -> Result<Log<'a>> {
        let (database, organisation) = (ctx.database(), ctx.organisation()?.0);
        Ok(Log { database, organisation, settings: &self.settings })
    }

    /// The deliveries of the organisation, the newest first.
    pub(crate) async fn deliveries(
        &self,
        ctx: &Context,
        page: &Page,
        filter: DeliveryFilter,
    ) -> Result<Listing<Delivery>> {
        let about = filter.about(ctx)?;
        if filter.status_code.is_some_and(|code| !CODES.contains(&code)) {
            let expected = format!("expected from {} to {}", CODES.start(), CODES.end());
            return Err(
                Error::malformed("the query can't be answered").field("statusCode", expected)
            );
        }
        if let Some(endpoint) = filter.subscription_id {
            // An endpoint of another organisation is unknown, and an unknown one has no log.
            self.find(ctx, endpoint).await?;
        }
        let bound = |time: OffsetDateTime| micros::first_id(micros::of_time(time));
        let mut filter = log::Filter {
            endpoint: filter.subscription_id,
            status: filter.status,
            event_type: filter.event_type,
            status_code: filter.status_code,
            since: filter.since.map(bound),
            before: filter.until.map(bound),
        };
        let take = usize::try_from(page.take).unwrap_or(usize::MAX);
        let log = self.log(ctx)?;
        if let Some(about) = about {
            let (deliveries, next) =
                events::page(log, (&about, &filter), page.cursor()?, take).await?;
            return Ok(page.list_until(deliveries, next));
        }
        filter.before = [page.cursor::<Uuid>()?, filter.before].into_iter().flatten().min();
        let (deliveries, next) = log::page(log, &filter, take).await?;
        Ok(page.list_until(deliveries, next))
    }

    /// One delivery with its request and response.
    pub(crate) async fn delivery(&self, ctx: &Context, id: Uuid) -> Result<DeliveryDetail> {
        log::one(self.log(ctx)?, id).await?.ok_or_else(no_delivery)
    }

    /// Queues a delivery again, as a new one with the same body under the same event id.
    pub(crate) async fn redeliver(&self, ctx: &Context, id: Uuid) -> Result<DeliveryDetail> {
        let new = ctx
            .transact(async |uow| {
                let original = replay::original(&uow, id).await?.ok_or_else(no_delivery)?;
                let original = Redelivery { lane: original.lane.of_redelivery(), ..original };
                let endpoint = self.find(uow.context(), original.endpoint).await?;
                Owner::of(&endpoint).present(ctx.app()).await?;
                let new = redeliver_all(&uow, ctx.organisation()?, &[original]).await?;
                new.first().copied().ok_or_else(no_delivery)
            })
            .await?;
        self.delivery(ctx, new).await
    }
}

/// Queues deliveries again. Their messages are copied, so that a message is always as old as its
/// deliveries, and both are deleted by age alone.
pub(super) async fn redeliver_all(
    uow: &UnitOfWork,
    organisation: OrganisationId,
    originals: &[Redelivery],
) -> Result<Vec<Uuid>> {
    let ctx = uow.context();
    let mut copies = BTreeMap::new();
    for original in originals {
        copies.entry(original.message).or_insert_with(|| ctx.clock().new_id());
    }
    insert::copies(uow, &copies).await?;
    let new: Vec<NewDelivery> = originals
        .iter()
        .map(|original| NewDelivery {
            id: ctx.clock().new_id(),
            organisation,
            endpoint: original.endpoint,
            message: copies[&original.message],
            status: Status::Queued,
            lane: original.lane,
            redelivery_of: Some(original.id),
            order: None,
        })
        .collect();
    insert::deliveries(uow, &new).await?;
    Ok(new.into_iter().map(|delivery| delivery.id).collect())
}

pub(super) fn no_delivery() -> Error {
    Error::not_found("there is no such delivery")
}
