use std::collections::HashMap;

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use svc_core::{Directory, OrganisationId, Result, UserId};
use svc_data::Context;
use svc_http::{ApiPath, ApiResult, InLanguage, Listing, May, Page};
use svc_messages::Texts;
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::entry::Operation;
use crate::permissions::View;
use crate::set::{self, KeptEntities};
use crate::settings::HistorySettings;
use crate::sight::{Field, Kept};
use crate::store::{self, Author, Place, Row};

/// Entries that one statement reads, at least, where those of a page were not enough.
const AT_ONCE: u64 = 50;

/// Entries that one page looks at, of which the caller may see a part.
const LOOKED_AT: u64 = 2_000;

/// A set whose history the caller may read.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HistorySet)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetBody {
    /// Its name.
    set: String,
    /// What it is called, in the caller's language.
    label: String,
    /// Whether its records can be taken back; an entity that is no entity set is only told of.
    restorable: bool,
}

/// What was done to a record.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = HistoryOperation)]
#[serde(rename_all = "camelCase")]
pub(crate) enum OperationBody {
    /// It was made.
    Created,
    /// Some of its values were changed.
    Updated,
    /// It was deleted, softly or for good.
    Deleted,
    /// It was brought back from a soft deletion.
    Restored,
    /// It was removed for good, after a soft deletion.
    Purged,
    /// Something happened that is no change of a record.
    Event,
}

impl From<Operation> for OperationBody {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Created => Self::Created,
            Operation::Updated => Self::Updated,
            Operation::Deleted => Self::Deleted,
            Operation::Restored => Self::Restored,
            Operation::Purged => Self::Purged,
            Operation::Event => Self::Event,
        }
    }
}

impl From<OperationBody> for Operation {
    fn from(operation: OperationBody) -> Self {
        match operation {
            OperationBody::Created => Self::Created,
            OperationBody::Updated => Self::Updated,
            OperationBody::Deleted => Self::Deleted,
            OperationBody::Restored => Self::Restored,
            OperationBody::Purged => Self::Purged,
            OperationBody::Event => Self::Event,
        }
    }
}

/// Who did it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = HistoryAuthor)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthorBody {
    /// The person; none for the system, and for people of other organisations.
    pub(super) user_id: Option<Uuid>,
    /// The person's name: today's, or that of the time where nobody knows the person any more; empty
    /// where a person of another organisation changed a record that belongs to all.
    pub(super) display_name: String,
    /// The API key that it was done with.
    api_key_id: Option<Uuid>,
    /// The piece of background work that did it, such as a job.
    job_id: Option<Uuid>,
}

/// A value that changed, as its set returns it to the caller.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HistoryField)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FieldBody {
    /// The property.
    name: String,
    /// What it is called, in the caller's language.
    label: String,
    /// The value before.
    before: Value,
    /// The value after.
    after: Value,
}

/// What one unit of work did to a record.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HistoryEntry)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EntryBody {
    /// Its id.
    id: Uuid,
    /// What was done.
    operation: OperationBody,
    /// When.
    #[serde(with = "time::serde::rfc3339")]
    time: OffsetDateTime,
    /// Who did it.
    by: AuthorBody,
    /// The record's version afterwards; of one that was removed for good its last.
    version: i64,
    /// What told the unit of work apart that did it; all that it did has the same.
    unit_of_work: Uuid,
    /// The request or piece of work that it was done in.
    request_id: Uuid,
    /// The entry that this one took back.
    took_back: Option<Uuid>,
    /// What changed, as far as the caller sees it.
    fields: Vec<FieldBody>,
    /// The name of the event, where it is no change of the record but an event about it, such as a step in its workflow.
    event: Option<String>,
    /// Its data.
    data: Value,
}

/// The names of people, as they are called now.
#[derive(Default)]
pub(crate) struct Names(HashMap<Uuid, Option<String>>);

impl Names {
    /// Who did something, by the name that the directory has for the person.
    pub(crate) async fn author(&mut self, ctx: &Context, author: Author) -> Result<AuthorBody> {
        let now = match author.user {
            Some(user) => self.of(ctx, user).await?,
            None => None,
        };
        Ok(AuthorBody {
            user_id: author.user,
            display_name: now.unwrap_or(author.name),
            api_key_id: author.key,
            job_id: author.work,
        })
    }

    async fn of(&mut self, ctx: &Context, user: Uuid) -> Result<Option<String>> {
        if let Some(known) = self.0.get(&user) {
            return Ok(known.clone());
        }
        let name = match ctx.app().service::<dyn Directory>() {
            Ok(directory) => {
                let organisation: OrganisationId = ctx.organisation()?;
                let person = directory.principal(UserId(user), organisation).await?;
                person.map(|person| person.display_name().to_owned())
            }
            Err(_) => None,
        };
        self.0.insert(user, name.clone());
        Ok(name)
    }
}

impl FieldBody {
    pub(crate) fn new(set: &str, texts: &Texts, field: Field) -> Self {
        let label = label(set, texts, &field.name);
        Self { label, name: field.name, before: field.before, after: field.after }
    }
}

