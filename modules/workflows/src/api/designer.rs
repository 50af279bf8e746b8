//! The routes of those who draw workflows.

use std::collections::BTreeMap;
use svc_core::micros;

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value as AnyJson;
use svc_http::{ApiJson, ApiPath, ApiResult, InLanguage, Listing, May};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::definitions::{StateBody, VERSIONS, VersionBody, set_title, workflows};
use super::palette::PaletteBody;
use super::records::ObstacleBody;
use crate::check::Problem;
use crate::definition::Definition;
use crate::designs::{COUNTED, Move};
use crate::difference::{self, Change, ChangeKind};
use crate::import;
use crate::permissions::Design;
use crate::store::{self, Running};

/// What keeps a definition from being published.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowProblem)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProblemBody {
    /// What kind of problem it is, for programs.
    code: String,
    /// What is wrong, for people; it names states and transitions in backticks.
    message: String,
}

impl From<Problem> for ProblemBody {
    fn from(problem: Problem) -> Self {
        Self { code: problem.code.to_owned(), message: problem.message }
    }
}

/// A workflow that may be drawn.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowDesign)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DesignBody {
    /// The set.
    entity_type: String,
    /// What it is called, in the caller's language.
    title: String,
    /// The version that new records begin with.
    version: i64,
    /// The definition of that version, fit to be kept in a file.
    #[schema(value_type = Object)]
    definition: Definition,
    /// What is being drawn; none where nobody draws.
    draft: Option<DraftBody>,
    /// The versions that there are, the newest first, at most 100.
    versions: Vec<VersionBody>,
    /// What a definition may name.
    palette: PaletteBody,
}

/// A definition that somebody is drawing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowDraft)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DraftBody {
    /// How often it was saved, which saving and publishing send.
    revision: i64,
    /// The definition.
    #[schema(value_type = Object)]
    definition: Definition,
    /// The name of who saved it last.
    changed_by: String,
    /// When.
    #[serde(with = "time::serde::rfc3339")]
    changed: OffsetDateTime,
    /// What keeps it from being published.
    problems: Vec<ProblemBody>,
}

/// A workflow that may be drawn, in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowDesignSummary)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DesignSummaryBody {
    /// The set.
    entity_type: String,
    /// What it is called, in the caller's language.
    title: String,
    /// The version that new records begin with.
    version: i64,
    /// Whether somebody draws.
    has_draft: bool,
}

/// Lists the sets whose workflow may be drawn.
#[utoipa::path(
    get,
    path = "/workflows/designer",
    tag = "workflows",
    responses((status = 200, description = "The sets; all of them, so `next` is always null.", body = Listing<DesignSummaryBody>)),
)]
pub(crate) async fn list_workflow_designs(
    May { ctx, .. }: May<Design>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<Listing<DesignSummaryBody>>> {
    let engine = workflows(&ctx)?;
    let organisation = ctx.organisation()?;
    let mut items = Vec::new();
    for workflow in engine.readable(&ctx).filter(|workflow| workflow.is_designable) {
        let (version, _) = engine.current(&ctx, workflow, organisation).await?;
        items.push(DesignSummaryBody {
            entity_type: workflow.set().to_owned(),
            title: set_title(&texts, workflow),
            version,
            has_draft: store::draft(&ctx, organisation, workflow.set()).await?.is_some(),
        });
    }
    Ok(Json(Listing { items, next: None }))
}

/// Tells a workflow that may be drawn: its definition, draft and versions, and what a definition may name.
#[utoipa::path(
    get,
    path = "/workflows/designer/{entityType}",
    tag = "workflows",
    params(("entityType" = String, Path, description = "The set.")),
    responses((status = 200, description = "The workflow.", body = DesignBody)),
)]
pub(crate) async fn read_workflow_design(
    May { ctx, .. }: May<Design>,
    ApiPath(set): ApiPath<String>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<DesignBody>> {
    let engine = workflows(&ctx)?;
    let workflow = engine.designable(&ctx, &set)?;
    let organisation = ctx.organisation()?;
    let (version, definition) = engine.current(&ctx, workflow, organisation).await?;
    let draft = match engine.draft(&ctx, workflow).await? {
        None => None,
        Some((draft, definition)) => {
            let problems = engine.problems_of(&ctx, workflow, &definition).await?;
            Some(DraftBody {
                revision: draft.revision,
                definition,
                changed_by: draft.changed_name,
                changed: micros::to_time(draft.changed_at_us),
                problems: problems.into_iter().map(Into::into).collect(),
            })
        }
    };
    let versions = store::published(&ctx, organisation, workflow.set(), VERSIONS).await?;
    Ok(Json(DesignBody {
        title: set_title(&texts, workflow),
        version,
        definition: (*definition).clone(),
        draft,
        versions: versions.into_iter().map(Into::into).collect(),
        palette: PaletteBody::of(&ctx, &engine, workflow).await?,
        entity_type: set,
    }))
}

/// Tells the definition of a version, fit to be kept in a file and to be saved as a draft again.
#[utoipa::path(
    get,
    path = "/workflows/designer/{entityType}/versions/{version}",
    tag = "workflows",
    params(
        ("entityType" = String, Path, description = "The set."),
        ("version" = i64, Path, description = "The version."),
    ),
    responses((status = 200, description = "The definition.", body = Object)),
)]
pub(crate) async fn read_workflow_version(
    May { ctx, .. }: May<Design>,
    ApiPath((set, version)): ApiPath<(String, i64)>,
) -> ApiResult<Json<Definition>> {
    let engine = workflows(&ctx)?;
    let workflow = engine.designable(&ctx, &set)?;
    Ok(Json((*engine.usable(&ctx, workflow, version).await?).clone()))
}

