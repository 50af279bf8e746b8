//! What modules have registered: the entities of the application, and the operations beside them.
//!
//! The catalogue is built once, from SeaORM's own description of each entity and from what the
//! module said when it registered it. Everything that reads or writes asks the catalogue, so an
//! entity that isn't registered can't be reached through a [`Context`].

mod deleted;
mod enumerations;

use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use sea_orm::EntityTrait;
use svc_core::Result;
use svc_odata::model::{Measure, OperationKind};

use crate::context::Context;
use crate::operation::form::{Bound, Literal, OutcomeForm, ParameterInfo, Returned};
use crate::record::Record;
use crate::unit_of_work::UnitOfWork;
use crate::value::Enumeration;

pub use crate::entity::{Column, EntityModel, EntitySet, Exposure, Relation, SetPermissions};
pub use crate::names::{lower_first, pascal_case, singular};
pub(crate) use deleted::RESTORE;

/// All registered entities and operations; a service of the application.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    models: Vec<Arc<EntityModel>>,
    by_entity: HashMap<TypeId, usize>,
    by_set: HashMap<String, usize>,
    by_table: HashMap<&'static str, usize>,
    operations: Vec<Operation>,
}

impl Catalogue {
    pub(crate) fn add(&mut self, model: EntityModel) {
        let index = self.models.len();
        self.by_entity.insert(model.entity, index);
        self.by_table.insert(model.table, index);
        if let Some(set) = &model.set {
            self.by_set.insert(set.name.clone(), index);
        }
        self.models.push(Arc::new(model));
    }

    pub(crate) fn add_operation(&mut self, operation: Operation) {
        self.operations.push(operation);
    }

    /// The actions and functions that modules have registered.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Whether a SeaORM entity is served as a set.
    pub(crate) fn has_set_of(&self, entity: TypeId) -> bool {
        self.by_entity.get(&entity).is_some_and(|index| self.models[*index].set.is_some())
    }

    /// The entities in the order they were registered.
    #[must_use]
    pub fn models(&self) -> &[Arc<EntityModel>] {
        &self.models
    }

    /// The entities that are served as sets.
    pub fn sets(&self) -> impl Iterator<Item = &Arc<EntityModel>> {
        self.models.iter().filter(|model| model.set.is_some())
    }

    /// The entity behind a set's name.
    #[must_use]
    pub fn set(&self, name: &str) -> Option<&Arc<EntityModel>> {
        self.by_set.get(name).map(|index| &self.models[*index])
    }

    /// The entity behind a set's name, while the catalogue is being made.
    pub(crate) fn set_mut(&mut self, name: &str) -> Option<&mut EntityModel> {
        let index = *self.by_set.get(name)?;
        Arc::get_mut(&mut self.models[index])
    }

    /// The entity behind a table's name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Arc<EntityModel>> {
        self.by_table.get(name).map(|index| &self.models[*index])
    }

    /// A registered SeaORM entity.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](svc_core::ErrorKind::Internal), with what to call, when no module
    /// registered it.
    pub fn entity<E: EntityTrait>(&self) -> svc_core::Result<&Arc<EntityModel>> {
        let index = self.by_entity.get(&TypeId::of::<E>());
        index.map(|index| &self.models[*index]).ok_or_else(|| {
            svc_core::Error::internal(format!(
                "`{}` is not registered; call `registry.entity::<…>()` or \
                 `registry.entity_set::<…>(…)` in a module's `configure`",
                type_name::<E>()
            ))
        })
    }
}

type Answer = BoxFuture<'static, Result<Returned>>;
/// What runs in a `State` on a record, if it is bound to one, with parameters.
pub type Work<State> = Arc<dyn Fn(State, Option<Record>, Vec<Literal>) -> Answer + Send + Sync>;

/// What is run when an operation is called.
#[derive(Clone)]
pub enum Run {
    /// In a unit of work.
    Action(Work<UnitOfWork>),
    /// Reads alone.
    Function(Work<Context>),
}

/// An operation as a module has registered it.
#[derive(Clone)]
pub struct Operation {
    /// The module that registered it.
    pub module: String,
    /// Its name over OData.
    pub name: String,
    /// What it does, for people.
    pub description: String,
    /// The permission that it needs.
    pub permission: String,
    /// What it is bound to.
    pub bound: Bound,
    /// Its parameters, in their order.
    pub parameters: Vec<ParameterInfo>,
    /// What it returns.
    pub returns: OutcomeForm,
    /// In which currency or unit the number is that it returns.
    pub measure: Option<Measure>,
    /// What is run when it is called.
    pub run: Run,
    /// The columns that parameters of other names give a value, by the parameter.
    pub sets: Vec<(String, &'static str)>,
    /// Whether it may be done anew when it couldn't be stored.
    pub is_repeatable: bool,
}

impl Operation {
    /// The enumerations that its parameters and its result are of.
    pub(crate) fn enumerations(&self) -> impl Iterator<Item = &'static Enumeration> {
        let returned = match self.returns {
            OutcomeForm::Value(form) => Some(form),
            OutcomeForm::Nothing | OutcomeForm::Entities { .. } => None,
        };
        let forms = self.parameters.iter().map(|parameter| parameter.form).chain(returned);
        forms.filter_map(|form| form.kind.enumeration())
    }

    /// Whether it may change anything.
    #[must_use]
    pub fn kind(&self) -> OperationKind {
        match self.run {
            Run::Action(_) => OperationKind::Action,
            Run::Function(_) => OperationKind::Function,
        }
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("name", &self.name)
            .field("bound", &self.bound)
            .finish_non_exhaustive()
    }
}
