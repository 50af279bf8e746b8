//! Answers reads.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::response::Response;
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use http::header::ETAG;
use http::{HeaderName, HeaderValue, StatusCode};
use sha2::{Digest as _, Sha256};
use svc_core::{Error, ErrorKind, Result, hex};
use svc_odata::bind::{BoundQuery, ResourceKind, ResourceStep};
use svc_odata::csdl::{write_json, write_service_document, write_xml};
use svc_odata::headers::{
    EntityTag, JsonFormat, MetadataFormat, MetadataLevel, negotiate_metadata,
};
use svc_odata::json::{
    ContextShape, JsonOptions, Rewriter, context_fragment, push_string, push_value,
};
use svc_odata::model::{Labels, PrimitiveType, PropertyIndex, PropertyType, SetIndex, TypeIndex};
use svc_odata::value::{Value as Literal, type_name, write_text};
use svc_sets::{Entity, JsonRows, PageRequest, Position, Row, RowSink, Source, ValueRows};

use super::answer::{Answer, names, tag_of, tag_of_read};
use super::labels::TextLabels;
use super::request::{Request, format_error};
use super::stream::{self, Out, Streaming};

pub(super) fn answer(request: &Arc<Request>) -> BoxFuture<'_, Result<Response>> {
    match request.resource.kind {
        ResourceKind::Service => ready(service(request)).boxed(),
        ResourceKind::Metadata => metadata(request).boxed(),
        ResourceKind::Entities => page(request).boxed(),
        ResourceKind::Entity => entity(request).boxed(),
        ResourceKind::Count => count(request).boxed(),
        ResourceKind::Property(owner, found) => property(request, (owner, found), false).boxed(),
        ResourceKind::RawValue(owner, found) => property(request, (owner, found), true).boxed(),
        ResourceKind::References { collection } => references(request, collection).boxed(),
        other => {
            let refusal = Error::not_implemented(format!("{} is not served", name_of(other)));
            ready(Err(refusal)).boxed()
        }
    }
}

fn name_of(kind: ResourceKind) -> &'static str {
    match kind {
        ResourceKind::Batch => "a batch within a batch, or to be read,",
        ResourceKind::Operation(_) => "an operation",
        _ => "this kind of resource",
    }
}

fn service(request: &Request) -> Result<Response> {
    request.refuse_options()?;
    let format = request.json_format()?;
    let body = write_service_document(&request.seen(), &request.root, format.metadata);
    Ok(Answer::json(StatusCode::OK, request.version, format, body).finish())
}

/// The metadata document as the caller sees it, in the caller's language.
async fn metadata(request: &Request) -> Result<Response> {
    request.refuse_options()?;
    let accept = request.headers.get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let format = request.options.format.as_ref();
    let format = negotiate_metadata(format, accept).map_err(format_error)?;
    let labels = TextLabels::for_caller(request).await?;
    let seen = request.seen().with_labels(labels.as_ref().map(|labels| labels as &dyn Labels));
    let (content_type, body) = match format {
        MetadataFormat::Xml => ("application/xml", write_xml(&seen, request.version)),
        MetadataFormat::Json => ("application/json", write_json(&seen, request.version)),
    };
    // What a person sees of the sets makes the document, and the language, so its text alone tells when it is another.
    let tag = EntityTag::weak(hex(&Sha256::digest(&body)[..16]));
    let is_known = request.if_none_match()?.is_some_and(|known| known.matches(Some(&tag)));
    let mut answer = if is_known {
        Answer::empty(StatusCode::NOT_MODIFIED, request.version)
    } else {
        let content_type = HeaderValue::from_static(content_type);
        Answer::with_body(StatusCode::OK, request.version, content_type, body)
    };
    if let Some(TextLabels(texts)) = &labels {
        answer = answer.in_language(texts.language().as_str())?;
    }
    Ok(answer.header(ETAG, &tag.to_string())?.finish())
}