/// A draft to be saved.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkflowDraftRequest)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SaveDraftBody {
    /// The revision that was seen; 0 where there was no draft.
    revision: i64,
    /// The definition.
    #[schema(value_type = Object)]
    definition: AnyJson,
}

/// What became of a draft.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowDraftSaved)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DraftSavedBody {
    /// Its revision now.
    revision: i64,
    /// What keeps it from being published.
    problems: Vec<ProblemBody>,
}

/// Saves a draft, also with problems; a definition from a file is saved so, too.
#[utoipa::path(
    put,
    path = "/workflows/designer/{entityType}/draft",
    tag = "workflows",
    params(("entityType" = String, Path, description = "The set.")),
    request_body = SaveDraftBody,
    responses((status = 200, description = "It is saved.", body = DraftSavedBody)),
)]
pub(crate) async fn save_workflow_draft(
    May { ctx, .. }: May<Design>,
    ApiPath(set): ApiPath<String>,
    ApiJson(body): ApiJson<SaveDraftBody>,
) -> ApiResult<Json<DraftSavedBody>> {
    let engine = workflows(&ctx)?;
    let workflow = engine.designable(&ctx, &set)?;
    let (revision, definition) =
        engine.save_draft(&ctx, workflow, body.revision, &body.definition).await?;
    let problems = engine.problems_of(&ctx, workflow, &definition).await?;
    let problems = problems.into_iter().map(Into::into).collect();
    Ok(Json(DraftSavedBody { revision, problems }))
}

/// The revision of a draft that was seen.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkflowDraftSeen)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DraftSeenBody {
    /// The revision.
    revision: i64,
    /// What is to be said of the version, at most 2,000 characters.
    #[serde(default)]
    note: Option<String>,
}

/// Drops a draft.
#[utoipa::path(
    post,
    path = "/workflows/designer/{entityType}/draft/drop",
    tag = "workflows",
    params(("entityType" = String, Path, description = "The set.")),
    request_body = DraftSeenBody,
    responses((status = 204, description = "There is none any more.")),
)]
pub(crate) async fn drop_workflow_draft(
    May { ctx, .. }: May<Design>,
    ApiPath(set): ApiPath<String>,
    ApiJson(body): ApiJson<DraftSeenBody>,
) -> ApiResult<axum::http::StatusCode> {
    let engine = workflows(&ctx)?;
    engine.drop_draft(&ctx, engine.designable(&ctx, &set)?, body.revision).await?;
    Ok(axum::http::StatusCode::NO_CONTENT)
}

/// A version that was published.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowPublished)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PublishedBody {
    /// Its number.
    version: i64,
}

/// Publishes a draft: new records begin with it, others stay with theirs until they are migrated.
#[utoipa::path(
    post,
    path = "/workflows/designer/{entityType}/publish",
    tag = "workflows",
    params(("entityType" = String, Path, description = "The set.")),
    request_body = DraftSeenBody,
    responses((status = 200, description = "It is published.", body = PublishedBody)),
)]
pub(crate) async fn publish_workflow_draft(
    May { ctx, .. }: May<Design>,
    ApiPath(set): ApiPath<String>,
    ApiJson(body): ApiJson<DraftSeenBody>,
) -> ApiResult<Json<PublishedBody>> {
    let engine = workflows(&ctx)?;
    let workflow = engine.designable(&ctx, &set)?;
    let note = body.note.as_deref();
    let version = engine.publish_draft(&ctx, workflow, body.revision, note).await?;
    Ok(Json(PublishedBody { version }))
}

