//! Properties that are no column: SQL makes their values when they are asked for.

use std::fmt;
use std::sync::Arc;

use sea_orm::sea_query::{Alias, DynIden, Expr, SelectStatement};
use svc_core::Principal;
use svc_odata::model::Measure;

use crate::entity::EntityModel;
use crate::value::ValueKind;

/// Makes the SQL of a virtual property.
pub type VirtualSql = Arc<dyn Fn(&VirtualRow<'_>) -> Expr + Send + Sync>;

/// Gives the values of a virtual property as a table, as somebody asks for them; none where it
/// can't now.
pub type VirtualJoin = Arc<dyn Fn(&EntityModel, &Principal) -> Option<VirtualTable> + Send + Sync>;

/// Finds the records for which a virtual property holds that says yes or no, as somebody asks: the keys, in one
/// column, among which are those of all such records. There may be others among them, and one may be
/// there twice. None where it can't tell now.
pub type VirtualKeys =
    Arc<dyn Fn(&EntityModel, &Principal) -> Option<SelectStatement> + Send + Sync>;

/// A property that a module adds to a set, its own or another's, without a column for it.
///
/// It can be selected, filtered, sorted, computed and grouped by like any other, and is returned
/// only where `$select` names it, so that whoever doesn't ask for it doesn't pay for it.
#[derive(Clone)]
pub struct VirtualProperty {
    /// The name over OData.
    pub name: String,
    /// The type of its values.
    pub kind: ValueKind,
    /// Whether it may be null.
    pub nullable: bool,
    /// What it tells, for people.
    pub description: String,
    /// The permission without which nobody knows that it exists.
    pub permission: String,
    /// Whether people narrow lists by its values.
    pub facet: bool,
    /// In which currency or unit its numbers are.
    pub measure: Option<Measure>,
    /// Makes the SQL of its value.
    pub sql: VirtualSql,
    /// Gives its values as a table, where they stand in one.
    pub join: Option<VirtualJoin>,
    /// Finds the records that it holds for, where these may be few.
    pub keys: Option<VirtualKeys>,
}

impl fmt::Debug for VirtualProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualProperty").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The values of a virtual property as a table, by whose index a page can be read that is filtered or
/// sorted by it.
///
/// The table has exactly one row for each stored record of the principal's organisation, with the
/// value that the SQL of the property has: a record without a row would be missing from such pages.
/// Within a unit of work nobody asks for it, so the row need not be there before the commit.
#[derive(Clone, Debug)]
pub struct VirtualTable {
    /// The rows, without columns.
    pub rows: SelectStatement,
    /// The key of a row's record.
    pub key: Expr,
    /// The value of the property.
    pub value: Expr,
}

/// The row that the value of a virtual property is made for.
#[derive(Debug)]
pub struct VirtualRow<'a> {
    /// The name of the record's table in the statement.
    pub table: DynIden,
    /// The record's entity.
    pub entity: &'a EntityModel,
    /// Who asks.
    pub who: &'a Principal,
}

impl VirtualRow<'_> {
    /// The record's key.
    #[must_use]
    pub fn key(&self) -> Expr {
        self.column(self.entity.key().name)
    }

    /// The record's organisation, which a subquery must narrow its own table to; of a shared
    /// entity null.
    #[must_use]
    pub fn organisation(&self) -> Expr {
        match self.entity.organisation {
            Some(index) => self.column(self.entity.columns[index].name),
            None => Expr::cust("NULL"),
        }
    }

    /// A column of the record, by its name in the database.
    #[must_use]
    pub fn column(&self, name: &str) -> Expr {
        Expr::col((self.table.clone(), Alias::new(name)))
    }

    /// Who asks.
    #[must_use]
    pub fn who(&self) -> &Principal {
        self.who
    }
}
