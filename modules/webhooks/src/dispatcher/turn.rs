//! Looks what is due, claims it, and brings it together with its message and endpoint.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use svc_core::{App, OrganisationId, Result, micros};
use svc_data::{Context, UnitOfWork};
use svc_database::Backend;
use uuid::Uuid;

use super::Dispatcher;
use super::bounds::Bounds;
use super::flight::Flight;
use super::job::Job;
use super::taken::{Taking, Turn};
use crate::endpoint::LoadedEndpoint;
use crate::hand_over::{Handed, HandedDelivery};
use crate::hosts::AllowedHosts;
use crate::in_flight::Planned;
use crate::model::Lane;
use crate::names::WAKE_TOPIC;
use crate::settings::LEASE_MARGIN;
use crate::store::claim::{self, Claim, Claimed, On, Quota};
use crate::store::queues::{Look, Place, Seen, Waiting};
use crate::store::{cancel, changes, hand_overs, ordered, pace, queues};

/// How long it isn't looked again for what others have abandoned, in microseconds.
const LOOK_PAUSE_US: i64 = 1_000_000;

impl Dispatcher {
    /// Goes once around the endpoints whose time has come and claims what is due, as far as there is
    /// room. When there is no more it stops, and the next turn goes on from there.
    pub(super) async fn turn(&self) -> Result<Turn> {
        let app = self.app.get()?;
        // What becomes due meanwhile is the next turn's, so that this one ends.
        let now_us = app.clock().now_us();
        self.take_up(now_us).await?;
        let start = self.place();
        let mut place = start;
        let mut wrapped = start == Place::START;
        let mut turn = Turn::default();
        self.in_flight.look_begins();
        loop {
            if self.in_flight.free() == 0 {
                turn.is_cut_short = true;
                break;
            }
            let look = queues::look(&self.database, place, now_us).await?;
            let next = look.next;
            self.take(&app, look, now_us, &mut turn).await?;
            let is_around = match next {
                Some(next) => wrapped && start != Place::START && next >= start,
                None => wrapped,
            };
            wrapped |= next.is_none();
            place = next.unwrap_or(Place::START);
            *self.place.lock() = place;
            if is_around {
                self.in_flight.look_ended(std::mem::take(&mut turn.backlog));
                break;
            }
        }
        turn.is_due_at(queues::next_us(&self.database, now_us).await?);
        Ok(turn)
    }

    fn place(&self) -> Place {
        *self.place.lock()
    }

    /// Claims from the queues that were seen, adds the deliveries to the turn, and puts off when to
    /// look at their endpoints again.
    async fn take(&self, app: &App, look: Look, now_us: i64, turn: &mut Turn) -> Result<()> {
        let waiting = look.seen.iter().flat_map(|seen| &seen.waiting);
        let mut due: Vec<Waiting> =
            waiting.filter(|waiting| waiting.is_due(now_us)).copied().collect();
        let bounds = self.bounds(app, &due).await?;
        let mut held = bounds.hold(&mut due, now_us);
        self.locate(app, &due).await?;
        let quotas = self.quotas(&due, self.in_flight.free());
        let lanes: HashSet<(Uuid, i16)> =
            quotas.iter().map(|quota| (quota.endpoint, quota.lane.code())).collect();
        let is_left = |due: &&Waiting| !lanes.contains(&(due.endpoint, due.lane.code()));
        due.iter().filter(is_left).for_each(|due| turn.is_behind(due.endpoint, due.lane));
        let claim = self.hand_over.claim(app.clock());
        let claimed = self.claim(app, &bounds, &quotas, claim, turn).await?;
        held.extend(&claimed.held);
        let served: BTreeSet<Uuid> = quotas.iter().map(|quota| quota.endpoint).collect();
        // Those that don't answer have few places together: who had one goes behind the others.
        let is_last =
            |endpoint: &Uuid| turn.backlog.has(*endpoint) && !self.in_flight.answers(*endpoint);
        let last: BTreeSet<Uuid> = served.iter().copied().filter(is_last).collect();
        // An endpoint of which more is due stays where it is.
        let passed: Vec<&Seen> =
            look.seen.iter().filter(|seen| !turn.backlog.has(seen.endpoint)).collect();
        let next_us =
            queues::put_off(&self.database, now_us, &passed, &served, &claimed.ordered, &held)
                .await?;
        queues::go_behind(&self.database, now_us, &last).await?;
        turn.is_due_at(next_us);
        turn.jobs.extend(self.prepare(app, &quotas, claimed).await?);
        Ok(())
    }

