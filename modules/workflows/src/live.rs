//! What pages hear: that records of a set have moved, so that whoever shows tasks asks for them anew.
//!
//! It names the set and neither the record nor its state, so it suits everybody who may read the set, whatever they see
//! of it. A unit of work tells of a set once, however many of its records it has moved.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use svc_core::{Registry, Result};
use svc_data::{Context, UnitOfWork};
use svc_live::{Audience, LiveRegistry as _, LiveTopic, Tell as _};

use crate::declared::Started;
use crate::permissions::VIEW;

/// The topic; its keys are sets.
const MOVED: &str = "workflows.moved";

pub(crate) fn register(registry: &mut Registry, started: Started) {
    let topic = LiveTopic::new(MOVED, "records of a set that moved, or await somebody else");
    registry.live_topic(topic.needs(VIEW).heard_by(Arc::new(Readers(started))));
}

/// Those who may read a set.
struct Readers(Started);

#[async_trait]
impl Audience for Readers {
    async fn may_hear(&self, ctx: &Context, set: &str) -> Result<bool> {
        Ok(self.0.0.get().is_some_and(|workflows| workflows.find(ctx, set).is_ok()))
    }
}

/// Tells that it is somebody else's turn with records of a set.
pub(crate) fn tell_moved(uow: &UnitOfWork, set: &str) -> Result<()> {
    uow.tell_live(MOVED, set, json!({}))
}
