//! The event that an administrator sends by hand.

use serde_json::Value as Json;
use svc_core::trace::TraceContext;
use svc_core::{Error, Result};
use svc_data::Context;
use uuid::Uuid;

use super::Service;
use crate::envelope::Envelope;
use crate::event_catalogue;
use crate::model::delivery::DeliveryDetail;
use crate::model::{Lane, Status};
use crate::owner::Owner;
use crate::store::insert::{self, NewDelivery, NewMessage};
use crate::subscription::{EventType, TEST_EVENT};
use crate::view;

impl Service {
    /// Queues a test event, or the example of an event type, which is sent also when the endpoint is
    /// switched off.
    pub(crate) async fn send_test(
        &self,
        ctx: &Context,
        endpoint: Uuid,
        event_type: Option<&str>,
    ) -> Result<DeliveryDetail> {
        let organisation = ctx.organisation()?;
        let (event_type, data) = match event_type {
            None | Some(TEST_EVENT) => (EventType::test(), event_catalogue::test_data(endpoint)),
            Some(name) => example(ctx, name)?,
        };
        let delivery = ctx.clock().new_id();
        ctx.transact(async |uow| {
            let found = self.find(uow.context(), endpoint).await?;
            Owner::of(&found).present(ctx.app()).await?;
            let format = found.format;
            let envelope = Envelope {
                id: ctx.clock().new_id(),
                event_type: &event_type,
                time: ctx.clock().now(),
                tenant: organisation.0,
                data: &data,
                changes: None,
            };
            // An example is about nothing that there is.
            let message = view::message(ctx.app(), ctx.clock().new_id(), &envelope, format, None)?;
            let message = NewMessage { trace: TraceContext::current(), ..message };
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

/// The example of an event type.
fn example(ctx: &Context, name: &str) -> Result<(EventType, Json)> {
    let refused = |why: String| Err(Error::invalid("no event can be sent").field("eventType", why));
    let Some(known) = event_catalogue::of(ctx.app())?.into_iter().find(|one| one.name == name)
    else {
        return refused("isn't a known event type; `event-types` lists those there are".to_owned());
    };
    match (EventType::parse(known.name), known.example) {
        (Ok(event_type), Some(data)) => Ok((event_type, data)),
        _ => refused(format!("`{name}` has no example; whoever registers the event gives it one")),
    }
}