/// What a property is called.
pub(crate) fn label(set: &str, texts: &Texts, property: &str) -> String {
    texts.find_text(&format!("{set}-{property}")).unwrap_or_else(|| property.to_owned())
}

impl EntryBody {
    async fn new(
        ctx: &Context,
        texts: &Texts,
        names: &mut Names,
        row: Row,
        fields: Vec<Field>,
    ) -> Result<Self> {
        let is_event = row.operation == Operation::Event;
        let data = row.stored.after.as_deref().filter(|_| is_event);
        let fields = fields.into_iter().map(|field| FieldBody::new(&row.set, texts, field));
        Ok(Self {
            event: is_event.then(|| row.set.clone()),
            data: data.and_then(|data| serde_json::from_str(data).ok()).unwrap_or_default(),
            id: row.id,
            operation: row.operation.into(),
            time: row.time(),
            version: row.version(),
            unit_of_work: row.unit,
            request_id: row.request,
            took_back: row.took_back,
            fields: fields.collect(),
            by: names.author(ctx, row.author).await?,
        })
    }
}

/// Lists the sets whose history the caller may read.
#[utoipa::path(
    get,
    path = "/history",
    tag = "history",
    responses((status = 200, description = "The sets; all of them, so `next` is always null.", body = Listing<SetBody>)),
)]
pub(crate) async fn list_history_sets(
    May { ctx, .. }: May<View>,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<Listing<SetBody>>> {
    let catalogue = ctx.catalogue();
    let entities = ctx.app().service::<KeptEntities>()?;
    let body = |name: &str, restorable: bool| SetBody {
        label: texts.find_text(name).unwrap_or_else(|| name.to_owned()),
        set: name.to_owned(),
        restorable,
    };
    let readable = catalogue.sets().filter_map(|model| {
        let set = set::kept(model).filter(|_| set::is_itself(catalogue, model))?;
        ctx.principal().can(&set.permissions.view).then(|| body(&set.name, true))
    });
    let others = catalogue.models().iter().filter_map(|model| {
        let told = entities.of(model)?;
        ctx.principal().can(&told.permission).then(|| body(model.name(), false))
    });
    let items = readable.chain(others).collect();
    Ok(Json(Listing { items, next: None }))
}

/// Tells what happened to a record, the newest first.
///
/// A page may hold fewer entries than were asked for while `next` leads to more: entries of which the
/// caller may see nothing are left out.
#[utoipa::path(
    get,
    path = "/history/{set}/{id}",
    tag = "history",
    params(
        ("set" = String, Path, description = "The set."),
        ("id" = String, Path, description = "The record's key."),
        Page,
    ),
    responses((status = 200, description = "The entries.", body = Listing<EntryBody>)),
)]
pub(crate) async fn list_history_of_record(
    May { ctx, .. }: May<View>,
    ApiPath((set, id)): ApiPath<(String, String)>,
    page: Page,
    InLanguage(texts): InLanguage,
) -> ApiResult<Json<Listing<EntryBody>>> {
    let kept = Kept::find(&ctx, &set)?;
    let mut place: Option<Place> = page.cursor()?;
    let (_, newest) = kept.record(&ctx, &id).await?;
    let settings = ctx.app().settings::<HistorySettings>();
    let events: &[String] = if kept.is_shared() { &[] } else { &settings.record_events };
    let take = usize::try_from(page.take).unwrap_or(usize::MAX);
    let mut seen: Vec<(Row, Vec<Field>)> = Vec::new();
    let mut count = page.limit();
    let mut looked_at = 0;
    let next = loop {
        let record = (&*set, &*newest.key);
        let rows =
            store::told_of_record(&ctx, kept.organisation, record, events, place, count).await?;
        let is_last = u64::try_from(rows.len()).unwrap_or(u64::MAX) < count;
        place = rows.last().map(|row| (row.position, row.id)).or(place);
        for row in rows {
            // Whoever sees the record may know what happened to it.
            let is_event = row.operation == Operation::Event;
            let fields = if is_event { Some(Vec::new()) } else { kept.fields(&ctx, &row)? };
            seen.extend(fields.map(|fields| (row, fields)));
        }
        looked_at += count;
        if seen.len() > take {
            seen.truncate(take);
            // Not behind the last one that was looked at: how many are hidden is nobody's.
            break seen.last().map(|(row, _)| (row.position, row.id));
        }
        if is_last {
            break None;
        }
        if looked_at >= LOOKED_AT {
            break place;
        }
        // What is hidden took places: few statements find the rest.
        count = count.max(AT_ONCE);
    };
    if kept.is_shared() {
        let ids: Vec<Uuid> = seen.iter().map(|(row, _)| row.id).collect();
        let mut authors = store::authors(&ctx, &ids).await?;
        for (row, _) in &mut seen {
            row.author = authors.remove(&row.id).unwrap_or_else(|| row.author.clone());
        }
    }
    let mut names = Names::default();
    let mut items = Vec::new();
    for (row, fields) in seen {
        items.push(EntryBody::new(&ctx, &texts, &mut names, row, fields).await?);
    }
    Ok(Json(page.list_until(items, next)))
}