/// A definition to be looked at.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkflowCheckRequest)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CheckBody {
    /// The definition.
    #[schema(value_type = Object)]
    definition: AnyJson,
    /// The version that it is compared with: the one in force, where it is left out.
    #[serde(default)]
    version: Option<i64>,
}

/// What is to be said of a definition.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowChecked)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckedBody {
    /// What keeps it from being published.
    problems: Vec<ProblemBody>,
    /// What works, but maybe not as its author thinks: told only where there is no problem.
    warnings: Vec<ProblemBody>,
    /// What it differs in from the version.
    changes: Vec<ChangeBody>,
}

/// What of a workflow changes.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowChange)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangeBody {
    /// Whether it is a state; a transition else.
    is_state: bool,
    /// Its name.
    name: String,
    /// What becomes of it: `added`, `removed`, `changed`.
    kind: &'static str,
    /// The words of it that change.
    words: Vec<String>,
}

impl From<Change> for ChangeBody {
    fn from(change: Change) -> Self {
        let (kind, words) = match change.kind {
            ChangeKind::Added => ("added", Vec::new()),
            ChangeKind::Removed => ("removed", Vec::new()),
            ChangeKind::Changed(words) => ("changed", words),
        };
        Self { is_state: change.is_state, name: change.name, kind, words }
    }
}

/// Tells what keeps a definition from being published, and what it changes; nothing is stored.
#[utoipa::path(
    post,
    path = "/workflows/designer/{entityType}/check",
    tag = "workflows",
    params(("entityType" = String, Path, description = "The set.")),
    request_body = CheckBody,
    responses((status = 200, description = "What is to be said of it.", body = CheckedBody)),
)]
pub(crate) async fn check_workflow_design(
    May { ctx, .. }: May<Design>,
    ApiPath(set): ApiPath<String>,
    ApiJson(body): ApiJson<CheckBody>,
) -> ApiResult<Json<CheckedBody>> {
    let engine = workflows(&ctx)?;
    let workflow = engine.designable(&ctx, &set)?;
    let definition = import::definition(&body.definition)?;
    let before = match body.version {
        Some(version) => engine.usable(&ctx, workflow, version).await?,
        None => engine.current(&ctx, workflow, ctx.organisation()?).await?.1,
    };
    let problems = engine.problems_of(&ctx, workflow, &definition).await?;
    let warnings = if problems.is_empty() {
        engine.doubts(&ctx, workflow, &definition).await?
    } else {
        Vec::new()
    };
    let changes = difference::between(&before, &definition);
    Ok(Json(CheckedBody {
        warnings: warnings.into_iter().map(Into::into).collect(),
        problems: problems.into_iter().map(Into::into).collect(),
        changes: changes.into_iter().map(Into::into).collect(),
    }))
}

/// Records that stay where they are when another version is published.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowRunning)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunningBody {
    /// The version that they are of.
    version: i64,
    /// The state that they are in.
    state: StateBody,
    /// How many there are; of a set 100,000 are counted at most.
    records: u64,
}

/// Tells how many records are of which version and in which state: those that stay with theirs when another is published.
///
/// One that was there before its workflow is left out until its instance is stored.
#[utoipa::path(
    get,
    path = "/workflows/designer/{entityType}/running",
    tag = "workflows",
    params(("entityType" = String, Path, description = "The set.")),
    responses((status = 200, description = "The records, the newest version first; all of them, so `next` is always null.", body = Listing<RunningBody>)),
)]
pub(crate) async fn count_workflow_records(
    May { ctx, .. }: May<Design>,
    ApiPath(set): ApiPath<String>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<Listing<RunningBody>>> {
    let engine = workflows(&ctx)?;
    let workflow = engine.designable(&ctx, &set)?;
    let counted = store::count_running(&ctx, ctx.organisation()?, &set, COUNTED).await?;
    let mut items = Vec::with_capacity(counted.len());
    for Running { version, state, records } in counted {
        let definition = engine.version(&ctx, workflow, version).await?;
        let state = StateBody::named(&set, &texts, &definition, &state);
        items.push(RunningBody { version, state, records });
    }
    Ok(Json(Listing { items, next: None }))
}

/// Records that are to be moved to another version.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkflowMigrateRequest)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct MigrateBody {
    /// The version that they are of.
    from: i64,
    /// The version that they are to be of.
    to: i64,
    /// The states that they come into, by those that they are in. One that isn't named stays, where the other version has one
    /// of its name.
    #[serde(default)]
    states: BTreeMap<String, String>,
    /// Whether it is only to be told what would happen.
    #[serde(default)]
    is_preview: bool,
}

