//! Cancelling what waits: one delivery, or all that an endpoint has waiting.
//!
//! What is cancelled stays in the log and can be redelivered.
//!
//! All of an endpoint's are cancelled by a mark on the endpoint, which is stored before the answer: what
//! was made before it is sent no more. Whatever a node had prepared is turned away by the endpoint's new
//! version, comes back into the queue, and is found to be cancelled by whoever claims it next
//! ([`cancel::claimed`]), on any node and after any crash. So nothing depends on how far the job is that
//! cancels the rows, a few hundred in each step: it says in the log what holds already, and keeps
//! what is new from waiting behind them. It walks a second time when claims of that moment have ended, for
//! what came back meanwhile and isn't due, or isn't claimed by anybody.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use svc_core::Result;
use svc_data::Context;
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError, JobId};
use uuid::Uuid;

use super::Service;
use super::deliveries::no_delivery;
use crate::errors::{BEING_SENT, NOT_WAITING};
use crate::model::Status;
use crate::model::delivery::DeliveryDetail;
use crate::names::WAKE_TOPIC;
use crate::settings::WebhooksSettings;
use crate::store::Place;
use crate::store::cancel::{self, Mark};

/// Cancels what an endpoint had waiting.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CancelWaiting {
    endpoint: Uuid,
    mark: Mark,
    /// Whether it is the second walk.
    is_again: bool,
}

impl Job for CancelWaiting {
    const NAME: &'static str = "webhooks.cancel";
}

impl Service {
    /// Cancels a delivery that waits. One that a node has taken on is being sent, or about to be: it
    /// can be cancelled once that attempt has ended.
    pub(crate) async fn cancel(&self, ctx: &Context, id: Uuid) -> Result<DeliveryDetail> {
        ctx.transact(async |uow| {
            if cancel::one(&uow, id, &cancelled_by(ctx)).await? {
                // The next of its entity may be sent now.
                uow.wake_after_commit(WAKE_TOPIC);
                return Ok(());
            }
            Err(match cancel::status(&uow, id).await?.ok_or_else(no_delivery)? {
                Status::Queued | Status::Retrying => BEING_SENT
                    .error("the delivery is being sent; cancel it when the attempt has ended"),
                ended => NOT_WAITING
                    .error(format!("the delivery is `{}`, and doesn't wait", ended.as_str())),
            })
        })
        .await?;
        self.delivery(ctx, id).await
    }

    /// Begins to cancel all that waits for an endpoint; answers with the job.
    pub(crate) async fn cancel_waiting(&self, ctx: &Context, endpoint: Uuid) -> Result<JobId> {
        ctx.transact(async |uow| {
            self.find(uow.context(), endpoint).await?;
            let mark = Mark {
                to: ctx.clock().new_id(),
                until_us: ctx.clock().now_us(),
                sentence: cancelled_by(ctx),
            };
            let version = cancel::mark(&uow, endpoint, &mark).await?;
            self.turn_away_after_commit(&uow, endpoint, version);
            let job = CancelWaiting { endpoint, mark, is_again: false };
            Ok(uow.enqueue(job).watched().await?.id)
        })
        .await
    }
}

fn cancelled_by(ctx: &Context) -> String {
    format!("cancelled by {}", ctx.principal().display_name())
}

/// Runs the job. One that was interrupted begins anew, and finds what is left.
pub(crate) async fn cancel_waiting(ctx: JobContext, job: CancelWaiting) -> Result<(), JobError> {
    let CancelWaiting { endpoint, mark, is_again } = &job;
    let mut place = Some(Place::default());
    let mut cancelled = 0;
    while let Some(at) = place {
        ctx.check_interruption()?;
        let step = async |uow: svc_data::UnitOfWork| {
            let step = cancel::step(&uow, *endpoint, mark, at).await?;
            if step.0 > 0 {
                uow.wake_after_commit(WAKE_TOPIC);
            }
            Ok(step)
        };
        let step = ctx.transact(step).await?;
        cancelled += step.0;
        place = step.1;
        ctx.progress_message(format!("{cancelled} deliveries cancelled"));
    }
    if !is_again {
        let lease = ctx.app().settings::<WebhooksSettings>().lease();
        let again = CancelWaiting { is_again: true, ..job };
        let later = lease + Duration::from_secs(1);
        ctx.transact(async move |uow| uow.enqueue(again).run_in(later).await.map(drop)).await?;
    }
    Ok(())
}
