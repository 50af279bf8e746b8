//! What an endpoint is told, for receivers that nobody reaches and that fetch it.
//!
//! | From | To | Who | A crash right after leaves |
//! | --- | --- | --- | --- |
//! | `queued` | claimed, and in an answer | whoever fetches | a claim that ends after [`HELD`]; then it is fetched again |
//! | claimed | `delivered` | whoever fetches on behind that answer | before the commit: the claim |
//!
//! So a receiver that dies with an answer loses nothing, and drops what comes twice by its event, as one
//! that is sent to does. The bytes and signatures are those of a request.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use svc_core::{Error, Result};
use svc_data::Context;
use uuid::Uuid;

use super::{Service, no_endpoint};
use crate::errors::NOT_POLLED;
use crate::model::Lane;
use crate::owner::Owner;
use crate::receiver;
use crate::store::claim::{self, Claim, Claimed, Quota};
use crate::store::feed;

/// Deliveries of an answer at most.
pub(crate) const AT_ONCE: usize = 50;

/// Bytes of bodies in an answer at most, unless its first is larger.
const BYTES: usize = 4 << 20;

/// How long what was fetched is nobody else's.
const HELD: Duration = Duration::from_mins(1);

/// An answer that was given: its claim, and the deliveries in it.
pub(crate) type Answered = (Uuid, Vec<Uuid>);

/// A delivery as it is fetched.
pub(crate) struct Fetched {
    /// Those of a request, as far as they belong to the signature.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// What is fetched at once.
pub(crate) struct Feed {
    pub(crate) items: Vec<Fetched>,
    /// What says that these arrived; none where there are none.
    pub(crate) answered: Option<Answered>,
}

impl Service {
    /// Notes that an answer arrived, and claims what comes next.
    pub(crate) async fn fetch(
        &self,
        ctx: &Context,
        id: Uuid,
        after: Option<&Answered>,
        most: usize,
    ) -> Result<Feed> {
        let endpoint = self.find(ctx, id).await?;
        if !endpoint.is_polled {
            return Err(NOT_POLLED.error("the endpoint is sent its deliveries, and has no feed"));
        }
        receiver::check(ctx.principal(), &endpoint)?;
        Owner::of(&endpoint).present(ctx.app()).await?;
        let claim = Claim::begin(ctx.clock(), HELD);
        let quota = Quota {
            endpoint: id,
            lane: Lane::Ordinary,
            version: endpoint.version,
            max_per_second: None,
            organisation: endpoint.organisation_id,
            first_us: claim.now_us,
            count: most.min(AT_ONCE),
            recovered: AT_ONCE,
        };
        let claimed = ctx
            .transact(async |uow| {
                if let Some((token, deliveries)) = after {
                    feed::arrived(&uow, id, *token, deliveries).await?;
                }
                feed::claim_next(&uow, &quota, endpoint.is_active, claim).await
            })
            .await?;
        if claimed.is_empty() {
            return Ok(Feed { items: Vec::new(), answered: None });
        }
        let versions = HashMap::from([(id, endpoint.version)]);
        let loaded = self.endpoints.load(ctx.app(), &versions).await?.remove(&id);
        let Some(loaded) = loaded else { return Err(no_endpoint()) };
        let mut items = Vec::with_capacity(claimed.len());
        let mut held = Vec::with_capacity(claimed.len());
        let (taken, rest) = bodies(ctx, claimed).await?;
        for (delivery, event, body) in taken {
            let headers =
                loaded.signature(event, ctx.clock().now(), &body).map_err(Error::internal)?;
            items.push(Fetched { headers, body });
            held.push(delivery);
        }
        if !rest.is_empty() {
            ctx.transact(async |uow| claim::release(&uow, claim.token, rest).await).await?;
        }
        Ok(Feed { items, answered: Some((claim.token, held)) })
    }
}

/// A delivery with its event and its body.
type Whole = (Uuid, Uuid, Bytes);

/// The bodies of as many deliveries as an answer holds, and the deliveries that it doesn't.
async fn bodies(ctx: &Context, claimed: Vec<Claimed>) -> Result<(Vec<Whole>, Vec<Uuid>)> {
    let wanted = claimed.iter().map(|one| one.message);
    let messages = claim::messages(ctx.database(), wanted).await?;
    let (mut taken, mut rest, mut bytes) = (Vec::new(), Vec::new(), 0);
    for one in claimed {
        // One whose message is gone is being deleted with it.
        let Some(message) = messages.get(&one.message) else { continue };
        bytes += message.body.bytes();
        if bytes > BYTES && !taken.is_empty() {
            rest.push(one.id);
            continue;
        }
        let body = claim::body(ctx.database(), &message.body).await?;
        taken.extend(body.map(|body| (one.id, message.event, body)));
    }
    Ok((taken, rest))
}
