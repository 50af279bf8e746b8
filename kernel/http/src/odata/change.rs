//! Answers creates, changes, replacements and deletes.

use axum::response::Response;
use http::{HeaderName, StatusCode};
use sea_orm::Value;
use svc_core::{Error, ErrorKind, Result};
use svc_data::Expected;
use svc_data::sets::{EntityValues, Source, Verb};
use svc_odata::headers::{ReturnPreference, TagCondition};
use svc_odata::json::{PayloadError, PayloadOptions, Purpose, parse_entity};
use svc_odata::model::{SetIndex, TypeIndex};

use super::answer::{Answer, tag_of};
use super::read::entity_body;
use super::request::Request;

/// How deep related entities may nest in a body; they are refused, but counted first.
const DEPTH: usize = 10;

pub(super) async fn create(request: &Request, body: &[u8]) -> Result<Response> {
    if !request.resource.steps.is_empty() {
        return Err(Error::not_implemented("creating through a path is not served"));
    }
    let (set, entity_type) = request.set()?;
    request.sets.require(&request.ctx, set, Verb::Create)?;
    let values = read_body(request, entity_type, body, Purpose::Create)?;
    let record = request.ctx.transact_retrying(|uow| {
        let values = values.clone();
        async move { request.sets.create(&uow, set, values).await }
    });
    let record = record.await?;
    let key = record.key(request.sets.entity(set)).clone();
    let answer = changed(request, set, &key, StatusCode::CREATED).await?;
    let location = format!("{}{}", request.root, request.sets.address(set, &key));
    answer.located(&location).map(Answer::finish)
}

pub(super) async fn change(request: &Request, body: &[u8], verb: Verb) -> Result<Response> {
    let (set, entity_type) = request.set()?;
    request.sets.require(&request.ctx, set, verb)?;
    let key = request.key()?;
    let purpose = if verb == Verb::Replace { Purpose::Replace } else { Purpose::Update };
    let values = read_body(request, entity_type, body, purpose)?;
    let condition = condition(request)?;
    let work = request.ctx.transact_retrying(|uow| {
        let (values, key, condition) = (values.clone(), key.clone(), condition.clone());
        async move {
            let expected = expected_of(request, set, &key, condition.as_ref()).await?;
            request.sets.change(&uow, set, &key, values, verb, expected).await
        }
    });
    work.await?;
    changed(request, set, &key, StatusCode::OK).await.map(Answer::finish)
}

pub(super) async fn delete(request: &Request) -> Result<Response> {
    let (set, _) = request.set()?;
    request.sets.require(&request.ctx, set, Verb::Delete)?;
    let (key, condition) = (request.key()?, condition(request)?);
    let work = request.ctx.transact_retrying(|uow| {
        let (key, condition) = (key.clone(), condition.clone());
        async move {
            let expected = expected_of(request, set, &key, condition.as_ref()).await?;
            request.sets.delete(&uow, set, &key, expected).await
        }
    });
    work.await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT, request.version).finish())
}

/// The answer to a change: the entity, unless the caller wants none or may not see it.
async fn changed(
    request: &Request,
    set: SetIndex,
    key: &Value,
    status: StatusCode,
) -> Result<Answer> {
    let sees = request.sets.require_view(&request.ctx, set).is_ok();
    if !sees || request.preferences.return_content == Some(ReturnPreference::Minimal) {
        let answer = Answer::empty(StatusCode::NO_CONTENT, request.version);
        let address = format!("{}{}", request.root, request.sets.address(set, key));
        let answer = answer.header(HeaderName::from_static("odata-entityid"), &address)?;
        return match request.preferences.return_content {
            Some(_) => {
                answer.header(HeaderName::from_static("preference-applied"), "return=minimal")
            }
            None => Ok(answer),
        };
    }
    let format = request.json_format()?;
    let entity = request.sets.read_one(&request.ctx, set, key, None).await?;
    let body = entity_body(request, set, None, &entity, format);
    let answer = Answer::json(status, request.version, format, body).tagged(entity.version)?;
    match request.preferences.return_content {
        Some(_) => {
            answer.header(HeaderName::from_static("preference-applied"), "return=representation")
        }
        None => Ok(answer),
    }
}

fn read_body(
    request: &Request,
    entity_type: TypeIndex,
    body: &[u8],
    purpose: Purpose,
) -> Result<EntityValues> {
    let format = request.body_format()?;
    let options =
        PayloadOptions { purpose, ieee754_compatible: format.ieee754_compatible, depth: DEPTH };
    // A person who may change a set but not read it still names its properties.
    let schema = svc_data::sets::Seen::with_all_sets(&request.sets, request.ctx.principal());
    let payload = parse_entity(&schema, entity_type, body, options).map_err(wrong_body)?;
    if payload.navigations.is_empty() {
        Ok(payload.properties)
    } else {
        Err(Error::not_implemented("related entities in a body are not served"))
    }
}

pub(super) fn wrong_body(error: PayloadError) -> Error {
    let kind = match error.status() {
        400 => ErrorKind::Malformed,
        501 => ErrorKind::NotImplemented,
        _ => ErrorKind::Invalid,
    };
    match error {
        PayloadError::Invalid(issues) => {
            let error = Error::new(kind, "the entity is not valid");
            issues
                .into_iter()
                .fold(error, |error, issue| error.field(issue.target, issue.problem.to_string()))
        }
        other => Error::new(kind, other.to_string()),
    }
}

/// The condition that the change is made under.
fn condition(request: &Request) -> Result<Option<TagCondition>> {
    let condition = request.if_match()?;
    if condition.is_none() && request.settings.require_if_match {
        return Err(Error::new(
            ErrorKind::PreconditionRequired,
            "name the version that you change: send its `@odata.etag` as `If-Match`, or `*`",
        ));
    }
    Ok(condition)
}

async fn expected_of(
    request: &Request,
    set: SetIndex,
    key: &Value,
    condition: Option<&TagCondition>,
) -> Result<Expected> {
    let source = request.sets.with_key(Source::of(set), key.clone());
    expected(request, Some(&source), condition).await
}

/// The version that the condition is about. One tag is the common case, and needs no read.
pub(super) async fn expected(
    request: &Request,
    source: Option<&Source>,
    condition: Option<&TagCondition>,
) -> Result<Expected> {
    let Some(source) = source else { return Ok(Expected::Any) };
    match condition {
        None | Some(TagCondition::Any) => Ok(Expected::Any),
        Some(TagCondition::Tags(tags)) => {
            if let [tag] = &tags[..]
                && let Ok(version) = tag.tag.parse()
            {
                return Ok(Expected::Version(version));
            }
            // Read within the unit of work, so that nothing changes in between.
            let current = request.sets.current_version(&request.ctx, source).await?;
            let holds = condition.is_some_and(|all| all.matches(Some(&tag_of(current))));
            // A version that no record has refuses the change where it is compared.
            Ok(Expected::Version(if holds { current } else { -1 }))
        }
    }
}
