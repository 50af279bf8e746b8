//! Whether owners are there, asked again and again of the same few.
//!
//! A request begins only while its endpoint's owner is there. So that a backlog doesn't cost a question
//! for each delivery, an answer holds for [`HELD_US`]: so late a person who left, or a key that was revoked,
//! may still have something sent. Attempts that need an answer at once wait for the same question. While
//! the database is away the last answer holds on: what is in memory goes on being sent, for as long as its
//! claim holds.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use svc_core::{App, Result, WeakApp};
use svc_data::{Context, UnitOfWork};
use svc_events::Publish as _;
use uuid::Uuid;

use crate::events::{WebhookEndpointOwnerGone, host};
use crate::owner::{Owner, Standing};
use crate::permissions::MANAGE;
use crate::store::owners;

/// How long an answer holds, in microseconds.
const HELD_US: i64 = 1_000_000;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most owners of whom it is kept; of more it is asked again when it is needed.
const KEPT: usize = 10_000;

/// What is known of owners on this node.
pub(crate) struct Standings {
    app: WeakApp,
    slots: Mutex<HashMap<Owner, Arc<Slot>>>,
}

/// What is known of one owner. Whoever needs it waits for whoever is asking.
type Slot = tokio::sync::Mutex<Option<Known>>;

struct Known {
    asked_us: i64,
    standing: Standing,
}

impl Standings {
    pub(crate) fn new(app: &App) -> Self {
        Self { app: app.downgrade(), slots: Mutex::default() }
    }

    /// Whether an owner is there, or was within a second; none where it can't be found out.
    pub(crate) async fn of(&self, owner: Owner) -> Option<Standing> {
        let app = self.app.get().ok()?;
        let slot = self.slot(owner);
        let mut known = slot.lock().await;
        let now_us = app.clock().now_us();
        if let Some(Known { asked_us, standing }) = &*known
            && (*asked_us..asked_us.saturating_add(HELD_US)).contains(&now_us)
        {
            return Some(standing.clone());
        }
        let why = match tokio::time::timeout(PATIENCE, owner.standing(&app)).await {
            Ok(Ok(standing)) => {
                *known = Some(Known { asked_us: now_us, standing: standing.clone() });
                return Some(standing);
            }
            Ok(Err(error)) => error.report(),
            Err(_) => "there is no answer".to_owned(),
        };
        tracing::warn!(error = why, "can't find out whether the owner of an endpoint is there");
        // Those who wait for the answer go on with the one before, too.
        known.as_mut().map(|known| {
            known.asked_us = now_us;
            known.standing.clone()
        })
    }

    /// Whether an owner is there now.
    pub(crate) async fn anew(&self, owner: Owner) -> Result<Standing> {
        let app = self.app.get()?;
        let asked_us = app.clock().now_us();
        let standing = owner.standing(&app).await?;
        // Whoever is asking meanwhile finds out as well.
        if let Ok(mut known) = self.slot(owner).try_lock() {
            *known = Some(Known { asked_us, standing: standing.clone() });
        }
        Ok(standing)
    }

    fn slot(&self, owner: Owner) -> Arc<Slot> {
        let mut slots = self.slots.lock();
        if slots.len() >= KEPT && !slots.contains_key(&owner) {
            slots.clear();
        }
        Arc::clone(slots.entry(owner).or_default())
    }
}

/// Notes endpoints that miss something because their owners are gone, and tells administrators of those of
/// which nobody had noted it.
pub(crate) async fn note_gone(
    uow: &UnitOfWork,
    gone: &BTreeMap<Uuid, (Owner, Standing)>,
) -> Result<()> {
    if gone.is_empty() {
        return Ok(());
    }
    let app = uow.context().app();
    let now = app.clock().now();
    for found in owners::note_gone(uow, gone.keys().copied(), now).await? {
        let Some((owner, standing)) = gone.get(&found.endpoint) else { continue };
        let event = WebhookEndpointOwnerGone {
            endpoint_id: found.endpoint,
            host: host(&found.url),
            description: found.description,
            owner_id: owner.user.0,
            permission: MANAGE,
            reason: format!(
                "{}; what it misses is kept: save the endpoint to become its owner, and recover it",
                standing.sentence()
            ),
        };
        let context = Context::system_in(app, owner.organisation)?;
        context.transact(async move |uow| uow.raise_domain(event)).await?;
    }
    Ok(())
}
