use std::sync::Arc;

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use svc_core::{Error, Principal, Result, micros};
use svc_data::Context;
use svc_http::{ApiJson, ApiPath, ApiResult, InLanguage, May};
use svc_messages::Texts;
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::definitions::{GroupBody, StateBody, transition_title, workflows};
use crate::definition::{Group, Transition};
use crate::engine::WorkflowEngine;
use crate::groups;
use crate::permissions::{Act, VIEW, View};
use crate::store::{self, Approval, Reassignment, Represented, Step, TimerKind};
use crate::subject::{Subject, Version};
use crate::transition::Moved;

/// How many of the past transitions of a record are told.
const STEPS: u64 = 100;

/// A transition that leads away from the state of a record.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowChoice)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChoiceBody {
    /// Its name.
    name: String,
    /// What it is called, in the caller's language.
    title: String,
    /// The state that it leads to.
    to: StateBody,
    /// Whether it takes a comment.
    needs_comment: bool,
    /// How many people it takes; the last of them moves the record.
    approvals_needed: u32,
    /// Who has approved it so far, of the record as it is.
    approvals: Vec<ApprovalBody>,
    /// The groups of which it takes people; none where it takes whoever may take it.
    groups: Vec<ChoiceGroupBody>,
    /// What keeps the caller from it; none where nothing does.
    obstacle: Option<ObstacleBody>,
}

/// A group of which a transition takes people.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowChoiceGroup)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChoiceGroupBody {
    #[serde(flatten)]
    group: GroupBody,
    /// Whether one of them is missing now.
    is_open: bool,
}

/// What keeps somebody from a transition.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowObstacle)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ObstacleBody {
    /// The code of the problem with which the transition would be refused.
    code: String,
    /// What it says.
    detail: String,
    /// The roles of which each would allow it; none where no role does.
    roles: Vec<String>,
}

impl From<&Error> for ObstacleBody {
    fn from(error: &Error) -> Self {
        let roles = error.parameters().get("roles").and_then(Value::as_array).into_iter().flatten();
        let roles = roles.filter_map(Value::as_str).map(str::to_owned).collect();
        Self { code: error.code().to_owned(), detail: error.message().to_owned(), roles }
    }
}

/// Who took a transition.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowPerson)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PersonBody {
    /// The person; none for the system.
    user_id: Option<Uuid>,
    /// The person's name at that time.
    display_name: String,
}

impl PersonBody {
    fn of(one: &Represented) -> Self {
        Self::named(one.user, one.name.clone())
    }

    pub(crate) fn named(user: Uuid, name: String) -> Self {
        Self { user_id: Some(user), display_name: name }
    }
}

/// Somebody's turn that was handed on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowReassignment)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReassignmentBody {
    /// Whose turn it was.
    from: Uuid,
    /// Whose it is.
    to: PersonBody,
    /// Why.
    reason: String,
    /// The name of who handed it on.
    by_name: String,
    /// When.
    #[serde(with = "time::serde::rfc3339")]
    time: OffsetDateTime,
}

impl From<&Reassignment> for ReassignmentBody {
    fn from(one: &Reassignment) -> Self {
        Self {
            from: one.from,
            to: PersonBody { user_id: Some(one.to), display_name: one.to_name.clone() },
            reason: one.reason.clone(),
            by_name: one.by_name.clone(),
            time: micros::to_time(one.at_us),
        }
    }
}

/// One of several people who took, or would take, a transition.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowApproval)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApprovalBody {
    /// Who.
    by: PersonBody,
    /// For whom, where somebody stood in.
    represents: Option<PersonBody>,
    /// What was said.
    comment: Option<String>,
    /// The groups that the person was of, for one of which the approval counts.
    groups: Vec<String>,
    /// When.
    #[serde(with = "time::serde::rfc3339")]
    time: OffsetDateTime,
}

impl From<&Approval> for ApprovalBody {
    fn from(approval: &Approval) -> Self {
        Self {
            by: PersonBody {
                user_id: Some(approval.user),
                display_name: approval.user_name.clone(),
            },
            represents: approval.represents.as_ref().map(PersonBody::of),
            comment: approval.comment.clone(),
            groups: approval.groups.clone(),
            time: micros::to_time(approval.at_us),
        }
    }
}

