//! The statements on entries, for either database.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use sea_orm::{QueryResult, Value};
use svc_core::{KeyRing, Result, micros};
use svc_data::{Context, UnitOfWork};
use svc_database::{Cell, CellKind, ROWS_AT_ONCE, RowTable, column};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::entry::{self, Content, Operation, Stored};
use crate::seal;

mod upkeep;

pub(crate) use upkeep::{
    Seal, between, blank, delete, insert_seal, last_seal, lock_seals, next_organisation,
    next_sealed_organisation, places, seal_after,
};

/// Who did something, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Author {
    pub(crate) user: Option<Uuid>,
    pub(crate) name: String,
    pub(crate) key: Option<Uuid>,
    pub(crate) work: Option<Uuid>,
}

/// An entry as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) organisation: Uuid,
    pub(crate) id: Uuid,
    /// The set; of an event its name.
    pub(crate) set: String,
    pub(crate) key: String,
    pub(crate) position: i64,
    pub(crate) operation: Operation,
    pub(crate) author: Author,
    pub(crate) request: Uuid,
    pub(crate) unit: Uuid,
    pub(crate) took_back: Option<Uuid>,
    pub(crate) stored: Stored,
    /// Whether the index of units of work finds it; one that is alone in its unit of work mostly has
    /// the identifier of that instead.
    pub(crate) shares_unit: bool,
    /// Whether its values were blanked.
    pub(crate) is_blanked: bool,
}

impl Row {
    /// What it says, in clear.
    pub(crate) fn content(&self, keys: &KeyRing) -> Result<Content> {
        Content::read(&self.stored, keys)
    }

    /// When it was made, in milliseconds, as its identifier tells.
    pub(crate) fn time(&self) -> OffsetDateTime {
        micros::to_time(micros::of_id(self.id))
    }

    /// The record's version after the change; of one that was removed for good its last.
    pub(crate) fn version(&self) -> i64 {
        self.position / 2
    }

    /// A digest of all that is stored of it.
    pub(crate) fn digest(&self) -> String {
        let numbers = format!(
            "{} {} {} {}",
            self.position,
            self.operation.code(),
            self.shares_unit,
            self.is_blanked
        );
        let ids = [Some(self.organisation), Some(self.id), self.author.user, self.author.key];
        let more = [self.author.work, Some(self.request), Some(self.unit), self.took_back];
        let ids =
            ids.into_iter().chain(more).map(|id| id.map_or("-".to_owned(), |id| id.to_string()));
        let ids = ids.collect::<Vec<_>>().join(" ");
        let Stored { after, before, protected } = &self.stored;
        let texts = [&numbers, &ids, &self.set, &self.key, &self.author.name];
        let values = [after, before, protected].map(Option::as_deref);
        seal::digest_of(texts.map(|text| Some(text.as_str())).into_iter().chain(values))
    }

    fn cells(&self) -> [Cell<'_>; 17] {
        let Stored { after, before, protected } = &self.stored;
        [
            self.id.into(),
            self.organisation.into(),
            self.set.as_str().into(),
            self.key.as_str().into(),
            self.position.into(),
            self.operation.code().into(),
            self.author.user.into(),
            self.author.name.as_str().into(),
            self.author.key.into(),
            self.author.work.into(),
            self.request.into(),
            self.unit.into(),
            self.took_back.into(),
            after.as_deref().into(),
            before.as_deref().into(),
            protected.as_deref().into(),
            i16::from(self.shares_unit).into(),
        ]
    }

    fn values(self) -> [Value; 17] {
        let Stored { after, before, protected } = self.stored;
        [
            self.id.into(),
            self.organisation.into(),
            self.set.into(),
            self.key.into(),
            self.position.into(),
            self.operation.code().into(),
            self.author.user.into(),
            self.author.name.into(),
            self.author.key.into(),
            self.author.work.into(),
            self.request.into(),
            self.unit.into(),
            self.took_back.into(),
            after.into(),
            before.into(),
            protected.into(),
            i16::from(self.shares_unit).into(),
        ]
    }

    fn read(row: &QueryResult) -> Result<Self> {
        Ok(Self {
            id: column(row, 0)?,
            organisation: column(row, 1)?,
            set: column(row, 2)?,
            key: column(row, 3)?,
            position: column(row, 4)?,
            operation: Operation::from_code(column(row, 5)?)?,
            author: Author {
                user: column(row, 6)?,
                name: column(row, 7)?,
                key: column(row, 8)?,
                work: column(row, 9)?,
            },
            request: column(row, 10)?,
            unit: column(row, 11)?,
            took_back: column(row, 12)?,
            stored: Stored {
                after: column(row, 13)?,
                before: column(row, 14)?,
                protected: column(row, 15)?,
            },
            shares_unit: column::<i16>(row, 16)? != 0,
            is_blanked: column::<i16>(row, 17)? != 0,
        })
    }
}