async fn page(request: &Arc<Request>) -> Result<Response> {
    page_of(request, request.source().await?, false).await
}

/// Answers with the entities of a source that the caller may see: a page of them, or all that
/// there are `at_once` where no further page can be asked for.
pub(super) async fn page_of(
    request: &Arc<Request>,
    source: Source,
    at_once: bool,
) -> Result<Response> {
    let format = request.json_format()?;
    let query = request.query(source.set())?;
    let streaming = Streaming {
        // A unit of work has the only connection that sees what it wrote.
        in_pieces: !request.ctx.is_in_unit_of_work(),
        reader_timeout: request.settings.reader_timeout,
        trailers: Streaming::takes_trailers(&request.headers),
    };
    let work = {
        let request = Arc::clone(request);
        move |out| write_page(request, source, query, format, at_once, out)
    };
    let (body, headers) = stream::body(streaming, work).await?;
    let answer = Answer::json(StatusCode::OK, request.version, format, body);
    paged(request, answer.headers(headers))
}

/// Says which of the caller's preferences an answer with a page follows.
fn paged(request: &Request, answer: Answer) -> Result<Response> {
    match request.preferences.max_page_size {
        Some(_) => {
            let size = format!("odata.maxpagesize={}", page_limit(request));
            answer.header(HeaderName::from_static("preference-applied"), &size).map(Answer::finish)
        }
        None => Ok(answer.finish()),
    }
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::internal("an entity that was read can't be written anew").caused_by(error)
}

/// The one entity of a source, in the form that the caller asks for.
pub(super) async fn read_entity(
    request: &Request,
    source: &Source,
    query: &BoundQuery,
    format: JsonFormat,
) -> Result<Entity> {
    let etags = format.metadata != MetadataLevel::None;
    let prepared = Rewriter::new(&request.seen(), format).map(|anew| anew.prepare(query));
    let asked = prepared.as_ref().unwrap_or(query);
    let mut entity = request.sets.read_entity(&request.ctx, source, asked, etags).await?;
    if let Some(anew) = Rewriter::new(&request.seen(), format) {
        entity.members = anew.members(&entity.members, source.set(), query).map_err(unreadable)?;
    }
    Ok(entity)
}

/// Writes the page that a request asks for.
async fn write_page(
    request: Arc<Request>,
    source: Source,
    query: BoundQuery,
    format: JsonFormat,
    at_once: bool,
    mut out: Out,
) -> Result<Out> {
    let set = source.set();
    let etags = format.metadata != MetadataLevel::None;
    let prepared = Rewriter::new(&request.seen(), format).map(|anew| anew.prepare(&query));
    let asked = prepared.as_ref().unwrap_or(&query);
    let position = position(&request, asked)?;
    let wanted = wanted(&request, asked, position.as_ref(), at_once);
    let wanted = PageRequest { etags, ..wanted };
    let mut reader = request.sets.open_page(&request.ctx, &source, wanted).await?;
    out.text.push('{');
    if etags {
        push_context(&mut out.text, &request, set, Some(&query), ContextShape::Collection);
        out.text.push(',');
    }
    if let Some(anew) = Rewriter::new(&request.seen(), format) {
        out.text.push_str(&anew.of_set(set));
    }
    push_count(&mut out.text, reader.count(), format);
    out.text.push_str("\"value\":[");
    loop {
        let goes_on = if prepared.is_some() {
            let mut piece = String::new();
            let goes_on = reader.read_next(&mut JsonRows::new(&mut piece, out.room())).await?;
            push_anew(&mut out.text, &request, &query, set, format, &piece)?;
            goes_on
        } else {
            let room = out.room();
            reader.read_next(&mut JsonRows::new(&mut out.text, room)).await?
        };
        if !goes_on {
            break;
        }
        out.send(|| reader.pause()).await?;
    }
    let link = reader.into_next().map(|next| next_link(&request, &next)).transpose()?;
    push_end(&mut out.text, link.as_deref());
    Ok(out)
}

