//! Entities against their tables, at every start: what differs would otherwise be noticed by whoever reads or writes first.
//!
//! | Compared | Refused |
//! | --- | --- |
//! | tables and columns | an entity without its table, a field without its column |
//! | types | a column that holds another type than the field |
//! | null | a column that may be null where the field isn't an `Option`, or the other way round |
//! | defaults | a default that only one of the two knows |
//! | foreign keys | one between records of organisations that leaves the organisation out, so that a guessed id leads into another one |
//!
//! Tables and columns that are *more* than the entities are fine: those of a module that was taken out, or what only SQL
//! uses. A node of the release before goes on beside a newer schema; it isn't started anew on one
//! ([`svc_database::Migrations`]), so what is compared here is always the schema of this program.

mod draft;
mod found;

use std::sync::Arc;

use svc_core::{Error, Result};
use svc_database::{Backend, Database};

use crate::catalogue::Catalogue;
use crate::entity::{Column, EntityModel, Life, kept};
use crate::value::ValueKind;

pub(crate) use draft::draft;
use found::{ForeignKey, FoundColumn, Schema};

/// Compares the entities with the tables of a database.
///
/// # Errors
///
/// [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) with a line for everything that differs, and what to do.
pub(crate) async fn check(catalogue: &Catalogue, database: &Database) -> Result<()> {
    let schema = Schema::read(database).await?;
    let problems = problems(catalogue, &schema);
    if problems.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = problems.into_iter().map(|(_, problem)| problem).collect();
    Err(Error::conflict(format!(
        "entities and tables differ; `migrate --draft` prints what is missing:\n{}",
        lines.join("\n")
    )))
}

/// What differs, with the entity that it is about.
fn problems(catalogue: &Catalogue, schema: &Schema) -> Vec<(Arc<EntityModel>, String)> {
    let mut problems = Vec::new();
    for model in entities(catalogue) {
        let add =
            |problem: String| (Arc::clone(model), format!("module `{}`: {problem}", model.module));
        let Some(table) = schema.table(model.table) else {
            problems.push(add(format!(
                "there is no table `{}` for its entity; add a migration that creates it",
                model.table
            )));
            continue;
        };
        for column in &model.columns {
            let place = format!("`{}.{}`", model.table, column.name);
            match table.get(column.name) {
                Some(found) => {
                    let differing = differences(model, column, found, schema.backend);
                    problems
                        .extend(differing.into_iter().map(|what| add(format!("{place} {what}"))));
                }
                None => problems.push(add(format!(
                    "the entity has {place}, which the table hasn't; add a migration that adds the \
                     column, or take the field out"
                ))),
            }
        }
    }
    let keys = schema.foreign_keys.iter().filter_map(|key| open_key(catalogue, key));
    problems.extend(keys);
    problems
}

/// The entities, each once: that of what was deleted is the same.
fn entities(catalogue: &Catalogue) -> impl Iterator<Item = &Arc<EntityModel>> {
    catalogue.models().iter().filter(|model| model.life != Life::Deleted)
}

/// What differs between a field and its column.
fn differences(
    model: &EntityModel,
    column: &Column,
    found: &FoundColumn,
    backend: Backend,
) -> Vec<String> {
    let mut differing = Vec::new();
    let expected = types(column.kind.stored(), backend);
    if !expected.contains(&found.kind.as_str()) {
        differing.push(format!(
            "is `{}` in the table, but the field needs `{}`; change the column in a migration, or \
             the field's type",
            found.kind,
            written(column.kind)
        ));
    }
    if found.of_view {
        return differing;
    }
    if found.nullable && !column.nullable {
        differing.push(
            "may be null in the table, but the field isn't an `Option`; add `NOT NULL`, or make \
             it one"
                .to_owned(),
        );
    }
    if !found.nullable && column.nullable {
        differing.push(
            "can't be null in the table, but the field is an `Option`; take `NOT NULL` away, or \
             the `Option`"
                .to_owned(),
        );
    }
    if found.has_default && !column.has_default && !column.nullable && model.set.is_some() {
        differing.push(
            "has a default in the table that the set doesn't know, so it insists on a value; say \
             `#[sea_orm(default_value = …)]` in the entity, or take the default away"
                .to_owned(),
        );
    }
    if column.default.is_some() && !found.has_default {
        differing.push(format!(
            "has the default {} in the entity and none in the table; add it in a migration",
            column.default.as_deref().unwrap_or_default()
        ));
    }
    differing
}

