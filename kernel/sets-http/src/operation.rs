//! Calls actions and functions, and answers with what they return.
//!
//! Entities that an operation returns are read as their set returns them to the caller: what it
//! may not see is left out, and `$select`, `$expand` and, of many, all other options work on them.

use std::sync::Arc;

use axum::response::Response;
use http::{HeaderName, StatusCode};
use svc_core::{Error, ErrorKind, Result};
use svc_data::operation::{Literal, Returned};
use svc_data::{Expected, Expense};
use svc_odata::bind::{OperationCall, ResourceRoot, ResourceStep};
use svc_odata::headers::{MetadataLevel, ReturnPreference};
use svc_odata::json::{
    JsonOptions, PayloadOptions, Purpose, parse_parameters, push_string, push_value,
};
use svc_odata::model::{OperationIndex, OperationKind, OperationType, PrimitiveType, SetIndex};
use svc_odata::value::type_name;
use svc_sets::{Source, refused_payload};

use super::answer::Answer;
use super::change::Conditions;
use super::read::{entity_body, page_of, read_entity, refuse_of_many};
use super::request::Request;

/// Calls the operation that the path ends with.
pub(super) async fn answer(request: &Arc<Request>, body: &[u8]) -> Result<Response> {
    let call = called(request)?;
    let kind = request.sets.model().operation(call.operation).kind;
    // Before anything is looked up that the caller may not even ask about.
    request.sets.require_operation(&request.ctx, call.operation)?;
    check_answer(request, call.operation)?;
    let source = bound_to(request).await?;
    let returned = match kind {
        OperationKind::Action => act(request, call.operation, source.as_ref(), body).await?,
        OperationKind::Function => {
            let values = call.arguments.clone();
            let (sets, ctx) = (&request.sets, &request.ctx);
            sets.run_function(ctx, call.operation, source.as_ref(), values).await?
        }
    };
    answer_with(request, call.operation, returned).await
}

/// Refuses what couldn't be answered, before anything is done.
fn check_answer(request: &Request, operation: OperationIndex) -> Result<()> {
    let _ = request.json_format()?;
    match request.sets.model().operation(operation).returns {
        Some(OperationType::Entity { entity_type, collection, .. }) => {
            let query = request.query(SetIndex(entity_type.0))?;
            if collection { Ok(()) } else { refuse_of_many(&query) }
        }
        _ => request.refuse_options(),
    }
}

fn called(request: &Request) -> Result<&OperationCall> {
    match (&request.resource.root, request.resource.steps.last()) {
        (ResourceRoot::Operation(call), _) | (_, Some(ResourceStep::Operation(call))) => Ok(call),
        _ => Err(Error::internal("a path to an operation doesn't end with one")),
    }
}

/// The one entity that an operation is bound to; none where it is bound to a set or to nothing.
async fn bound_to(request: &Request) -> Result<Option<Source>> {
    let Some((ResourceStep::Operation(call), before)) = request.resource.steps.split_last() else {
        return Ok(None);
    };
    let binding = request.sets.model().operation(call.operation).binding;
    if binding.is_some_and(|binding| binding.collection) {
        if before.is_empty() {
            return Ok(None);
        }
        return Err(Error::not_implemented("an operation on a part of a set is not served"));
    }
    request.walk(before).await.map(Some)
}

async fn act(
    request: &Request,
    operation: OperationIndex,
    source: Option<&Source>,
    body: &[u8],
) -> Result<Returned> {
    let format = request.body_format()?;
    let options = PayloadOptions {
        purpose: Purpose::Create,
        ieee754_compatible: format.ieee754_compatible,
        depth: 0,
        items: request.body_items(),
    };
    let values = parse_parameters(&request.seen(), operation, body, options).map_err(|error| {
        let kind = refused_payload(error);
        if kind.kind() == ErrorKind::Invalid { renamed(&kind) } else { kind }
    })?;
    let items = values.iter().map(|value| match value {
        Literal::Collection(items) => items.len() as u64,
        _ => 0,
    });
    request.ctx.spend(Expense::BodyItems, items.sum())?;
    let conditions = Conditions::of(request, false)?;
    let work = request.ctx.transact_retrying(|uow| {
        let (values, conditions) = (values.clone(), conditions.clone());
        async move {
            let expected = match source {
                Some(source) => conditions.expected(request, source).await?,
                None => Expected::Any,
            };
            request.sets.run_action(&uow, operation, source, values, expected).await
        }
    });
    work.await
}

