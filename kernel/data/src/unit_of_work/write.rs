//! The one path that writes records, whether a command or an OData request asks.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use sea_orm::sea_query::{Expr, ExprTrait as _, Query, SelectStatement, UpdateStatement};
use sea_orm::{QueryResult, Value};
use svc_core::{Error, OrganisationId, Result};
use svc_database::stored::truncate;
use svc_database::{Backend, database_error};

use super::UnitOfWork;
use super::refusal::Attempt;
use crate::entity::{Column, EntityModel, Life};
use crate::record::{Change, ChangeKind, Record};
use crate::value::ValueKind;

/// Values for the columns of one record; none where nothing was said.
pub type NewValues = Vec<Option<Value>>;

/// Which version of a record a change is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Whatever is there.
    Any,
    /// This one; another is [`ErrorKind::PreconditionFailed`](svc_core::ErrorKind).
    Version(i64),
}

/// The most rows that one INSERT carries.
const ROWS_AT_ONCE: usize = 200;

impl UnitOfWork {
    /// Inserts records, and answers with them as they were stored.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid), by property, for values that break a
    /// rule; [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict) for a duplicate.
    #[must_use]
    pub fn insert_records<'a>(
        &'a self,
        model: &'a Arc<EntityModel>,
        rows: Vec<NewValues>,
    ) -> BoxFuture<'a, Result<Vec<Record>>> {
        Box::pin(async move {
            let mut rows: Vec<NewValues> =
                rows.into_iter().map(|row| self.complete(model, row)).collect::<Result<_>>()?;
            self.go_on_counting(model, &mut rows).await?;
            let mut records = Vec::with_capacity(rows.len());
            for chunk in
                rows.chunk_by(|a, b| said(a).eq(said(b))).flat_map(|c| c.chunks(ROWS_AT_ONCE))
            {
                let inserted = self.insert_chunk(model, chunk).await?;
                for record in inserted {
                    self.capture(Change {
                        author: self.context.author(),
                        unit_of_work: self.id(),
                        model: Arc::clone(model),
                        kind: ChangeKind::Created,
                        organisation: organisation_of(model, &record),
                        before: None,
                        after: Some(record.clone()),
                        changed: Vec::new(),
                    });
                    records.push(record);
                }
            }
            Ok(records)
        })
    }

    /// Inserts rows that say the same columns. Where they leave the database nothing to add, they
    /// are what is stored, and nobody reads them back.
    async fn insert_chunk(&self, model: &EntityModel, rows: &[NewValues]) -> Result<Vec<Record>> {
        let Some(first) = rows.first() else { return Ok(Vec::new()) };
        let leaves_nothing = first.iter().zip(&model.columns).all(|(value, column)| {
            // PostgreSQL keeps JSON in a form of its own.
            value.is_some() && column.kind != ValueKind::Json
        });
        let mut insert = Query::insert();
        insert
            .into_table(model.table_iden())
            .columns(said(first).map(|index| model.column_iden(index)));
        if !leaves_nothing {
            insert.returning(Query::returning().columns(model.column_idens()));
        }
        for row in rows {
            insert.values_panic(row.iter().flatten().cloned().map(Expr::val));
        }
        let statement = self.shared.data.database.build(&insert);
        let inserted = if leaves_nothing {
            self.execute(statement).await.map(|_| None)
        } else {
            self.rows(statement).await.map(Some)
        };
        match inserted {
            Ok(None) => {
                Ok(rows.iter().map(|row| row.iter().flatten().cloned().collect()).collect())
            }
            Ok(Some(inserted)) => Ok(in_order_of(model, rows, read_all(model, &inserted)?)),
            Err(error) if rows.len() == 1 => {
                let values: Vec<_> =
                    said(first).filter_map(|index| Some((index, first[index].as_ref()?))).collect();
                Err(self.refusal(model, Attempt::Store(&values), error).await)
            }
            Err(error) => Err(self.refusal(model, Attempt::StoreMany, error).await),
        }
    }

    /// One record by its key, locked until the unit of work ends.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when it is unknown or of another
    /// organisation.
    #[must_use]
    pub fn locked_record<'a>(
        &'a self,
        model: &'a EntityModel,
        key: &'a Value,
    ) -> BoxFuture<'a, Result<Record>> {
        Box::pin(async move { self.locked(model, key, model.life).await })
    }

    async fn locked(&self, model: &EntityModel, key: &Value, life: Life) -> Result<Record> {
        let mut select: SelectStatement = Query::select();
        select
            .columns(model.column_idens())
            .from(model.table_iden())
            .and_where(model.key_is(key))
            .cond_where(model.scope_of(self.context.principal().organisation(), life));
        if self.shared.data.database.backend() == Backend::Postgres {
            select.lock_exclusive();
        }
        let rows = self.rows(self.shared.data.database.build(&select)).await?;
        let record = read_all(model, &rows)?.pop();
        record.ok_or_else(|| Error::not_found("there is no such record"))
    }

    /// Changes the given columns of a record, and answers with it as it was stored. Values that
    /// are what they were change nothing: no new version, no event.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::insert_records`];
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when the record is unknown;
    /// [`ErrorKind::PreconditionFailed`](svc_core::ErrorKind::PreconditionFailed) when it is not
    /// of the expected version.
    #[must_use]
    pub fn update_record<'a>(
        &'a self,
        model: &'a Arc<EntityModel>,
        key: &'a Value,
        values: NewValues,
        expected: Expected,
    ) -> BoxFuture<'a, Result<Record>> {
        Box::pin(async move {
            let before = self.locked_record(model, key).await?;
            expect_version(model, &before, expected)?;
            let mut after = before.clone();
            let mut changed = Vec::new();
            let mut problems = Error::invalid("the record is not valid");
            for (index, value) in values.into_iter().enumerate() {
                let Some(value) = value else { continue };
                let column = &model.columns[index];
                let value = normalise(column.kind, value);
                if is_same(&value, before.value(index)) || Some(index) == model.version_index() {
                    continue;
                }
                if index == model.key || Some(index) == model.organisation {
                    problems = problems.field(&column.property, "can't be changed");
                    continue;
                }
                if let Some(problem) = problem_with(column, &value) {
                    problems = problems.field(&column.property, problem);
                }
                after.set(index, value);
                changed.push(index);
            }
            if !problems.fields().is_empty() {
                return Err(problems);
            }
            if changed.is_empty() {
                return Ok(before);
            }
            self.store_change(model, ChangeKind::Updated, before, after, changed).await
        })
    }

    async fn store_change(
        &self,
        model: &Arc<EntityModel>,
        kind: ChangeKind,
        before: Record,
        mut after: Record,
        changed: Vec<usize>,
    ) -> Result<Record> {
        let mut stored = changed.clone();
        if let Some(index) = model.version {
            let version = before.version(model).unwrap_or(0) + 1;
            after.set(index, version_value(model.columns[index].kind, version));
            stored.push(index);
        }
        if let Some(index) = model.updated_at {
            after.set(index, truncate(self.context.clock().now()).into());
            stored.push(index);
        }
        let mut update = Query::update();
        update
            .table(model.table_iden())
            .values(
                stored.iter().map(|index| {
                    (model.column_iden(*index), Expr::val(after.value(*index).clone()))
                }),
            )
            .and_where(model.key_is(before.key(model)))
            .cond_where(model.scope_of(self.context.principal().organisation(), Life::Any));
        if let (Some(index), Some(version)) = (model.version, before.version(model)) {
            update.and_where(Expr::col(model.column_ref(index)).eq(version));
        }
        let after = self.run_change(model, update, after, &changed).await?;
        self.capture(Change {
            author: self.context.author(),
            unit_of_work: self.id(),
            model: Arc::clone(model),
            kind,
            organisation: organisation_of(model, &after),
            before: Some(before),
            after: Some(after.clone()),
            changed,
        });
        Ok(after)
    }

    /// Runs the statement of a change, and answers with the record as it was stored.
    async fn run_change(
        &self,
        model: &EntityModel,
        mut update: UpdateStatement,
        after: Record,
        changed: &[usize],
    ) -> Result<Record> {
        let database = &self.shared.data.database;
        // PostgreSQL keeps JSON in a form of its own.
        let done = if changed.iter().any(|index| model.columns[*index].kind == ValueKind::Json) {
            update.returning(Query::returning().columns(model.column_idens()));
            let rows = self.rows(database.build(&update)).await;
            rows.map(|rows| (rows.len() as u64, Some(rows)))
        } else {
            self.execute(database.build(&update)).await.map(|touched| (touched, None))
        };
        let other = || Error::conflict("somebody else changed the record").transient();
        match done {
            Ok((1, None)) => Ok(after),
            Ok((1, Some(rows))) => read_all(model, &rows)?.pop().ok_or_else(other),
            Ok(_) => Err(other()),
            Err(error) => {
                let value = |index: &usize| (*index, after.value(*index));
                let values: Vec<_> = changed.iter().map(value).collect();
                Err(self.refusal(model, Attempt::Store(&values), error).await)
            }
        }
    }

    /// Deletes a record, and answers with it as it was. Where its set deletes softly, the record
    /// stays, marked; it is told as deleted, with its state after.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::update_record`]; [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict)
    /// while other records refer to it.
    #[must_use]
    pub fn delete_record<'a>(
        &'a self,
        model: &'a Arc<EntityModel>,
        key: &'a Value,
        expected: Expected,
    ) -> BoxFuture<'a, Result<Record>> {
        Box::pin(async move {
            let before = self.locked_record(model, key).await?;
            expect_version(model, &before, expected)?;
            let Some(index) = model.deleted_at else { return self.remove(model, before).await };
            let mut after = before.clone();
            after.set(index, truncate(self.context.clock().now()).into());
            self.store_change(model, ChangeKind::Deleted, before.clone(), after, vec![index])
                .await?;
            Ok(before)
        })
    }

    /// Brings back a record that was deleted softly, and answers with it. It is told as an update.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::update_record`]; [`ErrorKind::Conflict`](svc_core::ErrorKind::Conflict)
    /// when another record has one of its unique values by now.
    #[must_use]
    pub fn restore_record<'a>(
        &'a self,
        model: &'a Arc<EntityModel>,
        key: &'a Value,
        expected: Expected,
    ) -> BoxFuture<'a, Result<Record>> {
        Box::pin(async move {
            let missing = || Error::not_found("there is no such record");
            let index = model.deleted_at.ok_or_else(missing)?;
            let before = self.locked(model, key, Life::Deleted).await?;
            expect_version(model, &before, expected)?;
            let mut after = before.clone();
            after.set(index, model.columns[index].kind.null());
            self.store_change(model, ChangeKind::Updated, before, after, vec![index]).await
        })
    }

    /// Removes a record for good, also one that was deleted softly, and answers with it as it was.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::delete_record`].
    #[must_use]
    pub fn purge_record<'a>(
        &'a self,
        model: &'a Arc<EntityModel>,
        key: &'a Value,
        expected: Expected,
    ) -> BoxFuture<'a, Result<Record>> {
        Box::pin(async move {
            let before = self.locked(model, key, Life::Any).await?;
            expect_version(model, &before, expected)?;
            self.remove(model, before).await
        })
    }

    async fn remove(&self, model: &Arc<EntityModel>, before: Record) -> Result<Record> {
        let mut delete = Query::delete();
        delete
            .from_table(model.table_iden())
            .and_where(model.key_is(before.key(model)))
            .cond_where(model.scope_of(self.context.principal().organisation(), Life::Any));
        if let Err(error) = self.execute(self.shared.data.database.build(&delete)).await {
            return Err(self.refusal(model, Attempt::Remove, error).await);
        }
        self.keep_version(model, &before).await?;
        self.capture(Change {
            author: self.context.author(),
            unit_of_work: self.id(),
            model: Arc::clone(model),
            kind: ChangeKind::Deleted,
            organisation: organisation_of(model, &before),
            before: Some(before.clone()),
            after: None,
            changed: Vec::new(),
        });
        Ok(before)
    }

    /// Gives a new record the values that the framework keeps, and checks all of them.
    fn complete(&self, model: &EntityModel, mut row: NewValues) -> Result<NewValues> {
        let now = truncate(self.context.clock().now());
        if let Some(index) = model.organisation {
            let own = self.context.principal().organisation();
            row[index] = Some(organisation_for(row[index].take().as_ref(), own)?);
        }
        if let Some(index) = model.version {
            row[index] = Some(version_value(model.columns[index].kind, 1));
        }
        for index in [model.created_at, model.updated_at].into_iter().flatten() {
            row[index].get_or_insert(now.into());
        }
        if model.key().kind == ValueKind::Uuid {
            row[model.key].get_or_insert_with(|| self.context.clock().new_id().into());
        }
        let mut problems = Error::invalid("the record is not valid");
        let mut lacks_hidden = false;
        for (index, (column, value)) in model.columns.iter().zip(&mut row).enumerate() {
            match value.take() {
                Some(given) => {
                    let given = normalise(column.kind, given);
                    if let Some(problem) = problem_with(column, &given) {
                        problems = problems.field(&column.property, problem);
                    }
                    *value = Some(given);
                }
                None if column.has_default => {}
                None if column.nullable => *value = Some(column.kind.null()),
                None if !model.visible(self.context.principal()).any(|seen| seen == index) => {
                    lacks_hidden = true;
                }
                None => problems = problems.field(&column.property, "is required"),
            }
        }
        match problems.fields().is_empty() {
            true if lacks_hidden => Err(Error::forbidden(
                "a new record needs a value that you may not see, so somebody else must make it",
            )),
            true => Ok(row),
            false => Err(problems),
        }
    }
}

