//! Actions and functions of OData: commands and queries of an application that stand beside its
//! sets, with parameters and a result that the metadata describes.
//!
//! ```text
//! registry
//!     .entity_set::<order::Entity>("Orders")
//!     .action("Ship").described("Records that the goods have left").on_each(orders::ship)
//!     .function("OpenCredit").needs("Customers.View").on_each(orders::open_credit);
//! ```
//!
//! | | is called with | gets | may change something |
//! | --- | --- | --- | --- |
//! | action | `POST`, parameters in the body | a unit of work, all of which is stored or nothing | yes |
//! | function | `GET`, parameters in the URL | the caller's context | no |
//!
//! | bound to | address | gets besides |
//! | --- | --- | --- |
//! | each entity (`on_each`) | `Orders(…)/Shop.Ship` | the record, which an action has locked |
//! | the set (`on_set`) | `Orders/Shop.Place` | nothing |
//! | nothing (`runs`) | `CloseTheDay` | nothing |
//!
//! An action is done once: it may call somebody outside of the database, which a second attempt after
//! a deadlock would call again. One that only writes to the database says `.repeatable()`.
//!
//! Each takes a permission: by default one of its own, `Orders.Ship`. Who lacks it doesn't find
//! the operation in the metadata. A record that is outside of what the caller may see is unknown
//! (404) to operations too, and so is an entity that an operation returns: what is answered is
//! read through its set's rules, whatever the operation itself could see.
//!
//! A parameter that is called as a property of the set gives that property its value, and so does one
//! of which `.sets("unitCost", product::Column::CostPrice)` says it. Who doesn't see the property, or
//! sees it in a changed form only, doesn't know the parameter: it is refused as a misspelt one is, and
//! where a call can't do without it, so is the call.
//!
//! | File | What it holds |
//! | --- | --- |
//! | `builder` | the words of a registration |
//! | `value` | which Rust types are parameters and results, and as what |

mod builder;
mod value;

use std::any::TypeId;
use std::sync::Arc;

use futures::future::BoxFuture;
use sea_orm::Value;
use svc_core::{Error, Result};
use svc_odata::model::OperationKind;

use crate::catalogue::EntityModel;
use crate::context::Context;
use crate::record::Record;
use crate::unit_of_work::{Expected, UnitOfWork};
use crate::value::{Enumeration, ValueKind};

pub use builder::{ExtensionAction, ImportBuilder, OperationBuilder};
pub use svc_odata::value::Value as Literal;
pub use value::{Many, Member, One, OperationValue, Outcome, ParameterInfo, Parameters, Scalar};

/// The action of a set of what was deleted.
pub(crate) const RESTORE: &str = "Restore";

/// The form of a parameter or of a value that is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueForm {
    /// The type.
    pub kind: ValueKind,
    /// Whether it is a list of that.
    pub many: bool,
    /// Whether it can be null.
    pub nullable: bool,
}

/// What an operation returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeForm {
    /// Nothing.
    Nothing,
    /// A value.
    Value(ValueForm),
    /// Entities of the set of this SeaORM entity.
    Entities {
        /// The entity.
        entity: TypeId,
        /// Whether there are many.
        many: bool,
        /// Whether there can be none.
        nullable: bool,
    },
}

/// What an operation has returned.
#[derive(Clone, Debug, PartialEq)]
pub enum Returned {
    /// Nothing.
    Nothing,
    /// A value.
    Value(Literal),
    /// The keys of entities, which are then read as their set returns them.
    Entities(Vec<Value>),
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

/// What an operation is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Each entity of a set.
    Each(String),
    /// A set as a whole.
    Set(String),
    /// Nothing.
    Nothing,
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

impl Operation {
    /// The action that brings back what was deleted from a set; `deleted` is the set of that.
    pub(crate) fn restoring(deleted: &EntityModel) -> Option<Self> {
        let set = deleted.set.as_ref()?;
        let (table, key) = (deleted.table, deleted.key_index());
        let run: Work<UnitOfWork> = Arc::new(move |uow, record, _| {
            Box::pin(async move {
                let missing = || Error::internal("there is nothing to restore");
                let record = record.ok_or_else(missing)?;
                let model = uow.context().catalogue().table(table).ok_or_else(missing)?.clone();
                let key = record.value(key);
                let restored = uow.restore_record(&model, key, Expected::Any).await?;
                Ok(Returned::Entities(vec![restored.key(&model).clone()]))
            })
        });
        Some(Self {
            module: deleted.module.clone(),
            name: RESTORE.to_owned(),
            description: "Brings it back".to_owned(),
            permission: set.permissions.view.clone(),
            bound: Bound::Each(set.name.clone()),
            parameters: Vec::new(),
            returns: OutcomeForm::Entities { entity: deleted.entity, many: false, nullable: true },
            sets: Vec::new(),
            is_repeatable: true,
            run: Run::Action(run),
        })
    }
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operation")
            .field("name", &self.name)
            .field("bound", &self.bound)
            .finish_non_exhaustive()
    }
}
