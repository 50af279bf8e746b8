//! Takes a record from one state to another, in one unit of work.
//!
//! | Step | What refuses it |
//! | --- | --- |
//! | the record is locked, and looked for as the caller | 404 |
//! | the version that the caller has seen is still the one | `workflows.changed_since` |
//! | the transition leads away from its state, and is the caller's | `workflows.other_state`, `not_allowed`, `four_eyes` |
//! | the comment is there, and the condition holds | `workflows.comment_missing`, `condition` |
//! | where it takes several people, that the caller is one of them is stored; the last goes on | `workflows.approved_already` |
//! | the record gets what the transition sets | the set's own checks |
//! | the instance is moved by the statement that looks at its state and steps again | `workflows.changed_since` |
//! | the step is stored with whose turn it is now, the event raised | |
//! | what the transition publishes, tells and calls | what its actions refuse |
//!
//! A failure of any of them, and a crash at any time before the commit, leaves nothing. Whoever waits for the lock of a record finds it
//! moved.

use std::sync::Arc;

use svc_core::{Error, Principal, Result};
use svc_data::{Context, Expected, UnitOfWork};
use svc_events::Publish as _;
use uuid::Uuid;

use crate::binding;
use crate::claims::Standing;
use crate::deadlines::Deadlines;
use crate::definition::{Definition, State, Transition};
use crate::effects;
use crate::engine::WorkflowEngine;
use crate::errors::{CHANGED_SINCE, UNKNOWN_TRANSITION};
use crate::events::{TransitionUser, WorkflowTransitioned};
use crate::groups;
use crate::live;
use crate::plan;
use crate::store::{self, Approval, Begun, Represented, Step};
use crate::subject::{Subject, Version};

/// What became of a record.
pub(crate) struct Moved {
    pub(crate) version: Version,
    pub(crate) definition: Arc<Definition>,
    pub(crate) state: String,
    /// How many people the transition still takes; the record stays where it is until then.
    pub(crate) missing: u32,
}

/// What goes with a transition.
#[derive(Clone, Copy)]
struct Said<'a> {
    /// For whom it is taken.
    represents: Option<&'a Principal>,
    comment: Option<&'a str>,
}

impl Said<'_> {
    fn represented(self) -> Option<Represented> {
        let who = self.represents?;
        Some(Represented { user: who.user_id()?.0, name: who.display_name().to_owned() })
    }
}

/// The longest comment, in characters.
pub(crate) const MAX_COMMENT: usize = 2_000;

impl WorkflowEngine {
    /// Takes a record through a transition, as the principal of `ctx`: for commands of the application,
    /// which know what they have seen. Within another unit of work it is a part of that one. Where the
    /// transition takes several people, the principal is one of them; [`WorkflowEngine::state_of`]
    /// tells whether it was the last.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for a record that isn't there or that
    /// the caller doesn't see, and for an unknown transition; else with the codes in
    /// [`errors`](crate::errors).
    pub async fn take(
        &self,
        ctx: &Context,
        set: &str,
        id: Uuid,
        transition: &str,
        comment: Option<&str>,
    ) -> Result<()> {
        let comment = checked("comment", comment)?;
        let work = async |uow: UnitOfWork| {
            Box::pin(self.run(&uow, (set, id), transition, comment, None)).await.map(drop)
        };
        ctx.transact(work).await
    }

    /// The state that a record is in.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) for a record that isn't there or that
    /// the caller doesn't see.
    pub async fn state_of(&self, ctx: &Context, set: &str, id: Uuid) -> Result<String> {
        Ok(self.subject(ctx, set, id).await?.instance.state)
    }

    /// The same as [`WorkflowEngine::take`], for somebody who has seen the record in a version.
    pub(crate) async fn take_seen(
        &self,
        ctx: &Context,
        (set, id): (&str, Uuid),
        transition: &str,
        comment: Option<&str>,
        seen: Version,
    ) -> Result<Moved> {
        let comment = checked("comment", comment)?;
        let work = async |uow: UnitOfWork| {
            Box::pin(self.run(&uow, (set, id), transition, comment, Some(seen))).await
        };
        ctx.transact(work).await
    }