const COLUMNS: [(&str, CellKind); 17] = [
    ("id", CellKind::Uuid),
    ("organisation_id", CellKind::Uuid),
    ("set_name", CellKind::Text),
    ("record_key", CellKind::Text),
    ("position", CellKind::BigInt),
    ("operation", CellKind::SmallInt),
    ("user_id", CellKind::Uuid),
    ("user_name", CellKind::Text),
    ("api_key_id", CellKind::Uuid),
    ("work_id", CellKind::Uuid),
    ("request_id", CellKind::Uuid),
    ("unit_id", CellKind::Uuid),
    ("took_back", CellKind::Uuid),
    ("row_after", CellKind::Text),
    ("row_before", CellKind::Text),
    ("protected", CellKind::Text),
    ("shares_unit", CellKind::SmallInt),
];

fn names(prefix: &str) -> String {
    COLUMNS.map(|(name, _)| format!("{prefix}{name}")).join(", ")
}

/// What is read of an entry.
fn selected() -> String {
    names("") + ", blanked"
}

/// The statement that stores one entry. Most units of work have one, and a table of rows costs the
/// databases more than that.
static INSERT_ONE: LazyLock<String> = LazyLock::new(|| {
    let marks = vec!["?"; COLUMNS.len()].join(", ");
    format!("INSERT INTO history_entries ({}) VALUES ({marks})", names(""))
});

/// Stores entries, at the end of the unit of work.
pub(crate) fn insert(uow: &UnitOfWork, mut rows: Vec<Row>) {
    let database = uow.context().database();
    if rows.len() == 1
        && let Some(row) = rows.pop()
    {
        uow.execute_last(database.statement(&INSERT_ONE, row.values()));
    }
    for part in rows.chunks(ROWS_AT_ONCE) {
        let RowTable { sql, values } =
            RowTable::new(database.backend(), &COLUMNS, part.iter().map(Row::cells));
        let (into, from) = (names(""), names("r."));
        let sql = format!("INSERT INTO history_entries ({into}) SELECT {from} FROM {sql}");
        uow.execute_last(database.statement(&sql, values));
    }
}

/// The entries of a unit of work in an organisation, as a table: one that is alone has the identifier of
/// the unit of work, the others are found by an index. [`values_of`] has the values.
const OF_UNIT: &str = "(\
    SELECT * FROM history_entries WHERE organisation_id = ? AND id = ? AND shares_unit = 0 UNION ALL \
    SELECT * FROM history_entries WHERE organisation_id = ? AND unit_id = ? AND shares_unit = 1\
    ) AS history_entries";

/// The entries of a request in an organisation, as a table: one that is alone in a unit of work that has
/// the identifier of its request has that, too, the others are found by an index. [`values_of`] has
/// the values.
const OF_REQUEST: &str = "(\
    SELECT * FROM history_entries WHERE organisation_id = ? AND id = ? AND request_id = id UNION ALL \
    SELECT * FROM history_entries WHERE organisation_id = ? AND request_id = ? AND request_id <> id\
    ) AS history_entries";

/// The values of [`OF_UNIT`] and [`OF_REQUEST`].
fn values_of(organisation: Uuid, id: Uuid) -> Vec<Value> {
    vec![organisation.into(), id.into(), organisation.into(), id.into()]
}

/// Takes the entry of a record out that this unit of work stored already.
pub(crate) async fn take(
    uow: &UnitOfWork,
    organisation: Uuid,
    set: &str,
    key: &str,
) -> Result<Option<Row>> {
    let database = uow.context().database();
    let sql = format!("SELECT {} FROM {OF_UNIT} WHERE set_name = ? AND record_key = ?", selected());
    let mut values = values_of(organisation, uow.id());
    values.extend([set.into(), key.into()]);
    let rows = uow.rows(database.statement(&sql, values)).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let row = Row::read(row)?;
    let sql = "DELETE FROM history_entries WHERE organisation_id = ? AND id = ?";
    uow.execute(database.statement(sql, [organisation.into(), row.id.into()])).await?;
    Ok(Some(row))
}

