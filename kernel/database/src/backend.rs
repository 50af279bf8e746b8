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
}