    async fn run(
        &self,
        uow: &UnitOfWork,
        (set, id): (&str, Uuid),
        name: &str,
        comment: Option<&str>,
        seen: Option<Version>,
    ) -> Result<Moved> {
        let ctx = uow.context();
        let mut subject = self.locked(uow, set, id).await?;
        let definition = Arc::clone(&subject.definition);
        let transition = definition.find_transition(name).ok_or_else(|| {
            UNKNOWN_TRANSITION.error(format!("the workflow has no transition `{name}`"))
        })?;
        if seen.is_some_and(|seen| seen != subject.version()) {
            return Err(changed_since());
        }
        // One's own right comes first; for whom one stands in is looked for where it isn't enough.
        if subject.refusal(ctx, transition).is_some() {
            self.find_represented(ctx, std::slice::from_mut(&mut subject)).await?;
        }
        if let Some(refusal) = self.refusal(ctx, &subject, transition, comment).await? {
            return Err(refusal);
        }
        if let Some(refusal) = plan::missing_comment(transition, comment) {
            return Err(refusal);
        }
        let represents = subject.part_of(ctx, transition)?.cloned();
        let said = Said { represents: represents.as_deref(), comment };
        let missing = approve(uow, &mut subject, transition, said).await?;
        if missing > 0 {
            // Nothing is raised, but it awaits whoever approved no more.
            live::tell_moved(uow, subject.workflow.set())?;
            return Ok(Moved {
                version: subject.version(),
                definition: Arc::clone(&subject.definition),
                state: subject.instance.state,
                missing,
            });
        }
        self.take_step(uow, &subject, transition, said).await
    }

    /// Does what a transition does, when nothing keeps anybody from it.
    async fn take_step(
        &self,
        uow: &UnitOfWork,
        subject: &Subject,
        transition: &Transition,
        said: Said<'_>,
    ) -> Result<Moved> {
        let ctx = uow.context();
        let model = &subject.workflow.model;
        let comment = said.comment;
        let values = binding::values(ctx, model, transition, comment)?;
        let version = subject.record.version(model).map_or(Expected::Any, Expected::Version);
        let record = if values.iter().all(Option::is_none) {
            subject.record.clone()
        } else {
            uow.update_record(model, &subject.key, values, version).await?
        };
        let actor = ctx.principal().actor();
        let step = Step {
            number: subject.instance.steps + 1,
            transition: transition.name.clone(),
            from: subject.instance.state.clone(),
            to: transition.to.clone(),
            user: actor.user.map(|user| user.0),
            user_name: actor.display_name,
            represents: said.represented(),
            comment: comment.map(str::to_owned),
            at_us: ctx.clock().now_us(),
        };
        let to = subject.definition.find_state(&step.to);
        let deadlines = Deadlines::of(ctx, to).await?;
        advance(uow, subject, &step, deadlines.due_us).await?;
        let place = subject.place(ctx)?;
        let from = subject.definition.find_state(&step.from);
        if [from, to].into_iter().flatten().any(State::is_timed) {
            store::set_timers(uow, place, &deadlines.timers).await?;
        }
        let standing = Standing {
            state: &step.to,
            creator: subject.creator_after(step.user),
            last: step.user,
            is_escalated: false,
            approvals: &[],
            reassigned: &[],
            person_in: &|property| binding::person_in(model, &record, property),
        };
        let claims = standing.claims(&subject.definition);
        let stay = step.stay(deadlines.due_us);
        store::claim(uow, place, stay, &claims, Some(subject.instance.claims)).await?;
        let moved = Moved {
            version: Version::new(record.version(model).unwrap_or(0), step.number),
            definition: Arc::clone(&subject.definition),
            state: step.to.clone(),
            missing: 0,
        };
        let told = WorkflowTransitioned {
            entity_type: subject.workflow.set().to_owned(),
            entity_id: subject.id,
            from: step.from,
            to: step.to,
            transition: step.transition,
            user: TransitionUser { id: step.user, display_name: step.user_name },
            comment: step.comment,
        };
        uow.raise_domain(told.clone())?;
        effects::tell(uow, subject, &record, transition, &told)?;
        if transition.calls.is_empty() {
            return Ok(moved);
        }
        Box::pin(self.call(uow, subject, transition)).await?;
        self.moved_by_now(uow, subject).await
    }

