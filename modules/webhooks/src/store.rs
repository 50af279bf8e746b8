//! The statements on the queue and the log of deliveries, for either database.
//!
//! Lists travel so that each statement has few texts whatever the number of rows, and is prepared
//! once. What is filled into a text is never data.

pub(crate) mod allowances;
pub(crate) mod backfills;
pub(crate) mod cancel;
pub(crate) mod changes;
pub(crate) mod claim;
pub(crate) mod deletions;
pub(crate) mod feed;
pub(crate) mod hand_overs;
pub(crate) mod insert;
pub(crate) mod log;
pub(crate) mod ordered;
pub(crate) mod owners;
pub(crate) mod pace;
pub(crate) mod queues;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod subscribers;
pub(crate) mod subscriptions;
pub(crate) mod wide;

use sea_orm::{DbErr, QueryResult, Value};
use svc_core::Result;
use svc_database::{Backend, database_error};
use uuid::Uuid;

/// Reads all rows.
pub(crate) fn read_all<T>(
    rows: &[QueryResult],
    read: impl Fn(&QueryResult) -> Result<T, DbErr>,
) -> Result<Vec<T>> {
    rows.iter().map(read).collect::<Result<_, _>>().map_err(database_error)
}

/// The deliveries as `d`, for conditions on those that wait: along the index of these.
///
/// SQLite doesn't count on that index to keep `status < 2`, so it would rather take that of the log, which has a column for
/// it, and sort all that waits for an endpoint to find the first.
pub(crate) fn deliveries_that_wait(backend: Backend) -> &'static str {
    match backend {
        Backend::Postgres => "webhooks_deliveries AS d",
        Backend::Sqlite => "webhooks_deliveries AS d INDEXED BY webhooks_deliveries_waiting",
    }
}

/// The condition that a column is one of a list of identifiers, which [`ids`] makes a value of.
///
/// PostgreSQL takes an array as a few values, so it looks each up, whatever it believes of the
/// size of the table.
pub(crate) fn is_one_of(backend: Backend, column: &str) -> String {
    match backend {
        Backend::Postgres => format!("{column} = ANY(CAST(string_to_array(?, ',') AS uuid[]))"),
        Backend::Sqlite => {
            format!(
                "{column} IN (SELECT unhex(value) FROM json_each('[\"' || replace(?, ',', '\",\"') || '\"]'))"
            )
        }
    }
}

/// A list of identifiers as a table `listed (id)`, which [`ids`] makes a value of: for joins.
///
/// SQLite goes along a CROSS JOIN in the order in which it is written. With the list first it looks
/// each row up, whatever other conditions there are; without statistics it would rather walk all that
/// an index tells of one of these.
pub(crate) fn listed(backend: Backend) -> &'static str {
    match backend {
        Backend::Postgres => "unnest(CAST(string_to_array(?, ',') AS uuid[])) AS listed (id)",
        Backend::Sqlite => {
            "(SELECT unhex(value) AS id \
             FROM json_each('[\"' || replace(?, ',', '\",\"') || '\"]')) AS listed"
        }
    }
}

/// A list of identifiers as the value that [`is_one_of`] and [`listed`] expect.
pub(crate) fn ids(ids: impl IntoIterator<Item = Uuid>) -> Value {
    let mut text = String::new();
    for id in ids {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(id.simple().encode_lower(&mut Uuid::encode_buffer()));
    }
    text.into()
}

/// Where a walk along all deliveries of an endpoint is: at a status, behind a delivery, since that is how
/// the index tells them. Each step goes on behind the one before, and steps over nothing again.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    status: i16,
    after: Uuid,
}

impl Place {
    /// Behind a step; `is_all` where it found no more of the status.
    fn behind(self, step: &[Uuid], is_all: bool) -> Self {
        match step.iter().max().filter(|_| !is_all) {
            Some(after) => Self { after: *after, ..self },
            None => Self { status: self.status + 1, ..Self::default() },
        }
    }
}

/// A new identifier with the time of another: of what is made later and belongs to it.
pub(crate) fn as_old_as(old: Uuid, new: Uuid) -> Uuid {
    const REST: u128 = (1 << 80) - 1;
    Uuid::from_u128(old.as_u128() & !REST | new.as_u128() & REST)
}
