//! Who stands in for whom: over a span of time (a delegation), or with one record while it is in its state (a
//! reassignment).
//!
//! ```text
//! Ada delegates to Bob ──► Bob may take what Ada may, in his name and for her, as long as it lasts
//! Ada's turn is reassigned to Bob ──► the same with that record, and Ada's turn is over
//! ```
//!
//! The rights of the moment decide: what Ada may is looked up in the directory when Bob acts. So that lists can ask for it in
//! SQL, the claims of those who delegate are stored, and looked up anew every minute. Four eyes count for both, and of two
//! approvals one can't be Bob's for Ada and the other Ada's. Who stands in for somebody doesn't for those whom that person stands in for.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use svc_core::{Directory, Error, OrganisationId, Principal, Result, UserId, micros};
use svc_data::{Context, UnitOfWork};
use svc_jobs::{Job, JobContext, JobError};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::claims;
use crate::engine::WorkflowEngine;
use crate::errors::{NOT_ALLOWED, TOO_MANY_DELEGATIONS};
use crate::live;
use crate::permissions::{ACT, REASSIGN, VIEW};
use crate::store::{self, Delegation, Reassignment};
use crate::subject::{Subject, Version};
use crate::transition::{changed_since, checked};

/// The most delegations that somebody gives, or gets, beside each other.
const MOST: usize = 10;

/// The longest delegation, in days.
const MAX_DAYS: i64 = 366;

const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;

/// How many delegations are looked up anew at once.
const AT_ONCE: u64 = 100;

/// The job that looks up anew what those may who delegate.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeepDelegations {}

impl Job for KeepDelegations {
    const NAME: &'static str = "workflows.keep_delegations";
}

/// What is asked for: that somebody stands in for another.
pub(crate) struct Wanted<'a> {
    /// None for the caller.
    pub(crate) from: Option<Uuid>,
    pub(crate) to: Uuid,
    pub(crate) begins: Option<OffsetDateTime>,
    pub(crate) ends: OffsetDateTime,
    pub(crate) reason: Option<&'a str>,
}

/// Who somebody is now; none who isn't of the organisation.
async fn person(ctx: &Context, user: Uuid) -> Result<Option<Principal>> {
    let Some(directory) = ctx.app().find_service::<dyn Directory>() else { return Ok(None) };
    directory.principal(UserId(user), ctx.organisation()?).await
}

/// Somebody who is to stand in, or for whom somebody does.
async fn member(ctx: &Context, user: Uuid, field: &str) -> Result<Principal> {
    person(ctx, user).await?.ok_or_else(|| {
        Error::invalid("the request is not valid").field(field, "is nobody of this organisation")
    })
}

fn me(ctx: &Context) -> Result<Uuid> {
    let nobody = || Error::forbidden("the application itself has nothing to hand on");
    ctx.principal().user_id().map(|user| user.0).ok_or_else(nobody)
}

/// For whom the caller speaks: for somebody else only with the permission.
fn giver(ctx: &Context, from: Option<Uuid>) -> Result<Uuid> {
    let me = me(ctx)?;
    let from = from.unwrap_or(me);
    if from != me {
        ctx.require(REASSIGN)?;
    }
    Ok(from)
}

