//! Claims for endpoints of organisations whose limits bound how many requests begin.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use svc_core::{App, OrganisationId, Result};
use uuid::Uuid;

use super::Dispatcher;
use super::taken::{Taking, Turn};
use crate::allowance::Allowance;
use crate::limits::Limits;
use crate::store::allowances;
use crate::store::claim::{Claim, Quota};
use crate::store::queues::Waiting;

/// Organisations with limits, of which something is due, and what they used.
#[derive(Default)]
pub(super) struct Bounds {
    limits: BTreeMap<Uuid, Limits>,
    used: HashMap<Uuid, Allowance>,
}

impl Bounds {
    /// Whether requests of an organisation are counted.
    pub(super) fn has(&self, organisation: Uuid) -> bool {
        self.limits.contains_key(&organisation)
    }

    /// Takes those out of what is due whose organisations may begin nothing now; answers with when it is
    /// the turn of each, so that a look goes by one after the other and not by all each time.
    pub(super) fn hold(&self, due: &mut Vec<Waiting>, now_us: i64) -> BTreeMap<Uuid, i64> {
        let mut held = BTreeMap::new();
        let mut before: HashMap<Uuid, usize> = HashMap::new();
        due.retain(|waiting| {
            let Some(limits) = self.limits.get(&waiting.organisation) else { return true };
            let Some(used) = self.used.get(&waiting.organisation) else { return true };
            if used.ready_us(limits) <= now_us {
                return true;
            }
            held.entry(waiting.endpoint).or_insert_with(|| {
                let before = before.entry(waiting.organisation).or_default();
                *before += 1;
                used.turn_us(limits, now_us, *before - 1)
            });
            false
        });
        held
    }
}

impl Dispatcher {
    /// What bounds those of which something is due: no statement where there are no limits.
    pub(super) async fn bounds(&self, app: &App, due: &[Waiting]) -> Result<Bounds> {
        let organisations: BTreeSet<Uuid> =
            due.iter().map(|waiting| waiting.organisation).collect();
        let mut bounds = Bounds::default();
        for organisation in organisations {
            let limits = Limits::in_organisation(app, OrganisationId(organisation)).await?;
            if limits.bound_requests() {
                bounds.limits.insert(organisation, limits);
            }
        }
        if !bounds.limits.is_empty() {
            let organisations = bounds.limits.keys().copied();
            bounds.used = allowances::of(&self.database, organisations).await?;
        }
        Ok(bounds)
    }

    /// Claims what the limits of organisations allow, in one unit of work for each of them.
    pub(super) async fn claim_bounded(
        &self,
        app: &App,
        bounds: &Bounds,
        quotas: Vec<Quota>,
        claim: Claim,
        (turn, taking): (&mut Turn, &mut Taking),
    ) -> Result<()> {
        let mut by_organisation: BTreeMap<Uuid, Vec<Quota>> = BTreeMap::new();
        for mut quota in quotas {
            if quota.max_per_second.is_some() {
                quota = self.take_places(quota, turn, taking);
            }
            if quota.count > 0 {
                by_organisation.entry(quota.organisation).or_default().push(quota);
            }
        }
        for (organisation, quotas) in by_organisation {
            let Some(limits) = bounds.limits.get(&organisation) else { continue };
            let whose = (organisation, limits);
            let shared = allowances::claim(app, whose, &quotas, claim, &self.heads).await?;
            for (quota, taken) in shared.taken {
                let is_held = shared.held.contains_key(&quota.endpoint);
                if quota.max_per_second.is_some() && quota.count > 0 && !is_held {
                    turn.is_kept_back(&quota, &taken);
                } else if !is_held {
                    turn.leaves(&quota, &taken);
                }
                if quota.count > 0 {
                    taking.add(&quota, claim, taken);
                }
            }
            taking.held.extend(shared.held);
        }
        Ok(())
    }
}
