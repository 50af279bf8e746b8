//! The steps of each module's schema: forward only, each applied once, by one node at a time.
//!
//! A step's text is kept with its checksum. A released step that was edited, or is gone, stops
//! the start: old and new nodes would no longer agree on what the schema is. Every step is one
//! transaction, so a step that fails leaves nothing of itself.

use std::collections::BTreeMap;
use std::fmt;

use sea_orm::{ConnectionTrait as _, Statement};
use svc_core::{Clock, Error, Result, hex};

use crate::backend::Backend;
use crate::database::{Database, Transaction};
use crate::error::database_error;

/// The key of PostgreSQL's advisory lock under which migrations run: `svc migr` in ASCII.
const ADVISORY_LOCK: i64 = 0x7376_6320_6d69_6772;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS svc_migrations (
    module TEXT NOT NULL,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at_us BIGINT NOT NULL,
    PRIMARY KEY (module, name)
)";

/// One step of a module's schema.
///
/// The SQL runs on both databases: SQLite takes the type names of PostgreSQL (`UUID`,
/// `TIMESTAMPTZ`, `BOOLEAN`, `BIGINT`, `TEXT`, `BYTEA`) and stores what [`crate::stored`]
/// describes; `NUMERIC(12, 2)` becomes `REAL` there, so that every decimal is read as one. Lines after `-- only postgres` or `-- only sqlite` are for that
/// one, up to `-- both`.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    name: &'static str,
    sql: &'static str,
}

impl Migration {
    /// A step by its name, which begins with a number (`0001_products`), and its SQL.
    #[must_use]
    pub const fn new(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql }
    }

    /// The step's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The part of the SQL that is for one database.
    #[must_use]
    pub fn sql_for(&self, backend: Backend) -> String {
        let mut applies = true;
        let mut sql = String::with_capacity(self.sql.len());
        for line in self.sql.lines() {
            match line.trim() {
                "-- only postgres" => applies = backend == Backend::Postgres,
                "-- only sqlite" => applies = backend == Backend::Sqlite,
                "-- both" => applies = true,
                _ if applies => {
                    sql.push_str(line);
                    sql.push('\n');
                }
                _ => {}
            }
        }
        match backend {
            Backend::Sqlite => decimals_as_real(&sql),
            Backend::Postgres => sql,
        }
    }

    /// The SHA-256 of the text, with line ends made the same everywhere, in hexadecimal.
    #[must_use]
    pub fn checksum(&self) -> String {
        use sha2::{Digest as _, Sha256};
        hex(&Sha256::digest(self.sql.replace("\r\n", "\n").as_bytes()))
    }
}

/// A step that has not been applied yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The module.
    pub module: String,
    /// The step.
    pub name: &'static str,
    /// The SQL that it would run on this database.
    pub sql: String,
}

impl fmt::Display for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "-- {} {}\n{}", self.module, self.name, self.sql)
    }
}

/// All steps of an application, module by module in the order of the modules.
#[derive(Clone, Debug, Default)]
pub struct Migrations(Vec<(String, Vec<Migration>)>);

impl Migrations {
    /// The steps of each module, in the order of the modules.
    #[must_use]
    pub fn new(modules: Vec<(String, Vec<Migration>)>) -> Self {
        Self(modules)
    }