/// A foreign key between records of organisations that doesn't compare the organisation.
fn open_key(catalogue: &Catalogue, key: &ForeignKey) -> Option<(Arc<EntityModel>, String)> {
    let model = catalogue.table(&key.table).filter(|model| model.is_organisation_scoped())?;
    let target = catalogue.table(&key.target).filter(|target| target.is_organisation_scoped())?;
    let organisation = (kept::ORGANISATION.to_owned(), kept::ORGANISATION.to_owned());
    if key.columns.contains(&organisation) {
        return None;
    }
    let (here, there) = key.columns.first()?;
    let problem = format!(
        "module `{}`: the foreign key `{}.{here}` leaves the organisation out, so that it may lead \
         into another one; write `FOREIGN KEY (organisation_id, {here}) REFERENCES {} \
         (organisation_id, {there})`, with `UNIQUE (organisation_id, {there})` there",
        model.module, key.table, target.table
    );
    Some((Arc::clone(model), problem))
}

/// The names of the types in which a database may hold values of a kind, in lower case and without sizes.
fn types(kind: ValueKind, backend: Backend) -> &'static [&'static str] {
    let postgres = backend == Backend::Postgres;
    match kind {
        ValueKind::Boolean => &["boolean", "bool"],
        // What PostgreSQL sends has a width, which is read as such; SQLite has one kind of number.
        ValueKind::Int16 if postgres => &["smallint"],
        ValueKind::Int32 if postgres => &["integer"],
        ValueKind::Int64 if postgres => &["bigint"],
        ValueKind::Int16 | ValueKind::Int32 | ValueKind::Int64 => {
            &["smallint", "integer", "int", "bigint"]
        }
        // Its `real` has half the width.
        ValueKind::Double if postgres => &["double precision"],
        ValueKind::Double => &["double precision", "double", "float8", "real"],
        ValueKind::Decimal { .. } if postgres => &["numeric"],
        ValueKind::Decimal { .. } => &["real"],
        ValueKind::Text { .. } => &["text", "character varying", "character", "varchar", "char"],
        ValueKind::Uuid => &["uuid", "blob"],
        ValueKind::Timestamp if postgres => &["timestamp with time zone"],
        ValueKind::Timestamp => &["timestamp with time zone", "timestamptz", "text"],
        ValueKind::Date if postgres => &["date"],
        ValueKind::Date => &["date", "text"],
        ValueKind::Time if postgres => &["time without time zone"],
        ValueKind::Time => &["time", "text"],
        ValueKind::Bytes => &["bytea", "blob"],
        ValueKind::Json if postgres => &["json", "jsonb"],
        ValueKind::Json => &["json", "jsonb", "text"],
        // What is stored of one is a text or a number.
        ValueKind::Enumeration(_) => &[],
    }
}

/// The type as a migration writes it, which both databases take.
fn written(kind: ValueKind) -> String {
    let name = match kind.stored() {
        ValueKind::Boolean => "BOOLEAN",
        ValueKind::Int16 => "SMALLINT",
        ValueKind::Int32 => "INTEGER",
        ValueKind::Int64 => "BIGINT",
        ValueKind::Double => "DOUBLE PRECISION",
        ValueKind::Decimal { precision, scale } => return format!("NUMERIC({precision}, {scale})"),
        ValueKind::Uuid => "UUID",
        ValueKind::Timestamp => "TIMESTAMPTZ",
        ValueKind::Date => "DATE",
        ValueKind::Time => "TIME",
        ValueKind::Bytes => "BYTEA",
        ValueKind::Json => "JSONB",
        ValueKind::Text { .. } | ValueKind::Enumeration(_) => "TEXT",
    };
    name.to_owned()
}