impl WorkflowEngine {
    /// Has somebody stand in for another over a span of time.
    pub(crate) async fn delegate(&self, ctx: &Context, wanted: Wanted<'_>) -> Result<Delegation> {
        let from = giver(ctx, wanted.from)?;
        let reason = checked("reason", wanted.reason)?;
        let now_us = ctx.clock().now_us();
        let begins_us = wanted.begins.map_or(now_us, micros::of_time);
        let ends_us = micros::of_time(wanted.ends);
        let invalid = |field: &str, problem: &str| {
            Err(Error::invalid("the request is not valid").field(field, problem))
        };
        if wanted.to == from {
            return invalid("to", "is the person who delegates; name somebody else");
        }
        if ends_us <= begins_us.max(now_us) {
            return invalid("ends", "must be later than now, and than it begins");
        }
        if now_us - begins_us > MAX_DAYS * DAY_US {
            return invalid("begins", &format!("must not be longer than {MAX_DAYS} days ago"));
        }
        if ends_us - begins_us.max(now_us) > MAX_DAYS * DAY_US
            || begins_us - now_us > MAX_DAYS * DAY_US
        {
            return invalid("ends", &format!("must be within {MAX_DAYS} days"));
        }
        let giver = member(ctx, from, "from").await?;
        let taker = member(ctx, wanted.to, "to").await?;
        let delegation = Delegation {
            id: ctx.clock().new_id(),
            from,
            from_name: giver.display_name().to_owned(),
            to: wanted.to,
            to_name: taker.display_name().to_owned(),
            begins_us,
            ends_us,
            reason: reason.map(str::to_owned),
        };
        let claims = self.claims_of(&giver);
        ctx.transact(async |uow| {
            let organisation = uow.context().organisation()?;
            store::lock_delegations(&uow, organisation).await?;
            let outgoing = store::delegations(uow.context(), organisation, from, now_us).await?;
            let incoming =
                store::delegations(uow.context(), organisation, wanted.to, now_us).await?;
            let of_giver = outgoing.iter().filter(|it| it.from == from).count();
            let of_taker = incoming.iter().filter(|it| it.to == wanted.to).count();
            if of_giver.max(of_taker) >= MOST {
                let message = format!("nobody gives or gets more than {MOST} delegations; end one");
                return Err(TOO_MANY_DELEGATIONS.error(message));
            }
            store::delegate(&uow, organisation, &delegation).await?;
            store::set_delegated(&uow, organisation, &delegation, &claims).await?;
            self.tell_all(&uow)
        })
        .await?;
        Ok(delegation)
    }

    /// Ends a delegation.
    pub(crate) async fn end_delegation(&self, ctx: &Context, id: Uuid) -> Result<()> {
        let (me, organisation) = (me(ctx)?, ctx.organisation()?);
        let missing = || Error::not_found("there is no such delegation");
        let found = store::delegation(ctx, organisation, id).await?.ok_or_else(missing)?;
        if found.from != me && !ctx.principal().can(REASSIGN) {
            // Whoever gets it knows of it.
            return Err(if found.to == me { Error::lacks_permission(REASSIGN) } else { missing() });
        }
        ctx.transact(async |uow| {
            store::end_delegation(&uow, organisation, id).await?;
            self.tell_all(&uow)
        })
        .await
    }

    /// The claims of somebody, as lists ask for them.
    fn claims_of(&self, who: &Principal) -> BTreeSet<String> {
        let user = who.user_id().map(|user| claims::of_user(user.0));
        let held = self.workflows().flat_map(|workflow| workflow.awaited.held_by(who));
        held.chain(user).collect()
    }

    fn tell_all(&self, uow: &UnitOfWork) -> Result<()> {
        self.workflows().try_for_each(|workflow| live::tell_moved(uow, workflow.set()))
    }

    /// Those for whom the caller stands in everywhere, as they are now.
    pub(crate) async fn delegators(&self, ctx: &Context) -> Result<Vec<Principal>> {
        let Some(me) = ctx.principal().user_id() else { return Ok(Vec::new()) };
        let now_us = ctx.clock().now_us();
        let all = store::delegations(ctx, ctx.organisation()?, me.0, now_us).await?;
        let mut found: Vec<Principal> = Vec::new();
        for delegation in all.iter().filter(|it| it.to == me.0 && it.begins_us <= now_us) {
            let is_known = |it: &Principal| it.user_id() == Some(UserId(delegation.from));
            if !found.iter().any(is_known) {
                found.extend(person(ctx, delegation.from).await?);
            }
        }
        Ok(found)
    }

    /// Those for whom the caller stands in with one record.
    pub(crate) async fn reassigned_to(
        &self,
        ctx: &Context,
        reassigned: &[Reassignment],
    ) -> Result<Vec<Principal>> {
        let me = ctx.principal().user_id().map(|user| user.0);
        let mut found = Vec::new();
        for one in reassigned.iter().filter(|it| Some(it.to) == me) {
            found.extend(person(ctx, one.from).await?);
        }
        Ok(found)
    }

