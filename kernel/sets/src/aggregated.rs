//! Aggregated rows, as objects.

use sea_orm::QueryResult;
use svc_core::Result;
use svc_database::{Backend, database_error};
use svc_odata::json::push_name;

use super::form::Form;
use super::row_json::close;

/// A column of aggregated rows.
pub(super) struct AggregatedColumn<'q> {
    /// Its path in the object that stands for the row.
    pub(super) path: Vec<&'q str>,
    /// The form its values come in.
    pub(super) form: Form,
}

/// Writes the values of a row as an object; what was grouped by along a path stands in objects
/// along that path.
pub(super) fn write_aggregated(
    out: &mut String,
    backend: Backend,
    columns: &[AggregatedColumn<'_>],
    row: &QueryResult,
) -> Result<()> {
    let all: Vec<usize> = (0..columns.len()).collect();
    write_level(out, backend, columns, &all, 0, row)
}

fn write_level(
    out: &mut String,
    backend: Backend,
    columns: &[AggregatedColumn<'_>],
    here: &[usize],
    depth: usize,
    row: &QueryResult,
) -> Result<()> {
    out.push('{');
    let mut written: Vec<&str> = Vec::new();
    for place in here {
        let AggregatedColumn { path, form } = &columns[*place];
        let name = path[depth];
        if path.len() == depth + 1 {
            push_name(out, name);
            form.write_json(backend, row, *place, out).map_err(database_error)?;
            out.push(',');
        } else if !written.contains(&name) {
            written.push(name);
            let within = |place: &usize| {
                let path = &columns[*place].path;
                path.len() > depth + 1 && path[depth] == name
            };
            let within: Vec<usize> = here.iter().copied().filter(|place| within(place)).collect();
            push_name(out, name);
            write_level(out, backend, columns, &within, depth + 1, row)?;
            out.push(',');
        }
    }
    close(out, '}');
    Ok(())
}
