//! The databases that there are.

/// Which database it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

impl Backend {
    /// The backend of a URL, by its scheme.
    ///
    /// # Errors
    ///
    /// A sentence that says which schemes there are.
    pub fn of_url(url: &str) -> Result<Self, String> {
        match url.split_once(':').map(|(scheme, _)| scheme) {
            Some("sqlite") => Ok(Self::Sqlite),
            Some("postgres" | "postgresql") => Ok(Self::Postgres),
            _ => Err("`sqlite://<file>` or `postgres://<user>@<host>/<database>`".into()),
        }
    }

    /// What locks the rows that a statement of a unit of work reads, such as ` FOR UPDATE`. On SQLite
    /// nothing: whoever writes is the only one.
    #[must_use]
    pub fn locking(self, clause: &'static str) -> &'static str {
        match self {
            Self::Postgres => clause,
            Self::Sqlite => "",
        }
    }

    /// A statement that deletes the rows of a table that a condition names, by the order of the column `id`. Two
    /// units of work that lock some of the same rows, each in an order of its own, would wait for each other until
    /// PostgreSQL broke one of them off; so one waits for the other.
    #[must_use]
    pub fn delete_in_order(self, table: &str, condition: &str) -> String {
        delete(table, "id", condition, self.locking(" ORDER BY id FOR UPDATE"))
    }

    /// A statement that deletes the rows that a condition names and nobody holds; the others are left to the next
    /// time. For sweeps, which shall wait for nobody. The condition may end with a `LIMIT`.
    #[must_use]
    pub fn delete_unheld(self, table: &str, key: &str, condition: &str) -> String {
        delete(table, key, condition, self.locking(" FOR UPDATE SKIP LOCKED"))
    }
}

fn delete(table: &str, key: &str, condition: &str, lock: &str) -> String {
    format!(
        "DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} WHERE {condition}{lock})"
    )
}
