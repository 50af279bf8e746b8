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
/// describes; `NUMERIC(12, 2)` becomes `REAL` there and `JSONB` `TEXT`, so that every decimal and
/// every JSON is read as one. Lines after `-- only postgres` or `-- only sqlite` are for that one, up
/// to `-- both`.
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
            Backend::Sqlite => json_as_text(&decimals_as_real(&sql)),
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

/// Replaces each `JSONB`. SQLite doesn't know the type, and would store the JSON `5` as a number, which
/// no longer reads as JSON.
fn json_as_text(sql: &str) -> String {
    sql.replace(" JSONB", " TEXT")
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

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Backend; 2] = [Backend::Sqlite, Backend::Postgres];

    fn sql(text: &'static str) -> [String; 2] {
        BOTH.map(|backend| Migration::new("0001_test", text).sql_for(backend))
    }

    #[test]
    fn each_database_gets_what_is_for_it() {
        let [sqlite, postgres] = sql(
            "a;\n-- only postgres\nb;\n  -- only sqlite  \nc;\n-- both\nd; -- only sqlite\n-- only mysql\ne;",
        );
        assert_eq!(sqlite, "a;\nc;\nd; -- only sqlite\n-- only mysql\ne;\n");
        assert_eq!(postgres, "a;\nb;\nd; -- only sqlite\n-- only mysql\ne;\n");
        // What begins for one and doesn't end is for that one up to the end.
        assert_eq!(sql("-- only sqlite\na;\nb;"), ["a;\nb;\n", ""]);
        assert_eq!(sql("a;\r\n-- only postgres\r\nb;\r\n"), ["a;\n", "a;\nb;\n"]);
        assert_eq!(sql(""), ["", ""]);
    }

    #[test]
    fn decimals_are_real_numbers_on_sqlite() {
        let text = "a NUMERIC(12, 2) NOT NULL, b NUMERIC(4), c NUMERIC (5), d NUMERIC";
        let [sqlite, postgres] = sql(text);
        assert_eq!(sqlite, "a REAL NOT NULL, b REAL, c NUMERIC (5), d NUMERIC\n");
        assert_eq!(postgres, format!("{text}\n"));
    }

    #[test]
    fn json_is_text_on_sqlite() {
        let text = "jsonb TEXT, a JSONB NOT NULL, b JSONB, c BYTEA";
        let [sqlite, postgres] = sql(text);
        assert_eq!(sqlite, "jsonb TEXT, a TEXT NOT NULL, b TEXT, c BYTEA\n");
        assert_eq!(postgres, format!("{text}\n"));
    }

    #[test]
    fn a_text_is_the_same_whatever_its_line_ends_are() {
        let step = |sql| Migration::new("0001_test", sql).checksum();
        assert_eq!(step("a;\nb;\n"), step("a;\r\nb;\r\n"));
        // Everything else makes it another, also what only one database reads.
        let others = [
            "a;\nb;",
            "a;\nb; \n",
            "a;\n\nb;\n",
            "A;\nb;\n",
            "a;\rb;\n",
            "a;\n-- only sqlite\nb;\n",
        ];
        for other in others {
            assert_ne!(step("a;\nb;\n"), step(other), "{other:?}");
        }
        assert_eq!(step("").len(), 64);
    }

    #[test]
    fn a_template_is_known_by_all_of_its_steps() {
        let migrations = |modules: &[(&str, &[(&'static str, &'static str)])]| {
            let steps = |steps: &[(&'static str, &'static str)]| {
                steps.iter().map(|(name, sql)| Migration::new(name, sql)).collect()
            };
            let modules = modules.iter().map(|(module, all)| ((*module).to_owned(), steps(all)));
            Migrations::new(modules.collect()).fingerprint()
        };
        let shop = migrations(&[("shop", &[("0001", "a"), ("0002", "b")])]);
        assert_eq!(shop, migrations(&[("shop", &[("0001", "a"), ("0002", "b")])]));
        // A module without steps adds none.
        assert_eq!(shop, migrations(&[("other", &[]), ("shop", &[("0001", "a"), ("0002", "b")])]));
        for other in [
            migrations(&[("shop", &[("0001", "a")])]),
            migrations(&[("shop", &[("0001", "a"), ("0002", "c")])]),
            migrations(&[("shop", &[("0001", "a"), ("0003", "b")])]),
            migrations(&[("shop", &[("0002", "b"), ("0001", "a")])]),
            migrations(&[("shops", &[("0001", "a"), ("0002", "b")])]),
            migrations(&[("shop", &[("0001", "a")]), ("more", &[("0002", "b")])]),
        ] {
            assert_ne!(shop, other);
        }
    }

    #[test]
    fn what_is_pending_is_what_the_database_has_not() {
        let steps = vec![Migration::new("0001_a", "a"), Migration::new("0002_b", "b")];
        let migrations = Migrations::new(vec![
            ("shop".to_owned(), steps),
            ("more".to_owned(), vec![Migration::new("0001_a", "c")]),
        ]);
        let applied = |steps: &[(&str, &str, &'static str)]| {
            let steps = steps.iter().map(|(module, name, sql)| {
                (((*module).to_owned(), (*name).to_owned()), Migration::new("x", sql).checksum())
            });
            let pending = migrations.compare(&steps.collect(), Backend::Sqlite);
            pending.map(|all| {
                all.iter().map(|step| format!("{} {}", step.module, step.name)).collect::<Vec<_>>()
            })
        };
        assert_eq!(applied(&[]).unwrap(), ["shop 0001_a", "shop 0002_b", "more 0001_a"]);
        assert_eq!(applied(&[("shop", "0002_b", "b")]).unwrap(), ["shop 0001_a", "more 0001_a"]);
        let all = [("shop", "0001_a", "a"), ("shop", "0002_b", "b"), ("more", "0001_a", "c")];
        assert_eq!(applied(&all).unwrap(), [""; 0]);
        // A module that was taken out leaves its steps; one that is there has lost none.
        assert_eq!(applied(&[&all[..], &[("gone", "0001_x", "x")]].concat()).unwrap(), [""; 0]);
        let newer = applied(&[&all[..], &[("more", "0002_x", "x")]].concat()).unwrap_err();
        assert!(newer.message().contains("`0002_x` of module `more`"), "{newer}");
        let edited = applied(&[("more", "0001_a", "a")]).unwrap_err();
        assert_eq!(edited.kind(), svc_core::ErrorKind::Conflict);
        assert!(
            edited.message().starts_with("migration `0001_a` of module `more` was edited"),
            "{edited}"
        );
    }
}
