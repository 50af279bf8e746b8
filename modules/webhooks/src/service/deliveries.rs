//! The log of deliveries, and sending again.

use std::collections::BTreeMap;

use svc_core::{Error, OrganisationId, Result};
use svc_data::{Context, UnitOfWork};
use svc_http::{Listing, Page};
use time::OffsetDateTime;
use uuid::Uuid;

use super::Service;
use crate::log_text;
use crate::model::Status;
use crate::owner::Owner;
use crate::store::insert::{self, NewDelivery};
use crate::store::log::events::{self, About};
use crate::store::log::{self, Delivery};
use crate::store::replay::{self, Redelivery};
use crate::store::{first_id_at, micros, moment};

/// A delivery with the request and the response of its last attempt.
pub(crate) struct DeliveryDetail {
    pub(crate) delivery: Delivery,
    pub(crate) request_headers: Vec<(String, String)>,
    pub(crate) request_body: String,
    pub(crate) response_headers: Option<Vec<(String, String)>>,
    pub(crate) response_body: Option<String>,
    /// When the last attempt ended.
    pub(crate) attempted_at: Option<OffsetDateTime>,
    /// The attempts before it.
    pub(crate) earlier: Vec<EarlierAttempt>,
}

/// An attempt before the last one.
pub(crate) struct EarlierAttempt {
    pub(crate) number: i32,
    pub(crate) ended_at: Option<OffsetDateTime>,
    pub(crate) status_code: Option<i16>,
    pub(crate) duration_ms: Option<i32>,
    pub(crate) error: Option<String>,
    pub(crate) request_headers: Vec<(String, String)>,
    pub(crate) response_headers: Option<Vec<(String, String)>>,
    pub(crate) response_body: Option<String>,
}

impl From<log::Earlier> for EarlierAttempt {
    fn from(stored: log::Earlier) -> Self {
        Self {
            number: stored.number,
            ended_at: stored.attempted_us.map(moment),
            status_code: stored.status_code,
            duration_ms: stored.duration_ms,
            error: stored.error,
            request_headers: stored.request_headers.map(|json| pairs(&json)).unwrap_or_default(),
            response_headers: stored.response_headers.map(|json| pairs(&json)),
            response_body: stored.response_body,
        }
    }
}

/// Which deliveries to list.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeliveryFilter {
    /// The events that are looked for; none for all of them.
    pub(crate) about: Option<About>,
    pub(crate) endpoint: Option<Uuid>,
    pub(crate) status: Option<Status>,
    pub(crate) event_type: Option<String>,
    pub(crate) status_code: Option<i16>,
    pub(crate) since: Option<OffsetDateTime>,
    pub(crate) until: Option<OffsetDateTime>,
}

impl Service {
    /// The deliveries of the organisation, the newest first.
    pub(crate) async fn deliveries(
        &self,
        ctx: &Context,
        page: &Page,
        filter: DeliveryFilter,
    ) -> Result<Listing<Delivery>> {
        if let Some(endpoint) = filter.endpoint {
            // An endpoint of another organisation is unknown, and an unknown one has no log.
            self.find(ctx, endpoint).await?;
        }
        let bound = |time: OffsetDateTime| first_id_at(micros(time));
        let about = filter.about;
        let mut filter = log::Filter {
            endpoint: filter.endpoint,
            status: filter.status,
            event_type: filter.event_type,
            status_code: filter.status_code,
            since: filter.since.map(bound),
            before: filter.until.map(bound),
        };
        let take = usize::try_from(page.take).unwrap_or(usize::MAX);
        let (database, organisation) = (ctx.database(), ctx.organisation()?.0);
        if let Some(about) = about {
            let wanted = (&about, &filter);
            let (deliveries, next) =
                events::page(database, organisation, wanted, page.cursor()?, take).await?;
            return Ok(page.list_until(deliveries, next));
        }
        filter.before = [page.cursor::<Uuid>()?, filter.before].into_iter().flatten().min();
        let part = log::page(database, organisation, &filter, take).await?;
        Ok(page.list_until(part.deliveries, part.next))
    }

    /// One delivery with its request and response.
    pub(crate) async fn delivery(&self, ctx: &Context, id: Uuid) -> Result<DeliveryDetail> {
        let found = log::one(ctx.database(), ctx.organisation()?.0, id).await?;
        let found = found.ok_or_else(no_delivery)?;
        // Only what was attempted more than once has others.
        let earlier = match found.delivery.attempts {
            0 | 1 => Vec::new(),
            _ => log::earlier(ctx.database(), id).await?,
        };
        Ok(DeliveryDetail {
            delivery: found.delivery,
            request_headers: found.request_headers.map(|json| pairs(&json)).unwrap_or_default(),
            request_body: log_text::cut(&found.request_body, self.settings().log_limit())
                .to_owned(),
            response_headers: found.response_headers.map(|json| pairs(&json)),
            response_body: found.response_body,
            attempted_at: found.attempted_us.map(moment),
            earlier: earlier.into_iter().map(EarlierAttempt::from).collect(),
        })
    }

    /// Queues a delivery again, as a new one with the same body under the same event id.
    pub(crate) async fn redeliver(&self, ctx: &Context, id: Uuid) -> Result<DeliveryDetail> {
        let new = ctx
            .transact(async |uow| {
                let original = replay::original(&uow, id).await?.ok_or_else(no_delivery)?;
                let original = Redelivery { lane: original.lane.of_redelivery(), ..original };
                let endpoint = self.find(uow.context(), original.endpoint).await?;
                Owner::of(&endpoint).require(ctx.app()).await?;
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

fn pairs(json: &str) -> Vec<(String, String)> {
    serde_json::from_str(json).unwrap_or_default()
}