    /// Claims what quotas allow.
    async fn claim(
        &self,
        app: &App,
        bounds: &Bounds,
        quotas: &[Quota],
        claim: Claim,
        turn: &mut Turn,
    ) -> Result<Taking> {
        let (bounded, free): (Vec<Quota>, Vec<Quota>) =
            quotas.iter().copied().partition(|quota| bounds.has(quota.organisation));
        let (paced, free): (Vec<Quota>, Vec<Quota>) =
            free.into_iter().partition(|quota| quota.max_per_second.is_some());
        let (ordered, free): (Vec<Quota>, Vec<Quota>) =
            free.into_iter().partition(|quota| quota.lane == Lane::Ordered);
        let mut taking = Taking {
            claimed: claim::claim(On::Database(&self.database), &free, claim).await?,
            ..Taking::default()
        };
        note_behind(&free, &taking.claimed, turn);
        for quota in ordered {
            let taken =
                ordered::claim(On::Database(&self.database), &quota, claim, &self.heads).await?;
            turn.leaves(&quota, &taken);
            taking.add(&quota, claim, taken);
        }
        for quota in paced {
            let quota = self.take_places(quota, turn, &mut taking);
            if quota.count > 0 {
                let taken = pace::claim(app, &quota, claim, &self.heads).await?;
                turn.is_kept_back(&quota, &taken);
                taking.add(&quota, claim, taken);
            }
        }
        self.claim_bounded(app, bounds, bounded, claim, (turn, &mut taking)).await?;
        Ok(taking)
    }

    /// Takes places for what is claimed of an endpoint with a pace; answers with what may be.
    pub(super) fn take_places(&self, quota: Quota, turn: &mut Turn, taking: &mut Taking) -> Quota {
        let own = self.in_flight.take_places(quota.endpoint, quota.count);
        if own.len() < quota.count {
            turn.backlog.paced.insert(quota.endpoint);
        }
        let quota = Quota { count: own.len(), ..quota };
        taking.places.entry(quota.endpoint).or_default().extend(own);
        quota
    }

    /// Finds out where the endpoints are of which it isn't known, since those of one origin share
    /// what may be taken on.
    async fn locate(&self, app: &App, due: &[Waiting]) -> Result<()> {
        let unsettled = self.in_flight.unsettled(due.iter().map(|waiting| waiting.endpoint));
        if unsettled.is_empty() {
            return Ok(());
        }
        let versions = due.iter().map(|waiting| (waiting.endpoint, waiting.version));
        let versions = versions.filter(|(endpoint, _)| unsettled.contains(endpoint)).collect();
        for (id, endpoint) in self.endpoints.load(app, &versions).await? {
            self.in_flight.settle(id, endpoint.home());
        }
        Ok(())
    }

    /// Shares the free room among the queues that have something due, evenly.
    fn quotas(&self, due: &[Waiting], free: usize) -> Vec<Quota> {
        let mut left = free;
        let mut planned = Planned::default();
        let mut quotas = Vec::new();
        for (index, waiting) in due.iter().enumerate() {
            let share = left.div_ceil(due.len() - index);
            let Waiting { endpoint, lane, version, max_per_second, organisation, first_us, .. } =
                *waiting;
            let count = self.in_flight.free_for(endpoint, lane, &planned).min(share);
            if count > 0 {
                let recovered = match lane {
                    Lane::Ordered => self.in_flight.free_for(endpoint, Lane::Replay, &planned),
                    Lane::Test | Lane::Ordinary | Lane::Replay => 0,
                };
                self.in_flight.plan(endpoint, count, &mut planned);
                left -= count;
                quotas.push(Quota {
                    endpoint,
                    lane,
                    version,
                    max_per_second,
                    organisation,
                    first_us,
                    count,
                    recovered,
                });
            }
        }
        quotas
    }