    /// Where a record stands after what its transition has called.
    async fn moved_by_now(&self, uow: &UnitOfWork, subject: &Subject) -> Result<Moved> {
        let system = Principal::system_in(uow.context().organisation()?);
        let system = uow.context().acting_as(Arc::new(system));
        let now = self.subject(&system, subject.workflow.set(), subject.id).await?;
        Ok(Moved {
            version: now.version(),
            definition: Arc::clone(&now.definition),
            state: now.instance.state,
            missing: 0,
        })
    }
}

/// Stores an approval of a transition that takes several people; answers with how many it still takes.
/// The system needs nobody else.
async fn approve(
    uow: &UnitOfWork,
    subject: &mut Subject,
    transition: &Transition,
    said: Said<'_>,
) -> Result<u32> {
    let actor = uow.context().principal().actor();
    let (Some(user), true) = (actor.user, transition.takes_several()) else { return Ok(0) };
    let approval = Approval {
        steps: subject.instance.steps,
        transition: transition.name.clone(),
        user: user.0,
        user_name: actor.display_name,
        represents: said.represented(),
        comment: said.comment.map(str::to_owned),
        groups: subject.groups_of(uow.context(), said.represents, transition),
        record_version: subject.record.version(&subject.workflow.model).unwrap_or(0),
        at_us: uow.context().clock().now_us(),
    };
    store::approve(uow, subject.place(uow.context())?, &approval).await?;
    subject.approvals.push(approval);
    let missing = groups::missing(transition, &subject.given(transition));
    if missing > 0 && !transition.groups.is_empty() {
        // It may be the turn of another group.
        let (place, stay) = (subject.place(uow.context())?, subject.instance.stay());
        let had = Some(subject.instance.claims);
        store::claim(uow, place, stay, &subject.claims(), had).await?;
    }
    Ok(missing)
}

/// Stores the step. A record that was there before its workflow begins it here, where nothing else did.
async fn advance(
    uow: &UnitOfWork,
    subject: &Subject,
    step: &Step,
    due_us: Option<i64>,
) -> Result<()> {
    let place = subject.place(uow.context())?;
    if !subject.has_begun {
        let begun = Begun {
            place,
            version: subject.instance.version,
            state: &subject.instance.state,
            created_by: step.user,
            since_us: None,
        };
        if store::begin(uow, &[begun]).await? != 1 {
            return Err(changed_since());
        }
    }
    let to = (subject.creator_after(step.user), due_us);
    if store::advance(uow, place, &subject.instance, step, to).await? {
        Ok(())
    } else {
        Err(changed_since())
    }
}

pub(crate) fn changed_since() -> Error {
    CHANGED_SINCE.error("the record was changed or moved meanwhile; look at it again")
}

/// What people say with something, as it is stored: without spaces around it, none where it is empty.
pub(crate) fn checked<'a>(field: &str, text: Option<&'a str>) -> Result<Option<&'a str>> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    let problem = match text {
        Some(text) if text.contains('\0') => "must not contain the character U+0000".to_owned(),
        Some(text) if text.chars().count() > MAX_COMMENT => {
            format!("must have at most {MAX_COMMENT} characters")
        }
        _ => return Ok(text),
    };
    Err(Error::invalid(format!("the {field} is not valid")).field(field, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_said_or_not() {
        fn said(text: &str) -> Result<Option<&str>> {
            checked("comment", Some(text))
        }
        assert_eq!(checked("comment", None).unwrap(), None);
        assert_eq!(said(" \n").unwrap(), None);
        assert_eq!(said(" fine ").unwrap(), Some("fine"));
        assert!(said("a\0b").is_err());
        assert!(said(&"x".repeat(MAX_COMMENT)).is_ok());
        assert!(said(&"x".repeat(MAX_COMMENT + 1)).is_err());
    }
}
