//! The first rows of each group, for what is done by turns.

use crate::backend::Backend;

/// The first rows of each of the next groups, such as an organisation's oldest jobs: a few steps along one
/// index for each group, whatever it holds.
///
/// The rows are `m`, the groups are `turns`, with an `id` and a `number` from 1 on.
pub struct FirstOfEach<'a> {
    /// The table.
    pub table: &'a str,
    /// The column by which rows are grouped, never null. It stands in an index behind the columns that
    /// `among` fixes, and before those of `order`.
    pub group: &'a str,
    /// Which rows make the groups.
    pub among: &'a str,
    /// Which of a group's rows are told, behind `AND`; a group that has none of these is told with a row of
    /// nothing. None tells all.
    pub told: Option<&'a str>,
    /// The order of a group's rows.
    pub order: &'a str,
    /// What is read of each row, behind the group's number.
    pub columns: &'a str,
    /// The most groups.
    pub groups: usize,
}

impl FirstOfEach<'_> {
    /// The statement. Its values are those of `among`, the group to begin at or behind, those of `among` twice
    /// more, those of `told`, and how many rows of a group are read.
    #[must_use]
    pub fn sql(&self, backend: Backend, begins_behind: bool) -> String {
        let Self { table, group, among, order, columns, groups, .. } = self;
        let next = |condition: &str| {
            format!(
                "(SELECT m.{group} FROM {table} m WHERE {among} \
                 AND m.{group} {condition} ORDER BY m.{group} LIMIT 1)"
            )
        };
        let told = self.told.map(|told| format!(" AND {told}")).unwrap_or_default();
        let first = |columns: &str| {
            format!(
                "(SELECT {columns} FROM {table} m WHERE {among} AND m.{group} = turns.id{told} \
                 ORDER BY {order} LIMIT ?)"
            )
        };
        let join = if told.is_empty() { "JOIN" } else { "LEFT JOIN" };
        let rows = match backend {
            Backend::Postgres => format!("LATERAL {} AS m ON TRUE", first("m.*")),
            Backend::Sqlite => format!("{table} AS m ON m.rowid IN {}", first("m.rowid")),
        };
        format!(
            "WITH RECURSIVE turns (id, number) AS (SELECT {}, 1 UNION ALL \
             SELECT {}, turns.number + 1 FROM turns \
             WHERE turns.id IS NOT NULL AND turns.number < {groups}) \
             SELECT turns.number, {columns} FROM turns {join} {rows} \
             WHERE turns.id IS NOT NULL ORDER BY turns.number, {order}",
            next(if begins_behind { "> ?" } else { ">= ?" }),
            next("> turns.id"),
        )
    }
}