    /// Brings claimed deliveries together with their messages and endpoints; some have places.
    async fn prepare(&self, app: &App, quotas: &[Quota], taking: Taking) -> Result<Vec<Job>> {
        let Taking { mut claimed, mut places, .. } = taking;
        if claimed.is_empty() {
            return Ok(Vec::new());
        }
        let versions: HashMap<Uuid, i64> =
            quotas.iter().map(|quota| (quota.endpoint, quota.version)).collect();
        let endpoints = self.endpoints.load(app, &versions).await?;
        self.cancel(app, &mut claimed, &endpoints).await?;
        let mut wanted: Vec<Uuid> = claimed.iter().map(|claimed| claimed.message).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let messages = claim::messages(&self.database, wanted).await?;
        let hosts = self.allowed_hosts(app, claimed.iter()).await?;
        let mut job = |claimed: Claimed| {
            // A delivery whose endpoint or message is gone is being deleted with it.
            let endpoint = Arc::clone(endpoints.get(&claimed.endpoint)?);
            let message = messages.get(&claimed.message)?.clone();
            let place = places.get_mut(&claimed.endpoint).and_then(Vec::pop);
            let ticket =
                place.unwrap_or_else(|| self.in_flight.take(claimed.endpoint, endpoint.home()));
            let refusal = refusal(&hosts, &claimed, &endpoint);
            Some(Job { claimed, endpoint, message, refusal, ticket })
        };
        Ok(claimed.into_iter().filter_map(&mut job).collect())
    }

    /// Takes those out of what was claimed that were cancelled with all that waited for their endpoints.
    async fn cancel(
        &self,
        app: &App,
        claimed: &mut Vec<Claimed>,
        endpoints: &HashMap<Uuid, Arc<LoadedEndpoint>>,
    ) -> Result<()> {
        let is_cancelled = |one: &Claimed| {
            endpoints.get(&one.endpoint).is_some_and(|endpoint| endpoint.has_cancelled(one))
        };
        let cancelled: Vec<Claimed> = claimed.extract_if(.., |one| is_cancelled(one)).collect();
        if cancelled.is_empty() {
            return Ok(());
        }
        let (context, cancelled) = (Context::system(app)?, &cancelled);
        let work = |uow: UnitOfWork| async move {
            uow.wake_after_commit(WAKE_TOPIC);
            cancel::claimed(&uow, cancelled).await.map(drop)
        };
        context.transact_retrying(work).await
    }

