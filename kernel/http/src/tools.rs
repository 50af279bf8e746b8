//! What of an application AI tools may be offered, by whatever serves them (such as an MCP server).
//!
//! | What | Offered | Unless |
//! | --- | --- | --- |
//! | entity sets | yes: a read passes the caller's rights like any other | [`ToolSet::hidden_from_tools`] |
//! | operations of modules | no | their description says `extensions(("x-tool" = json!(true)))` |
//!
//! A module that keeps secrets says [`closed_to_tools`](crate::HttpRegistry::closed_to_tools), and
//! nothing of it is offered, whatever its sets and operations say, now or after a later change.

use std::collections::BTreeSet;

use sea_orm::EntityTrait;
use svc_core::App;
use svc_data::{Catalogue, EntitySetBuilder};
use utoipa::openapi::path::Operation;

use crate::openapi::operations::operations;
use crate::registration::{ModuleRoutes, full_path};

/// The mark of sets that are kept from tools.
pub const HIDDEN_FROM_TOOLS: &str = "hidden-from-tools";

/// The member of an operation's description that offers it.
const OFFERED: &str = "x-tool";

/// The host's word for entity sets about tools.
pub trait ToolSet {
    /// Keeps the set from AI tools.
    #[must_use = "answer with it"]
    fn hidden_from_tools(self) -> Self;
}

impl<E: EntityTrait> ToolSet for EntitySetBuilder<'_, E> {
    fn hidden_from_tools(self) -> Self {
        self.mark(HIDDEN_FROM_TOOLS)
    }
}

/// An operation that tools may be offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOperation {
    /// Its identifier in the OpenAPI document.
    pub id: String,
    /// The HTTP method.
    pub method: &'static str,
    /// The address, with its parameters in braces.
    pub path: String,
}

/// All that tools may be offered: the only list that whoever serves tools looks at. A service of
/// the application.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCatalogue {
    /// The names of the sets.
    pub sets: Vec<String>,
    /// The operations.
    pub operations: Vec<ToolOperation>,
}

impl ToolCatalogue {
    pub(crate) fn new(app: &App, routes: &[ModuleRoutes], closed: &BTreeSet<String>) -> Self {
        let catalogue = app.find_service::<Catalogue>();
        let models = catalogue.iter().flat_map(|catalogue| catalogue.sets());
        let sets = models
            .filter(|model| !closed.contains(&model.module))
            .filter_map(|model| model.set.as_ref())
            .filter(|set| !set.is_marked(HIDDEN_FROM_TOOLS))
            .map(|set| set.name.clone())
            .collect();
        let open = routes.iter().filter(|routes| !closed.contains(&routes.module));
        Self { sets, operations: open.flat_map(offered).collect() }
    }
}

fn offered(routes: &ModuleRoutes) -> Vec<ToolOperation> {
    let items = routes.openapi.paths.paths.iter();
    items
        .flat_map(|(path, item)| operations(item).map(move |operation| (path, operation)))
        .filter(|(_, (_, operation))| is_offered(operation))
        .map(|(path, (method, operation))| ToolOperation {
            id: operation.operation_id.clone().unwrap_or_default(),
            method,
            path: full_path(routes.prefix, path),
        })
        .collect()
}

fn is_offered(operation: &Operation) -> bool {
    let extensions = operation.extensions.as_ref();
    extensions.and_then(|all| all.get(OFFERED)).is_some_and(|value| value == true)
}
