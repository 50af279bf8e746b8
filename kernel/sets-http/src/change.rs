//! Answers creates, changes, replacements and deletes.

use axum::response::Response;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{HeaderName, Method, StatusCode};
use sea_orm::Value;
use svc_core::{Error, ErrorKind, Result};
use svc_data::{Expected, Expense, Record, UnitOfWork};
use svc_odata::bind::{BoundQuery, KeyValue, ResourceStep, Step};
use svc_odata::headers::{MetadataLevel, ReturnPreference, TagCondition};
use svc_odata::json::{
    EntityPayload, NavigationPayload, PayloadOptions, Purpose, parse_entity_at, parse_property,
};
use svc_odata::model::{Access, NavigationIndex, PropertyIndex, SetIndex, TypeIndex};
use svc_odata::syntax::QueryOptions;
use svc_sets::{EntityInput, RelatedInput, Relating, Source, Verb, refused_payload};

use super::answer::{Answer, names, version_in};
use super::read::{entity_body, read_entity, refuse_of_many};
use super::request::Request;

/// How deep related entities may nest in a body; they are refused, but counted first.
const DEPTH: usize = 10;

pub(super) async fn create(request: &Request, body: &[u8]) -> Result<Response> {
    let within = request.resource.steps.split_last();
    let (parent, set) = match within {
        None => (None, request.set()?.0),
        Some((ResourceStep::Navigation(step), before)) => {
            let parent = request.walk_seen(before).await?;
            let navigation =
                request.sets.model().entity_type(step.from).navigation(step.navigation);
            let set = navigation.target_set.ok_or_else(|| {
                Error::not_implemented("creating what belongs to no set is not served")
            })?;
            (Some((parent, *step)), set)
        }
        Some(_) => return Err(Error::not_implemented("creating in a part of a set is not served")),
    };
    let entity_type = request.sets.model().set(set).entity_type;
    request.sets.require(&request.ctx, set, Verb::Create)?;
    let given = parent.as_ref().map(|(_, step)| inherited(request, *step)).unwrap_or_default();
    let payload = read_payload(request, entity_type, body, Purpose::Create, &given)?;
    request.ctx.spend(Expense::BodyItems, payload.items() as u64)?;
    let (values, deep) = read_body(request, entity_type, payload, Purpose::Create).await?;
    let query = representation(request, set, &deep)?;
    let record = request.ctx.transact_retrying(|uow| {
        let (values, parent) = (values.clone(), parent.clone());
        async move {
            let record = match parent {
                None => request.sets.create(&uow, set, values).await?,
                Some((parent, step)) => {
                    request.sets.create_related(&uow, &parent, step.navigation, values).await?
                }
            };
            Ok((record, uow))
        }
    });
    let (record, uow) = record.await?;
    let key = record.key(request.sets.entity(set)).clone();
    let stored = Some(&record).filter(|_| !uow.hooks_wrote());
    let version = stored.and_then(|record| record.version(request.sets.entity(set)));
    let answer = changed(request, (set, &key), StatusCode::CREATED, query, stored, version).await?;
    let location = format!("{}{}", request.root, request.sets.address(set, &key));
    answer.located(&location).map(Answer::finish)
}

/// The properties that an entity gets from the one that it is created behind.
fn inherited(request: &Request, step: Step) -> Vec<PropertyIndex> {
    let model = request.sets.model();
    let navigation = model.entity_type(step.from).navigation(step.navigation);
    let target = model.entity_type(navigation.target);
    let back = navigation.partner.as_deref().and_then(|partner| target.find_navigation(partner));
    let back = back.map(|back| &target.navigation(back).constraints);
    back.into_iter().flatten().map(|(own, _)| *own).collect()
}

