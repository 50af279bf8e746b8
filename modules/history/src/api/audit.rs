use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use futures::StreamExt as _;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use svc_core::{Result, micros};
use svc_data::Context;
use svc_events::Publish as _;
use svc_http::{ApiJson, ApiPath, ApiQuery, ApiResult, InLanguage, Listing, May, Page, Paged};
use svc_messages::Texts;
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::entries::{AuthorBody, FieldBody, Names, OperationBody};
use super::restore::PreviewBody;
use crate::audit::{Reader, Seen};
use crate::entry::Operation;
use crate::events::AuditLogExported;
use crate::permissions::Audit;
use crate::store::Filter;
use crate::unit::{self, Piece};

/// Entries that an export holds at most.
const EXPORTED: usize = 100_000;

/// Entries that an export reads at once.
const EXPORTED_AT_ONCE: usize = 200;

/// Something that happened.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditEntry)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditBody {
    /// Its id.
    id: Uuid,
    /// What was done.
    operation: OperationBody,
    /// When.
    #[serde(with = "time::serde::rfc3339")]
    time: OffsetDateTime,
    /// Who did it.
    by: AuthorBody,
    /// The set of the record; none of an event.
    set: Option<String>,
    /// The record's key; none of an event.
    record: Option<String>,
    /// The name of the event; none of a change.
    event: Option<String>,
    /// What the event told; null of a change.
    data: Value,
    /// The record's version afterwards; none of an event.
    version: Option<i64>,
    /// What tells the unit of work apart that did it; all that it did has the same.
    unit_of_work: Uuid,
    /// The request or piece of work that it was done in.
    request_id: Uuid,
    /// The entry that this one took back.
    took_back: Option<Uuid>,
    /// What changed, as far as the caller sees it.
    fields: Vec<FieldBody>,
}

impl AuditBody {
    async fn new(ctx: &Context, texts: &Texts, names: &mut Names, seen: Seen) -> Result<Self> {
        let Seen { row, fields } = seen;
        let is_event = row.operation == Operation::Event;
        let data = row.stored.after.as_deref().filter(|_| is_event);
        let fields = fields.into_iter().map(|field| FieldBody::new(&row.set, texts, field));
        Ok(Self {
            id: row.id,
            operation: row.operation.into(),
            time: row.time(),
            version: (!is_event).then(|| row.version()),
            unit_of_work: row.unit,
            request_id: row.request,
            took_back: row.took_back,
            data: data.and_then(|data| serde_json::from_str(data).ok()).unwrap_or_default(),
            fields: fields.collect(),
            set: (!is_event).then(|| row.set.clone()),
            record: (!is_event).then(|| row.key.clone()),
            event: is_event.then(|| row.set.clone()),
            by: names.author(ctx, row.author).await?,
        })
    }
}

/// What to list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct AuditQuery {
    /// Only what this person did.
    user: Option<Uuid>,
    /// Only changes of this set.
    set: Option<String>,
    /// Only changes of the record with this key.
    record: Option<String>,
    /// Only events of this name.
    event: Option<String>,
    /// Only this.
    #[param(value_type = Option<OperationBody>, inline)]
    operation: Option<OperationBody>,
    /// Only what this unit of work did.
    unit_of_work: Option<Uuid>,
    /// Only what was done in this request or piece of work.
    request_id: Option<Uuid>,
    /// Only from this time on.
    #[serde(with = "time::serde::rfc3339::option")]
    since: Option<OffsetDateTime>,
    /// Only before this time.
    #[serde(with = "time::serde::rfc3339::option")]
    until: Option<OffsetDateTime>,
}

impl AuditQuery {
    pub(super) fn filter(self, after: Option<Uuid>) -> Filter {
        let first_id = |time| micros::first_id(micros::of_time(time));
        Filter {
            user: self.user,
            set: self.set,
            key: self.record,
            event: self.event,
            operation: self.operation.map(Operation::from),
            unit: self.unit_of_work,
            request: self.request_id,
            since: self.since.map(first_id),
            before: [after, self.until.map(first_id)].into_iter().flatten().min(),
        }
    }
}

