//! Properties that are no column: SQL makes their values when they are asked for.

use std::fmt;
use std::sync::Arc;

use sea_orm::Value;
use sea_orm::sea_query::{Alias, Condition, DynIden, Expr, ExprTrait as _, Order, SelectStatement};
use svc_core::Principal;
use svc_database::Backend;
use svc_odata::model::Measure;

use crate::entity::EntityModel;
use crate::value::ValueKind;

/// Makes the SQL of a virtual property.
pub type VirtualSql = Arc<dyn Fn(&VirtualRow<'_>) -> Expr + Send + Sync>;

/// Gives the values of a virtual property as a table, as somebody asks for them; none where it
/// can't now.
pub type VirtualJoin = Arc<dyn Fn(&EntityModel, &Principal) -> Option<VirtualTable> + Send + Sync>;

/// Finds the records for which a virtual property holds that says yes or no: rows with [`KeysAsked::KEY`], among which are the
/// keys of all such records, and with [`KeysAsked::VALUE`] where they are asked for by the values of another property. There may be
/// others among them, and one may be there twice. Each part of the statement needs to give no more than the first that are asked for
/// ([`KeysAsked::first_of`]), and whoever asks sorts what all of them give. None where it can't tell now, or not in the order that is asked for.
pub type VirtualKeys = Arc<dyn Fn(&KeysAsked<'_>) -> Option<SelectStatement> + Send + Sync>;

/// Which of the keys somebody asks for that [`VirtualKeys`] finds.
#[derive(Clone, Copy, Debug)]
pub struct KeysAsked<'a> {
    /// The entity of the records.
    pub entity: &'a EntityModel,
    /// Who asks.
    pub who: &'a Principal,
    /// The database that is asked.
    pub backend: Backend,
    /// How many, at most.
    pub count: u64,
    /// Which come first; any may where this isn't said.
    pub order: Option<&'a KeyOrder>,
}

/// The order in which keys are asked for.
#[derive(Clone, Debug)]
pub struct KeyOrder {
    /// A virtual property by whose values they are sorted, those of one value by the key. None where they are sorted by the key alone.
    pub by: Option<String>,
    /// Whether the greatest value comes first. Keys begin with the least in any case.
    pub descending: bool,
    /// Behind which they begin: a value of that property, where there is one, and a key. Empty at the beginning.
    pub after: Vec<Value>,
}

impl KeysAsked<'_> {
    /// The name of the column with a record's key.
    pub const KEY: &'static str = "key";

    /// The name of the column with the value that keys are sorted by.
    pub const VALUE: &'static str = "value";

    /// The property by whose values they are asked for.
    #[must_use]
    pub fn by(&self) -> Option<&str> {
        self.order?.by.as_deref()
    }

    /// Narrows rows to the first that are asked for; all of them, where any may come first. Each row has a record's key, and
    /// the value that these are sorted by.
    pub fn first_of(&self, rows: &mut SelectStatement, key: &Expr, value: Option<&Expr>) {
        let Some(order) = self.order else { return };
        if let Some(value) = value {
            rows.order_by_expr(value.clone(), order.direction());
        }
        rows.order_by_expr(key.clone(), Order::Asc).limit(self.count);
        if !order.after.is_empty() {
            rows.cond_where(order.is_behind(key, value));
        }
    }
}

impl KeyOrder {
    /// In which direction values are sorted.
    #[must_use]
    pub fn direction(&self) -> Order {
        if self.descending { Order::Desc } else { Order::Asc }
    }

    /// The condition of what comes behind the place where they begin; in a form of which an index finds the beginning.
    fn is_behind(&self, key: &Expr, value: Option<&Expr>) -> Condition {
        let columns = value.into_iter().chain([key]);
        let mut both = columns.zip(self.after.iter().map(|mark| Expr::val(mark.clone())));
        let (Some((first, first_mark)), second) = (both.next(), both.next()) else {
            return Condition::all();
        };
        match second {
            None => Condition::all().add(first.clone().gt(first_mark)),
            Some((key, mark)) if self.descending => Condition::all()
                .add(first.clone().lte(first_mark.clone()))
                .add(first.clone().lt(first_mark).or(key.clone().gt(mark))),
            Some((key, mark)) => Condition::all()
                .add(Expr::tuple([first.clone(), key.clone()]).gt(Expr::tuple([first_mark, mark]))),
        }
    }
}

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
