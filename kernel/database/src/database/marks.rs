//! The marks in a statement's text that stand for its values.

use std::borrow::Cow;

use sea_orm::Statement;

/// Puts a sign before a mark behind `LIMIT`, for SQLite alone: the plan of a statement goes by the
/// value of a bare mark there, so each new value, the same one too, has it parsed and planned anew
/// (`sqlite3ExprIsInteger` of SQLite 3.51; a sign keeps it from looking).
pub(super) fn keep_plan(mut statement: Statement) -> Statement {
    const BARE: &str = "LIMIT ?";
    if statement.sql.contains(BARE) {
        // Every second part is within quotes.
        let parts = statement.sql.split('\'').enumerate().map(|(index, part)| match index % 2 {
            0 => Cow::Owned(part.replace(BARE, "LIMIT +?")),
            _ => Cow::Borrowed(part),
        });
        statement.sql = parts.collect::<Vec<_>>().join("'");
    }
    statement
}

/// Turns each `?` outside quotes into `$1`, `$2`, ….
pub(super) fn number_marks(sql: &str) -> String {
    let mut numbered = String::with_capacity(sql.len() + 16);
    let mut number = 0;
    let mut quoted = false;
    for letter in sql.chars() {
        match letter {
            '\'' => quoted = !quoted,
            '?' if !quoted => {
                number += 1;
                numbered.push('$');
                numbered.push_str(&number.to_string());
                continue;
            }
            _ => {}
        }
        numbered.push(letter);
    }
    numbered
}

#[cfg(test)]
mod tests {
    use sea_orm::DbBackend;

    use super::*;

    #[test]
    fn marks_are_numbered_outside_of_quotes() {
        assert_eq!(
            number_marks("SELECT ? WHERE a = ? AND b = '?'"),
            "SELECT $1 WHERE a = $2 AND b = '?'"
        );
    }

    #[test]
    fn a_limit_has_a_sign_outside_of_quotes() {
        let sql = "SELECT 'LIMIT ?' WHERE a = '''' AND b IN (SELECT c LIMIT ?) LIMIT ? OFFSET ?";
        let kept = keep_plan(Statement::from_string(DbBackend::Sqlite, sql));
        assert_eq!(
            kept.sql,
            "SELECT 'LIMIT ?' WHERE a = '''' AND b IN (SELECT c LIMIT +?) LIMIT +? OFFSET ?"
        );
    }
}
