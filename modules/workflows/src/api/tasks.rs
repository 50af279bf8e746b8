use axum::Json;
use serde::{Deserialize, Serialize};
use svc_core::micros;
use svc_http::{ApiResult, InLanguage, Listing, May, Page, Paged};
use svc_messages::Texts;
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::definitions::{StateBody, set_title, transition_title, workflows};
use crate::awaiting::TaskOrder;
use crate::definition::Transition;
use crate::permissions::View;
use crate::tasks::Task;

/// The most records of a set that are counted.
const COUNTED: u64 = 500;

/// Which tasks are asked for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TasksQuery {
    /// Only those of this set.
    entity_type: Option<String>,
    /// What comes first: the `newest`, which is what holds without it, or what is most `due`.
    #[param(inline)]
    order: OrderParameter,
}

/// What of a list of tasks comes first.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum OrderParameter {
    /// What came into its state last.
    #[default]
    Newest,
    /// What is due first; what isn't due comes last.
    Due,
}

impl From<OrderParameter> for TaskOrder {
    fn from(order: OrderParameter) -> Self {
        match order {
            OrderParameter::Newest => Self::Newest,
            OrderParameter::Due => Self::Due,
        }
    }
}

/// A transition that the caller can take now.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowTaskChoice)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskChoiceBody {
    /// Its name.
    name: String,
    /// What it is called, in the caller's language.
    title: String,
    /// The state that it leads to.
    to: StateBody,
    /// Whether it takes a comment.
    needs_comment: bool,
}

/// A record that awaits the caller.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowTask)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskBody {
    /// The set of the record.
    entity_type: String,
    /// What the set is called, in the caller's language.
    entity_title: String,
    /// The record's key.
    id: Uuid,
    /// What the record is called: the first text of its set that is searched, or else is an alternate key, where
    /// the caller sees it.
    title: Option<String>,
    /// What the caller has seen, which a transition sends.
    version: String,
    /// The state.
    state: StateBody,
    /// Since when it is in it.
    #[serde(with = "time::serde::rfc3339::option")]
    since: Option<OffsetDateTime>,
    /// When it should have left the state; none where no time is set.
    #[serde(with = "time::serde::rfc3339::option")]
    due: Option<OffsetDateTime>,
    /// Whether others may act too, because it is overdue.
    is_escalated: bool,
    /// The transitions that the caller can take now. A record awaits those whom it is waiting for also while the condition of a
    /// transition doesn't hold.
    choices: Vec<TaskChoiceBody>,
}

impl TaskBody {
    fn new(texts: &Texts, task: &Task) -> Self {
        let subject = &task.subject;
        let set = subject.workflow.set();
        let definition = &*subject.definition;
        let choice = |transition: &Transition| TaskChoiceBody {
            name: transition.name.clone(),
            title: transition_title(texts, set, transition),
            to: StateBody::named(set, texts, definition, &transition.to),
            needs_comment: transition.needs_comment,
        };
        Self {
            entity_type: set.to_owned(),
            entity_title: set_title(texts, &subject.workflow),
            id: subject.id,
            title: task.title.clone(),
            version: subject.version().to_string(),
            state: StateBody::named(set, texts, definition, &subject.instance.state),
            since: subject.instance.since_us.map(micros::to_time),
            due: subject.instance.due_us.map(micros::to_time),
            is_escalated: subject.instance.is_escalated,
            choices: task.choices().map(choice).collect(),
        }
    }
}

/// Lists what awaits the caller, of all sets, the newest or the most due first.
///
/// A record that somebody takes on meanwhile is left out of its page, which then holds fewer than asked for.
#[utoipa::path(
    get,
    path = "/workflows/tasks",
    tag = "workflows",
    params(Page, TasksQuery),
    responses(
        (status = 200, description = "The records.", body = Listing<TaskBody>),
        (status = 404, description = "There is no such set, or it has no workflow."),
    ),
)]
pub(crate) async fn list_workflow_tasks(
    May { ctx, .. }: May<View>,
    Paged(page, query): Paged<TasksQuery>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<Listing<TaskBody>>> {
    let workflows = workflows(&ctx)?;
    let take = usize::try_from(page.take).unwrap_or(usize::MAX);
    let set = query.entity_type.as_deref();
    let asked = (set, query.order.into());
    let (tasks, next) = workflows.tasks(&ctx, asked, page.cursor()?, take).await?;
    let items = tasks.iter().map(|task| TaskBody::new(&texts, task)).collect();
    Ok(Json(page.list_until(items, next)))
}

/// How much of a set awaits the caller.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowTaskCount)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskCountBody {
    /// The set; its records are those with `$filter=workflowAwaitsMe`.
    entity_type: String,
    /// What it is called, in the caller's language.
    title: String,
    /// How many records await the caller; 500 stands for that many or more.
    count: u64,
}

/// Tells how many records of each set await the caller; sets of which none does are left out.
#[utoipa::path(
    get,
    path = "/workflows/tasks/counts",
    tag = "workflows",
    responses((status = 200, description = "The sets; all of them, so `next` is always null.", body = Listing<TaskCountBody>)),
)]
pub(crate) async fn count_workflow_tasks(
    May { ctx, .. }: May<View>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<Listing<TaskCountBody>>> {
    let counts = workflows(&ctx)?.count_tasks(&ctx, COUNTED).await?;
    let items = counts.into_iter().map(|(workflow, count)| TaskCountBody {
        entity_type: workflow.set().to_owned(),
        title: set_title(&texts, &workflow),
        count,
    });
    Ok(Json(Listing { items: items.collect(), next: None }))
}
