//! All that a database holds, as text that can be compared.

use std::collections::{BTreeMap, BTreeSet};

use svc_core::OrganisationId;
use svc_database::{Backend, Database};

/// The rows of each table, in order.
pub(super) type Stored = BTreeMap<String, Vec<String>>;

/// Reads a text of each row.
async fn texts(database: &Database, sql: &str) -> Vec<String> {
    let rows = database.rows(database.statement(sql, [])).await.expect("a readable database");
    rows.iter().map(|row| row.try_get_by_index(0).expect("a text")).collect()
}

async fn tables(database: &Database) -> Vec<String> {
    let sql = match database.backend() {
        Backend::Sqlite => {
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' \
             ESCAPE '~' ORDER BY name"
        }
        Backend::Postgres => {
            "SELECT table_name::text FROM information_schema.tables \
             WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY table_name"
        }
    };
    texts(database, sql).await
}

async fn columns(database: &Database, table: &str) -> Vec<String> {
    let sql = match database.backend() {
        Backend::Sqlite => format!("SELECT name FROM pragma_table_info('{table}')"),
        Backend::Postgres => format!(
            "SELECT column_name::text FROM information_schema.columns \
             WHERE table_schema = 'public' AND table_name = '{table}' ORDER BY ordinal_position"
        ),
    };
    texts(database, &sql).await
}

/// Reads all tables.
pub(super) async fn everything(database: &Database) -> Stored {
    let mut stored = Stored::new();
    for table in tables(database).await {
        let line = match database.backend() {
            Backend::Sqlite => {
                let columns = columns(database, &table).await;
                let quoted = columns.iter().map(|column| format!("quote(\"{column}\")"));
                quoted.collect::<Vec<_>>().join(" || ', ' || ")
            }
            Backend::Postgres => "t::text".to_owned(),
        };
        let rows = texts(database, &format!("SELECT {line} FROM \"{table}\" t ORDER BY 1")).await;
        stored.insert(table, rows);
    }
    stored
}

/// The ids of all records of an organisation, as addresses and answers have them.
pub(super) async fn ids_of(database: &Database, organisation: OrganisationId) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let organisation = organisation.0.simple();
    for table in tables(database).await {
        let columns = columns(database, &table).await;
        if !["id", "organisation_id"].iter().all(|needed| columns.iter().any(|one| one == needed)) {
            continue;
        }
        let simple = |column: &str| match database.backend() {
            Backend::Sqlite => format!("lower(hex(\"{column}\"))"),
            Backend::Postgres => format!("replace(\"{column}\"::text, '-', '')"),
        };
        let sql = format!(
            "SELECT {} FROM \"{table}\" WHERE {} = '{organisation}'",
            simple("id"),
            simple("organisation_id")
        );
        let found = texts(database, &sql).await.into_iter();
        ids.extend(found.filter_map(|id| Some(uuid::Uuid::parse_str(&id).ok()?.to_string())));
    }
    ids
}

/// What differs, table by table, for a person to read. What has come for `stranger` alone is left out: whoever
/// reads in the own organisation may be told of there.
pub(super) fn differences(
    before: &Stored,
    after: &Stored,
    stranger: OrganisationId,
) -> Vec<String> {
    let mut found = Vec::new();
    let stranger = stranger.0.simple().to_string();
    let is_others = |row: &&String| !row.to_lowercase().replace('-', "").contains(&stranger);
    let tables: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for table in tables {
        let rows = |stored: &Stored| -> BTreeSet<String> {
            stored.get(table).into_iter().flatten().cloned().collect()
        };
        let (before, after) = (rows(before), rows(after));
        found.extend(before.difference(&after).map(|row| format!("`{table}` lost {row}")));
        let got = after.difference(&before).filter(is_others);
        found.extend(got.map(|row| format!("`{table}` got {row}")));
    }
    found
}