    /// A text that changes with any step: the name under which a migrated template is kept.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        use sha2::{Digest as _, Sha256};
        let mut digest = Sha256::new();
        for (module, migration) in self.each() {
            digest.update(format!("{module}\n{}\n{}\n", migration.name, migration.checksum()));
        }
        hex(&digest.finalize()[..8])
    }

    fn each(&self) -> impl Iterator<Item = (&str, &Migration)> {
        self.0.iter().flat_map(|(module, steps)| steps.iter().map(move |m| (module.as_str(), m)))
    }

    /// The steps that [`Migrations::apply`] would apply. Changes nothing.
    ///
    /// # Errors
    ///
    /// As [`Migrations::apply`].
    pub async fn pending(&self, database: &Database) -> Result<Vec<Pending>> {
        let exists = match database.backend() {
            Backend::Sqlite => "SELECT 1 FROM sqlite_master WHERE name = 'svc_migrations'",
            Backend::Postgres => {
                "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() \
                 AND tablename = 'svc_migrations'"
            }
        };
        let exists = !database.rows(database.statement(exists, [])).await?.is_empty();
        let applied = if exists {
            read_applied(database.rows(applied_statement(database)).await?)?
        } else {
            BTreeMap::new()
        };
        self.compare(&applied, database.backend())
    }

    /// Applies what is pending, and says what that was.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) when an applied step was edited or
    /// is gone; otherwise the fault of the step that failed, which is named. Steps before it stay.
    pub async fn apply(&self, database: &Database, clock: &Clock) -> Result<Vec<Pending>> {
        let mut applied = Vec::new();
        while let Some(step) = self.apply_next(database, clock).await? {
            tracing::info!(module = step.module, migration = step.name, "applied a migration");
            applied.push(step);
        }
        Ok(applied)
    }

    /// Applies the first pending step in a transaction that no second node can be in.
    async fn apply_next(&self, database: &Database, clock: &Clock) -> Result<Option<Pending>> {
        let transaction = database.begin().await?;
        // Before the lock, which waits for as long as another node migrates.
        database.lift_limit(&transaction).await?;
        if database.backend() == Backend::Postgres {
            // Held until the transaction ends; SQLite has one writer anyway.
            let lock = format!("SELECT pg_advisory_xact_lock({ADVISORY_LOCK})");
            run(&transaction, &lock).await?;
        }
        run(&transaction, TABLE).await?;
        let rows = transaction.query_all_raw(applied_statement(database)).await;
        let applied = read_applied(rows.map_err(database_error)?)?;
        let Some(step) = self.compare(&applied, database.backend())?.into_iter().next() else {
            transaction.commit().await?;
            return Ok(None);
        };
        run(&transaction, &step.sql).await.map_err(|error| {
            error.context(format!("migration `{}` of module `{}`", step.name, step.module))
        })?;
        let checksum = self
            .each()
            .find(|(module, migration)| *module == step.module && migration.name == step.name)
            .map(|(_, migration)| migration.checksum())
            .unwrap_or_default();
        let record = database.statement(
            "INSERT INTO svc_migrations (module, name, checksum, applied_at_us) VALUES (?, ?, ?, ?)",
            [step.module.clone().into(), step.name.into(), checksum.into(), clock.now_us().into()],
        );
        transaction.execute_raw(record).await.map_err(database_error)?;
        transaction.commit().await?;
        Ok(Some(step))
    }

    fn compare(
        &self,
        applied: &BTreeMap<(String, String), String>,
        backend: Backend,
    ) -> Result<Vec<Pending>> {
        let mut pending = Vec::new();
        for (module, migration) in self.each() {
            match applied.get(&(module.to_owned(), migration.name.to_owned())) {
                None => pending.push(Pending {
                    module: module.to_owned(),
                    name: migration.name,
                    sql: migration.sql_for(backend),
                }),
                Some(checksum) if *checksum == migration.checksum() => {}
                Some(_) => {
                    return Err(Error::conflict(format!(
                        "migration `{}` of module `{module}` was edited after it was applied; \
                         restore its text and add a new migration instead",
                        migration.name
                    )));
                }
            }
        }
        let modules: Vec<&str> = self.0.iter().map(|(module, _)| module.as_str()).collect();
        for (module, name) in applied.keys() {
            let known = self.each().any(|(m, step)| m == module && step.name == name);
            // A module that was taken out leaves its tables; one that lost a step is an older
            // program on a newer database.
            if !known && modules.contains(&module.as_str()) {
                return Err(Error::conflict(format!(
                    "the database has the migration `{name}` of module `{module}`, which this \
                     program doesn't know; start a program that is at least as new as the database"
                )));
            }
        }
        Ok(pending)
    }
}

/// Replaces each `NUMERIC(…)`. SQLite would store a whole number in such a column as an integer,
/// which no longer reads as a decimal.
fn decimals_as_real(sql: &str) -> String {
    let mut parts = sql.split("NUMERIC(");
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, rest) = part.split_once(')').unwrap_or((part, ""));
        replaced.push_str("REAL");
        replaced.push_str(rest);
    }
    replaced
}

fn applied_statement(database: &Database) -> Statement {
    database.statement("SELECT module, name, checksum FROM svc_migrations", [])
}

fn read_applied(rows: Vec<sea_orm::QueryResult>) -> Result<BTreeMap<(String, String), String>> {
    let read = |row: sea_orm::QueryResult| {
        Ok(((row.try_get_by_index(0)?, row.try_get_by_index(1)?), row.try_get_by_index(2)?))
    };
    rows.into_iter().map(read).collect::<Result<_, sea_orm::DbErr>>().map_err(database_error)
}

async fn run(transaction: &Transaction, sql: &str) -> Result<()> {
    transaction.execute_unprepared(sql).await.map(drop).map_err(database_error)
}