/// Sets one property of an entity, or makes it null.
pub(super) async fn property(
    request: &Request,
    property: PropertyIndex,
    method: &Method,
    body: &[u8],
) -> Result<Response> {
    let (source, _) = request.addressed().await?;
    let set = source.set();
    request.sets.require(&request.ctx, set, Verb::Change)?;
    let entity_type = request.sets.model().set(set).entity_type;
    let described = request.sets.model().entity_type(entity_type);
    let found = described.property(property);
    if found.access != Access::ReadWrite || described.key.contains(&property) {
        return Err(Error::invalid("the entity is not valid")
            .field(&found.name, "can't be changed by callers"));
    }
    let value = if *method == Method::DELETE {
        svc_odata::value::Value::Null
    } else {
        let options = payload_options(request, Purpose::Update)?;
        parse_property(&request.seen(), entity_type, property, body, options)
            .map_err(refused_payload)?
    };
    let conditions = Conditions::of(request, request.settings.require_if_match)?;
    let work = request.ctx.transact_retrying(|uow| {
        let (source, values) = (source.clone(), vec![(property, value.clone())]);
        let conditions = conditions.clone();
        async move {
            let key = request.sets.find_key(&request.ctx, &source).await?;
            let expected = conditions.expected(request, &source).await?;
            request.sets.change(&uow, set, &key, values, Verb::Change, expected).await
        }
    });
    work.await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT, request.version).finish())
}

pub(super) async fn change(request: &Request, body: &[u8], verb: Verb) -> Result<Response> {
    let (source, key_values) = request.addressed().await?;
    let set = source.set();
    let entity_type = request.sets.model().set(set).entity_type;
    request.sets.require(&request.ctx, set, verb)?;
    let purpose = if verb == Verb::Replace { Purpose::Replace } else { Purpose::Update };
    let payload = read_payload(request, entity_type, body, purpose, &[])?;
    request.ctx.spend(Expense::BodyItems, payload.items() as u64)?;
    let (values, _) = read_body(request, entity_type, payload, purpose).await?;
    let query = representation(request, set, "")?;
    let conditions = Conditions::of(request, request.settings.require_if_match)?;
    // Only an address that names the key says what the key of a new entity would be.
    let may_create = !key_values.is_empty()
        && conditions.only_if.is_none()
        && request.sets.model().set(set).capabilities.upsert;
    let work = request.ctx.transact_retrying(|uow| {
        let (values, source, conditions) = (values.clone(), source.clone(), conditions.clone());
        async move {
            let found = request.sets.find_key_now(&request.ctx, &source, may_create).await?;
            let Some(key) = found else {
                let record = upsert(request, &uow, entity_type, (body, key_values)).await?;
                return Ok((record, true, uow));
            };
            let source = request.sets.with_key(Source::of(set), key.clone());
            let expected = conditions.expected(request, &source).await?;
            let record = request.sets.change(&uow, set, &key, values, verb, expected).await?;
            Ok((record, false, uow))
        }
    });
    let (record, created, uow) = work.await?;
    let entity = request.sets.entity(set);
    let key = record.key(entity).clone();
    let stored = Some(&record).filter(|_| !uow.hooks_wrote());
    let version = stored.and_then(|record| record.version(entity));
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    let answer = changed(request, (set, &key), status, query, stored, version).await?;
    if !created {
        return Ok(answer.finish());
    }
    let location = format!("{}{}", request.root, request.sets.address(set, &key));
    answer.located(&location).map(Answer::finish)
}

/// Creates the entity that a change was sent for, with the key that it was sent to.
async fn upsert(
    request: &Request,
    uow: &UnitOfWork,
    entity_type: TypeIndex,
    (body, key): (&[u8], &[KeyValue]),
) -> Result<Record> {
    let (set, _) = request.set()?;
    request.sets.require(&request.ctx, set, Verb::Create)?;
    let given: Vec<PropertyIndex> = key.iter().map(|value| value.property).collect();
    // It was charged where it was read as a change.
    let payload = read_payload(request, entity_type, body, Purpose::Create, &given)?;
    let (mut values, _) = read_body(request, entity_type, payload, Purpose::Create).await?;
    for KeyValue { property, value } in key {
        values.properties.retain(|(other, _)| other != property);
        values.properties.push((*property, value.clone()));
    }
    request.sets.create(uow, set, values).await
}

pub(super) async fn delete(request: &Request) -> Result<Response> {
    let (source, _) = request.addressed().await?;
    let set = source.set();
    request.sets.require(&request.ctx, set, Verb::Delete)?;
    let conditions = Conditions::of(request, request.settings.require_if_match)?;
    let work = request.ctx.transact_retrying(|uow| {
        let (source, conditions) = (source.clone(), conditions.clone());
        async move {
            let key = request.sets.find_key(&request.ctx, &source).await?;
            let source = request.sets.with_key(Source::of(set), key.clone());
            let expected = conditions.expected(request, &source).await?;
            request.sets.delete(&uow, set, &key, expected).await
        }
    });
    work.await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT, request.version).finish())
}

