//! Running a job because somebody asks for it, and not code or a schedule.

use svc_core::{Error, Result};
use svc_data::Context;

use crate::enqueue::{Enqueued, enqueue_given, enqueue_scheduled};
use crate::service::{Jobs, MANAGE};

impl Jobs {
    /// Enqueues a job now: that of a schedule, as it would be at its time, or one of a kind, with
    /// `data` as JSON. It runs in the caller's organisation. Needs `Jobs.Manage`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for a name that is neither;
    /// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for data that such a job can't have;
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden); a fault of the database.
    pub async fn run_now(
        &self,
        ctx: &Context,
        name: &str,
        data: Option<String>,
    ) -> Result<Enqueued> {
        ctx.require(MANAGE)?;
        let catalogue = self.catalogue();
        if let Some(schedule) = catalogue.schedules.iter().find(|known| known.name == name) {
            if data.is_some() {
                return Err(Error::invalid(format!(
                    "the schedule `{name}` has data of its own; to give other data, run `{}`",
                    schedule.job
                )));
            }
            if schedule.in_each_organisation && ctx.principal().organisation().is_none() {
                return Err(Error::invalid(format!(
                    "the schedule `{name}` runs in each organisation; say in which one (`--organisation`)"
                )));
            }
            let payload = (schedule.make)()?;
            return ctx
                .transact(async |uow| enqueue_scheduled(&uow, schedule.job, name, payload).await)
                .await;
        }
        let Some(kind) = catalogue.kinds.get(name) else {
            let schedules = catalogue.schedules.iter().map(|schedule| schedule.name.as_str());
            let known: Vec<&str> = schedules.chain(catalogue.kinds.keys().copied()).collect();
            return Err(Error::not_found(format!(
                "there is no schedule or job `{name}`; there are {}",
                known.join(", ")
            )));
        };
        let data = data.unwrap_or_else(|| "{}".to_owned());
        (kind.check)(&data).map_err(|problem| {
            Error::invalid(format!("a `{name}` job can't have this data: {problem}"))
        })?;
        ctx.transact(async |uow| enqueue_given(&uow, kind.name, data).await).await
    }
}
