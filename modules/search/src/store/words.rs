//! The words of the index: each once for each property of a set in an organisation.

use std::collections::{BTreeSet, HashMap};

use svc_core::Result;
use svc_data::UnitOfWork;
use svc_database::{Backend, Cell, CellKind, ROWS_AT_ONCE, RowTable, column};

use super::{any_of, join};
use crate::fold::GAP;
use crate::terms::{Term, TermKind};
use crate::trigrams::{mark, trigrams};

/// A term in its scope.
pub(crate) type Scoped<'a> = (i64, &'a Term);

/// A term as a statement names it.
type Named = (i64, i16, String);

const COLUMNS: [(&str, CellKind); 4] = [
    ("scope", CellKind::BigInt),
    ("kind", CellKind::SmallInt),
    ("word", CellKind::Text),
    ("trigrams", CellKind::Text),
];

/// The identifiers of terms, which are made where there are none.
pub(crate) async fn identifiers(
    uow: &UnitOfWork,
    terms: &BTreeSet<Scoped<'_>>,
) -> Result<HashMap<Named, i64>> {
    let database = uow.context().database();
    let backend = database.backend();
    let all: Vec<&Scoped<'_>> = terms.iter().collect();
    let mut ids = HashMap::with_capacity(all.len());
    let join = join(backend);
    for some in all.chunks(ROWS_AT_ONCE) {
        let RowTable { sql, values } =
            RowTable::new(backend, &COLUMNS, some.iter().map(|term| cells(term, None)));
        let sql = format!(
            "SELECT w.id, w.scope, w.kind, w.word FROM {sql} {join} search_words w \
             ON w.scope = r.scope AND w.kind = r.kind AND w.word = r.word"
        );
        for row in uow.rows(database.statement(&sql, values)).await? {
            ids.insert((column(&row, 1)?, column(&row, 2)?, column(&row, 3)?), column(&row, 0)?);
        }
    }
    let missing: Vec<&Scoped<'_>> =
        all.into_iter().filter(|term| !ids.contains_key(&named(term))).collect();
    for some in missing.chunks(ROWS_AT_ONCE) {
        insert(uow, some, &mut ids).await?;
    }
    Ok(ids)
}

/// A term as a statement names it.
pub(crate) fn named((scope, term): &Scoped<'_>) -> Named {
    (*scope, term.kind.code(), term.text.clone())
}

fn cells<'a>((scope, term): &Scoped<'a>, trigrams: Option<String>) -> [Cell<'a>; 4] {
    [(*scope).into(), term.kind.code().into(), term.text.as_str().into(), trigrams.into()]
}

/// The text whose trigrams a term is found by; none of what isn't found so.
fn body((scope, term): &Scoped<'_>) -> Option<String> {
    let mark = mark(*scope);
    match term.kind {
        TermKind::Word => Some(format!("{mark}{GAP}{}{GAP}", term.text)),
        TermKind::Piece => Some(format!("{mark}{}", term.text)),
        TermKind::Beginning | TermKind::Count => None,
    }
}

async fn insert(
    uow: &UnitOfWork,
    terms: &[&Scoped<'_>],
    ids: &mut HashMap<Named, i64>,
) -> Result<()> {
    let database = uow.context().database();
    let backend = database.backend();
    // SQLite makes the trigrams itself.
    let of_term = |term: &&Scoped<'_>| {
        let body = body(term).filter(|_| backend == Backend::Postgres);
        body.map(|body| trigrams(&body).into_iter().collect::<Vec<_>>().join(","))
    };
    let rows = terms.iter().map(|term| cells(term, of_term(term)));
    let RowTable { sql, values } = RowTable::new(backend, &COLUMNS, rows);
    let (column_name, value) = match backend {
        Backend::Sqlite => ("", ""),
        Backend::Postgres => {
            (", trigrams", ", array_to_tsvector(string_to_array(r.trigrams, ','))")
        }
    };
    let sql = format!(
        "INSERT INTO search_words (scope, kind, word{column_name}) \
         SELECT r.scope, r.kind, r.word{value} FROM {sql} RETURNING id, scope, kind, word"
    );
    for row in uow.rows(database.statement(&sql, values)).await? {
        ids.insert((column(&row, 1)?, column(&row, 2)?, column(&row, 3)?), column(&row, 0)?);
    }
    if backend == Backend::Postgres {
        return Ok(());
    }
    let columns = [("id", CellKind::BigInt), ("body", CellKind::Text)];
    let rows = terms.iter().filter_map(|term| {
        let id = ids.get(&named(term))?;
        Some([(*id).into(), body(term)?.into()])
    });
    let RowTable { sql, values } = RowTable::new(backend, &columns, rows);
    let sql = format!("INSERT INTO search_trigrams (rowid, body) SELECT r.id, r.body FROM {sql}");
    uow.execute(database.statement(&sql, values)).await.map(drop)
}

/// Forgets those of some words that no record has any more.
pub(crate) async fn forget(uow: &UnitOfWork, words: &[i64]) -> Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    let database = uow.context().database();
    let (is_one, values) = any_of(database.backend(), words);
    let sql = format!(
        "DELETE FROM search_words WHERE id {is_one} \
         AND NOT EXISTS (SELECT 1 FROM search_postings p WHERE p.word_id = search_words.id) RETURNING id"
    );
    let rows = uow.rows(database.statement(&sql, [values])).await?;
    if database.backend() == Backend::Postgres || rows.is_empty() {
        return Ok(());
    }
    let gone = rows.iter().map(|row| column(row, 0)).collect::<Result<Vec<i64>>>()?;
    let (is_one, values) = any_of(database.backend(), &gone);
    let sql = format!("DELETE FROM search_trigrams WHERE rowid {is_one}");
    uow.execute(database.statement(&sql, [values])).await.map(drop)
}
