//! What tables, columns and foreign keys a database has.

use std::collections::BTreeMap;

use sea_orm::QueryResult;
use svc_core::Result;
use svc_database::{Backend, Database, database_error};

/// The schema of a database, as far as entities are compared with it.
pub(super) struct Schema {
    pub(super) backend: Backend,
    tables: BTreeMap<String, BTreeMap<String, FoundColumn>>,
    pub(super) foreign_keys: Vec<ForeignKey>,
}

/// A column of a table.
pub(super) struct FoundColumn {
    /// The type, in lower case and without a size.
    pub(super) kind: String,
    pub(super) nullable: bool,
    pub(super) has_default: bool,
    /// Whether it is of a view, which says nothing of null and defaults.
    pub(super) of_view: bool,
}

/// A foreign key: which columns lead to which.
pub(super) struct ForeignKey {
    pub(super) table: String,
    pub(super) target: String,
    pub(super) columns: Vec<(String, String)>,
}

/// Name, type, null, default and part of the key of each column of each table. SQLite says of a key of one column
/// that it may be null, which no key of an entity is.
const SQLITE_COLUMNS: &str = "SELECT t.name, c.name, c.type, c.\"notnull\" = 0 AND c.pk = 0, \
     c.dflt_value IS NOT NULL, t.type = 'view' \
     FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type IN ('table', 'view')";

const POSTGRES_COLUMNS: &str = "SELECT c.table_name::text, c.column_name::text, \
     c.data_type::text, c.is_nullable = 'YES', \
     c.column_default IS NOT NULL OR c.is_identity = 'YES' OR c.is_generated = 'ALWAYS', \
     t.table_type = 'VIEW' \
     FROM information_schema.columns c JOIN information_schema.tables t \
     ON t.table_schema = c.table_schema AND t.table_name = c.table_name \
     WHERE c.table_schema = current_schema()";

/// Table, key, target and the columns of each pair. SQLite leaves out the names of a primary key.
const SQLITE_KEYS: &str = "SELECT t.name, CAST(k.id AS TEXT), k.\"table\", k.\"from\", \
     coalesce(k.\"to\", (SELECT c.name FROM pragma_table_info(k.\"table\") c WHERE c.pk = k.seq + 1), '') \
     FROM sqlite_master t JOIN pragma_foreign_key_list(t.name) k \
     WHERE t.type = 'table' ORDER BY t.name, k.id, k.seq";

const POSTGRES_KEYS: &str = "SELECT s.relname::text, k.conname::text, t.relname::text, \
     a.attname::text, b.attname::text \
     FROM pg_constraint k JOIN pg_class s ON s.oid = k.conrelid JOIN pg_class t ON t.oid = k.confrelid \
     CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS p(here, there, place) \
     JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = p.here \
     JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = p.there \
     WHERE k.contype = 'f' AND k.connamespace = current_schema()::regnamespace \
     ORDER BY s.relname, k.conname, p.place";

impl Schema {
    /// Reads the schema of a database.
    pub(super) async fn read(database: &Database) -> Result<Self> {
        let backend = database.backend();
        let (columns, keys) = match backend {
            Backend::Sqlite => (SQLITE_COLUMNS, SQLITE_KEYS),
            Backend::Postgres => (POSTGRES_COLUMNS, POSTGRES_KEYS),
        };
        let mut schema = Self { backend, tables: BTreeMap::new(), foreign_keys: Vec::new() };
        for row in database.rows(database.statement(columns, [])).await? {
            schema.add_column(&row).map_err(database_error)?;
        }
        let mut last = None;
        for row in database.rows(database.statement(keys, [])).await? {
            let (key, pair) = key_of(&row).map_err(database_error)?;
            if last.as_ref() != Some(&key) {
                let (table, _, target) = key.clone();
                schema.foreign_keys.push(ForeignKey { table, target, columns: Vec::new() });
                last = Some(key);
            }
            if let Some(key) = schema.foreign_keys.last_mut() {
                key.columns.push(pair);
            }
        }
        Ok(schema)
    }

    fn add_column(&mut self, row: &QueryResult) -> Result<(), sea_orm::DbErr> {
        let (table, name): (String, String) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
        let kind: String = row.try_get_by_index(2)?;
        let kind = kind.split('(').next().unwrap_or_default().trim().to_lowercase();
        let column = FoundColumn {
            kind,
            nullable: row.try_get_by_index(3)?,
            has_default: row.try_get_by_index(4)?,
            of_view: row.try_get_by_index(5)?,
        };
        self.tables.entry(table).or_default().insert(name, column);
        Ok(())
    }

    /// The columns of a table by their names.
    pub(super) fn table(&self, name: &str) -> Option<&BTreeMap<String, FoundColumn>> {
        self.tables.get(name)
    }
}

/// The table, name and target of a key, with a pair of its columns.
type KeyRow = ((String, String, String), (String, String));

fn key_of(row: &QueryResult) -> Result<KeyRow, sea_orm::DbErr> {
    let key = (row.try_get_by_index(0)?, row.try_get_by_index(1)?, row.try_get_by_index(2)?);
    Ok((key, (row.try_get_by_index(3)?, row.try_get_by_index(4)?)))
}