async fn rows(ctx: &Context, sql: &str, values: Vec<Value>) -> Result<Vec<Row>> {
    let rows = ctx.run(ctx.database().statement(sql, values)).await?;
    rows.iter().map(Row::read).collect()
}

/// Records that one statement finds the newest entries of.
const RECORDS_AT_ONCE: usize = 50;

/// Where a page of a record's entries ended: its position and its identifier.
pub(crate) type Place = (i64, Uuid);

/// The entries of a record, the newest first, behind a place.
pub(crate) async fn of_record(
    ctx: &Context,
    organisation: Uuid,
    set: &str,
    key: &str,
    behind: Option<Place>,
    count: u64,
) -> Result<Vec<Row>> {
    let mut values: Vec<Value> = vec![organisation.into(), set.into(), key.into()];
    let behind = behind.map_or("", |(position, id)| {
        values.extend([position.into(), id.into()]);
        "AND (position, id) < (?, ?)"
    });
    let sql = format!(
        "SELECT {} FROM history_entries WHERE organisation_id = ? AND set_name = ? \
         AND record_key = ? {behind} ORDER BY position DESC, id DESC LIMIT {count}",
        selected()
    );
    rows(ctx, &sql, values).await
}

/// The place of the newest change of a record.
pub(crate) async fn last_position(
    ctx: &Context,
    organisation: Uuid,
    set: &str,
    key: &str,
) -> Result<Option<i64>> {
    let sql = "SELECT MAX(position) FROM history_entries WHERE organisation_id = ? AND set_name = ? \
               AND record_key = ?";
    let values: [Value; 3] = [organisation.into(), set.into(), key.into()];
    let row = ctx.run_one(ctx.database().statement(sql, values)).await?;
    row.map_or(Ok(None), |row| column(&row, 0))
}

/// What happened to a record, the newest first, behind a place: its changes, and the events about it of these names.
pub(crate) async fn told_of_record(
    ctx: &Context,
    organisation: Uuid,
    (set, key): (&str, &str),
    events: &[String],
    behind: Option<Place>,
    count: u64,
) -> Result<Vec<Row>> {
    let about = entry::key_of_events(set, key);
    let streams = std::iter::once((set, key)).chain(events.iter().map(|it| (&**it, &*about)));
    let mut values: Vec<Value> = Vec::new();
    let mut parts = Vec::new();
    for (number, (set, key)) in streams.enumerate() {
        values.extend([organisation.into(), set.into(), key.into()]);
        let behind = behind.map_or("", |(position, id)| {
            values.extend([position.into(), id.into()]);
            "AND (position, id) < (?, ?)"
        });
        parts.push(format!(
            "SELECT * FROM (SELECT {} FROM history_entries WHERE organisation_id = ? AND set_name = ? \
             AND record_key = ? {behind} ORDER BY position DESC, id DESC LIMIT {count}) AS part_{number}",
            selected()
        ));
    }
    let sql = format!(
        "SELECT * FROM ({}) AS told ORDER BY position DESC, id DESC LIMIT {count}",
        parts.join(" UNION ALL ")
    );
    rows(ctx, &sql, values).await
}

/// One entry of a record.
pub(crate) async fn one(
    ctx: &Context,
    organisation: Uuid,
    set: &str,
    key: &str,
    id: Uuid,
) -> Result<Option<Row>> {
    let values = vec![organisation.into(), id.into(), set.into(), key.into()];
    let sql = format!(
        "SELECT {} FROM history_entries WHERE organisation_id = ? AND id = ? AND set_name = ? \
         AND record_key = ?",
        selected()
    );
    Ok(rows(ctx, &sql, values).await?.pop())
}

/// The newest entry of each of some records of a set.
pub(crate) async fn newest_of(
    ctx: &Context,
    organisation: Uuid,
    set: &str,
    keys: &[&str],
) -> Result<Vec<Row>> {
    let mut newest = Vec::with_capacity(keys.len());
    for part in keys.chunks(RECORDS_AT_ONCE) {
        let one = |number: usize| {
            format!(
                "SELECT * FROM (SELECT {} FROM history_entries WHERE organisation_id = ? \
                 AND set_name = ? AND record_key = ? ORDER BY position DESC, id DESC LIMIT 1) \
                 AS of_{number}",
                selected()
            )
        };
        let sql = (0..part.len()).map(one).collect::<Vec<_>>().join(" UNION ALL ");
        let values = part.iter().flat_map(|key| [organisation.into(), set.into(), (*key).into()]);
        newest.extend(rows(ctx, &sql, values.collect()).await?);
    }
    Ok(newest)
}

