//! A definition and the set that it is about: what of it doesn't fit, conditions, values.

use std::collections::HashSet;
use std::sync::Arc;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sea_orm::Value;
use svc_core::{Error, OrganisationId, PermissionSet, Principal, Result, UserId};
use svc_data::value::ValueKind;
use svc_data::{Catalogue, Context, EntityModel, NewValues, Record};
use svc_events::{EventKind, Events};
use svc_odata::bind::BoundExpr;
use svc_odata::model::{OperationIndex, OperationKind, Parameter, SetIndex};
use svc_odata::syntax::QueryOptions;
use svc_odata::value::Value as Literal;
use svc_sets::{Sets, Source, ValueRows};
use uuid::Uuid;

use crate::check::Problem;
use crate::definition::{Assigned, By, Definition, Transition};

/// The longest condition, in characters.
const MAX_CONDITION: usize = 1_000;

/// The place of the column behind a property.
pub(crate) fn place_of(model: &EntityModel, property: &str) -> Option<usize> {
    model.columns.iter().position(|column| column.property == property)
}

/// The person whom a property of a record names.
pub(crate) fn person_in(model: &EntityModel, record: &Record, property: &str) -> Option<Uuid> {
    match record.value(place_of(model, property)?) {
        Value::Uuid(id) => *id,
        _ => None,
    }
}

/// The action of a record that a transition can call by this name: one without parameters that it needs.
pub(crate) fn action(sets: &Sets, index: SetIndex, name: &str) -> Option<OperationIndex> {
    let model = sets.model();
    let entity_type = model.set(index).entity_type;
    let place = model.operations.iter().position(|operation| {
        let is_of_record = operation
            .binding
            .is_some_and(|binding| binding.entity_type == entity_type && !binding.collection);
        let fits = operation.parameters.iter().all(Parameter::may_be_left_out);
        operation.name == name && operation.kind == OperationKind::Action && is_of_record && fits
    });
    place.map(OperationIndex)
}

/// What a transition makes of a record; empty where it sets nothing.
pub(crate) fn values(
    ctx: &Context,
    model: &EntityModel,
    transition: &Transition,
    comment: Option<&str>,
) -> Result<NewValues> {
    let mut values: NewValues = vec![None; model.columns.len()];
    for (property, assigned) in &transition.sets {
        let missing = || {
            Error::internal(format!(
                "the transition `{}` sets `{property}`, which `{}` has no more",
                transition.name,
                model.name()
            ))
        };
        let place = place_of(model, property).ok_or_else(missing)?;
        let kind = model.columns[place].kind;
        values[place] = Some(match assigned {
            Assigned::Value(json) => kind.parse_json(json)?,
            Assigned::Now => ctx.clock().now().into(),
            Assigned::Me => ctx.principal().user_id().map(|user| user.0).into(),
            Assigned::Comment => comment.map(str::to_owned).into(),
        });
    }
    Ok(values)
}

/// All that doesn't fit the set.
pub(crate) fn problems(
    ctx: &Context,
    sets: &Sets,
    index: SetIndex,
    definition: &Definition,
) -> Vec<Problem> {
    let model = sets.entity(index);
    let mut problems = Vec::new();
    if !model.is_organisation_scoped() || model.key().kind != ValueKind::Uuid {
        let message = "its records don't belong to an organisation, or their key isn't a UUID";
        problems.push(Problem::new("unfit_set", message));
    }
    for state in &definition.states {
        let locked = state.lock.iter().filter_map(|lock| lock.properties.as_ref()).flatten();
        for property in locked.filter(|property| place_of(model, property).is_none()) {
            let message = format!("the state `{}` locks `{property}`, which is none", state.name);
            problems.push(Problem::new("unknown_property", message));
        }
        let what = format!("the state `{}` escalates to", state.name);
        problems.extend(unfit_people(model, &state.escalates_to, &what));
    }
    for transition in &definition.transitions {
        let what = format!("the transition `{}` is for", transition.name);
        problems.extend(unfit_people(model, transition.everybody(), &what));
        let what = format!("the transition `{}` notifies", transition.name);
        problems.extend(unfit_people(model, &transition.notifies, &what));
        problems.extend(unfit_effects(ctx, sets, index, transition));
        problems.extend(unfit_values(model, transition));
        problems.extend(unfit_condition(ctx, sets, index, transition));
    }
    problems
}

/// Actions that can't be called, and events that can't be published.
fn unfit_effects(
    ctx: &Context,
    sets: &Sets,
    index: SetIndex,
    transition: &Transition,
) -> Vec<Problem> {
    let name = &transition.name;
    let unknown = transition.calls.iter().filter(|it| action(sets, index, it).is_none());
    let mut problems: Vec<Problem> = unknown
        .map(|action| {
            let message = format!(
                "the transition `{name}` calls `{action}`, which isn't an action of a record that needs no \
                 parameters"
            );
            Problem::new("unknown_action", message)
        })
        .collect();
    let events = ctx.app().find_service::<Events>();
    for event in &transition.publishes {
        let known = events.as_ref().and_then(|events| events.find(event));
        // What has a type is published by whoever knows it.
        let is_named =
            known.is_some_and(|it| it.kind == EventKind::Application && it.schema.is_none());
        if !is_named {
            let message = format!(
                "the transition `{name}` publishes `{event}`, which no module has registered by \
                 `registry.named_event(…)` without a schema"
            );
            problems.push(Problem::new("unknown_event", message));
        }
    }
    problems
}