/// A transition that was taken.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowStep)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepBody {
    /// The how-manieth of the record, from 1.
    number: i64,
    /// The transition.
    transition: String,
    /// The state that the record was in.
    from: StateBody,
    /// The state that it came into.
    to: StateBody,
    /// Who took it.
    by: PersonBody,
    /// For whom, where somebody stood in.
    represents: Option<PersonBody>,
    /// What was said.
    comment: Option<String>,
    /// When.
    #[serde(with = "time::serde::rfc3339")]
    time: OffsetDateTime,
    /// Where it took several people: all of them.
    approvals: Vec<ApprovalBody>,
}

/// What the application is to do by itself.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowAutomatic)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AutomaticBody {
    /// The transition.
    transition: String,
    /// What it is called, in the caller's language.
    title: String,
    /// When it is tried, or tried again.
    #[serde(with = "time::serde::rfc3339")]
    time: OffsetDateTime,
    /// What would keep the application from it now; none where nothing would.
    obstacle: Option<ObstacleBody>,
}

/// Where a record stands in its workflow.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowRecord)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordBody {
    /// What the caller has seen, which a transition sends.
    version: String,
    /// The version of the workflow that the record began with.
    workflow_version: i64,
    /// The state.
    state: StateBody,
    /// Since when it is in it; none for a record that was there before its workflow.
    #[serde(with = "time::serde::rfc3339::option")]
    since: Option<OffsetDateTime>,
    /// When it should have left the state; none where no time is set.
    #[serde(with = "time::serde::rfc3339::option")]
    due: Option<OffsetDateTime>,
    /// Whether others may act too, because it is overdue.
    is_escalated: bool,
    /// What the application is to do by itself while the record is in the state; none where nothing is.
    automatic: Option<AutomaticBody>,
    /// Whose turn was handed on while it is in the state.
    reassigned: Vec<ReassignmentBody>,
    /// The transitions that lead away from the state.
    choices: Vec<ChoiceBody>,
    /// The transitions that were taken, the newest first, at most 100.
    past: Vec<StepBody>,
}

impl RecordBody {
    async fn read(
        ctx: &Context,
        workflows: &WorkflowEngine,
        texts: &Texts,
        set: &str,
        id: Uuid,
    ) -> Result<Self> {
        let subject = workflows.subject(ctx, set, id).await?;
        let definition = &*subject.definition;
        let state = |name: &str| StateBody::named(set, texts, definition, name);
        let mut choices = Vec::new();
        for transition in definition.leaving(&subject.instance.state) {
            let refusal = workflows.obstacle(ctx, &subject, transition, None).await?;
            let open = groups::open(transition, &subject.given(transition));
            let of_group = |group: &Group| ChoiceGroupBody {
                group: GroupBody::new(texts, set, group),
                is_open: open.iter().any(|it| it.name == group.name),
            };
            choices.push(ChoiceBody {
                groups: transition.groups.iter().map(of_group).collect(),
                name: transition.name.clone(),
                title: transition_title(texts, set, transition),
                to: state(&transition.to),
                needs_comment: transition.needs_comment,
                approvals_needed: transition.people(),
                approvals: subject.approvals_of(transition).map(Into::into).collect(),
                obstacle: refusal.as_ref().map(ObstacleBody::from),
            });
        }
        let steps = store::steps(ctx, subject.place(ctx)?, STEPS).await?;
        let approvals = approvals_of(ctx, &subject, &steps).await?;
        let past = steps.into_iter().map(|step: Step| StepBody {
            approvals: approvals
                .iter()
                .filter(|it| it.steps + 1 == step.number && it.transition == step.transition)
                .map(Into::into)
                .collect(),
            number: step.number,
            from: state(&step.from),
            to: state(&step.to),
            by: PersonBody { user_id: step.user, display_name: step.user_name },
            represents: step.represents.as_ref().map(PersonBody::of),
            comment: step.comment,
            time: micros::to_time(step.at_us),
            transition: step.transition,
        });
        Ok(Self {
            version: subject.version().to_string(),
            workflow_version: subject.instance.version,
            state: state(&subject.instance.state),
            since: subject.instance.since_us.map(micros::to_time),
            due: subject.instance.due_us.map(micros::to_time),
            is_escalated: subject.instance.is_escalated,
            automatic: automatic(ctx, workflows, texts, &subject).await?,
            reassigned: subject.reassigned.iter().map(Into::into).collect(),
            choices,
            past: past.collect(),
        })
    }
}

