//! Records that are made again under the key of one that was removed.
//!
//! A version says which state of a record a change is meant for, so it must not come twice: whoever
//! has read the record that was removed would overwrite the one that took its place. The last version
//! of what is removed is kept, and a record that is made again goes on counting from there. One that
//! was deleted softly stays where it is, and keeps its key and its version.
//!
//! After `Svc:Data:RemovedVersionsRetention` the versions of single records are [forgotten](super::forgetting), and
//! the highest of them is kept for their table: a record that is made again later goes on counting from that.

use std::collections::HashMap;

use sea_orm::Value;
use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, OnConflict, Query, UnionType};
use svc_core::{Error, Result};
use svc_database::Migration;

use super::UnitOfWork;
use super::write::{Expected, NewValues, version_value};
use crate::entity::{Column, EntityModel};
use crate::record::Record;
use crate::value::to_text;

/// Where the last versions are kept.
pub(crate) const MIGRATION: Migration = Migration::new(
    "0002_removed_versions",
    "CREATE TABLE svc_removed_versions (
        entity TEXT NOT NULL,
        key TEXT NOT NULL,
        version BIGINT NOT NULL,
        removed_at_us BIGINT NOT NULL,
        PRIMARY KEY (entity, key)
    );
    CREATE INDEX svc_removed_versions_removed_at ON svc_removed_versions (removed_at_us);
    CREATE TABLE svc_forgotten_versions (
        entity TEXT NOT NULL PRIMARY KEY,
        highest BIGINT NOT NULL
    );",
);

const TABLE: &str = "svc_removed_versions";

/// Where the highest of those is kept that were forgotten.
const FORGOTTEN: &str = "svc_forgotten_versions";

/// How many keys one statement looks for.
const KEYS_AT_ONCE: usize = 500;

impl UnitOfWork {
    /// Keeps the version of a record of a set that was removed.
    pub(super) async fn keep_version(&self, model: &EntityModel, removed: &Record) -> Result<()> {
        let (Some(version), true) = (removed.version(model), model.set.is_some()) else {
            return Ok(());
        };
        let mut insert = Query::insert();
        insert
            .into_table(Alias::new(TABLE))
            .columns(["entity", "key", "version", "removed_at_us"].map(Alias::new))
            .values_panic([
                model.table.into(),
                to_text(removed.key(model)).into(),
                version.into(),
                self.context.clock().now_us().into(),
            ])
            .on_conflict(
                OnConflict::columns(["entity", "key"].map(Alias::new))
                    .update_columns(["version", "removed_at_us"].map(Alias::new))
                    .to_owned(),
            );
        self.execute(self.shared.data.database.build(&insert)).await.map(drop)
    }

    /// Insists that no record is there any more, and that the last one with this key was of the
    /// expected version when it was removed.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::PreconditionFailed`](svc_core::ErrorKind::PreconditionFailed) when it was of
    /// another, or nothing is known of it.
    pub async fn expect_removed(
        &self,
        model: &EntityModel,
        key: &Value,
        expected: Expected,
    ) -> Result<()> {
        let Expected::Version(version) = expected else { return Ok(()) };
        let removed = self.removed_versions(model, vec![to_text(key)]).await?;
        if removed.last.values().any(|last| *last == version) {
            return Ok(());
        }
        Err(Error::precondition_failed(
            "the record was made and deleted again since it was read, or deleted too long ago to tell; read what was \
             deleted again, or name no version",
        ))
    }

    /// Gives new records that are made again the version behind the one that was removed.
    pub(super) async fn go_on_counting(
        &self,
        model: &EntityModel,
        rows: &mut [NewValues],
    ) -> Result<()> {
        let (Some(index), true) = (model.version_index(), model.set.is_some()) else {
            return Ok(());
        };
        // A key that was made since this began can't be that of anything that was removed before.
        let fresh = self.id()..=self.context.clock().new_id();
        let is_old = |row: &&mut NewValues| match &row[model.key_index()] {
            Some(Value::Uuid(Some(key))) => !fresh.contains(key),
            key => key.is_some(),
        };
        let mut again: Vec<&mut NewValues> = rows.iter_mut().filter(is_old).collect();
        for rows in again.chunks_mut(KEYS_AT_ONCE) {
            let keys = rows.iter().filter_map(|row| row[model.key_index()].as_ref().map(to_text));
            let removed = self.removed_versions(model, keys.collect()).await?;
            for row in rows {
                let key = row[model.key_index()].as_ref().map(to_text);
                if let Some(version) = key.and_then(|key| removed.of(&key)) {
                    row[index] = Some(version_value(model.columns[index].kind, version + 1));
                }
            }
        }
        Ok(())
    }

    /// In one statement, so that nothing is forgotten between two.
    async fn removed_versions(&self, model: &EntityModel, keys: Vec<String>) -> Result<Removed> {
        let column = |name| Expr::col(Alias::new(name));
        let mut forgotten = Query::select();
        forgotten
            .expr(Expr::cust("CAST(NULL AS TEXT)"))
            .column(Alias::new("highest"))
            .from(Alias::new(FORGOTTEN))
            .and_where(column("entity").eq(model.table));
        let mut select = Query::select();
        select
            .columns(["key", "version"].map(Alias::new))
            .from(Alias::new(TABLE))
            .and_where(column("entity").eq(model.table))
            .and_where(column("key").is_in(keys))
            .union(UnionType::All, forgotten);
        let mut removed = Removed::default();
        for row in self.rows(self.shared.data.database.build(&select)).await? {
            let version = svc_database::column(&row, 1)?;
            match svc_database::column::<Option<String>>(&row, 0)? {
                Some(key) => drop(removed.last.insert(key, version)),
                None => removed.forgotten = Some(version),
            }
        }
        Ok(removed)
    }
}

/// What is known of records of a table that were removed.
#[derive(Default)]
struct Removed {
    /// The last versions of those that were asked for, by their keys.
    last: HashMap<String, i64>,
    /// The highest of all that were forgotten.
    forgotten: Option<i64>,
}

impl Removed {
    /// The version that one had at most.
    fn of(&self, key: &str) -> Option<i64> {
        self.last.get(key).copied().or(self.forgotten)
    }
}

impl EntityModel {
    /// The values of a new record that is one of before, made again under its key. What isn't known
    /// of it takes its default: a null, where none may stand, is no value.
    #[must_use]
    pub fn made_again(&self, key: &Value, was: NewValues) -> NewValues {
        let kept = [self.version, self.updated_at, self.deleted_at];
        let mut was = was.into_iter();
        let value = |(index, column): (usize, &Column)| {
            let value = was.next().flatten()?;
            let is_known = column.nullable || value != column.kind.null();
            (is_known && !kept.contains(&Some(index))).then_some(value)
        };
        let mut row: NewValues = self.columns.iter().enumerate().map(value).collect();
        row[self.key] = Some(key.clone());
        row
    }
}
