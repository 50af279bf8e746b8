//! What `$expand` found, as it stands within an answer.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Write as _;

use sea_orm::QueryResult;
use svc_core::Result;
use svc_data::value::ValueKind;
use svc_data::{Budget, Expense};
use svc_database::database_error;
use svc_odata::bind::ExpandMode;
use svc_odata::json::{push_name, push_string};

use super::row_json::write_json;

/// What a navigation property leads to, from each of several entities.
pub(super) struct Related {
    pub(super) name: String,
    pub(super) many: bool,
    pub(super) mode: ExpandMode,
    pub(super) counted: bool,
    /// Where a row has the value that leads there, and its kind.
    pub(super) from: (usize, ValueKind),
    pub(super) found: HashMap<String, Found>,
    /// What the request may cost: each text was paid for when it was made, and is again for each
    /// further copy.
    pub(super) budget: Option<Budget>,
}

#[derive(Default)]
pub(super) struct Found {
    pub(super) elements: String,
    /// How many entities are in them, at all levels.
    pub(super) written: u64,
    /// Whether they stand in the answer already.
    is_written: Cell<bool>,
    pub(super) count: u64,
    /// Where the others are asked for.
    pub(super) next: Option<String>,
}

/// How the value of a row is found again: as the JSON of what is stored. None for a row without one.
pub(super) fn name_of(
    row: &QueryResult,
    (place, kind): (usize, ValueKind),
) -> Result<Option<String>> {
    let mut name = String::with_capacity(40);
    write_json(kind.stored(), row, place, &mut name).map_err(database_error)?;
    Ok((name != "null").then_some(name))
}

impl Related {
    /// Writes what a row's entity is related to, with a comma behind it, and answers how many
    /// entities that are.
    ///
    /// # Errors
    ///
    /// Beyond what the request may cost.
    pub(super) fn write(&self, out: &mut String, row: &QueryResult) -> Result<u64> {
        let found = name_of(row, self.from)?.and_then(|name| self.found.get(&name));
        let count = found.map_or(0, |found| found.count);
        if self.counted || self.mode == ExpandMode::Count {
            push_name(out, &format!("{}@odata.count", self.name));
            let _ = write!(out, "{count},");
        }
        if self.mode == ExpandMode::Count {
            return Ok(0);
        }
        let written = found.map_or(0, |found| found.written);
        if let (Some(budget), Some(found)) = (&self.budget, found)
            && found.is_written.replace(true)
        {
            budget.spend(Expense::RelatedEntities, written)?;
            budget.spend(Expense::HeldBytes, found.elements.len() as u64)?;
        }
        push_name(out, &self.name);
        let elements = found.map(|found| &found.elements[..]).unwrap_or_default();
        let elements = elements.strip_suffix(',').unwrap_or(elements);
        match (self.many, elements) {
            (true, elements) => drop(write!(out, "[{elements}],")),
            (false, "") => out.push_str("null,"),
            (false, element) => drop(write!(out, "{element},")),
        }
        if let Some(next) = found.and_then(|found| found.next.as_ref()) {
            push_name(out, &format!("{}@odata.nextLink", self.name));
            push_string(out, next);
            out.push(',');
        }
        Ok(written)
    }
}
