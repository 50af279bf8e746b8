//! Which rule of the schema a statement broke: the databases say it in words of their own.
//!
//! | Rule | PostgreSQL | SQLite |
//! | --- | --- | --- |
//! | unique | the columns, in the detail | the columns, in the message |
//! | reference | the columns, in the detail | nothing |
//! | check | the constraint's name, which by default holds that of its one column | the name, else the expression |
//! | not null | the column | the column, in the message |

use std::error::Error as _;
use std::sync::Arc;

use sqlx::error::{DatabaseError, ErrorKind};
use sqlx::postgres::PgDatabaseError;
use svc_core::Error;

/// What kind of rule a statement broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// Values that only one record may have.
    Unique,
    /// A reference that leads nowhere, or the end of what is referred to.
    Reference,
    /// A condition on the values of a record.
    Check,
    /// A value that must be there.
    NotNull,
}

/// A rule of the schema that a statement broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenRule {
    /// Its kind.
    pub kind: RuleKind,
    /// The columns that it is about, as far as the database says so.
    pub columns: Vec<String>,
    /// What the database calls a condition: its name, or the condition itself.
    pub condition: Option<String>,
}

/// The rule that an error of [`database_error`](crate::database_error) is about; none where it is
/// about none.
#[must_use]
pub fn broken_rule(error: &Error) -> Option<BrokenRule> {
    let cause = error.source()?;
    let cause = match cause.downcast_ref::<Arc<sqlx::Error>>() {
        Some(shared) => shared.as_ref(),
        None => cause.downcast_ref::<sqlx::Error>()?,
    };
    let sqlx::Error::Database(fault) = cause else { return None };
    let kind = match fault.kind() {
        ErrorKind::UniqueViolation => RuleKind::Unique,
        ErrorKind::ForeignKeyViolation => RuleKind::Reference,
        ErrorKind::CheckViolation => RuleKind::Check,
        ErrorKind::NotNullViolation => RuleKind::NotNull,
        _ => return None,
    };
    Some(match fault.try_downcast_ref::<PgDatabaseError>() {
        Some(fault) => of_postgres(kind, fault),
        None => of_sqlite(kind, fault.as_ref()),
    })
}

fn of_postgres(kind: RuleKind, fault: &PgDatabaseError) -> BrokenRule {
    let column = fault.column().map(|column| vec![column.to_owned()]);
    let columns = column.or_else(|| fault.detail().map(columns_of_detail)).unwrap_or_default();
    let condition = fault.constraint().filter(|_| kind == RuleKind::Check);
    // A condition on one column that nobody named is called `<table>_<column>_check`.
    let own = condition.and_then(|name| {
        name.strip_prefix(fault.table()?)?.strip_prefix('_')?.strip_suffix("_check")
    });
    let condition = own.or(condition).map(str::to_owned);
    let columns = if kind == RuleKind::Check { Vec::new() } else { columns };
    BrokenRule { kind, columns, condition }
}

/// The columns of `Key (organisation_id, sku)=(…) already exists.`, in whatever language.
fn columns_of_detail(detail: &str) -> Vec<String> {
    let Some((before, _)) = detail.split_once(")=(") else { return Vec::new() };
    let Some((_, columns)) = before.split_once('(') else { return Vec::new() };
    columns.split(", ").map(|column| column.trim_matches('"').to_owned()).collect()
}

fn of_sqlite(kind: RuleKind, fault: &dyn DatabaseError) -> BrokenRule {
    let said = fault.message().split_once("failed: ").map(|(_, said)| said);
    let columns = match kind {
        RuleKind::Unique | RuleKind::NotNull => columns_of_message(said.unwrap_or_default()),
        RuleKind::Reference | RuleKind::Check => Vec::new(),
    };
    let condition = said.filter(|_| kind == RuleKind::Check).map(str::to_owned);
    BrokenRule { kind, columns, condition }
}

/// The columns of `lamps.organisation_id, lamps.sku`; an index over expressions has none.
fn columns_of_message(said: &str) -> Vec<String> {
    let column = |part: &str| part.split_once('.').map(|(_, column)| column.to_owned());
    said.split(", ").filter_map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_in_what_the_databases_say() {
        let details = [
            ("Key (organisation_id, sku)=(5, A-1) already exists.", vec!["organisation_id", "sku"]),
            ("Schlüssel »(\"Name\")=(x)« existiert bereits.", vec!["Name"]),
            ("Key (maker_id)=(7) is not present in table \"makers\".", vec!["maker_id"]),
            ("nothing of the kind", vec![]),
        ];
        for (detail, expected) in details {
            assert_eq!(columns_of_detail(detail), expected, "{detail}");
        }
        assert_eq!(
            columns_of_message("lamps.organisation_id, lamps.sku"),
            ["organisation_id", "sku"]
        );
        assert!(columns_of_message("index 'lower_name'").is_empty());
    }
}