fn organisation_for(given: Option<&Value>, own: Option<OrganisationId>) -> Result<Value> {
    let given = match given {
        Some(Value::Uuid(Some(id))) => Some(OrganisationId(*id)),
        _ => None,
    };
    match (given, own) {
        (Some(given), Some(own)) if given != own => {
            Err(Error::internal("a record can't be written into another organisation"))
        }
        (Some(organisation), _) | (None, Some(organisation)) => Ok(organisation.0.into()),
        (None, None) => Err(Error::internal(
            "the system across organisations must set `organisation_id` of a new record",
        )),
    }
}

/// A version as a value of the column that counts.
pub(super) fn version_value(kind: ValueKind, version: i64) -> Value {
    match kind {
        ValueKind::Int32 => i32::try_from(version).unwrap_or(i32::MAX).into(),
        _ => version.into(),
    }
}

/// The places of the columns that have a value.
fn said(row: &NewValues) -> impl Iterator<Item = usize> {
    row.iter().enumerate().filter_map(|(index, value)| value.as_ref().map(|_| index))
}

fn read_all(model: &EntityModel, rows: &[QueryResult]) -> Result<Vec<Record>> {
    let read = |row: &QueryResult| Record::read(model, row);
    rows.iter().map(read).collect::<Result<_, _>>().map_err(database_error)
}