    /// Hands the turn of somebody with a record on to another, while it is in its state.
    pub(crate) async fn reassign(
        &self,
        ctx: &Context,
        (set, id): (&str, Uuid),
        seen: Version,
        (from, to): (Option<Uuid>, Uuid),
        reason: &str,
    ) -> Result<Version> {
        let from = giver(ctx, from)?;
        let Some(reason) = checked("reason", Some(reason))? else {
            return Err(Error::invalid("the request is not valid").field("reason", "is required"));
        };
        if to == from {
            let problem = "has the turn already; name somebody else";
            return Err(Error::invalid("the request is not valid").field("to", problem));
        }
        let giver = member(ctx, from, "from").await?;
        let taker = member(ctx, to, "to").await?;
        ctx.transact(async |uow| {
            let mut subject = self.locked(&uow, set, id).await?;
            if seen != subject.version() {
                return Err(changed_since());
            }
            self.require_able(&uow, &subject, &taker).await?;
            let rights = subject.turn_of(&giver);
            let held: Vec<Uuid> =
                subject.reassigned.iter().filter(|it| it.to == from).map(|it| it.from).collect();
            if rights.is_none() && held.is_empty() {
                return Err(NOT_ALLOWED.error(format!(
                    "the record doesn't await `{}`, so there is nothing to hand on",
                    giver.display_name()
                )));
            }
            let actor = uow.context().principal().actor();
            let of = |from: Uuid, rights: Vec<String>| Reassignment {
                from,
                to,
                to_name: taker.display_name().to_owned(),
                reason: reason.to_owned(),
                by_name: actor.display_name.clone(),
                rights,
                at_us: uow.context().clock().now_us(),
            };
            let passed = subject.reassigned.iter().filter(|it| it.to == from);
            let mut all: Vec<Reassignment> =
                passed.map(|it| of(it.from, it.rights.clone())).collect();
            all.extend(rights.map(|rights| of(from, rights)));
            let steps = subject.instance.steps;
            let place = subject.place(uow.context())?;
            for one in &all {
                store::reassign(&uow, place, steps, one).await?;
            }
            let mut now =
                store::reassigned(uow.context(), place.organisation, set, &[(id, steps)]).await?;
            let reassigned = now.remove(&id).unwrap_or_default();
            let stay = subject.instance.stay();
            subject.reassigned = reassigned;
            let had = Some(subject.instance.claims);
            store::claim(&uow, subject.place(uow.context())?, stay, &subject.claims(), had).await?;
            live::tell_moved(&uow, subject.workflow.set())?;
            Ok(subject.version())
        })
        .await
    }

    /// Insists that somebody who gets a turn can look at the record and take it on.
    async fn require_able(
        &self,
        uow: &UnitOfWork,
        subject: &Subject,
        who: &Principal,
    ) -> Result<()> {
        let ctx = uow.context().acting_as(Arc::new(who.clone()));
        let may = [VIEW, ACT].iter().all(|permission| who.can(permission));
        let sees = may
            && self.sets.require_view(&ctx, subject.workflow.index).is_ok()
            && self.sets.sees(&ctx, subject.workflow.index, &subject.key).await?;
        if sees {
            return Ok(());
        }
        let problem = "may not see the record or take it on; name somebody who may";
        Err(Error::invalid("the request is not valid").field("to", problem))
    }
}

/// Runs the job: what lists ask for of those who delegate is looked up anew.
pub(crate) async fn keep_delegations(job: JobContext, _: KeepDelegations) -> Result<(), JobError> {
    let engine = job.app().service::<WorkflowEngine>()?;
    store::end_old_delegations(job.context()).await?;
    let mut after = Uuid::nil();
    loop {
        job.check_interruption()?;
        let page = store::all_delegations(job.context(), after, AT_ONCE).await?;
        for (organisation, delegation) in &page {
            renew(&job.in_organisation(*organisation)?, &engine, *organisation, delegation).await?;
            after = delegation.id;
        }
        if page.len() < usize::try_from(AT_ONCE).unwrap_or(usize::MAX) {
            return Ok(());
        }
    }
}

async fn renew(
    ctx: &Context,
    engine: &WorkflowEngine,
    organisation: OrganisationId,
    delegation: &Delegation,
) -> Result<()> {
    let giver = person(ctx, delegation.from).await?;
    let claims = giver.map_or_else(BTreeSet::new, |giver| engine.claims_of(&giver));
    if store::delegated(ctx, delegation.id).await? == claims {
        return Ok(());
    }
    ctx.transact(async |uow| {
        store::set_delegated(&uow, organisation, delegation, &claims).await?;
        engine.tell_all(&uow)
    })
    .await
}
