//! What the database refuses, in words of the set: which properties are wrong, and with a code.
//!
//! Nobody is told the name of a property that they don't see. SQLite doesn't say which reference
//! leads nowhere, so it is looked for, once the statement has failed.

use sea_orm::Value;
use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, Query};
use svc_core::{Error, Result};
use svc_database::{BrokenRule, RuleKind, broken_rule};

use super::UnitOfWork;
use crate::entity::EntityModel;
use crate::errors;

/// What was tried when the database refused.
#[derive(Clone, Copy)]
pub(super) enum Attempt<'a> {
    /// To store these values: of a new record all, of another those that change.
    Store(&'a [(usize, &'a Value)]),
    /// To store many records.
    StoreMany,
    /// To remove a record.
    Remove,
}

impl UnitOfWork {
    /// The refusal of a statement, with the properties that it is about.
    pub(super) async fn refusal(
        &self,
        model: &EntityModel,
        attempt: Attempt<'_>,
        error: Error,
    ) -> Error {
        let Some(rule) = broken_rule(&error) else { return error };
        let refusal = match (rule.kind, attempt) {
            (RuleKind::Unique, _) => {
                let refusal = errors::UNIQUE.error("a record with these values already exists");
                self.named(model, refusal, &rule.columns, "is taken by another record")
            }
            (RuleKind::Reference, Attempt::Remove) => errors::IN_USE
                .error("other records refer to this one; change or delete those first"),
            (RuleKind::Reference, attempt) => {
                let mut columns = rule.columns;
                if let (Attempt::Store(values), true) = (attempt, columns.is_empty()) {
                    columns.extend(self.dangling(model, values).await.ok().flatten());
                }
                let refusal = errors::REFERENCE
                    .error("a record that this refers to does not exist, or is still in use");
                self.named(model, refusal, &columns, "refers to nothing that exists")
            }
            (RuleKind::Check, _) => {
                let refusal = errors::CHECK.error("the record breaks a rule of the database");
                let columns = checked_column(model, &rule).into_iter().collect::<Vec<_>>();
                self.named(model, refusal, &columns, "breaks a rule of the database")
            }
            (RuleKind::NotNull, _) => {
                let refusal = Error::invalid("the record is not valid");
                self.named(model, refusal, &rule.columns, "must not be null")
            }
        };
        refusal.caused_by(error)
    }

    /// An error with a message for each of these columns that its caller may know of. The
    /// organisation is nobody's to change.
    fn named(&self, model: &EntityModel, error: Error, columns: &[String], problem: &str) -> Error {
        let who = self.context.principal();
        let known = columns.iter().filter_map(|name| model.column_index(name));
        let seen = known.filter(|index| model.is_visible(*index, who));
        let names: Vec<&str> = seen.map(|index| model.columns[index].property.as_str()).collect();
        let problem = match &names[..] {
            [_, _, ..] => format!("{problem}, together with the others that are named"),
            _ => problem.to_owned(),
        };
        names.into_iter().fold(error, |error, name| error.field(name, problem.clone()))
    }

    /// The column whose value leads to nothing; none where all lead somewhere.
    async fn dangling(
        &self,
        model: &EntityModel,
        values: &[(usize, &Value)],
    ) -> Result<Option<String>> {
        for relation in model.relations.iter().filter(|relation| !relation.many) {
            let value = values.iter().find(|(index, _)| *index == relation.column);
            let Some((_, value)) = value else { continue };
            let column = &model.columns[relation.column];
            if **value == column.kind.null() {
                continue;
            }
            let mut select = Query::select();
            select
                .expr(Expr::val(1))
                .from(Alias::new(&relation.target))
                .and_where(Expr::col(Alias::new(&relation.target_column)).eq((*value).clone()))
                .limit(1);
            if self.row(self.shared.data.database.build(&select)).await?.is_none() {
                return Ok(Some(column.name.to_owned()));
            }
        }
        Ok(None)
    }
}

/// The column that a condition is about, where it is about one.
fn checked_column(model: &EntityModel, rule: &BrokenRule) -> Option<String> {
    let condition = rule.condition.as_ref()?;
    let is_of_a_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words: Vec<&str> = condition.split(|letter| !is_of_a_name(letter)).collect();
    let mut named = model.columns.iter().filter(|column| words.contains(&column.name));
    let first = named.next()?;
    named.next().is_none().then(|| first.name.to_owned())
}
