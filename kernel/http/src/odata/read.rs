//! Answers reads.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use http::{HeaderName, HeaderValue, StatusCode};
use svc_core::{Error, ErrorKind, Result};
use svc_data::Budget;
use svc_data::sets::{Entity, PageRequest, Position, Source};
use svc_odata::bind::{BoundQuery, ResourceKind, ResourceStep};
use svc_odata::csdl::{write_json, write_service_document, write_xml};
use svc_odata::headers::{JsonFormat, MetadataFormat, MetadataLevel, negotiate_metadata};
use svc_odata::json::{ContextShape, Rewriter, context_fragment, push_string};
use svc_odata::model::{PrimitiveType, Property, PropertyIndex, PropertyType, SetIndex, TypeIndex};

use svc_odata::value::type_name;

use super::answer::{Answer, tag_of};
use super::request::{Request, format_error};
use super::stream::{self, Out, Streaming};

pub(super) fn answer(request: &Arc<Request>) -> BoxFuture<'_, Result<Response>> {
    match request.resource.kind {
        ResourceKind::Service => ready(service(request)).boxed(),
        ResourceKind::Metadata => ready(metadata(request)).boxed(),
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

fn metadata(request: &Request) -> Result<Response> {
    request.refuse_options()?;
    let accept = request.headers.get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let format = request.options.format.as_ref();
    let (content_type, body) = match negotiate_metadata(format, accept).map_err(format_error)? {
        MetadataFormat::Xml => ("application/xml", write_xml(&request.seen(), request.version)),
        MetadataFormat::Json => ("application/json", write_json(&request.seen(), request.version)),
    };
    let content_type = HeaderValue::from_static(content_type);
    Ok(Answer::with_body(StatusCode::OK, request.version, content_type, body).finish())
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
            let goes_on = reader.write_next(&mut piece, out.room()).await?;
            push_anew(&mut out.text, &request, &query, set, format, &piece)?;
            goes_on
        } else {
            let room = out.room();
            reader.write_next(&mut out.text, room).await?
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
    // The parts of a batch stand together in its answer.
    let is_in_batch = request.ctx.budget().is_some_and(Budget::is_shared);
    let most = if is_in_batch { settings.page_size } else { settings.max_page_size };
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
        && !condition.matches(Some(&tag_of(entity.version)))
    {
        return Err(Error::precondition_failed("the entity is of another version than was named"));
    }
    if let Some(condition) = request.if_none_match()?
        && condition.matches(Some(&tag_of(entity.version)))
    {
        let unchanged = Answer::empty(StatusCode::NOT_MODIFIED, request.version);
        return Ok(unchanged.tagged(entity.version)?.finish());
    }
    let body = entity_body(request, set, Some(&query), &entity, format);
    let answer = Answer::json(StatusCode::OK, request.version, format, body);
    Ok(answer.tagged(entity.version)?.finish())
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
    let query = request.query_of_property(entity_type, property)?;
    let entity = request.sets.read_entity(&request.ctx, &source, &query, false).await?;
    let model = request.sets.model();
    let described = model.entity_type(entity_type).property(property);
    // What was asked for is the only member: its name, a colon and the value.
    let value = entity.members.get(described.name.len() + 3..).unwrap_or("null");
    if value == "null" {
        return Ok(Answer::empty(StatusCode::NO_CONTENT, request.version).finish());
    }
    if raw {
        return raw_value(request, described, value);
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
    let is_wide = matches!(ty.as_str(), "Edm.Int64" | "Edm.Decimal");
    let quote = if is_wide && format.ieee754_compatible { "\"" } else { "" };
    let _ = write!(body, "\"value\":{quote}{value}{quote}}}");
    Ok(Answer::json(StatusCode::OK, request.version, format, body).finish())
}

fn raw_value(request: &Request, property: &Property, json: &str) -> Result<Response> {
    let unreadable = |error| Error::internal("a value can't be read").caused_by(error);
    let value: serde_json::Value = serde_json::from_str(json).map_err(unreadable)?;
    let text = match value {
        serde_json::Value::String(text) => text,
        _ => json.to_owned(),
    };
    let content_type = match property.ty {
        PropertyType::Primitive(PrimitiveType::Binary) => {
            let bytes = URL_SAFE.decode(text);
            let wrong = |error| Error::internal("stored bytes can't be read").caused_by(error);
            let bytes = bytes.map_err(wrong)?;
            let content_type = HeaderValue::from_static("application/octet-stream");
            let answer = Answer::with_body(StatusCode::OK, request.version, content_type, bytes);
            return Ok(answer.finish());
        }
        PropertyType::Untyped => HeaderValue::from_static("application/json"),
        _ => HeaderValue::from_static("text/plain;charset=utf-8"),
    };
    Ok(Answer::with_body(StatusCode::OK, request.version, content_type, text).finish())
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
        let page = request.sets.read_page(&request.ctx, &source, &wanted).await?;
        let link = page.next.map(|next| next_link(request, &next)).transpose()?;
        push_count(&mut body, page.count, format);
        body.push_str("\"value\":[");
        body.push_str(&addresses(request, set, &page.elements)?);
        push_end(&mut body, link.as_deref());
        return paged(request, Answer::json(StatusCode::OK, request.version, format, body));
    }
    refuse_of_many(&query)?;
    let read = request.sets.read_entity(&request.ctx, &source, &query, false).await;
    let entity = match read {
        Err(error) if error.kind() == ErrorKind::NotFound && leads_nowhere_before(request) => {
            return Ok(Answer::empty(StatusCode::NO_CONTENT, request.version).finish());
        }
        read => read?,
    };
    let address = addresses(request, set, &format!("{{{}}}", entity.members))?;
    body.push_str(address.trim_start_matches('{'));
    Ok(Answer::json(StatusCode::OK, request.version, format, body).finish())
}

/// As [`leads_nowhere`], with `$ref` behind the path.
fn leads_nowhere_before(request: &Request) -> bool {
    let steps = &request.resource.steps;
    matches!(steps.iter().rev().nth(1), Some(ResourceStep::Navigation(_)))
}

/// Objects that hold nothing but keys as objects that hold nothing but addresses.
fn addresses(request: &Request, set: SetIndex, elements: &str) -> Result<String> {
    let unreadable = |error| Error::internal("a key can't be read").caused_by(error);
    let elements: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(&format!("[{elements}]")).map_err(unreadable)?;
    let kind = request.sets.entity(set).key().kind;
    let mut addresses = Vec::with_capacity(elements.len());
    for key in elements.iter().filter_map(|element| element.values().next()) {
        let mut address = "{\"@odata.id\":".to_owned();
        push_string(&mut address, &request.sets.address(set, &kind.parse_json(key)?));
        address.push('}');
        addresses.push(address);
    }
    Ok(addresses.join(","))
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