/// Writes some entities of a page in the form that the caller asks for. Those behind the first
/// begin with a comma.
fn push_anew(
    out: &mut String,
    request: &Request,
    query: &BoundQuery,
    set: SetIndex,
    format: JsonFormat,
    piece: &str,
) -> Result<()> {
    let elements = piece.strip_prefix(',').unwrap_or(piece);
    if elements.len() < piece.len() {
        out.push(',');
    }
    if let Some(anew) = Rewriter::new(&request.seen(), format) {
        out.push_str(&anew.elements(elements, set, query).map_err(unreadable)?);
    }
    Ok(())
}

/// Where the page before ended.
fn position(request: &Request, query: &BoundQuery) -> Result<Option<Position>> {
    let open = |token| request.sets.open_position(&request.ctx, &request.binding(), token);
    query.skip_token.as_deref().map(open).transpose()
}

/// What is asked of the set.
fn wanted<'a>(
    request: &Request,
    query: &'a BoundQuery,
    position: Option<&'a Position>,
    at_once: bool,
) -> PageRequest<'a> {
    let sent = position.map_or(0, |position| position.sent);
    let limit = if at_once { u32::MAX.into() } else { page_limit(request) };
    let rest = query.top.map(|top| top.saturating_sub(sent));
    let take = rest.unwrap_or(limit).min(limit);
    PageRequest {
        query,
        after: position,
        skip: query.skip.unwrap_or(0),
        take,
        tells_next: rest.is_none_or(|rest| rest > take),
        etags: false,
    }
}

fn push_count(body: &mut String, count: Option<u64>, format: JsonFormat) {
    if let Some(count) = count {
        let quote = if format.ieee754_compatible { "\"" } else { "" };
        let _ = write!(body, "\"@odata.count\":{quote}{count}{quote},");
    }
}

/// What stands behind the entities of a page.
fn push_end(body: &mut String, link: Option<&str>) {
    body.push(']');
    if let Some(link) = link {
        body.push_str(",\"@odata.nextLink\":");
        push_string(body, link);
    }
    body.push('}');
}

/// How many entities one answer holds: the setting, or what the caller prefers.
fn page_limit(request: &Request) -> u64 {
    let settings = &request.settings;
    let preferred = request.preferences.max_page_size.unwrap_or(settings.page_size);
    let is_held = request.ctx.holds_answer();
    let most = if is_held { settings.page_size } else { settings.max_page_size };
    preferred.min(most).into()
}

/// The address of what comes after a page: the same request with the place where it ended.
fn next_link(request: &Request, position: &Position) -> Result<String> {
    let token = request.sets.seal_position(&request.ctx, &request.binding(), position)?;
    let (path, _) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let token = format!("$skiptoken={token}");
    let mut options = request.options_without(&["skiptoken"]);
    options.push(&token);
    Ok(format!("{}{path}?{}", request.root, options.join("&")))
}

async fn entity(request: &Request) -> Result<Response> {
    let source = request.source().await?;
    let (set, format) = (source.set(), request.json_format()?);
    let query = request.query(set)?;
    refuse_of_many(&query)?;
    let read = read_entity(request, &source, &query, format).await;
    let entity = match read {
        Err(error) if error.kind() == ErrorKind::NotFound && leads_nowhere(request) => {
            return Ok(Answer::empty(StatusCode::NO_CONTENT, request.version).finish());
        }
        read => read?,
    };
    if let Some(condition) = request.if_match()?
        && !names(&condition, entity.version)
    {
        return Err(Error::precondition_failed("the entity is of another version than was named"));
    }
    let body = entity_body(request, set, Some(&query), &entity, format);
    let tag = tag_of_read(entity.version, &body);
    let answer = match request.if_none_match()? {
        Some(known) if known.matches(Some(&tag)) => {
            Answer::empty(StatusCode::NOT_MODIFIED, request.version)
        }
        _ => Answer::json(StatusCode::OK, request.version, format, body),
    };
    Ok(answer.header(ETAG, &tag.to_string())?.finish())
}

