//! Actions and functions of OData: commands and queries of an application that stand beside its
//! sets, with parameters and a result that the metadata describes.
//!
//! ```text
//! registry.entity_set::<order::Entity>("Orders", |set| {
//!     set.action("Ship", |action| action.described("Records that the goods have left").on_each(orders::ship))
//!         .function("OpenCredit", |function| function.needs("Customers.View").on_each(orders::open_credit))
//! });
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
//! | `form` | what an operation is bound to, takes and returns |
//! | `value` | which Rust types are parameters and results, and as what |
//!
//! What has been registered stands in the [catalogue](crate::catalogue), beside the sets.

mod builder;
pub(crate) mod form;
mod value;

pub use crate::catalogue::{Operation, Run, Work};
pub use builder::{ExtensionAction, ImportBuilder, OperationBuilder, Runs};
pub use form::{Bound, Literal, OutcomeForm, ParameterInfo, Returned, ValueForm};
pub use value::{Many, Member, One, OperationValue, Outcome, Parameters, Scalar};