/// RETURNING promises no order on SQLite, so records are put back by their keys.
fn in_order_of(model: &EntityModel, rows: &[NewValues], records: Vec<Record>) -> Vec<Record> {
    let key_of = |row: &NewValues| row[model.key].clone();
    let same = |(row, record): (&NewValues, &Record)| {
        key_of(row).is_none_or(|key| key == *record.key(model))
    };
    if rows.iter().zip(&records).all(same) {
        return records;
    }
    let mut by_key: HashMap<String, Record> =
        records.into_iter().map(|record| (format!("{:?}", record.key(model)), record)).collect();
    rows.iter()
        .filter_map(|row| by_key.remove(&format!("{:?}", key_of(row).unwrap_or(Value::Bool(None)))))
        .collect()
}

fn organisation_of(model: &EntityModel, record: &Record) -> Option<OrganisationId> {
    match record.value(model.organisation?) {
        Value::Uuid(id) => id.map(OrganisationId),
        _ => None,
    }
}

/// Insists that a record has the version that a change is meant for.
///
/// # Errors
///
/// [`ErrorKind::PreconditionFailed`](svc_core::ErrorKind::PreconditionFailed) for another.
pub fn expect_version(model: &EntityModel, record: &Record, expected: Expected) -> Result<()> {
    match expected {
        Expected::Version(version) if record.version(model) != Some(version) => {
            Err(Error::precondition_failed(
                "the record was changed since it was read; read it again and repeat the change",
            ))
        }
        _ => Ok(()),
    }
}