fn unfit_people<'b>(
    model: &EntityModel,
    by: impl IntoIterator<Item = &'b By>,
    what: &str,
) -> Vec<Problem> {
    let holds_person = |property: &str| {
        let place = place_of(model, property);
        place.is_some_and(|place| model.columns[place].kind == ValueKind::Uuid)
    };
    let unfit = by.into_iter().filter_map(|by| match by {
        By::Person(property) if !holds_person(property) => Some(property),
        _ => None,
    });
    unfit
        .map(|property| {
            let message =
                format!("{what} the person in `{property}`, which isn't a property with a UUID");
            Problem::new("unknown_property", message)
        })
        .collect()
}

fn unfit_values(model: &EntityModel, transition: &Transition) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (property, assigned) in &transition.sets {
        let name = &transition.name;
        let Some(place) = place_of(model, property) else {
            let message =
                format!("the transition `{name}` sets `{property}`, which isn't a property");
            problems.push(Problem::new("unknown_property", message));
            continue;
        };
        let column = &model.columns[place];
        let kept =
            [Some(model.key_index()), model.organisation, model.version_index(), model.deleted_at];
        let kind = column.kind;
        let fits = match assigned {
            Assigned::Value(json) => {
                kind.parse_json(json).is_ok() && (column.nullable || !json.is_null())
            }
            Assigned::Now => kind == ValueKind::Timestamp,
            Assigned::Me => kind == ValueKind::Uuid && column.nullable,
            Assigned::Comment => {
                let must_be_there = column.nullable || transition.needs_comment;
                matches!(kind, ValueKind::Text { .. }) && must_be_there
            }
        };
        if kept.contains(&Some(place)) || !fits {
            let message = format!("the transition `{name}` can't give `{property}` such a value");
            problems.push(Problem::new("unfit_value", message));
        }
    }
    problems
}

fn unfit_condition(
    ctx: &Context,
    sets: &Sets,
    index: SetIndex,
    transition: &Transition,
) -> Option<Problem> {
    let condition = transition.condition.as_ref()?;
    let refused = |message: String| {
        let message =
            format!("the condition of the transition `{}` is refused: {message}", transition.name);
        Problem::new("bad_condition", message)
    };
    if condition.chars().count() > MAX_CONDITION {
        return Some(refused(format!("it has more than {MAX_CONDITION} characters")));
    }
    bound(ctx, sets, index, condition).err().map(|error| refused(error.message().to_owned()))
}

/// A condition as the set understands it.
pub(crate) fn bound(
    ctx: &Context,
    sets: &Sets,
    index: SetIndex,
    condition: &str,
) -> Result<Option<BoundExpr>> {
    let viewer = ctx.acting_as(Arc::new(viewer(ctx.catalogue())));
    let parameters = Parameters { me: Some(Uuid::nil()), comment: Some("said") };
    let options = options(condition, &parameters, &sets.entity(index).key().property)?;
    Ok(sets.bind(&viewer, index, &options, None)?.filter)
}

/// Somebody who may read every set, and sees nothing that is hidden from anybody: what a condition
/// names, everybody may know of, so that its outcome tells nobody anything.
fn viewer(catalogue: &Catalogue) -> Principal {
    let sets = catalogue.sets().filter_map(|model| model.set.as_ref());
    let permissions: PermissionSet = sets.map(|set| set.permissions.view.clone()).collect();
    let nobody = OrganisationId(Uuid::nil());
    Principal::user(UserId(Uuid::nil()), "a condition", nobody, permissions)
}

/// What a condition may ask for beside the record.
pub(crate) struct Parameters<'a> {
    pub(crate) me: Option<Uuid>,
    pub(crate) comment: Option<&'a str>,
}

/// A condition with its parameters, as a query of OData.
fn options(condition: &str, parameters: &Parameters<'_>, key: &str) -> Result<QueryOptions> {
    let me = parameters.me.map_or_else(|| "null".to_owned(), |me| me.to_string());
    let comment = parameters
        .comment
        .map_or_else(|| "null".to_owned(), |comment| format!("'{}'", comment.replace('\'', "''")));
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let query = format!(
        "$select={key}&$filter={}&@me={}&@comment={}",
        encoded(condition),
        encoded(&me),
        encoded(&comment)
    );
    QueryOptions::parse(&query).map_err(|error| Error::malformed(error.to_string()))
}

/// Which of some records hold a condition now, whoever asks; within a unit of work as it has left
/// them.
pub(crate) async fn holding(
    ctx: &Context,
    sets: &Sets,
    index: SetIndex,
    keys: Vec<Value>,
    condition: &str,
    parameters: &Parameters<'_>,
) -> Result<HashSet<Uuid>> {
    let system = ctx.acting_as(Arc::new(Principal::system_in(ctx.organisation()?)));
    let source = Source::of(index).among(keys);
    let key = &sets.entity(index).key().property;
    let options = options(condition, parameters, key)?;
    let mut table = ValueRows::default();
    sets.reading_of(&system, source, &options)?.read(&mut table).await?;
    let of_row = |row: &Vec<Literal>| match row.first() {
        Some(Literal::Guid(id)) => Some(*id),
        _ => None,
    };
    Ok(table.rows.iter().filter_map(of_row).collect())
}