/// The answer to a change: the entity, unless the caller wants none or may not see it. It is read
/// again, where its record as it was `stored` doesn't tell all. `version` is that of the change, for
/// an answer without the entity; none where hooks may have changed it since.
async fn changed(
    request: &Request,
    (set, key): (SetIndex, &Value),
    status: StatusCode,
    query: Option<BoundQuery>,
    stored: Option<&Record>,
    version: Option<i64>,
) -> Result<Answer> {
    let sees = request.sets.require_view(&request.ctx, set).is_ok();
    if !sees || request.preferences.return_content == Some(ReturnPreference::Minimal) {
        let answer = Answer::empty(StatusCode::NO_CONTENT, request.version);
        let address = format!("{}{}", request.root, request.sets.address(set, key));
        let mut answer = answer.header(HeaderName::from_static("odata-entityid"), &address)?;
        if let Some(version) = version.filter(|_| sees) {
            answer = answer.tagged(version)?;
        }
        return match request.preferences.return_content {
            Some(_) => {
                answer.header(HeaderName::from_static("preference-applied"), "return=minimal")
            }
            None => Ok(answer),
        };
    }
    let format = request.json_format()?;
    let is_common = format.metadata != MetadataLevel::Full && !format.ieee754_compatible;
    let query = match query {
        None if !is_common => Some(request.query(set)?),
        query => query,
    };
    let entity = match (&query, stored) {
        (None, Some(record)) => request.sets.entity_of_record(&request.ctx, set, record)?,
        (None, None) => request.sets.read_one(&request.ctx, set, key, None).await?,
        (Some(query), _) => {
            let source = request.sets.with_key(Source::of(set), key.clone());
            read_entity(request, &source, query, format).await?
        }
    };
    let body = entity_body(request, set, query.as_ref(), &entity, format);
    let answer = Answer::json(status, request.version, format, body).tagged(entity.version)?;
    match request.preferences.return_content {
        Some(_) => {
            answer.header(HeaderName::from_static("preference-applied"), "return=representation")
        }
        None => Ok(answer),
    }
}

/// What the answer to a change shows of the entity: what the options of the request ask for, else
/// what was written with it; none for the entity as it is.
///
/// What can't be answered is refused here, before anything is changed.
fn representation(request: &Request, set: SetIndex, deep: &str) -> Result<Option<BoundQuery>> {
    let _ = request.json_format()?;
    let options = QueryOptions { aliases: Vec::new(), ..request.options.clone() };
    if options == QueryOptions::default() && deep.is_empty() {
        return Ok(None);
    }
    let query = if request.options.expand.is_some() || deep.is_empty() {
        request.query(set)?
    } else {
        request.query_with(set, &format!("$expand={deep}"))?
    };
    refuse_of_many(&query)?;
    Ok(Some(query))
}

/// What a body says of an entity.
fn read_payload(
    request: &Request,
    entity_type: TypeIndex,
    body: &[u8],
    purpose: Purpose,
    given: &[PropertyIndex],
) -> Result<EntityPayload> {
    let options = payload_options(request, purpose)?;
    // A person who may change a set but not read it still names its properties.
    let schema = svc_sets::Seen::with_all_sets(&request.sets, request.ctx.principal());
    parse_entity_at(&schema, entity_type, body, options, given).map_err(refused_payload)
}

/// What a body says of an entity, its references found, and what a person must expand to read all of
/// it again.
async fn read_body(
    request: &Request,
    entity_type: TypeIndex,
    payload: EntityPayload,
    purpose: Purpose,
) -> Result<(EntityInput, String)> {
    let deep = expands(request, entity_type, &[&payload]);
    if purpose != Purpose::Create && !deep.is_empty() {
        return Err(Error::not_implemented(
            "changing related entities within a body is not served; bind them, or change them \
             at their own addresses",
        ));
    }
    Ok((input(request, payload).await?, deep))
}

fn payload_options(request: &Request, purpose: Purpose) -> Result<PayloadOptions> {
    let ieee754_compatible = request.body_format()?.ieee754_compatible;
    Ok(PayloadOptions { purpose, ieee754_compatible, depth: DEPTH, items: request.body_items() })
}

