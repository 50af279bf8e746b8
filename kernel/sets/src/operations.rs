//! Actions and functions, run on what their caller may see.

use svc_core::{Error, Result};
use svc_data::operation::{Bound, Literal, Operation, OutcomeForm, Returned, Run, ValueForm};
use svc_data::{Context, Expected, Record, UnitOfWork, expect_version};
use svc_database::database_error;
use svc_odata::model::{
    Binding, Model, Operation as Described, OperationIndex, OperationType, Parameter,
    PropertyIndex, Schema as _, TypeIndex,
};

use super::model::{Sets, property_type};
use super::seen::Seen;
use super::source::Source;

fn value_type(model: &Model, form: ValueForm) -> OperationType {
    let ty = property_type(model, form.kind);
    OperationType::Value { ty, collection: form.many, nullable: form.nullable }
}

fn not_callable() -> Error {
    Error::internal("the kind of operation doesn't fit the call")
}

impl Sets {
    /// Describes an operation. One that is bound to a set which isn't there is left out.
    pub(super) fn add_operation(&mut self, operation: &Operation) {
        let model = self.model();
        let set_type = |name: &str| Some(model.set(model.find_set(name)?).entity_type);
        let binding = match &operation.bound {
            Bound::Nothing => None,
            Bound::Each(set) | Bound::Set(set) => {
                let Some(entity_type) = set_type(set) else { return };
                let collection = matches!(operation.bound, Bound::Set(_));
                Some(Binding { entity_type, collection })
            }
        };
        let returns = match operation.returns {
            OutcomeForm::Nothing => None,
            OutcomeForm::Value(form) => Some(value_type(model, form)),
            OutcomeForm::Entities { entity, many, nullable } => {
                let types = (0..model.types.len()).map(TypeIndex);
                let mut found = types.filter(|ty| self.served_type(*ty).entity.entity == entity);
                let Some(entity_type) = found.next() else { return };
                Some(OperationType::Entity { entity_type, collection: many, nullable })
            }
        };
        let parameters = operation.parameters.iter().map(|parameter| Parameter {
            name: parameter.name.clone(),
            ty: value_type(model, parameter.form),
            description: Some(parameter.description.clone()).filter(|text| !text.is_empty()),
            property: binding
                .and_then(|binding| self.property_set_by(operation, binding, &parameter.name)),
        });
        let described = Described {
            name: operation.name.clone(),
            kind: operation.kind(),
            binding,
            parameters: parameters.collect(),
            returns,
            measure: operation.measure.clone(),
            permission: Some(operation.permission.clone()),
            description: Some(operation.description.clone()).filter(|text| !text.is_empty()),
        };
        self.describe_operation(described);
        self.operations.push(operation.clone());
    }

    /// The property that a parameter is for: the one that the registration names, else the one that
    /// is called the same.
    fn property_set_by(
        &self,
        operation: &Operation,
        binding: Binding,
        parameter: &str,
    ) -> Option<(TypeIndex, PropertyIndex)> {
        let served = self.served_type(binding.entity_type);
        let told = operation.sets.iter().find(|(name, _)| name == parameter);
        let property = match told {
            Some((_, column)) => served.property_of(served.entity.column_index(column)?),
            None => self.model().entity_type(binding.entity_type).find_property(parameter),
        };
        property.map(|property| (binding.entity_type, property))
    }

    /// Insists that the context's principal may call the operation.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden), naming the permission, or where a
    /// call needs the value of a property that the principal doesn't see.
    pub fn require_operation(&self, ctx: &Context, operation: OperationIndex) -> Result<()> {
        ctx.require(&self.operations[operation.0].permission)?;
        if Seen::new(self, ctx.principal()).sees_operation(operation) {
            return Ok(());
        }
        Err(Error::forbidden(
            "this needs a value that you may not see, so somebody else must do it",
        ))
    }

    /// Runs an action. `source` leads to the one entity that it is bound to, if it is to one,
    /// which is locked and must be of the expected version.
    ///
    /// # Errors
    ///
    /// Those of the action; [`ErrorKind::Forbidden`](svc_core::ErrorKind::Forbidden) without its
    /// permission; [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when the entity is
    /// unknown, of another organisation, or hidden by a row filter;
    /// [`ErrorKind::PreconditionFailed`](svc_core::ErrorKind::PreconditionFailed) when it is not
    /// of the expected version.
    pub async fn run_action(
        &self,
        uow: &UnitOfWork,
        operation: OperationIndex,
        source: Option<&Source>,
        values: Vec<Literal>,
        expected: Expected,
    ) -> Result<Returned> {
        self.require_operation(uow.context(), operation)?;
        let Operation { run: Run::Action(run), is_repeatable, .. } = &self.operations[operation.0]
        else {
            return Err(not_callable());
        };
        let record = match source {
            None => None,
            Some(source) => {
                let entity = self.entity(source.set());
                let seen = self.record_of(uow.context(), source).await?;
                let record = uow.locked_record(entity, seen.key(entity)).await?;
                expect_version(entity, &record, expected)?;
                Some(record)
            }
        };
        if !is_repeatable {
            uow.do_once();
        }
        run(uow.clone(), record, values).await
    }

    /// Runs a function. `source` leads to the one entity that it is bound to, if it is to one.
    ///
    /// # Errors
    ///
    /// As [`Sets::run_action`].
    pub async fn run_function(
        &self,
        ctx: &Context,
        operation: OperationIndex,
        source: Option<&Source>,
        values: Vec<Literal>,
    ) -> Result<Returned> {
        self.require_operation(ctx, operation)?;
        let Run::Function(run) = &self.operations[operation.0].run else {
            return Err(not_callable());
        };
        let record = match source {
            None => None,
            Some(source) => Some(self.record_of(ctx, source).await?),
        };
        run(ctx.clone(), record, values).await
    }

    /// The whole record that a source leads to, for the application's own use.
    pub(super) async fn record_of(&self, ctx: &Context, source: &Source) -> Result<Record> {
        let entity = self.entity(source.set());
        let select = {
            let (mut select, translator) = self.select_source(ctx, source)?;
            for index in 0..entity.columns.len() {
                select.expr(translator.current.column(index));
            }
            select
        };
        let row = ctx.run_one(ctx.database().build(&select)).await?;
        let row = row.ok_or_else(|| Error::not_found("there is no such entity"))?;
        Record::read(entity, &row).map_err(database_error)
    }
}
