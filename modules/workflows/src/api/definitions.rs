use std::sync::Arc;

use axum::Json;
use serde::{Deserialize, Serialize};
use svc_core::{Result, micros};
use svc_data::Context;
use svc_http::{ApiPath, ApiQuery, ApiResult, InLanguage, Listing, May};
use svc_messages::Texts;
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};

use crate::declared::STATE_PROPERTY;
use crate::definition::{Colour, Definition, Group, State, StateKind, Transition};
use crate::engine::{Workflow, WorkflowEngine};
use crate::permissions::View;
use crate::store::{self, Published};

/// How many versions are listed.
pub(crate) const VERSIONS: u64 = 100;

/// A set with a workflow.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowSummary)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SummaryBody {
    /// The set.
    entity_type: String,
    /// What it is called, in the caller's language.
    title: String,
    /// The version that new records begin with.
    version: i64,
}

/// Where in a workflow a state stands.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = WorkflowStateKind)]
#[serde(rename_all = "camelCase")]
pub(crate) enum KindBody {
    /// Records begin in it.
    Initial,
    /// Records come into it and leave it.
    Intermediate,
    /// Records end in it.
    Final,
}

/// The colour that a state is shown in.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = WorkflowColour)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ColourBody {
    /// Nothing to notice.
    Grey,
    /// Something goes on.
    Blue,
    /// It is well.
    Green,
    /// Somebody waits.
    Yellow,
    /// Something is wrong.
    Red,
}

/// A state of a workflow.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WorkflowState)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StateBody {
    /// Its name, as `workflowState` tells it.
    name: String,
    /// What it is called, in the caller's language.
    title: String,
    /// Where it stands.
    kind: KindBody,
    /// The colour that it is shown in.
    colour: ColourBody,
    /// Whether some or all of the record can't be changed in it.
    locks: bool,
}

/// A transition of a workflow.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowTransition)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TransitionBody {
    /// Its name.
    name: String,
    /// What it is called, in the caller's language.
    title: String,
    /// The states that it leads away from.
    from: Vec<String>,
    /// The state that it leads to.
    to: String,
    /// The condition, as a `$filter`; none where it is always possible.
    condition: Option<String>,
    /// How many people it takes.
    approvals_needed: u32,
    /// The groups of which it takes people; none where it takes whoever may take it.
    groups: Vec<GroupBody>,
    /// Whether the groups come after each other.
    in_sequence: bool,
    /// Whether it takes a comment.
    needs_comment: bool,
}

/// A group of which a transition takes people.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowGroup)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GroupBody {
    /// Its name.
    name: String,
    /// What it is called, in the caller's language.
    title: String,
    /// How many of them it takes.
    approvals_needed: u32,
}

impl GroupBody {
    pub(crate) fn new(texts: &Texts, set: &str, group: &Group) -> Self {
        Self {
            title: title(texts, set, "group", &group.name, group.title.as_deref()),
            name: group.name.clone(),
            approvals_needed: group.approvals,
        }
    }
}

/// A workflow.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Workflow)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkflowBody {
    /// The set.
    entity_type: String,
    /// What it is called, in the caller's language.
    title: String,
    /// The version that is told: the one that new records begin with, unless another was asked for.
    version: i64,
    /// The states, in their order.
    states: Vec<StateBody>,
    /// States of other versions, in which records may be that stay with theirs: those whose names this one doesn't have, each
    /// as the newest of its versions has it.
    other_states: Vec<StateBody>,
    /// The transitions, in their order.
    transitions: Vec<TransitionBody>,
    /// The versions that there are, the newest first, at most 100.
    versions: Vec<VersionBody>,
}

/// A version of a workflow.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowVersion)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VersionBody {
    /// Its number.
    version: i64,
    /// Whether somebody has drawn it; the application declares the others.
    is_designed: bool,
    /// The name of who published it; none where the application declares it.
    published_by: Option<String>,
    /// When.
    #[serde(with = "time::serde::rfc3339")]
    published: OffsetDateTime,
    /// What was said of it.
    note: Option<String>,
}

impl From<Published> for VersionBody {
    fn from(one: Published) -> Self {
        Self {
            version: one.version,
            is_designed: one.is_designed,
            published_by: one.by_name,
            published: micros::to_time(one.at_us),
            note: one.note,
        }
    }
}

/// Which version is asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WorkflowQuery {
    /// The version; the one that new records begin with, where it is left out.
    version: Option<i64>,
}

impl StateBody {
    pub(crate) fn new(set: &str, texts: &Texts, state: &State) -> Self {
        let kind = match state.kind {
            StateKind::Initial => KindBody::Initial,
            StateKind::Intermediate => KindBody::Intermediate,
            StateKind::Final => KindBody::Final,
        };
        let colour = match state.colour {
            Colour::Grey => ColourBody::Grey,
            Colour::Blue => ColourBody::Blue,
            Colour::Green => ColourBody::Green,
            Colour::Yellow => ColourBody::Yellow,
            Colour::Red => ColourBody::Red,
        };
        Self {
            title: title(texts, set, STATE_PROPERTY, &state.name, state.title.as_deref()),
            name: state.name.clone(),
            kind,
            colour,
            locks: state.lock.is_some(),
        }
    }

