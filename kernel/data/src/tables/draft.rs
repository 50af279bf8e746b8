//! The SQL from what the tables are to what the entities say, as the text of a migration that both databases take.
//!
//! It is a beginning: lengths, rules of values and indexes for searches are what only a person knows. What can't be
//! said without knowing what is stored (another type, `NOT NULL`) stands in it as a comment.

use std::fmt::Write as _;
use std::sync::Arc;

use svc_core::Result;
use svc_database::Database;

use super::found::Schema;
use super::{entities, problems, written};
use crate::catalogue::Catalogue;
use crate::entity::{Column, EntityModel, Relation, kept};

/// Writes what is missing; empty where the tables are what the entities say.
pub(crate) async fn draft(catalogue: &Catalogue, database: &Database) -> Result<String> {
    let schema = Schema::read(database).await?;
    let missing = entities(catalogue).filter(|model| schema.table(model.table).is_none());
    let mut text = String::new();
    for model in in_order(missing.collect()) {
        text.push_str(&create_table(catalogue, model));
    }
    for model in entities(catalogue) {
        let Some(table) = schema.table(model.table) else { continue };
        for column in model.columns.iter().filter(|column| !table.contains_key(column.name)) {
            let definition = definition(model, column);
            let _ = writeln!(text, "ALTER TABLE {} ADD COLUMN {definition};", model.table);
            if !column.nullable && column.default.is_none() {
                let _ = writeln!(
                    text,
                    "-- It can't be added to rows that are there without a default."
                );
            }
        }
    }
    for (model, problem) in problems(catalogue, &schema) {
        let missing = |column: &Column| {
            schema.table(model.table).is_none_or(|table| !table.contains_key(column.name))
        };
        let place =
            |column: &&Column| problem.contains(&format!("`{}.{}`", model.table, column.name));
        let is_drafted = schema.table(model.table).is_none()
            || model.columns.iter().find(place).is_some_and(missing);
        if !is_drafted {
            let _ = writeln!(text, "-- {problem}");
        }
    }
    Ok(text)
}

/// Tables after those that they refer to. Of those that refer to each other, the first comes first.
fn in_order(mut models: Vec<&Arc<EntityModel>>) -> Vec<&Arc<EntityModel>> {
    let mut ordered: Vec<&Arc<EntityModel>> = Vec::new();
    while !models.is_empty() {
        let waits = |model: &EntityModel| {
            references(model).any(|to| {
                to.target != model.table && models.iter().any(|other| other.table == to.target)
            })
        };
        let next = models.iter().position(|model| !waits(model)).unwrap_or_default();
        ordered.push(models.remove(next));
    }
    ordered
}

/// The relations of which the entity holds the key.
fn references(model: &EntityModel) -> impl Iterator<Item = &Relation> {
    model.relations.iter().filter(|to| !to.many && to.column != model.key_index())
}

fn create_table(catalogue: &Catalogue, model: &EntityModel) -> String {
    let mut lines: Vec<String> =
        model.columns.iter().map(|column| definition(model, column)).collect();
    let is_owned = model.is_organisation_scoped();
    let owner = if is_owned { format!("{}, ", kept::ORGANISATION) } else { String::new() };
    if is_owned {
        lines.push(format!("UNIQUE ({owner}{})", model.key().name));
    }
    for key in model.set.iter().flat_map(|set| &set.alternate_keys) {
        let names: Vec<&str> = key.iter().map(|index| model.columns[*index].name).collect();
        lines.push(format!("UNIQUE ({owner}{})", names.join(", ")));
    }
    let mut indexes = String::new();
    for Relation { column, target, target_column, .. } in references(model) {
        let here = model.columns[*column].name;
        let both = is_owned
            && catalogue.table(target).is_some_and(|target| target.is_organisation_scoped());
        let of = if both { owner.as_str() } else { "" };
        lines.push(format!("FOREIGN KEY ({of}{here}) REFERENCES {target} ({of}{target_column})"));
        let table = model.table;
        let _ = writeln!(indexes, "CREATE INDEX {table}_{here} ON {table} ({owner}{here});");
    }
    format!("CREATE TABLE {} (\n    {}\n);\n{indexes}", model.table, lines.join(",\n    "))
}

/// A column as `CREATE TABLE` has it.
fn definition(model: &EntityModel, column: &Column) -> String {
    let mut text = format!("{} {}", column.name, written(column.kind));
    if column.name == model.key().name {
        text.push_str(" PRIMARY KEY");
    } else if !column.nullable {
        text.push_str(" NOT NULL");
    }
    if let Some(default) = &column.default {
        let _ = write!(text, " DEFAULT {default}");
    }
    text
}