/// What becomes of records.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowMigration)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MigrationBody {
    /// The states that records are in.
    states: Vec<MoveBody>,
    /// The job that moves them; none for a preview.
    job_id: Option<Uuid>,
}

/// What becomes of the records in a state.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowMove)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MoveBody {
    /// The state.
    from: String,
    /// The state that they come into; none where nothing says so.
    to: Option<String>,
    /// How many there are; of a version 100,000 are counted at most.
    records: u64,
}

impl From<Move> for MoveBody {
    fn from(one: Move) -> Self {
        Self { from: one.from, to: one.to, records: one.records }
    }
}

/// Moves the records of a version to another, in the background, or tells how many that would be.
#[utoipa::path(
    post,
    path = "/workflows/designer/{entityType}/migrate",
    tag = "workflows",
    params(("entityType" = String, Path, description = "The set.")),
    request_body = MigrateBody,
    responses((status = 200, description = "What becomes of them.", body = MigrationBody)),
)]
pub(crate) async fn migrate_workflow_records(
    May { ctx, .. }: May<Design>,
    ApiPath(set): ApiPath<String>,
    ApiJson(body): ApiJson<MigrateBody>,
) -> ApiResult<Json<MigrationBody>> {
    let engine = workflows(&ctx)?;
    let workflow = engine.designable(&ctx, &set)?;
    let versions = (body.from, body.to);
    let moves = engine.moves(&ctx, workflow, versions, &body.states).await?;
    let job_id = if body.is_preview {
        None
    } else {
        Some(engine.migrate(&ctx, workflow, versions, body.states).await?.0)
    };
    Ok(Json(MigrationBody { states: moves.into_iter().map(Into::into).collect(), job_id }))
}

/// A definition that is tried with a record.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkflowTryRequest)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TryBody {
    /// The definition.
    #[schema(value_type = Object)]
    definition: AnyJson,
    /// The record's key.
    id: Uuid,
    /// The state that it is thought to be in: its own, where the definition has it, else the first.
    #[serde(default)]
    state: Option<String>,
    /// Who is thought to act: the caller, where it is left out.
    #[serde(default)]
    user_id: Option<Uuid>,
    /// What is thought to be said.
    #[serde(default)]
    comment: Option<String>,
}

/// What would be possible.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowTried)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TriedBody {
    /// The state that the record is thought to be in.
    state: String,
    /// The transitions out of it.
    choices: Vec<TriedChoiceBody>,
}

/// A transition that would lead away from the state.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowTriedChoice)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TriedChoiceBody {
    /// Its name.
    name: String,
    /// The state that it leads to.
    to: String,
    /// How many people it takes.
    approvals_needed: u32,
    /// The properties that it sets.
    sets: Vec<String>,
    /// What would keep the person from it; none where nothing would.
    obstacle: Option<ObstacleBody>,
}

/// Tells what somebody could do with a record under a definition; nothing is stored.
#[utoipa::path(
    post,
    path = "/workflows/designer/{entityType}/try",
    tag = "workflows",
    params(("entityType" = String, Path, description = "The set.")),
    request_body = TryBody,
    responses((status = 200, description = "What would be possible.", body = TriedBody)),
)]
pub(crate) async fn try_workflow_design(
    May { ctx, .. }: May<Design>,
    ApiPath(set): ApiPath<String>,
    ApiJson(body): ApiJson<TryBody>,
) -> ApiResult<Json<TriedBody>> {
    let engine = workflows(&ctx)?;
    let workflow = engine.designable(&ctx, &set)?;
    let definition = import::definition(&body.definition)?;
    if let Some(problem) = engine.problems_of(&ctx, workflow, &definition).await?.first() {
        let error = crate::errors::BAD_DESIGN.error(format!("it can't be tried: {problem}"));
        return Err(error.with("problems", vec![problem.code]).into());
    }
    let thought = (body.id, body.state.as_deref());
    let (who, subject) = engine.tried(&ctx, workflow, definition, thought, body.user_id).await?;
    let mut choices = Vec::new();
    for transition in subject.definition.leaving(&subject.instance.state) {
        let comment = body.comment.as_deref();
        let refusal = engine.obstacle(&who, &subject, transition, comment).await?;
        choices.push(TriedChoiceBody {
            name: transition.name.clone(),
            to: transition.to.clone(),
            approvals_needed: transition.people(),
            sets: transition.sets.keys().cloned().collect(),
            obstacle: refusal.as_ref().map(ObstacleBody::from),
        });
    }
    Ok(Json(TriedBody { state: subject.instance.state.clone(), choices }))
}