/// Whether a path ends with a way to one entity: where it leads nowhere, there is no content.
fn leads_nowhere(request: &Request) -> bool {
    matches!(request.resource.steps.last(), Some(ResourceStep::Navigation(_)))
}

/// Options that have no meaning for one entity.
pub(super) fn refuse_of_many(query: &BoundQuery) -> Result<()> {
    let given = [
        ("$filter", query.filter.is_some()),
        ("$search", query.search.is_some()),
        ("$orderby", !query.order_by.is_empty()),
        ("$top", query.top.is_some()),
        ("$skip", query.skip.is_some()),
        ("$count", query.count),
        ("$skiptoken", query.skip_token.is_some()),
        ("$apply", query.apply.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            let message = format!("`{option}` has no meaning for a single entity");
            Err(Error::malformed(message).target(*option))
        }
        None => Ok(()),
    }
}

/// One property of an entity, as JSON or raw.
async fn property(
    request: &Request,
    (entity_type, property): (TypeIndex, PropertyIndex),
    raw: bool,
) -> Result<Response> {
    let source = request.source().await?;
    let query = request.query_of_property(source.set(), property)?;
    let mut read = ValueRows::default();
    request.sets.read_row(&request.ctx, &source, &query, false, &mut read).await?;
    let value = read.rows.into_iter().flatten().next().unwrap_or(Literal::Null);
    if value.is_null() {
        return Ok(Answer::empty(StatusCode::NO_CONTENT, request.version).finish());
    }
    let model = request.sets.model();
    let described = model.entity_type(entity_type).property(property);
    if raw {
        return Ok(raw_value(request, value));
    }
    let format = request.json_format()?;
    let mut body = "{".to_owned();
    if format.metadata != MetadataLevel::None {
        let path = request.target.split('?').next().unwrap_or_default();
        body.push_str("\"@odata.context\":");
        push_string(&mut body, &format!("{}$metadata#{path}", request.root));
        body.push(',');
    }
    let ty = type_name(model, described.ty);
    if format.metadata == MetadataLevel::Full && described.ty != PropertyType::Untyped {
        let ty = ty.strip_prefix("Edm.").unwrap_or(&ty);
        let _ = write!(body, "\"@odata.type\":\"#{ty}\",");
    }
    body.push_str("\"value\":");
    let options = JsonOptions { ieee754_compatible: format.ieee754_compatible };
    push_value(&mut body, model, &value, described.ty == PrimitiveType::Int64.into(), options);
    body.push('}');
    Ok(Answer::json(StatusCode::OK, request.version, format, body).finish())
}

fn raw_value(request: &Request, value: Literal) -> Response {
    let (content_type, body) = match value {
        Literal::Binary(bytes) => ("application/octet-stream", bytes),
        Literal::String(text) => ("text/plain;charset=utf-8", text.into_bytes()),
        Literal::Json(json) => ("application/json", json.to_string().into_bytes()),
        value => ("text/plain;charset=utf-8", write_text(&value).into_bytes()),
    };
    let content_type = HeaderValue::from_static(content_type);
    Answer::with_body(StatusCode::OK, request.version, content_type, body).finish()
}