/// Brings a value into the form in which both databases keep it.
fn normalise(kind: ValueKind, value: Value) -> Value {
    match (kind, value) {
        (_, Value::TimeDateTimeWithTimeZone(Some(time))) => truncate(time).into(),
        (_, Value::TimeTime(Some(time))) => {
            time.replace_microsecond(time.microsecond()).unwrap_or(time).into()
        }
        (ValueKind::Decimal { scale, .. }, Value::Decimal(Some(number))) => {
            number.round_dp(scale).normalize().into()
        }
        (_, value) => value,
    }
}

/// The refusal of a time or day that is kept as none in its order.
const BEFORE_YEARS: &str = "must not lie before the year 1";

/// Whether two values are the same. JSON is so whatever the order of its members: PostgreSQL has one of
/// its own.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Json(Some(left)), Value::Json(Some(right))) => left.as_ref() == right.as_ref(),
        _ => left == right,
    }
}

/// What is wrong with a value, as a message to stand behind the property's name.
fn problem_with(column: &Column, value: &Value) -> Option<String> {
    if *value == column.kind.null() {
        return (!column.nullable).then(|| "must not be null".to_owned());
    }
    problem_of_kind(column, value).or_else(|| {
        let means = column.semantic_type?;
        (!(means.holds)(value)).then(|| means.refusal.to_owned())
    })
}

