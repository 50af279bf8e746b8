//! Paths to other entities: every table on the way holds only what the principal may see.

use sea_orm::sea_query::{Expr, ExprTrait as _, Func, JoinType, Query, SelectStatement};
use svc_core::{Error, Result};
use svc_odata::bind::{
    BoundExpr, Collection, CollectionOf, EntityPath, PropertyPath, Step, Variable,
};
use svc_odata::model::TypeIndex;

use super::{Place, Translator, Truth};

impl<'a> Translator<'a> {
    /// The rows of a set that the principal may see, as a table.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without the set's permission,
    /// which binding has ruled out already.
    pub(crate) fn visible_table(&self, entity_type: TypeIndex) -> Result<SelectStatement> {
        let served = self.sets.served_type(entity_type);
        self.ctx.require(&served.described()?.permissions.view)?;
        let mut select = Query::select();
        select
            .from(served.entity.table_iden())
            .cond_where(served.entity.seen_by(self.ctx.viewer()));
        for index in 0..served.entity.columns.len() {
            select.column(served.entity.column_ref(index));
        }
        Ok(select)
    }

    /// A property, where a path leads to its entity.
    pub(super) fn property(&self, path: &PropertyPath) -> Result<Expr> {
        let start = self.start(path.variable)?;
        let column = self.sets.served_type(path.entity_type).column_index(path.property);
        if path.steps.is_empty() {
            return Ok(start.column(column));
        }
        let (mut select, end) = self.follow(start, &path.steps)?;
        select.expr(end.column(column));
        Ok(scalar(select))
    }

    pub(super) fn is_related(&self, path: &EntityPath) -> Result<Expr> {
        if path.steps.is_empty() {
            // The entity itself is always there.
            return Ok(Expr::val(true).eq(true));
        }
        let (mut select, _) = self.follow(self.start(path.variable)?, &path.steps)?;
        select.expr(Expr::val(1));
        Ok(Expr::exists(select))
    }

    pub(super) fn any(
        &self,
        collection: &Collection,
        condition: Option<&BoundExpr>,
    ) -> Result<Expr> {
        let (mut select, inner) = self.elements(collection)?;
        if let Some(condition) = condition {
            select.and_where(inner.truth(condition, Truth::Holds)?);
        }
        select.expr(Expr::val(1));
        Ok(Expr::exists(select))
    }

    pub(super) fn all(&self, collection: &Collection, condition: &BoundExpr) -> Result<Expr> {
        let (mut select, inner) = self.elements(collection)?;
        select.and_where(inner.truth(condition, Truth::Exact)?.not());
        select.expr(Expr::val(1));
        Ok(Expr::exists(select).not())
    }

    pub(super) fn count(&self, collection: &Collection) -> Result<Expr> {
        let (mut select, _) = self.elements(collection)?;
        select.expr(Func::count(Expr::val(1)));
        Ok(scalar(select))
    }

    /// The elements of a collection, and a translator for conditions on them.
    fn elements(&self, collection: &Collection) -> Result<(SelectStatement, Self)> {
        let CollectionOf::Entities(entity_type) = collection.of else {
            return Err(Error::not_implemented("a collection of values is not served"));
        };
        let start = self.start(collection.variable)?;
        let (mut select, end) = self.follow(start, &collection.steps)?;
        let mut inner = self.clone();
        inner.lambdas.truncate(collection.element);
        inner.lambdas.push(end.clone());
        if let Some(filter) = &collection.filter {
            select.and_where(inner.truth(filter, Truth::Holds)?);
        }
        if let Some(search) = &collection.search {
            select.and_where(self.search(&end, entity_type, search)?);
        }
        Ok((select, inner))
    }

    fn start(&self, variable: Variable) -> Result<Place<'a>> {
        match variable {
            Variable::Current => Ok(self.current.clone()),
            Variable::Lambda(index) => {
                let missing = || Error::internal("a variable is not there");
                self.lambdas.get(index).cloned().ok_or_else(missing)
            }
        }
    }

    /// What the steps lead to from a place: a statement without columns, and its last table.
    fn follow(&self, start: Place<'a>, steps: &[Step]) -> Result<(SelectStatement, Place<'a>)> {
        let mut select = Query::select();
        let mut place = start;
        for (number, step) in steps.iter().enumerate() {
            let link = place.served.link(step.navigation);
            let served = self.sets.served_type(step.to);
            let table = self.new_name();
            let next = Place { served, table, ctx: self.ctx, joins: None, holds: None };
            let joined = next.column(link.target_column).eq(place.column(link.column));
            let table = self.visible_table(step.to)?;
            if number == 0 {
                select.from_subquery(table, next.table.clone()).and_where(joined);
            } else {
                select.join_subquery(JoinType::InnerJoin, table, next.table.clone(), joined);
            }
            place = next;
        }
        Ok((select, place))
    }
}

fn scalar(select: SelectStatement) -> Expr {
    Expr::SubQuery(None, Box::new(select.into()))
}