/// What the application is to do with a record by itself, and what would keep it from that now.
async fn automatic(
    ctx: &Context,
    workflows: &WorkflowEngine,
    texts: &Texts,
    subject: &Subject,
) -> Result<Option<AutomaticBody>> {
    let Some(transition) = subject.automatic() else { return Ok(None) };
    let place = subject.place(ctx)?;
    let Some(at_us) = store::timer_of(ctx, place, TimerKind::Automatic).await? else {
        return Ok(None);
    };
    let system = ctx.acting_as(Arc::new(Principal::system_in(ctx.organisation()?)));
    let refusal = workflows.refusal(&system, subject, transition, None).await?;
    Ok(Some(AutomaticBody {
        title: transition_title(texts, subject.workflow.set(), transition),
        transition: transition.name.clone(),
        time: micros::to_time(at_us),
        obstacle: refusal.as_ref().map(ObstacleBody::from),
    }))
}

/// Who approved the steps that took several people.
async fn approvals_of(ctx: &Context, subject: &Subject, steps: &[Step]) -> Result<Vec<Approval>> {
    let took_several = |step: &&Step| {
        let transition = subject.definition.find_transition(&step.transition);
        transition.is_some_and(Transition::takes_several)
    };
    let Some(first) = steps.iter().filter(took_several).map(|step| step.number).min() else {
        return Ok(Vec::new());
    };
    store::approvals(ctx, subject.place(ctx)?, first - 1).await
}

/// Tells where a record stands, what the caller can do about it, and what happened.
#[utoipa::path(
    get,
    path = "/workflows/{entityType}/{id}",
    tag = "workflows",
    params(
        ("entityType" = String, Path, description = "The set."),
        ("id" = Uuid, Path, description = "The record's key."),
    ),
    responses((status = 200, description = "Where the record stands.", body = RecordBody)),
)]
pub(crate) async fn read_record_in_workflow(
    May { ctx, .. }: May<View>,
    ApiPath((set, id)): ApiPath<(String, Uuid)>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<RecordBody>> {
    let workflows = workflows(&ctx)?;
    Ok(Json(RecordBody::read(&ctx, &workflows, &texts, &set, id).await?))
}

/// What goes with a transition.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkflowTransitionRequest)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TakeBody {
    /// The `version` that the record was shown with; 409 when it was changed or moved since.
    version: String,
    /// What is to be said, at most 2,000 characters.
    #[serde(default)]
    comment: Option<String>,
}

/// Where a record stands after a transition.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowMoved)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MovedBody {
    /// What the next transition sends, unless somebody changes the record before.
    version: String,
    /// The state.
    state: StateBody,
    /// How many other people the transition still takes; 0 where the record has moved.
    approvals_missing: u32,
}

impl MovedBody {
    pub(crate) fn new(set: &str, texts: &Texts, moved: &Moved) -> Self {
        Self {
            version: moved.version.to_string(),
            state: StateBody::named(set, texts, &moved.definition, &moved.state),
            approvals_missing: moved.missing,
        }
    }
}

/// Takes a record through a transition.
#[utoipa::path(
    post,
    path = "/workflows/{entityType}/{id}/transitions/{name}",
    tag = "workflows",
    params(
        ("entityType" = String, Path, description = "The set."),
        ("id" = Uuid, Path, description = "The record's key."),
        ("name" = String, Path, description = "The transition."),
    ),
    request_body = TakeBody,
    responses((status = 200, description = "Where the record stands now.", body = MovedBody)),
)]
pub(crate) async fn take_transition(
    May { ctx, .. }: May<Act>,
    ApiPath((set, id, name)): ApiPath<(String, Uuid, String)>,
    InLanguage(texts): InLanguage,
    ApiJson(body): ApiJson<TakeBody>,
) -> ApiResult<Json<MovedBody>> {
    ctx.require(VIEW)?;
    let workflows = workflows(&ctx)?;
    let seen: Version = body.version.parse()?;
    let comment = body.comment.as_deref();
    let moved = workflows.take_seen(&ctx, (&set, id), &name, comment, seen).await?;
    Ok(Json(MovedBody::new(&set, &texts, &moved)))
}
