//! The event that an administrator sends by hand.

use svc_core::Result;
use svc_core::trace::TraceContext;
use svc_data::Context;
use uuid::Uuid;

use super::{DeliveryDetail, Service};
use crate::envelope::Envelope;
use crate::event_catalogue;
use crate::model::{Lane, Status};
use crate::store::insert::{self, NewDelivery, NewMessage};
use crate::store::micros;
use crate::subscription::EventType;
use crate::view;

impl Service {
    /// Queues a test event, which is sent also when the endpoint is switched off.
    pub(crate) async fn send_test(&self, ctx: &Context, endpoint: Uuid) -> Result<DeliveryDetail> {
        let organisation = ctx.organisation()?;
        let event_type = EventType::test();
        let delivery = ctx.clock().new_id();
        ctx.transact(async |uow| {
            self.find(uow.context(), endpoint).await?;
            let event = ctx.clock().new_id();
            let time = ctx.clock().now();
            let envelope = Envelope {
                id: event,
                event_type: &event_type,
                time,
                tenant: organisation.0,
                data: &event_catalogue::test_data(endpoint),
                changes: None,
            };
            let message = NewMessage {
                id: ctx.clock().new_id(),
                organisation,
                event_id: event,
                event_type: event_type.as_str().to_owned(),
                time_us: micros(time),
                trace: TraceContext::current(),
                body: view::text(&envelope)?,
            };
            let delivery = NewDelivery {
                id: delivery,
                organisation,
                endpoint,
                message: message.id,
                status: Status::Queued,
                lane: Lane::Test,
                redelivery_of: None,
                order: None,
            };
            insert::messages(&uow, &[message]).await?;
            insert::deliveries(&uow, &[delivery]).await
        })
        .await?;
        self.delivery(ctx, delivery).await
    }
}
