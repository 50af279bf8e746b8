//! Answers reads.

use std::fmt::Write as _;

use axum::response::Response;
use http::{HeaderValue, StatusCode};
use svc_core::{Error, Result};
use svc_data::sets::{Entity, PageRequest};
use svc_odata::bind::{BoundQuery, ResourceKind, bind_condition};
use svc_odata::csdl::{write_json, write_service_document, write_xml};
use svc_odata::headers::{JsonFormat, MetadataFormat, MetadataLevel, negotiate_metadata};
use svc_odata::json::{ContextShape, context_fragment, push_string};
use svc_odata::model::SetIndex;

use super::answer::{Answer, tag_of};
use super::request::{Request, format_error, refused};

pub(super) async fn answer(request: &Request) -> Result<Response> {
    match request.resource.kind {
        ResourceKind::Service => service(request),
        ResourceKind::Metadata => metadata(request),
        ResourceKind::Entities => page(request).await,
        ResourceKind::Entity => entity(request).await,
        ResourceKind::Count => count(request).await,
        other => Err(Error::not_implemented(format!("{} is not served", name_of(other)))),
    }
}

fn name_of(kind: ResourceKind) -> &'static str {
    match kind {
        ResourceKind::Batch => "`$batch`",
        ResourceKind::Property(..) => "reading one property",
        ResourceKind::RawValue(..) => "`$value`",
        ResourceKind::References { .. } => "`$ref`",
        ResourceKind::Operation(_) => "an operation",
        _ => "this kind of resource",
    }
}

fn service(request: &Request) -> Result<Response> {
    let format = request.json_format()?;
    let body = write_service_document(&request.seen(), &request.root, format.metadata);
    Ok(Answer::json(StatusCode::OK, request.version, format, body).finish())
}

fn metadata(request: &Request) -> Result<Response> {
    let accept = request.headers.get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let format = request.options.format.as_ref();
    let (content_type, body) = match negotiate_metadata(format, accept).map_err(format_error)? {
        MetadataFormat::Xml => ("application/xml", write_xml(&request.seen(), request.version)),
        MetadataFormat::Json => ("application/json", write_json(&request.seen(), request.version)),
    };
    let content_type = HeaderValue::from_static(content_type);
    Ok(Answer::with_body(StatusCode::OK, request.version, content_type, body).finish())
}

async fn page(request: &Request) -> Result<Response> {
    if !request.resource.steps.is_empty() {
        return Err(Error::not_implemented("a path beyond a set is not served"));
    }
    let (set, entity_type) = request.set()?;
    request.sets.require_view(&request.ctx, set)?;
    let format = request.json_format()?;
    let query = request.query(entity_type)?;
    let limit = page_limit(request);
    let wanted = PageRequest {
        filter: query.filter.clone(),
        order_by: query.order_by.clone(),
        properties: Some(query.select.properties.clone()),
        skip: query.skip.unwrap_or(0),
        take: query.top.unwrap_or(limit).min(limit),
        count: query.count,
    };
    let page = request.sets.read_page(&request.ctx, set, &wanted).await?;
    let mut body = String::with_capacity(page.elements.len() + 256);
    body.push('{');
    if format.metadata != MetadataLevel::None {
        push_context(&mut body, request, set, Some(&query), ContextShape::Collection);
        body.push(',');
    }
    if let Some(count) = page.count {
        let _ = write!(body, "\"@odata.count\":{count},");
    }
    let _ = write!(body, "\"value\":[{}]", page.elements);
    if page.more && query.top.is_none_or(|top| top > wanted.take) {
        body.push_str(",\"@odata.nextLink\":");
        push_string(&mut body, &next_link(request, &wanted, query.top));
    }
    body.push('}');
    Ok(Answer::json(StatusCode::OK, request.version, format, body).finish())
}

/// How many entities one answer holds: the setting, or what the caller prefers.
fn page_limit(request: &Request) -> u64 {
    let settings = &request.settings;
    let preferred = request.preferences.max_page_size.unwrap_or(settings.page_size);
    preferred.min(settings.max_page_size).into()
}

/// The address of what comes after a page: the same request that skips what was sent.
fn next_link(request: &Request, sent: &PageRequest, top: Option<u64>) -> String {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let named = |part: &str, name: &str| {
        let option = part.split('=').next().unwrap_or_default();
        let option = option.trim_start_matches("%24").trim_start_matches('$');
        option.eq_ignore_ascii_case(name)
    };
    let kept = query.split('&').filter(|part| {
        !part.is_empty() && !named(part, "skip") && !(top.is_some() && named(part, "top"))
    });
    let mut options: Vec<String> = kept.map(str::to_owned).collect();
    options.push(format!("$skip={}", sent.skip + sent.take));
    options.extend(top.map(|top| format!("$top={}", top - sent.take)));
    format!("{}{path}?{}", request.root, options.join("&"))
}

async fn entity(request: &Request) -> Result<Response> {
    let (set, entity_type) = request.set()?;
    request.sets.require_view(&request.ctx, set)?;
    let format = request.json_format()?;
    let (key, query) = (request.key()?, request.query(entity_type)?);
    let properties = Some(&query.select.properties[..]);
    let entity = request.sets.read_one(&request.ctx, set, &key, properties).await?;
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
    let (set, entity_type) = request.set()?;
    request.sets.require_view(&request.ctx, set)?;
    let options = &request.options;
    if options.search.is_some() {
        return Err(Error::not_implemented("`$search` is not served").target("$search"));
    }
    let limits = svc_odata::bind::BindLimits::default();
    let filter = options.filter.as_ref().map(|filter| {
        bind_condition(&request.seen(), entity_type, filter, &options.aliases, limits)
    });
    let filter = filter.transpose().map_err(refused)?;
    let count = request.sets.count(&request.ctx, set, filter.as_ref()).await?;
    let plain = HeaderValue::from_static("text/plain");
    let answer = Answer::with_body(StatusCode::OK, request.version, plain, count.to_string());
    Ok(answer.finish())
}
