//! Virtual properties whose values stand in a table: a page that is filtered or sorted by one is joined
//! with it, so that an index of it can serve. Whoever only selects one has its SQL asked for each row that
//! is returned.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, JoinType, SelectStatement};
use svc_data::VirtualTable;

use super::{Place, Translator};

const KEY: &str = "~key";
const VALUE: &str = "~value";

/// What a statement is joined with.
#[derive(Default)]
pub(crate) struct Joins {
    /// By the place of the virtual property.
    tables: RefCell<Vec<(usize, VirtualTable)>>,
    /// Whether all that it is filtered and sorted by is known.
    are_known: Cell<bool>,
}

impl Joins {
    fn has(&self, index: usize) -> bool {
        self.tables.borrow().iter().any(|(known, _)| *known == index)
    }
}

/// The name that the table of a virtual property has in the statement.
fn name_of(index: usize) -> Alias {
    Alias::new(format!("~join{index}"))
}

impl Place<'_> {
    /// The value of a virtual property in its table; none where its SQL serves.
    pub(super) fn joined(&self, index: usize) -> Option<Expr> {
        let joins = self.joins.as_ref()?;
        if !joins.has(index) {
            if joins.are_known.get() {
                return None;
            }
            let entity = &self.served.entity;
            let table = entity.virtual_property(index)?.join.as_ref()?;
            let table = table(entity, self.ctx.principal())?;
            joins.tables.borrow_mut().push((index, table));
        }
        Some(Expr::col((name_of(index), Alias::new(VALUE))))
    }

    /// Whether the SQL of a virtual property is a part of the statement that selects these columns.
    pub(crate) fn has_virtual(&self, columns: &[usize]) -> bool {
        self.holds.is_some()
            || self.joined_key(None).is_some()
            || columns.iter().any(|column| self.served.entity.virtual_property(*column).is_some())
    }

    /// The key as the table of a virtual property has it: of this one, or of any. An index serves a
    /// page that is read in the order of that table only where the key is the table's, too.
    pub(crate) fn joined_key(&self, index: Option<usize>) -> Option<Expr> {
        let tables = self.joins.as_ref()?.tables.borrow();
        let found = tables.iter().find(|(known, _)| index.is_none_or(|index| index == *known));
        found.map(|(known, _)| Expr::col((name_of(*known), Alias::new(KEY))))
    }
}

impl Translator<'_> {
    /// Has what is translated from now on join tables; [`Translator::put_joins`] puts them into the
    /// statement. Within a unit of work rows may be missing from them, so there is none.
    pub(crate) fn joining(mut self) -> Self {
        self.current.joins = (!self.ctx.is_in_unit_of_work()).then(Rc::default);
        self
    }

    /// Says that all is translated that the statement is filtered and sorted by: further tables are of no use.
    pub(crate) fn end_joining(&self) {
        if let Some(joins) = &self.current.joins {
            joins.are_known.set(true);
        }
    }

    /// Joins a statement with the tables that what was translated names.
    pub(crate) fn put_joins(&self, select: &mut SelectStatement) {
        let Some(joins) = &self.current.joins else { return };
        let key = self.current.column(self.current.served.entity.key_index());
        for (index, VirtualTable { rows, key: row, value }) in joins.tables.borrow().iter() {
            let mut rows = rows.clone();
            rows.expr_as(row.clone(), Alias::new(KEY)).expr_as(value.clone(), Alias::new(VALUE));
            let is_its = Expr::col((name_of(*index), Alias::new(KEY))).eq(key.clone());
            select.join_subquery(JoinType::InnerJoin, rows, name_of(*index), is_its);
        }
    }
}