    /// Has nothing sent any more that was prepared before endpoints were changed or deleted on other
    /// nodes, for as long as such may be held. On SQLite there are none.
    pub(super) async fn turn_changed_away(&self, app: &App) -> Result<()> {
        if self.database.backend() == Backend::Sqlite {
            return Ok(());
        }
        let held = self.settings.lease() + LEASE_MARGIN;
        let held_us = micros::of_span(held);
        match changes::since(&self.database, app.clock().now_us() - held_us).await {
            Ok(changed) => {
                for (endpoint, version) in changed {
                    self.in_flight.turn_away(endpoint, version);
                }
                Ok(())
            }
            Err(error) if error.is_transient() => {
                tracing::warn!(error = error.report(), "can't look which endpoints were changed");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Takes on what the fan-out handed over, together with its endpoints.
    pub(super) async fn accept(
        &self,
        app: &App,
        handed: Handed,
        flight: &mut Flight,
    ) -> Result<()> {
        let endpoints = match self.endpoints.load(app, &handed.versions).await {
            // They are found by a look when the database is back.
            Err(error) if error.is_transient() => HashMap::new(),
            endpoints => endpoints?,
        };
        let claims = handed.deliveries.iter().map(|one| &one.claimed);
        let (endpoints, hosts) = match self.allowed_hosts(app, claims).await {
            Err(error) if error.is_transient() => (HashMap::new(), HashMap::new()),
            hosts => (endpoints, hosts?),
        };
        let mut rest = Vec::new();
        let mut jobs = Vec::with_capacity(handed.deliveries.len());
        for HandedDelivery { claimed, message, mut ticket } in handed.deliveries {
            // What was cancelled meanwhile gets its row, and is found to be so by whoever claims it.
            let endpoint = endpoints.get(&claimed.endpoint);
            match endpoint.filter(|endpoint| !endpoint.has_cancelled(&claimed)) {
                Some(endpoint) => {
                    let endpoint = Arc::clone(endpoint);
                    ticket.settle(endpoint.home());
                    let refusal = refusal(&hosts, &claimed, &endpoint);
                    jobs.push(Job { claimed, endpoint, message, refusal, ticket });
                }
                // It is gone, or about to be.
                None => rest.push(claimed),
            }
        }
        flight.take_over(handed.token, jobs, rest);
        Ok(())
    }

    /// The hosts that the organisations of deliveries allow, where they say so.
    async fn allowed_hosts(
        &self,
        app: &App,
        claimed: impl Iterator<Item = &Claimed>,
    ) -> Result<HashMap<Uuid, AllowedHosts>> {
        let organisations: BTreeSet<Uuid> = claimed.map(|one| one.organisation).collect();
        let mut hosts = HashMap::with_capacity(organisations.len());
        for organisation in organisations {
            let context = Context::system_in(app, OrganisationId(organisation))?;
            let allowed = AllowedHosts::of(&context).await?;
            if !allowed.is_any() {
                hosts.insert(organisation, allowed);
            }
        }
        Ok(hosts)
    }

    /// Queues what another process had taken on and abandoned, unless it was looked for just now.
    async fn take_up(&self, now_us: i64) -> Result<()> {
        let last_us = self.looked_us.load(Ordering::Relaxed);
        if now_us.saturating_sub(last_us) < LOOK_PAUSE_US {
            return Ok(());
        }
        self.looked_us.store(now_us, Ordering::Relaxed);
        self.queue_abandoned(now_us).await
    }

    /// Queues what hand-overs tell of that ended by a time.
    pub(super) async fn queue_abandoned(&self, until_us: i64) -> Result<()> {
        let abandoned = hand_overs::abandoned(&self.database, until_us).await?;
        if abandoned.is_empty() {
            return Ok(());
        }
        tracing::warn!(
            hand_overs = abandoned.len(),
            "deliveries that another process had taken on are queued again"
        );
        let context = Context::system(&self.app.get()?)?;
        for id in abandoned {
            context
                .transact_retrying(|uow| async move { hand_overs::queue(&uow, id).await })
                .await?;
        }
        Ok(())
    }
}

/// Why nothing may be sent to an endpoint.
fn refusal(
    hosts: &HashMap<Uuid, AllowedHosts>,
    claimed: &Claimed,
    endpoint: &LoadedEndpoint,
) -> Option<String> {
    let allowed = hosts.get(&claimed.organisation)?;
    let addresses = [endpoint.url.as_ref().ok(), endpoint.token_url()];
    addresses.into_iter().flatten().find_map(|url| allowed.check(url).err())
}

/// Notes endpoints whose queues gave all that was asked of them: they may hold more.
fn note_behind(quotas: &[Quota], claimed: &[Claimed], turn: &mut Turn) {
    let mut counts: HashMap<(Uuid, i16), usize> = HashMap::new();
    for one in claimed {
        *counts.entry((one.endpoint, one.lane.code())).or_default() += 1;
    }
    let gave_all = |quota: &&Quota| {
        counts.get(&(quota.endpoint, quota.lane.code())).is_some_and(|n| *n >= quota.count)
    };
    quotas.iter().filter(gave_all).for_each(|quota| turn.is_behind(quota.endpoint, quota.lane));
}
