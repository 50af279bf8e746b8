//! What a command writes and reads through a unit of work, in terms of SeaORM's entities.

use std::sync::Arc;

use sea_orm::{ActiveModelTrait, ActiveValue, EntityTrait, Iterable as _, TryIntoModel, Value};
use svc_core::{Error, Result};
use svc_database::database_error;

use super::write::{Expected, NewValues};
use super::{UnitOfWork, ended};
use crate::entity::EntityModel;
use crate::query::Query;
use crate::record::Record;

impl UnitOfWork {
    /// Begins a query of an entity within the organisation, which sees what was written.
    pub fn query<E: EntityTrait>(&self) -> Query<E> {
        self.context.query::<E>()
    }

    /// One record by its key; none when it is unknown or of another organisation.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn get<E: EntityTrait>(&self, key: impl Into<Value>) -> Result<Option<E::Model>> {
        self.context.get::<E>(key).await
    }

    /// One record by its key.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when it is unknown or of another
    /// organisation.
    pub async fn find<E: EntityTrait>(&self, key: impl Into<Value>) -> Result<E::Model> {
        self.context.find::<E>(key).await
    }

    /// Inserts a record, and answers with it as it was stored. A key, an organisation, a version
    /// and times that are not set are given by the framework.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::insert_records`].
    pub async fn insert<A>(&self, record: A) -> Result<<A::Entity as EntityTrait>::Model>
    where
        A: ActiveModelTrait + TryIntoModel<<A::Entity as EntityTrait>::Model>,
    {
        let missing = || Error::internal("the database did not answer with the new record");
        self.insert_many([record]).await?.pop().ok_or_else(missing)
    }

    /// Inserts records, a few hundred at a time, and answers with them as they were stored.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::insert_records`].
    pub async fn insert_many<A>(
        &self,
        records: impl IntoIterator<Item = A>,
    ) -> Result<Vec<<A::Entity as EntityTrait>::Model>>
    where
        A: ActiveModelTrait + TryIntoModel<<A::Entity as EntityTrait>::Model>,
    {
        let model = self.model_of::<A::Entity>()?;
        let rows = records.into_iter().map(|record| values_of(&record, Given::All)).collect();
        let records = self.insert_records(&model, rows).await?;
        records.iter().map(model_from::<A>).collect()
    }

    /// Stores the set values of a record, and answers with it as it was stored. When the record
    /// carries its version (as one made by `model.into_active_model()` does), it must still be
    /// of that version.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::update_record`].
    pub async fn update<A>(&self, record: A) -> Result<<A::Entity as EntityTrait>::Model>
    where
        A: ActiveModelTrait + TryIntoModel<<A::Entity as EntityTrait>::Model>,
    {
        let model = self.model_of::<A::Entity>()?;
        let all = values_of(&record, Given::All);
        let key = all[model.key].clone().ok_or_else(|| {
            Error::internal(format!("a record of `{}` to update has no key", model.table))
        })?;
        let expected = match model.version_index().and_then(|index| all[index].clone()) {
            Some(Value::BigInt(Some(version))) => Expected::Version(version),
            Some(Value::Int(Some(version))) => Expected::Version(version.into()),
            _ => Expected::Any,
        };
        let values = values_of(&record, Given::Changed);
        let stored = self.update_record(&model, &key, values, expected).await?;
        model_from::<A>(&stored)
    }

    /// Deletes a record by its key.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::delete_record`].
    pub async fn delete<E>(&self, key: impl Into<Value>) -> Result<E::Model>
    where
        E: EntityTrait,
        E::ActiveModel: TryIntoModel<E::Model>,
    {
        let model = self.model_of::<E>()?;
        let record = self.delete_record(&model, &key.into(), Expected::Any).await?;
        model_from::<E::ActiveModel>(&record)
    }

    /// Brings back a record that was deleted softly.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::restore_record`].
    pub async fn restore<E>(&self, key: impl Into<Value>) -> Result<E::Model>
    where
        E: EntityTrait,
        E::ActiveModel: TryIntoModel<E::Model>,
    {
        let model = self.model_of::<E>()?;
        let record = self.restore_record(&model, &key.into(), Expected::Any).await?;
        model_from::<E::ActiveModel>(&record)
    }

    /// Removes a record for good, also one that was deleted softly.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::purge_record`].
    pub async fn purge<E>(&self, key: impl Into<Value>) -> Result<E::Model>
    where
        E: EntityTrait,
        E::ActiveModel: TryIntoModel<E::Model>,
    {
        let model = self.model_of::<E>()?;
        let record = self.purge_record(&model, &key.into(), Expected::Any).await?;
        model_from::<E::ActiveModel>(&record)
    }

    fn model_of<E: EntityTrait>(&self) -> Result<Arc<EntityModel>> {
        // Refuse early, with the reason, when the transaction is over.
        if self.shared.transaction.lock().is_none() {
            return Err(ended());
        }
        self.shared.data.catalogue.entity::<E>().cloned()
    }
}

#[derive(Clone, Copy)]
enum Given {
    All,
    Changed,
}

fn values_of<A: ActiveModelTrait>(record: &A, given: Given) -> NewValues {
    let value = |column| match (record.get(column), given) {
        (ActiveValue::Set(value), _) | (ActiveValue::Unchanged(value), Given::All) => Some(value),
        _ => None,
    };
    <A::Entity as EntityTrait>::Column::iter().map(value).collect()
}

/// Makes SeaORM's model of a record, whose columns are in the entity's order.
pub(crate) fn model_from<A>(record: &Record) -> Result<<A::Entity as EntityTrait>::Model>
where
    A: ActiveModelTrait + TryIntoModel<<A::Entity as EntityTrait>::Model>,
{
    let mut active = <A as ActiveModelTrait>::default();
    for (column, value) in <A::Entity as EntityTrait>::Column::iter().zip(record.values()) {
        active.try_set(column, value.clone()).map_err(database_error)?;
    }
    active.try_into_model().map_err(database_error)
}