    /// The state of this name; a definition has those that its records are in.
    pub(crate) fn named(set: &str, texts: &Texts, definition: &Definition, name: &str) -> Self {
        let state = definition.find_state(name).cloned();
        Self::new(set, texts, &state.unwrap_or_else(|| State::new(name)))
    }
}

impl TransitionBody {
    fn new(set: &str, texts: &Texts, transition: &Transition) -> Self {
        Self {
            name: transition.name.clone(),
            title: transition_title(texts, set, transition),
            from: transition.from.clone(),
            to: transition.to.clone(),
            condition: transition.condition.clone(),
            approvals_needed: transition.people(),
            groups: transition.groups.iter().map(|it| GroupBody::new(texts, set, it)).collect(),
            in_sequence: transition.in_sequence,
            needs_comment: transition.needs_comment,
        }
    }
}

/// What a transition is called.
pub(crate) fn transition_title(texts: &Texts, set: &str, transition: &Transition) -> String {
    title(texts, set, "transition", &transition.name, transition.title.as_deref())
}

fn title(texts: &Texts, set: &str, what: &str, name: &str, given: Option<&str>) -> String {
    let translated = texts.find_text(&format!("{set}-{what}-{name}"));
    translated.unwrap_or_else(|| given.unwrap_or(name).to_owned())
}

/// What a set is called.
pub(crate) fn set_title(texts: &Texts, workflow: &Workflow) -> String {
    texts.find_text(workflow.set()).unwrap_or_else(|| workflow.set().to_owned())
}

/// The workflows of the application.
pub(crate) fn workflows(ctx: &Context) -> Result<Arc<WorkflowEngine>> {
    ctx.app().service::<WorkflowEngine>()
}

/// Lists the sets with a workflow that the caller may read.
#[utoipa::path(
    get,
    path = "/workflows",
    tag = "workflows",
    responses((status = 200, description = "The sets; all of them, so `next` is always null.", body = Listing<SummaryBody>)),
)]
pub(crate) async fn list_workflows(
    May { ctx, .. }: May<View>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<Listing<SummaryBody>>> {
    let workflows = workflows(&ctx)?;
    let mut items = Vec::new();
    for workflow in workflows.readable(&ctx) {
        let (version, _) = workflows.current(&ctx, workflow, ctx.organisation()?).await?;
        items.push(SummaryBody {
            entity_type: workflow.set().to_owned(),
            title: set_title(&texts, workflow),
            version,
        });
    }
    Ok(Json(Listing { items, next: None }))
}

/// Tells the workflow of a set: states and transitions of a version, and which versions there are.
#[utoipa::path(
    get,
    path = "/workflows/{entityType}",
    tag = "workflows",
    params(("entityType" = String, Path, description = "The set."), WorkflowQuery),
    responses(
        (status = 200, description = "The workflow.", body = WorkflowBody),
        (status = 404, description = "There is no such set or version, or the set has no workflow."),
    ),
)]
pub(crate) async fn read_workflow(
    May { ctx, .. }: May<View>,
    ApiPath(set): ApiPath<String>,
    ApiQuery(query): ApiQuery<WorkflowQuery>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<WorkflowBody>> {
    let workflows = workflows(&ctx)?;
    let workflow = workflows.find(&ctx, &set)?;
    let organisation = ctx.organisation()?;
    let (version, definition) = match query.version {
        Some(version) => (version, workflows.usable(&ctx, workflow, version).await?),
        None => workflows.current(&ctx, workflow, organisation).await?,
    };
    let versions = store::published(&ctx, organisation, &set, VERSIONS).await?;
    let mut other_states: Vec<State> = Vec::new();
    for one in versions.iter().filter(|one| one.version != version) {
        let other = workflows.version(&ctx, workflow, one.version).await?;
        for state in &other.states {
            let is_same = |it: &State| it.name == state.name;
            if !definition.states.iter().chain(&other_states).any(is_same) {
                other_states.push(state.clone());
            }
        }
    }
    let Definition { states, transitions } = &*definition;
    let told = |state: &State| StateBody::new(&set, &texts, state);
    Ok(Json(WorkflowBody {
        title: set_title(&texts, workflow),
        version,
        states: states.iter().map(told).collect(),
        other_states: other_states.iter().map(told).collect(),
        transitions: transitions.iter().map(|it| TransitionBody::new(&set, &texts, it)).collect(),
        versions: versions.into_iter().map(Into::into).collect(),
        entity_type: set,
    }))
}
