//! The sets of what was deleted, and the action that brings a record of one back.

use std::sync::Arc;

use svc_core::Error;

use super::{Catalogue, Operation, Run, Work};
use crate::entity::EntityModel;
use crate::operation::form::{Bound, OutcomeForm, Returned};
use crate::unit_of_work::{Expected, UnitOfWork};

/// The action of a set of what was deleted.
pub(crate) const RESTORE: &str = "Restore";

impl Catalogue {
    /// Adds the sets of what was deleted, when all is known about the sets themselves.
    pub(crate) fn add_deleted_sets(&mut self) {
        let deleted: Vec<_> = self.sets().filter_map(|model| model.of_deleted()).collect();
        for model in deleted {
            let name = model.name().to_owned();
            self.operations.extend(Operation::restoring(&model));
            // Its entity and table lead to the set itself.
            self.by_set.insert(name, self.models.len());
            self.models.push(Arc::new(model));
        }
    }
}

impl Operation {
    /// The action that brings back what was deleted from a set; `deleted` is the set of that.
    fn restoring(deleted: &EntityModel) -> Option<Self> {
        let set = deleted.set.as_ref()?;
        let (table, key) = (deleted.table, deleted.key_index());
        let run: Work<UnitOfWork> = Arc::new(move |uow, record, _| {
            Box::pin(async move {
                let missing = || Error::internal("there is nothing to restore");
                let record = record.ok_or_else(missing)?;
                let model = uow.context().catalogue().table(table).ok_or_else(missing)?.clone();
                let key = record.value(key);
                let restored = uow.restore_record(&model, key, Expected::Any).await?;
                Ok(Returned::Entities(vec![restored.key(&model).clone()]))
            })
        });
        Some(Self {
            module: deleted.module.clone(),
            name: RESTORE.to_owned(),
            description: "Brings it back".to_owned(),
            permission: set.permissions.view.clone(),
            bound: Bound::Each(set.name.clone()),
            parameters: Vec::new(),
            returns: OutcomeForm::Entities { entity: deleted.entity, many: false, nullable: true },
            measure: None,
            sets: Vec::new(),
            is_repeatable: true,
            run: Run::Action(run),
        })
    }
}
