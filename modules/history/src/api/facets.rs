use std::cmp::Reverse;

use axum::Json;
use serde::Serialize;
use svc_core::Result;
use svc_http::{ApiQuery, ApiResult, InLanguage, May};
use utoipa::ToSchema;
use uuid::Uuid;

use super::audit::AuditQuery;
use super::entries::{Names, OperationBody};
use crate::audit::{Counts, Reader};
use crate::entry::Operation;
use crate::permissions::Audit;

/// Values of each kind that are told, at most: those with most entries.
const TOLD: usize = 50;

/// A set or an event, with how many entries there are of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditFacet)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NamedBody {
    /// What the log is filtered by.
    value: String,
    /// What it is called, in the caller's language.
    label: String,
    /// The entries.
    count: u64,
}

/// What was done, with how many entries there are of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditOperationFacet)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OperationCountBody {
    /// What the log is filtered by.
    value: OperationBody,
    /// The entries.
    count: u64,
}

/// Who did it, with how many entries there are of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditPersonFacet)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PersonBody {
    /// What the log is filtered by; none for the system.
    value: Option<Uuid>,
    /// The person's name.
    label: String,
    /// The entries.
    count: u64,
}

/// How many entries of the audit log are of what.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditFacets)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FacetsBody {
    /// The entries that were counted.
    entries: u64,
    /// Whether these are all that the filter finds.
    complete: bool,
    /// By set.
    sets: Vec<NamedBody>,
    /// By event.
    events: Vec<NamedBody>,
    /// By what was done.
    operations: Vec<OperationCountBody>,
    /// By who did it.
    people: Vec<PersonBody>,
}

/// Those with most entries, the first of them first.
fn most<T>(counted: impl IntoIterator<Item = (T, u64)>) -> Vec<(T, u64)> {
    let mut all: Vec<_> = counted.into_iter().collect();
    // Equal ones stay in the order of their names.
    all.sort_by_key(|(_, count)| Reverse(*count));
    all.truncate(TOLD);
    all
}

/// Counts what the audit log holds, by set, event, operation and person.
///
/// What is counted are the entries that the list with the same filter tells: those that the caller may
/// see, among the newest 5000 that are looked at.
#[utoipa::path(
    get,
    path = "/audit/facets",
    tag = "history",
    params(AuditQuery),
    responses((status = 200, description = "The counts.", body = FacetsBody)),
)]
pub(crate) async fn count_audit_log(
    May { ctx, .. }: May<Audit>,
    ApiQuery(query): ApiQuery<AuditQuery>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<FacetsBody>> {
    let counts = Reader::new(&ctx).counts(&query.filter(None)).await?;
    let Counts { entries, is_complete, sets, events, operations, people } = counts;
    let counted = |(value, count): (String, u64)| NamedBody {
        label: texts.find_text(&value).unwrap_or_else(|| value.clone()),
        value,
        count,
    };
    let operation = |(code, count): (i16, u64)| -> Result<OperationCountBody> {
        Ok(OperationCountBody { value: Operation::from_code(code)?.into(), count })
    };
    let mut names = Names::default();
    let mut told = Vec::new();
    for (author, count) in most(people.into_values()) {
        let author = names.author(&ctx, author).await?;
        told.push(PersonBody { value: author.user_id, label: author.display_name, count });
    }
    Ok(Json(FacetsBody {
        entries,
        complete: is_complete,
        sets: most(sets).into_iter().map(counted).collect(),
        events: most(events).into_iter().map(counted).collect(),
        operations: most(operations).into_iter().map(operation).collect::<Result<_>>()?,
        people: told,
    }))
}