/// The refusal of parameters in words of its own.
fn renamed(error: &Error) -> Error {
    let refusal = Error::invalid("the parameters are not valid");
    error.fields().iter().fold(refusal, |refusal, (field, messages)| {
        messages.iter().fold(refusal, |refusal, message| refusal.field(field, message.clone()))
    })
}

async fn answer_with(
    request: &Arc<Request>,
    operation: OperationIndex,
    returned: Returned,
) -> Result<Response> {
    let described = request.sets.model().operation(operation);
    let wants_nothing = described.kind == OperationKind::Action
        && request.preferences.return_content == Some(ReturnPreference::Minimal);
    if wants_nothing && returned != Returned::Nothing {
        let applied = HeaderName::from_static("preference-applied");
        let answer = Answer::empty(StatusCode::NO_CONTENT, request.version);
        return Ok(answer.header(applied, "return=minimal")?.finish());
    }
    let nothing = || Ok(Answer::empty(StatusCode::NO_CONTENT, request.version).finish());
    match (returned, described.returns) {
        (Returned::Value(value), Some(OperationType::Value { ty, collection, .. })) => {
            if value.is_null() {
                return nothing();
            }
            let name = type_name(request.sets.model(), ty);
            let name = if collection { format!("Collection({name})") } else { name };
            let wide = ty == PrimitiveType::Int64.into();
            answer_value(request, &name, &value, wide)
        }
        (Returned::Entities(keys), Some(OperationType::Entity { entity_type, collection, .. })) => {
            // The types of sets are added side by side with them, so they share a place.
            let set = SetIndex(entity_type.0);
            if request.sets.require_view(&request.ctx, set).is_err() {
                return nothing();
            }
            if collection {
                let once = described.kind == OperationKind::Action;
                let among = Source::of(set).among(keys);
                return page_of(request, among, once).await;
            }
            answer_entity(request, set, keys).await
        }
        _ => nothing(),
    }
}

fn answer_value(request: &Request, name: &str, value: &Literal, wide: bool) -> Result<Response> {
    let format = request.json_format()?;
    let mut body = "{".to_owned();
    if format.metadata != MetadataLevel::None {
        body.push_str("\"@odata.context\":");
        push_string(&mut body, &format!("{}$metadata#{name}", request.root));
        body.push(',');
    }
    body.push_str("\"value\":");
    let options = JsonOptions { ieee754_compatible: format.ieee754_compatible };
    push_value(&mut body, request.sets.model(), value, wide, options);
    body.push('}');
    Ok(Answer::json(StatusCode::OK, request.version, format, body).finish())
}

async fn answer_entity(
    request: &Request,
    set: SetIndex,
    keys: Vec<sea_orm::Value>,
) -> Result<Response> {
    let format = request.json_format()?;
    let query = request.query(set)?;
    refuse_of_many(&query)?;
    let source = Source::of(set).among(keys);
    let entity = match read_entity(request, &source, &query, format).await {
        // Outside of what the caller may see, or deleted by the action itself.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Answer::empty(StatusCode::NO_CONTENT, request.version).finish());
        }
        entity => entity?,
    };
    let body = entity_body(request, set, Some(&query), &entity, format);
    let answer = Answer::json(StatusCode::OK, request.version, format, body);
    Ok(answer.tagged(entity.version)?.finish())
}