/// Who made entries, as far as people of the own organisation did.
pub(crate) async fn authors(ctx: &Context, ids: &[Uuid]) -> Result<HashMap<Uuid, Author>> {
    let organisation = ctx.organisation()?.0;
    let mut authors = HashMap::new();
    for part in ids.chunks(ROWS_AT_ONCE) {
        let sql = format!(
            "SELECT {} FROM history_entries WHERE organisation_id = ? AND id IN ({})",
            selected(),
            vec!["?"; part.len()].join(", ")
        );
        let values = std::iter::once(&organisation).chain(part).map(|id| (*id).into()).collect();
        authors.extend(rows(ctx, &sql, values).await?.into_iter().map(|row| (row.id, row.author)));
    }
    Ok(authors)
}

/// What to look for in the audit log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) user: Option<Uuid>,
    pub(crate) set: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) operation: Option<Operation>,
    pub(crate) unit: Option<Uuid>,
    pub(crate) request: Option<Uuid>,
    /// Only those from this identifier on.
    pub(crate) since: Option<Uuid>,
    /// Only those before this identifier.
    pub(crate) before: Option<Uuid>,
}

impl Filter {
    /// Whether it names what no index finds.
    pub(crate) fn is_searched(&self) -> bool {
        self.user.is_some()
            || self.set.is_some()
            || self.key.is_some()
            || self.event.is_some()
            || self.operation.is_some()
    }
}

/// The last of the next entries that a page looks at, `count` of them; none where there are no more.
pub(crate) async fn window_end(ctx: &Context, filter: &Filter, count: u64) -> Result<Option<Uuid>> {
    let all = Filter {
        since: filter.since,
        before: filter.before,
        unit: filter.unit,
        request: filter.request,
        ..Filter::default()
    };
    let (source, conditions, values) = found(ctx, &all)?;
    let sql = format!(
        "SELECT id FROM {source} WHERE {conditions} ORDER BY id DESC LIMIT 1 OFFSET {}",
        count - 1
    );
    let rows = ctx.run(ctx.database().statement(&sql, values)).await?;
    rows.first().map(|row| column(row, 0)).transpose()
}

/// The newest entries of the organisation that a filter names.
pub(crate) async fn audit(ctx: &Context, filter: &Filter, count: u64) -> Result<Vec<Row>> {
    let (source, conditions, values) = found(ctx, filter)?;
    let sql = format!(
        "SELECT {} FROM {source} WHERE {conditions} ORDER BY id DESC LIMIT {count}",
        selected()
    );
    rows(ctx, &sql, values).await
}

/// Among which entries a filter looks, by which conditions, with the values of both.
fn found(ctx: &Context, filter: &Filter) -> Result<(&'static str, String, Vec<Value>)> {
    let event = Operation::Event.code();
    let Filter { user, set, key, operation, unit, request, since, before, .. } = filter;
    let is = |column: &str| format!("{column} = ?");
    let all: [(String, Option<Value>); 8] = [
        (is("user_id"), user.map(Value::from)),
        (format!("operation <> {event} AND set_name = ?"), set.clone().map(Value::from)),
        (is("record_key"), key.clone().map(Value::from)),
        (format!("operation = {event} AND set_name = ?"), filter.event.clone().map(Value::from)),
        (is("operation"), operation.map(|operation| operation.code().into())),
        (is("request_id"), request.map(Value::from)),
        ("id >= ?".to_owned(), since.map(Value::from)),
        ("id < ?".to_owned(), before.map(Value::from)),
    ];
    let organisation = ctx.organisation()?.0;
    let (source, mut values) = match (unit, request) {
        (Some(unit), _) => (OF_UNIT, values_of(organisation, *unit)),
        (None, Some(request)) => (OF_REQUEST, values_of(organisation, *request)),
        (None, None) => ("history_entries", Vec::new()),
    };
    let mut sql = is("organisation_id");
    values.push(organisation.into());
    for (condition, value) in all {
        if let Some(value) = value {
            let _ = write!(sql, " AND {condition}");
            values.push(value);
        }
    }
    Ok((source, sql, values))
}

/// What a unit of work did, in its order.
pub(crate) async fn of_unit(ctx: &Context, unit: Uuid, count: usize) -> Result<Vec<Row>> {
    let sql = format!("SELECT {} FROM {OF_UNIT} ORDER BY id LIMIT {count}", selected());
    rows(ctx, &sql, values_of(ctx.organisation()?.0, unit)).await
}