fn problem_of_kind(column: &Column, value: &Value) -> Option<String> {
    match (column.kind, value) {
        (ValueKind::Text { max }, Value::String(Some(text))) => {
            if text.contains('\0') {
                return Some("must not contain the character U+0000".to_owned());
            }
            let max = usize::try_from(max?).ok()?;
            (text.chars().count() > max).then(|| format!("must have at most {max} characters"))
        }
        (ValueKind::Decimal { precision, scale }, Value::Decimal(Some(number))) => {
            let whole_digits = precision.saturating_sub(scale);
            let limit = 10_i128.checked_pow(whole_digits)?;
            (number.trunc().mantissa().unsigned_abs() >= limit.unsigned_abs())
                .then(|| format!("must have at most {whole_digits} digits before the point"))
        }
        (ValueKind::Double, Value::Double(Some(number))) if !number.is_finite() => {
            Some("must be a finite number".to_owned())
        }
        // Before it the databases have other orders, and other numbers of years.
        (ValueKind::Timestamp, Value::TimeDateTimeWithTimeZone(Some(time))) => {
            (time.year() < 1).then(|| BEFORE_YEARS.to_owned())
        }
        (ValueKind::Date, Value::TimeDate(Some(date))) => {
            (date.year() < 1).then(|| BEFORE_YEARS.to_owned())
        }
        (ValueKind::Enumeration(known), value) if !known.holds(value) => {
            let names: Vec<&str> = known.members().iter().map(|it| it.name.as_str()).collect();
            Some(format!("must be one of `{}`", names.join("`, `")))
        }
        _ => None,
    }
}
