//! Changes of references: what an entity is related to, without changing what is there.
//!
//! | request | what it does |
//! | --- | --- |
//! | `POST Makers(1)/lamps/$ref` | relates one more |
//! | `PUT Makers(1)/lamps/$ref` | relates just those in the body; what the caller doesn't see stays |
//! | `DELETE Makers(1)/lamps(2)/$ref`, `DELETE Makers(1)/lamps/$ref?$id=Lamps(2)` | one less |
//! | `PUT Lamps(2)/maker/$ref` | relates to another |
//! | `DELETE Lamps(2)/maker/$ref` | relates to none |
//!
//! A reference stands in one of both entities: the lamp says who makes it. A condition (`If-Match`,
//! `If-None-Match`) is of the version of that one, whichever of both the address begins with, since it
//! is what changes: lamp 2 in each of these requests, and the lamp in the body of a POST. All
//! references of a maker together have no version, which the standard leaves to the service (OData
//! 4.01 Protocol, 11.4.1.1), so no tag ever matches them, and `*` does.

use axum::response::Response;
use http::{Method, StatusCode};
use svc_core::{Error, Result};
use svc_data::Expense;
use svc_odata::bind::{ResourceStep, Step};
use svc_odata::headers::TagCondition;
use svc_odata::json::{parse_reference, parse_references};
use svc_sets::{EntityInput, RelatedInput, Relating, Source, Verb, refused_payload};

use super::answer::Answer;
use super::change::Conditions;
use super::request::Request;

/// The methods that the references at an address take besides those that read.
pub(super) fn changes(request: &Request) -> &'static str {
    match parts(request) {
        Some((_, step, None)) if is_many(request, step) => "DELETE, GET, HEAD, OPTIONS, POST, PUT",
        Some((_, _, None)) => "DELETE, GET, HEAD, OPTIONS, PUT",
        Some(_) => "DELETE, GET, HEAD, OPTIONS",
        None => "GET, HEAD, OPTIONS",
    }
}

/// The way to the entity that is related, the navigation property, and the key behind it.
fn parts(request: &Request) -> Option<(&[ResourceStep], Step, Option<&ResourceStep>)> {
    match &request.resource.steps[..] {
        [before @ .., ResourceStep::Navigation(step), ResourceStep::References] => {
            Some((before, *step, None))
        }
        [
            before @ ..,
            ResourceStep::Navigation(step),
            key @ ResourceStep::Key(_),
            ResourceStep::References,
        ] => Some((before, *step, Some(key))),
        _ => None,
    }
}

fn is_many(request: &Request, step: Step) -> bool {
    request.sets.model().entity_type(step.from).navigation(step.navigation).collection
}

pub(super) async fn change(request: &Request, method: &Method, body: &[u8]) -> Result<Response> {
    let wrong = || Error::internal("these references don't change");
    let (before, step, key) = parts(request).ok_or_else(wrong)?;
    let parent = request.walk_seen(before).await?;
    if is_many(request, step) {
        if *method == Method::POST {
            add(request, &parent, step, body).await?;
        } else if *method == Method::PUT {
            replace(request, &parent, step, body).await?;
        } else {
            take_away(request, before, step, key).await?;
        }
    } else {
        let relating = if *method == Method::PUT {
            let _ = request.body_format()?;
            let id = parse_reference(body).map_err(refused_payload)?;
            let other = request.reference(&id)?;
            Relating::Entities(vec![RelatedInput::Existing(other)])
        } else {
            Relating::Nothing
        };
        lead(request, parent, step, relating).await?;
    }
    Ok(Answer::empty(StatusCode::NO_CONTENT, request.version).finish())
}

async fn add(request: &Request, parent: &Source, step: Step, body: &[u8]) -> Result<()> {
    let _ = request.body_format()?;
    let id = parse_reference(body).map_err(refused_payload)?;
    let other = request.reference(&id)?;
    let conditions = Conditions::of(request, request.settings.require_if_match)?;
    let work = request.ctx.transact_retrying(|uow| {
        let (parent, other, conditions) = (parent.clone(), other.clone(), conditions.clone());
        async move {
            let expected = conditions.expected(request, &other).await?;
            request.sets.relate(&uow, &parent, step.navigation, &other, expected).await
        }
    });
    work.await
}

async fn replace(request: &Request, parent: &Source, step: Step, body: &[u8]) -> Result<()> {
    let _ = request.body_format()?;
    let ids = parse_references(body, request.body_items()).map_err(refused_payload)?;
    request.ctx.spend(Expense::BodyItems, ids.len() as u64)?;
    check_without_version(request)?;
    let others: Vec<Source> = ids.iter().map(|id| request.reference(id)).collect::<Result<_>>()?;
    let work = request.ctx.transact_retrying(|uow| {
        let (parent, others) = (parent.clone(), others.clone());
        async move { request.sets.relate_just(&uow, &parent, step.navigation, &others).await }
    });
    work.await
}

/// Checks the conditions of a change of what is there and has no version.
fn check_without_version(request: &Request) -> Result<()> {
    let _ = Conditions::of(request, request.settings.require_if_match)?;
    if matches!(request.if_match()?, Some(TagCondition::Tags(_))) {
        let message = "all references of an entity together have no version; send `*`, or change \
                       one by one";
        return Err(Error::precondition_failed(message));
    }
    if matches!(request.if_none_match()?, Some(TagCondition::Any)) {
        return Err(Error::precondition_failed("there are such references already"));
    }
    Ok(())
}

async fn take_away(
    request: &Request,
    before: &[ResourceStep],
    step: Step,
    key: Option<&ResourceStep>,
) -> Result<()> {
    let related = match (key, &request.options.id) {
        (Some(_), None) => {
            let steps = &request.resource.steps;
            request.walk_seen(&steps[..steps.len() - 1]).await?
        }
        (None, Some(id)) => {
            let key = request.key_of_reference(id, step.to)?;
            let steps = before.iter().cloned().chain([ResourceStep::Navigation(step), key]);
            let steps: Vec<ResourceStep> = steps.collect();
            request.walk_seen(&steps).await?
        }
        _ => {
            let message = "say which reference ends: by its key in the path, or as `$id`; to end \
                           all of them, PUT an empty list";
            return Err(Error::malformed(message).target("$id"));
        }
    };
    let set = request.walk_seen(before).await?.set();
    let conditions = Conditions::of(request, request.settings.require_if_match)?;
    let work = request.ctx.transact_retrying(|uow| {
        let (related, conditions) = (related.clone(), conditions.clone());
        async move {
            let expected = conditions.expected(request, &related).await?;
            request.sets.unrelate(&uow, set, step.navigation, &related, expected).await
        }
    });
    work.await
}

/// Changes where a way to one leads.
async fn lead(request: &Request, parent: Source, step: Step, relating: Relating) -> Result<()> {
    request.sets.require(&request.ctx, parent.set(), Verb::Change)?;
    let conditions = Conditions::of(request, request.settings.require_if_match)?;
    let work = request.ctx.transact_retrying(|uow| {
        let (parent, relating, conditions) = (parent.clone(), relating.clone(), conditions.clone());
        async move {
            let expected = conditions.expected(request, &parent).await?;
            let key = request.sets.find_key(&request.ctx, &parent).await?;
            let related = vec![(step.navigation, relating)];
            let input = EntityInput { properties: Vec::new(), related };
            let set = parent.set();
            request.sets.change(&uow, set, &key, input, Verb::Change, expected).await
        }
    });
    work.await.map(drop)
}