/// The addresses of entities in place of themselves.
async fn references(request: &Request, many: bool) -> Result<Response> {
    let source = request.source().await?;
    let (set, format) = (source.set(), request.json_format()?);
    let mut query = request.query(set)?;
    if !query.expand.is_empty() || query.select.explicit || query.apply.is_some() {
        let message = "`$ref` takes no `$select`, `$expand` or `$apply`";
        return Err(Error::malformed(message));
    }
    let model = request.sets.model();
    query.select.properties.clone_from(&model.entity_type(query.entity_type).key);
    query.select.columns.clear();
    let shape = if many { ContextShape::CollectionOfReferences } else { ContextShape::Reference };
    let mut body = "{".to_owned();
    if format.metadata != MetadataLevel::None {
        push_context(&mut body, request, set, None, shape);
        body.push(',');
    }
    if many {
        let position = position(request, &query)?;
        let wanted = wanted(request, &query, position.as_ref(), false);
        let mut page = request.sets.open_page(&request.ctx, &source, wanted).await?;
        push_count(&mut body, page.count(), format);
        body.push_str("\"value\":[");
        let mut sink = References { request, set, out: &mut body };
        while page.read_next(&mut sink).await? {}
        let link = page.into_next().map(|next| next_link(request, &next)).transpose()?;
        push_end(&mut body, link.as_deref());
        return paged(request, Answer::json(StatusCode::OK, request.version, format, body));
    }
    refuse_of_many(&query)?;
    let mut reference = String::new();
    let mut sink = References { request, set, out: &mut reference };
    match request.sets.read_row(&request.ctx, &source, &query, false, &mut sink).await {
        Err(error) if error.kind() == ErrorKind::NotFound && leads_nowhere_before(request) => {
            return Ok(Answer::empty(StatusCode::NO_CONTENT, request.version).finish());
        }
        read => read?,
    }
    body.push_str(reference.trim_start_matches('{'));
    Ok(Answer::json(StatusCode::OK, request.version, format, body).finish())
}

/// As [`leads_nowhere`], with `$ref` behind the path.
fn leads_nowhere_before(request: &Request) -> bool {
    let steps = &request.resource.steps;
    matches!(steps.iter().rev().nth(1), Some(ResourceStep::Navigation(_)))
}

/// Writes the addresses of entities of which nothing but the key was read.
struct References<'r> {
    request: &'r Request,
    set: SetIndex,
    out: &'r mut String,
}

impl RowSink for References<'_> {
    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        let sets = &self.request.sets;
        let values = row.values()?;
        let key = values.first().ok_or_else(|| Error::internal("a key wasn't read"))?;
        if row.before() > 0 {
            self.out.push(',');
        }
        self.out.push_str("{\"@odata.id\":");
        push_string(self.out, &sets.address(self.set, &sets.key_value(self.set, key)?));
        self.out.push('}');
        Ok(())
    }
}

/// One entity as a JSON object with its control information.
pub(super) fn entity_body(
    request: &Request,
    set: SetIndex,
    query: Option<&BoundQuery>,
    entity: &Entity,
    format: JsonFormat,
) -> String {
    let mut body = String::with_capacity(entity.members.len() + 192);
    body.push('{');
    if format.metadata != MetadataLevel::None {
        push_context(&mut body, request, set, query, ContextShape::Entity);
        body.push_str(",\"@odata.etag\":");
        push_string(&mut body, &tag_of(entity.version).to_string());
        body.push(',');
    }
    body.push_str(&entity.members);
    if body.ends_with(',') {
        body.pop();
    }
    body.push('}');
    body
}

fn push_context(
    body: &mut String,
    request: &Request,
    set: SetIndex,
    query: Option<&BoundQuery>,
    shape: ContextShape,
) {
    let name = &request.sets.model().set(set).name;
    let fragment = context_fragment(&request.seen(), name, query, shape);
    body.push_str("\"@odata.context\":");
    push_string(body, &format!("{}$metadata{fragment}", request.root));
}

async fn count(request: &Request) -> Result<Response> {
    let source = request.source().await?;
    let query = request.query(source.set())?;
    let count = request.sets.count(&request.ctx, &source, &query).await?;
    let plain = HeaderValue::from_static("text/plain");
    let answer = Answer::with_body(StatusCode::OK, request.version, plain, count.to_string());
    Ok(answer.finish())
}
