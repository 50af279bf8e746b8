//! What a definition may name, for those who draw it.

use serde::Serialize;
use svc_core::{Directory, PermissionCatalogue, Result};
use svc_data::Context;
use svc_data::value::ValueKind;
use svc_events::{EventKind, Events};
use utoipa::ToSchema;

use crate::binding;
use crate::engine::{Workflow, WorkflowEngine};

/// What a definition may name.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowPalette)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PaletteBody {
    /// The properties of the record that the caller sees.
    properties: Vec<PropertyBody>,
    /// The permissions.
    permissions: Vec<String>,
    /// The roles of the organisation, by their names; none where nobody can tell.
    roles: Option<Vec<String>>,
    /// The actions of the record that need no parameters and that the caller may call.
    actions: Vec<String>,
    /// The application events that can be published.
    events: Vec<String>,
}

/// A property of the record.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WorkflowProperty)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PropertyBody {
    /// Its name.
    name: String,
    /// What it holds: `boolean`, `number`, `text`, `id`, `time`, `choice` or `other`.
    kind: &'static str,
}

impl PaletteBody {
    pub(crate) async fn of(
        ctx: &Context,
        engine: &WorkflowEngine,
        workflow: &Workflow,
    ) -> Result<Self> {
        let roles = roles_in(ctx).await?;
        let (model, who) = (&workflow.model, ctx.principal());
        let columns = model.columns.iter().enumerate();
        let visible = columns.filter(|(place, _)| model.is_visible(*place, who));
        let properties = visible.map(|(_, column)| PropertyBody {
            name: column.property.clone(),
            kind: kind_of(column.kind),
        });
        let operations = &engine.sets.model().operations;
        let callable = operations.iter().enumerate().filter(|(place, operation)| {
            let found = binding::action(&engine.sets, workflow.index, &operation.name);
            let may = operation.permission.as_ref().is_none_or(|permission| who.can(permission));
            may && found.is_some_and(|index| index.0 == *place)
        });
        let permissions = ctx.app().find_service::<PermissionCatalogue>();
        let permissions = permissions.iter().flat_map(|all| all.all());
        let events = ctx.app().find_service::<Events>();
        let events = events.iter().flat_map(|events| events.all());
        let events = events.filter(|it| it.kind == EventKind::Application && it.schema.is_none());
        Ok(Self {
            properties: properties.collect(),
            permissions: permissions.map(|(name, _)| name.clone()).collect(),
            roles,
            actions: callable.map(|(_, operation)| operation.name.clone()).collect(),
            events: events.map(|event| event.name.clone()).collect(),
        })
    }
}

async fn roles_in(ctx: &Context) -> Result<Option<Vec<String>>> {
    let Some(directory) = ctx.app().find_service::<dyn Directory>() else { return Ok(None) };
    let roles = directory.roles_in(ctx.organisation()?).await?;
    Ok(roles.map(|roles| roles.into_iter().map(|role| role.name).collect()))
}

fn kind_of(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Boolean => "boolean",
        ValueKind::Int16
        | ValueKind::Int32
        | ValueKind::Int64
        | ValueKind::Double
        | ValueKind::Decimal { .. } => "number",
        ValueKind::Text { .. } => "text",
        ValueKind::Uuid => "id",
        ValueKind::Timestamp | ValueKind::Date | ValueKind::Time => "time",
        ValueKind::Enumeration(_) => "choice",
        ValueKind::Bytes | ValueKind::Json => "other",
    }
}