/// Lists what happened, the newest first.
///
/// Of changes only those are told whose record the caller may see. A page looks at 5000 entries: it may
/// hold fewer than were asked for, or none, while `next` leads to more.
#[utoipa::path(
    get,
    path = "/audit",
    tag = "history",
    params(Page, AuditQuery),
    responses((status = 200, description = "The entries.", body = Listing<AuditBody>)),
)]
pub(crate) async fn list_audit_log(
    May { ctx, .. }: May<Audit>,
    Paged(page, query): Paged<AuditQuery>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<Listing<AuditBody>>> {
    let filter = query.filter(page.cursor()?);
    let take = usize::try_from(page.take).unwrap_or(usize::MAX);
    let part = Reader::new(&ctx).page(&filter, take).await?;
    let mut names = Names::default();
    let mut items = Vec::new();
    for seen in part.entries {
        items.push(AuditBody::new(&ctx, &texts, &mut names, seen).await?);
    }
    Ok(Json(page.list_until(items, part.next)))
}

/// Where an export stands.
struct Export {
    ctx: Context,
    texts: Texts,
    filter: Filter,
    left: usize,
}

impl Export {
    /// The next lines; none at the end.
    async fn next(&mut self) -> Result<Option<String>> {
        if self.left == 0 {
            return Ok(None);
        }
        let part =
            Reader::new(&self.ctx).page(&self.filter, EXPORTED_AT_ONCE.min(self.left)).await?;
        self.left -= part.entries.len();
        let mut names = Names::default();
        let mut lines = String::new();
        for seen in part.entries {
            let body = AuditBody::new(&self.ctx, &self.texts, &mut names, seen).await?;
            lines += &serde_json::to_string(&body).unwrap_or_default();
            lines.push('\n');
        }
        match part.next {
            Some(next) => self.filter.before = Some(next),
            None => self.left = 0,
        }
        Ok(Some(lines))
    }
}

/// Exports what happened as JSON lines, the newest first.
///
/// At most 100000 entries, of which each line is one; what comes behind them is asked for with `until`.
/// An export that fails on its way breaks off.
#[utoipa::path(
    post,
    path = "/audit/export",
    tag = "history",
    params(AuditQuery),
    responses((status = 200, description = "The entries.", body = String, content_type = "application/jsonl")),
)]
pub(crate) async fn export_audit_log(
    May { ctx, .. }: May<Audit>,
    ApiQuery(query): ApiQuery<AuditQuery>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Response> {
    ctx.transact(async |uow| uow.raise_domain(AuditLogExported {})).await?;
    let mut export = Export { ctx, texts, filter: query.filter(None), left: EXPORTED };
    // What fails at once is answered as what it is.
    let first = export.next().await?;
    let pieces = futures::stream::unfold((first, export), |(ready, mut export)| async move {
        let lines = match ready {
            Some(lines) => lines,
            None => match export.next().await {
                Ok(lines) => lines?,
                Err(error) => {
                    tracing::warn!(error = error.report(), "an export of the audit log broke off");
                    return Some((Err(std::io::Error::other("broken off")), (None, export)));
                }
            },
        };
        Some((Ok(lines), (None, export)))
    });
    let headers = [(CONTENT_TYPE, "application/jsonl"), (CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(pieces.fuse())).into_response())
}

/// What taking back a unit of work would do to one record.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditUndoRecord)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PieceBody {
    /// The set.
    set: String,
    /// The record's key.
    record: String,
    /// The entry that is taken back.
    entry: Uuid,
    /// What it would do to the record.
    #[serde(flatten)]
    preview: PreviewBody,
}

/// What taking back a unit of work would do.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditUndoPreview)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WholeBody {
    /// What the undo sends.
    version: String,
    /// The records, in the order in which they are taken back.
    records: Vec<PieceBody>,
}

/// Tells what taking back all of a unit of work would do, without doing it.
#[utoipa::path(
    get,
    path = "/audit/units/{unit}/preview",
    tag = "history",
    params(("unit" = Uuid, Path, description = "The unit of work.")),
    responses((status = 200, description = "What it would do.", body = WholeBody)),
)]
pub(crate) async fn preview_undo_of_unit(
    May { ctx, .. }: May<Audit>,
    ApiPath(unit): ApiPath<Uuid>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<WholeBody>> {
    let whole = unit::preview(&ctx, unit).await?;
    let body = |piece: Piece| PieceBody {
        preview: PreviewBody::new(&piece.set, &texts, piece.preview),
        set: piece.set,
        record: piece.key,
        entry: piece.entry,
    };
    let records = whole.pieces.into_iter().map(body).collect();
    Ok(Json(WholeBody { version: whole.version, records }))
}

/// How a unit of work is taken back.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = AuditUndo)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UndoBody {
    /// The version of the preview; 409 without it, or when any of the records was changed since.
    #[serde(default)]
    version: Option<String>,
}

/// What taking back a unit of work has done.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditUndone)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UndoneBody {
    /// The records that it changed.
    records: usize,
}

/// Takes all of a unit of work back, or nothing.
///
/// What was changed later stays. It takes the permissions of each of the sets.
#[utoipa::path(
    post,
    path = "/audit/units/{unit}/undo",
    tag = "history",
    params(("unit" = Uuid, Path, description = "The unit of work.")),
    request_body = UndoBody,
    responses((status = 200, description = "What was done.", body = UndoneBody)),
)]
pub(crate) async fn undo_unit(
    May { ctx, .. }: May<Audit>,
    ApiPath(unit): ApiPath<Uuid>,
    ApiJson(body): ApiJson<UndoBody>,
) -> ApiResult<Json<UndoneBody>> {
    let records = unit::undo(&ctx, unit, body.version.as_deref()).await?;
    Ok(Json(UndoneBody { records }))
}
