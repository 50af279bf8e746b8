use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use svc_http::{ApiJson, ApiPath, ApiQuery, ApiResult, InLanguage, May};
use svc_messages::Texts;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::entries::label;
use crate::permissions::View;
use crate::plan::{Action, Mode, Planned};
use crate::restore::{Outcome, Preview, Wanted};
use crate::sight::Kept;

/// How far a record goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[schema(as = EntityHistoryRestoreMode)]
pub(crate) enum ModeBody {
    /// To what it was after the entry.
    After,
    /// To what it was before it.
    Before,
    /// By what the entry changed alone; what others changed later stays unless it is named.
    Undo,
}

impl From<ModeBody> for Mode {
    fn from(mode: ModeBody) -> Self {
        match mode {
            ModeBody::After => Self::After,
            ModeBody::Before => Self::Before,
            ModeBody::Undo => Self::Undo,
        }
    }
}

/// What a restore does to the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = EntityHistoryRestoreAction)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ActionBody {
    /// Some of its fields change.
    Change,
    /// It is deleted.
    Delete,
    /// It is brought back from a soft deletion.
    Restore,
    /// It is made again under its key.
    Create,
    /// Nothing.
    Nothing,
}

impl From<Action> for ActionBody {
    fn from(action: Action) -> Self {
        match action {
            Action::Change => Self::Change,
            Action::Delete => Self::Delete,
            Action::Restore => Self::Restore,
            Action::Create => Self::Create,
            Action::Nothing => Self::Nothing,
        }
    }
}

/// A field that a restore is about.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EntityHistoryPreviewField)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlannedBody {
    /// The property.
    name: String,
    /// What it is called, in the caller's language.
    label: String,
    /// The value now.
    now: Value,
    /// The value after the restore.
    restored: Value,
    /// Whether it isn't what the entry left any more; an undo leaves it unless it is named.
    changed_later: bool,
    /// Why it can't go back; none where it can.
    problem: Option<String>,
    /// The same for programs: `read_only`, `create_only`, `masked`, `gone`, `other_type`, or the code of the refusal that
    /// names the field, such as `data.unique`.
    code: Option<String>,
}

/// What a restore would do.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EntityHistoryPreviewDto)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreviewBody {
    /// The record's version, which the restore sends.
    version: i64,
    /// What it would do to the record.
    action: ActionBody,
    /// The fields that differ, as far as the caller sees them.
    fields: Vec<PlannedBody>,
    /// Why it would be refused as a whole; none where it wouldn't.
    problem: Option<String>,
    /// The code of that refusal.
    code: Option<String>,
}

impl PreviewBody {
    pub(crate) fn new(set: &str, texts: &Texts, preview: Preview) -> Self {
        let Preview { version, plan, refusal } = preview;
        let body = |field: Planned| {
            let refused = refusal.as_ref().and_then(|error| error.fields().get(&field.name));
            let (problem, code) = match (field.obstacle, refused, &refusal) {
                (Some(obstacle), ..) => {
                    (Some(obstacle.as_str().to_owned()), Some(obstacle.code().to_owned()))
                }
                (None, Some(messages), Some(error)) => {
                    (Some(messages.join("; ")), Some(error.code().to_owned()))
                }
                _ => (None, None),
            };
            PlannedBody {
                label: label(set, texts, &field.name),
                problem,
                code,
                name: field.name,
                now: field.now,
                restored: field.restored,
                changed_later: field.changed_later,
            }
        };
        Self {
            version,
            action: plan.action.into(),
            fields: plan.fields.into_iter().map(body).collect(),
            problem: refusal.as_ref().map(|error| error.message().to_owned()),
            code: refusal.as_ref().map(|error| error.code().to_owned()),
        }
    }
}

/// How far to look.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PreviewQuery {
    /// How far the record would go back.
    #[param(value_type = ModeBody, inline)]
    mode: ModeBody,
}

/// Tells what a restore would do, without doing it.
#[utoipa::path(
    get,
    path = "/history/{set}/{id}/{entry}/preview",
    tag = "history",
    params(
        ("set" = String, Path, description = "The set."),
        ("id" = String, Path, description = "The record's key."),
        ("entry" = Uuid, Path, description = "The entry."),
        PreviewQuery,
    ),
    responses((status = 200, description = "What it would do.", body = PreviewBody)),
)]
pub(crate) async fn preview_history_restore(
    May { ctx, .. }: May<View>,
    ApiPath((set, id, entry)): ApiPath<(String, String, Uuid)>,
    ApiQuery(query): ApiQuery<PreviewQuery>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<PreviewBody>> {
    let kept = Kept::find(&ctx, &set)?;
    let preview = kept.preview(&ctx, &id, entry, query.mode.into()).await?;
    Ok(Json(PreviewBody::new(&set, &texts, preview)))
}

/// What to take back.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = EntityHistoryRestoreRequest)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RestoreBody {
    /// The entry.
    entry: Uuid,
    /// The version of the preview; 409 without it, or when the record was changed since.
    #[serde(default)]
    version: Option<i64>,
    /// How far the record goes back.
    mode: ModeBody,
    /// Only these fields; without it all that can go back, of an undo without those that were changed
    /// later.
    #[serde(default)]
    fields: Option<Vec<String>>,
}

/// What a restore has done.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EntityHistoryRestoreResult)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RestoredBody {
    /// What it did to the record.
    action: ActionBody,
    /// The record's version now; of one that was removed for good its last.
    version: i64,
}

impl From<Outcome> for RestoredBody {
    fn from(outcome: Outcome) -> Self {
        Self { action: outcome.action.into(), version: outcome.version }
    }
}

/// Takes a record back.
///
/// It is an ordinary change: it takes the permissions of the set, is checked and told like any other,
/// and has an entry of its own that names the one that it took back.
#[utoipa::path(
    post,
    path = "/history/{set}/{id}/restore",
    tag = "history",
    params(
        ("set" = String, Path, description = "The set."),
        ("id" = String, Path, description = "The record's key."),
    ),
    request_body = RestoreBody,
    responses((status = 200, description = "What was done.", body = RestoredBody)),
)]
pub(crate) async fn restore_from_history(
    May { ctx, .. }: May<View>,
    ApiPath((set, id)): ApiPath<(String, String)>,
    ApiJson(body): ApiJson<RestoreBody>,
) -> ApiResult<Json<RestoredBody>> {
    let kept = Kept::find(&ctx, &set)?;
    let RestoreBody { entry, version, mode, fields } = body;
    let wanted = Wanted { entry, version, mode: mode.into(), fields };
    Ok(Json(kept.restore(&ctx, &id, &wanted).await?.into()))
}