/// The new entities that are nested in bodies of one type, as the text of `$expand`: all that any of
/// them names.
fn expands(request: &Request, entity_type: TypeIndex, payloads: &[&EntityPayload]) -> String {
    let described = request.sets.model().entity_type(entity_type);
    let mut nested: Vec<(NavigationIndex, Vec<&EntityPayload>)> = Vec::new();
    for (navigation, related) in payloads.iter().flat_map(|payload| &payload.navigations) {
        let NavigationPayload::Entities(entities) = related else { continue };
        let new = entities.iter().filter(|entity| entity.id.is_none());
        match nested.iter_mut().find(|(known, _)| known == navigation) {
            Some((_, all)) => all.extend(new),
            None => nested.push((*navigation, new.collect())),
        }
    }
    let items = nested.iter().filter(|(_, new)| !new.is_empty()).map(|(navigation, new)| {
        let found = described.navigation(*navigation);
        match expands(request, found.target, new).as_str() {
            "" => found.name.clone(),
            within => format!("{}($expand={within})", found.name),
        }
    });
    items.collect::<Vec<_>>().join(",")
}

/// A body with its references found.
fn input(request: &Request, payload: EntityPayload) -> BoxFuture<'_, Result<EntityInput>> {
    async move {
        let mut related = Vec::with_capacity(payload.navigations.len());
        for (navigation, payload) in payload.navigations {
            let relating = match payload {
                NavigationPayload::Null => Relating::Nothing,
                NavigationPayload::Bind(urls) => {
                    let mut entities = Vec::with_capacity(urls.len());
                    for url in urls {
                        entities.push(RelatedInput::Existing(request.reference(&url)?));
                    }
                    Relating::Entities(entities)
                }
                NavigationPayload::Entities(payloads) => {
                    let mut entities = Vec::with_capacity(payloads.len());
                    for payload in payloads {
                        entities.push(related_input(request, payload).await?);
                    }
                    Relating::Entities(entities)
                }
            };
            related.push((navigation, relating));
        }
        Ok(EntityInput { properties: payload.properties, related })
    }
    .boxed()
}

async fn related_input(request: &Request, payload: EntityPayload) -> Result<RelatedInput> {
    let Some(id) = &payload.id else {
        return Ok(RelatedInput::New(input(request, payload).await?));
    };
    if !payload.properties.is_empty() || !payload.navigations.is_empty() {
        return Err(Error::not_implemented(
            "changing an entity where it is referred to is not served; send its `@id` alone",
        ));
    }
    Ok(RelatedInput::Existing(request.reference(id)?))
}

/// The conditions that a change is made under.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditions {
    /// `If-Match`.
    only_if: Option<TagCondition>,
    /// `If-None-Match`.
    unless: Option<TagCondition>,
}

impl Conditions {
    /// The conditions of a request, of which some must name the version that they are meant for.
    pub(super) fn of(request: &Request, must_name: bool) -> Result<Self> {
        let (only_if, unless) = (request.if_match()?, request.if_none_match()?);
        if only_if.is_none() && unless.is_none() && must_name {
            return Err(Error::new(
                ErrorKind::PreconditionRequired,
                "name the version that you change: send its `@odata.etag` as `If-Match`, or `*`",
            ));
        }
        Ok(Self { only_if, unless })
    }

    /// The version that the change is for. One tag is the common case, and needs no read; others
    /// are compared within the unit of work, so that nothing changes in between.
    pub(super) async fn expected(&self, request: &Request, source: &Source) -> Result<Expected> {
        if let Some(unless) = &self.unless {
            let current = request.sets.current_version(&request.ctx, source).await?;
            if names(unless, current) {
                let message = match unless {
                    TagCondition::Any => "there is such an entity already",
                    TagCondition::Tags(_) => "the entity is of the version that was excluded",
                };
                return Err(Error::precondition_failed(message));
            }
        }
        match &self.only_if {
            None | Some(TagCondition::Any) => Ok(Expected::Any),
            Some(TagCondition::Tags(tags)) => {
                if let [tag] = &tags[..]
                    && let Some(version) = version_in(tag)
                {
                    return Ok(Expected::Version(version));
                }
                let current = request.sets.current_version(&request.ctx, source).await?;
                let holds = self.only_if.as_ref().is_some_and(|all| names(all, current));
                // A version that no record has refuses the change where it is compared.
                Ok(Expected::Version(if holds { current } else { -1 }))
            }
        }
    }
}
