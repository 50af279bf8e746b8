//! The words of a registration: `.action("Ship", |action| action.described("…").on_each(orders::ship))`.

use std::sync::Arc;

use sea_orm::{EntityTrait, IdenStatic as _, TryIntoModel};
use svc_core::{Error, Kind, Registry, Result};
use svc_odata::model::{Measure, OperationKind};

use super::form::{Bound, Literal, OutcomeForm};
use super::value::{Outcome, Parameters};
use crate::catalogue::{Operation, Run, Work};
use crate::context::Context;
use crate::kinds;
use crate::names::pascal_case;
use crate::record::Record;
use crate::registration::{DataParts, EntitySetBuilder, SetExtension, problem_with};
use crate::unit_of_work::{UnitOfWork, model_from};

/// What is said of an operation before it is known what runs.
#[derive(Clone)]
struct Words {
    kind: OperationKind,
    name: String,
    description: String,
    permission: Option<String>,
    measure: Option<Measure>,
    sets: Vec<(String, &'static str)>,
    is_repeatable: bool,
}

impl Words {
    fn new(kind: OperationKind, name: &str) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            description: String::new(),
            permission: None,
            measure: None,
            sets: Vec::new(),
            is_repeatable: false,
        }
    }

    /// Registers the operation for the module that is being configured.
    fn register<P: Parameters, R: Outcome>(
        self,
        registry: &mut Registry,
        bound: Bound,
        own_entity: Option<std::any::TypeId>,
        run: Run,
    ) {
        let module = registry.module().to_owned();
        self.register_for::<P, R>(registry, module, bound, own_entity, run);
    }

    /// Registers the operation for a module. A permission of its own is declared with it; another is
    /// declared where it belongs.
    fn register_for<P: Parameters, R: Outcome>(
        self,
        registry: &mut Registry,
        module: String,
        bound: Bound,
        own_entity: Option<std::any::TypeId>,
        run: Run,
    ) {
        let Self { kind, name, description, permission, measure, sets, is_repeatable } = self;
        if !is_operation_name(&name) {
            registry.problem_of(
                &module,
                format!(
                    "the operation `{name}` needs a name of letters and digits that begins with an \
                 upper-case letter, so that it isn't a property's"
                ),
            );
        }
        let owner = match &bound {
            Bound::Each(set) | Bound::Set(set) => set.clone(),
            Bound::Nothing => pascal_case(&module),
        };
        let own = format!("{owner}.{name}");
        if let Some(permission) = &permission {
            let by = format!("the operation `{own}`");
            registry.asks_for_permission_of(&module, permission, by);
        } else {
            let detail = if description.is_empty() { "call it" } else { description.as_str() };
            registry.contribute_to(&module, Kind::PERMISSION, own.clone(), detail);
        }
        let mut problems = Vec::new();
        let returns = R::form().unwrap_or_else(|found| {
            problems.extend(found);
            OutcomeForm::Nothing
        });
        let parameters = P::describe().unwrap_or_else(|found| {
            problems.extend(found);
            Vec::new()
        });
        let is_told = |name: &String| parameters.iter().any(|parameter| parameter.name == *name);
        let unknown = sets.iter().filter(|(parameter, _)| !is_told(parameter));
        problems.extend(unknown.map(|(parameter, _)| format!("it has no parameter `{parameter}`")));
        problems.extend(measure.as_ref().and_then(|measure| match returns {
            OutcomeForm::Value(form) => problem_with("what it returns", form.kind, measure),
            _ => Some("it returns no number, so it has no currency or unit; leave it out".into()),
        }));
        for problem in problems {
            registry.problem_of(&module, format!("the operation `{own}`: {problem}"));
        }
        if let OutcomeForm::Entities { entity, .. } = returns
            && own_entity != Some(entity)
            && !registry.part::<DataParts>().catalogue.has_set_of(entity)
        {
            registry.problem_of(
                &module,
                format!(
                    "the operation `{own}` returns entities of no set that is registered before \
                     it; register their set first"
                ),
            );
        }
        let address = match &bound {
            Bound::Each(set) => format!("{set}(…)/{name}"),
            Bound::Set(set) => format!("{set}/{name}"),
            Bound::Nothing => name.clone(),
        };
        let word = if kind == OperationKind::Action { "action" } else { "function" };
        registry.contribute_to(&module, kinds::OPERATION, address, word);
        let permission = permission.unwrap_or(own);
        let operation = Operation {
            module,
            name,
            description,
            permission,
            bound,
            parameters,
            returns,
            measure,
            run,
            sets,
            is_repeatable,
        };
        registry.part::<DataParts>().catalogue.add_operation(operation);
    }
}

/// So that neither a property nor a key can be meant.
fn is_operation_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && name.len() <= 128
}

fn parameters_of<P: Parameters>(values: &[Literal]) -> Result<P> {
    P::of(values).ok_or_else(|| Error::invalid("a parameter can't be read in this form"))
}

fn model_of<E>(record: Option<&Record>) -> Result<E::Model>
where
    E: EntityTrait,
    E::ActiveModel: TryIntoModel<E::Model>,
{
    let missing = || Error::internal("a bound operation was called without its record");
    model_from::<E::ActiveModel>(record.ok_or_else(missing)?)
}

macro_rules! words {
    () => {
        /// Says what it does, for metadata, API reference and people.
        #[must_use = "say what runs"]
        pub fn described(mut self, description: &str) -> Self {
            description.clone_into(&mut self.words.description);
            self
        }

        /// Names the permission that it takes, which is declared elsewhere. Without this it is
        /// one of its own: the set's name (or the module's), a dot and the operation's name.
        #[must_use = "say what runs"]
        pub fn needs(mut self, permission: &str) -> Self {
            self.words.permission = Some(permission.to_owned());
            self
        }

        /// Says in which currency the number is that it returns, by its code of ISO 4217: `EUR`.
        #[must_use = "say what runs"]
        pub fn currency(mut self, code: &str) -> Self {
            self.words.measure = Some(Measure::currency(code));
            self
        }

        /// Says in which unit the number is that it returns, as it stands behind a number: `kg`.
        #[must_use = "say what runs"]
        pub fn unit(mut self, unit: &str) -> Self {
            self.words.measure = Some(Measure::unit(unit));
            self
        }
    };
}

macro_rules! words_of_actions {
    () => {
        /// Says that it may be done anew after a deadlock or a lost connection, since all that it
        /// does is stored with its unit of work, or undone. Without this it is done once.
        #[must_use = "say what runs"]
        pub fn repeatable(mut self) -> Self {
            self.words.is_repeatable = true;
            self
        }
    };
}

/// An action or a function of a set in the making.
#[must_use = "say what runs, with `.on_each(…)` or `.on_set(…)`"]
pub struct OperationBuilder<'a, E: EntityTrait, const ACTION: bool> {
    set: EntitySetBuilder<'a, E>,
    words: Words,
}

impl<'a, E: EntityTrait, const ACTION: bool> OperationBuilder<'a, E, ACTION> {
    pub(crate) fn new(set: EntitySetBuilder<'a, E>, name: &str) -> Self {
        let kind = if ACTION { OperationKind::Action } else { OperationKind::Function };
        Self { set, words: Words::new(kind, name) }
    }

    words!();

    /// Says that a parameter gives a property of the set its value, so that the property's rules are
    /// the parameter's. Of one that is called as the property it goes without saying.
    #[must_use = "say what runs"]
    pub fn sets(mut self, parameter: &str, column: E::Column) -> Self {
        self.words.sets.push((parameter.to_owned(), column.as_str()));
        self
    }

    fn finish<P: Parameters, R: Outcome>(
        mut self,
        bound: fn(String) -> Bound,
        run: Run,
    ) -> EntitySetBuilder<'a, E> {
        let bound = bound(self.set.name().to_owned());
        let own = Some(std::any::TypeId::of::<E>());
        self.words.register::<P, R>(self.set.registry(), bound, own, run);
        self.set
    }
}

impl<'a, E> OperationBuilder<'a, E, true>
where
    E: EntityTrait,
    E::ActiveModel: TryIntoModel<E::Model>,
{
    words_of_actions!();

    /// Runs `work` on one record, which it gets locked, in a unit of work.
    pub fn on_each<P, R, W, F>(self, work: W) -> EntitySetBuilder<'a, E>
    where
        P: Parameters,
        R: Outcome,
        W: Fn(UnitOfWork, E::Model, P) -> F + Send + Sync + 'static,
        F: Future<Output = Result<R>> + Send + 'static,
    {
        self.finish::<P, R>(Bound::Each, Run::Action(on_record::<_, E, P, R, _, _>(work)))
    }

    /// Runs `work` for the set as a whole, in a unit of work.
    pub fn on_set<P, R, W, F>(self, work: W) -> EntitySetBuilder<'a, E>
    where
        P: Parameters,
        R: Outcome,
        W: Fn(UnitOfWork, P) -> F + Send + Sync + 'static,
        F: Future<Output = Result<R>> + Send + 'static,
    {
        self.finish::<P, R>(Bound::Set, Run::Action(on_values(work)))
    }
}

impl<'a, E> OperationBuilder<'a, E, false>
where
    E: EntityTrait,
    E::ActiveModel: TryIntoModel<E::Model>,
{
    /// Runs `work` on one record, which it only reads.
    pub fn on_each<P, R, W, F>(self, work: W) -> EntitySetBuilder<'a, E>
    where
        P: Parameters,
        R: Outcome,
        W: Fn(Context, E::Model, P) -> F + Send + Sync + 'static,
        F: Future<Output = Result<R>> + Send + 'static,
    {
        self.finish::<P, R>(Bound::Each, Run::Function(on_record::<_, E, P, R, _, _>(work)))
    }

    /// Runs `work` for the set as a whole, which it only reads.
    pub fn on_set<P, R, W, F>(self, work: W) -> EntitySetBuilder<'a, E>
    where
        P: Parameters,
        R: Outcome,
        W: Fn(Context, P) -> F + Send + Sync + 'static,
        F: Future<Output = Result<R>> + Send + 'static,
    {
        self.finish::<P, R>(Bound::Set, Run::Function(on_values(work)))
    }
}

/// An action of sets that other modules serve, in the making.
#[must_use = "say what runs, with `.on_each(…)`"]
pub struct ExtensionAction<'a> {
    extension: SetExtension<'a>,
    words: Words,
}

impl<'a> ExtensionAction<'a> {
    pub(crate) fn new(extension: SetExtension<'a>, name: &str) -> Self {
        Self { extension, words: Words::new(OperationKind::Action, name) }
    }

    words!();

    words_of_actions!();

    /// Runs `work` on one record, which it gets locked, in a unit of work.
    pub fn on_each<P, R, W, F>(self, work: W) -> SetExtension<'a>
    where
        P: Parameters,
        R: Outcome,
        W: Fn(UnitOfWork, Record, P) -> F + Send + Sync + 'static,
        F: Future<Output = Result<R>> + Send + 'static,
    {
        let work = Arc::new(work);
        let run: Work<UnitOfWork> = Arc::new(move |uow, record, values| {
            let work = Arc::clone(&work);
            Box::pin(async move {
                let missing = || Error::internal("a bound operation was called without its record");
                let record = record.ok_or_else(missing)?;
                work(uow, record, parameters_of(&values)?).await?.returned()
            })
        });
        let words = self.words;
        self.extension.operation(Arc::new(move |registry, module, set| {
            let (words, run) = (words.clone(), Run::Action(Arc::clone(&run)));
            let bound = Bound::Each(set.to_owned());
            words.register_for::<P, R>(registry, module.to_owned(), bound, None, run);
        }))
    }
}

/// What [`ImportBuilder`] answers with once it knows what runs.
#[derive(Debug)]
pub struct Runs(());

/// An operation of the service as a whole in the making.
#[must_use = "say what runs, with `.runs(…)`"]
pub struct ImportBuilder<'a, const ACTION: bool> {
    registry: &'a mut Registry,
    words: Words,
}

impl<'a, const ACTION: bool> ImportBuilder<'a, ACTION> {
    pub(crate) fn new(registry: &'a mut Registry, name: &str) -> Self {
        let kind = if ACTION { OperationKind::Action } else { OperationKind::Function };
        Self { registry, words: Words::new(kind, name) }
    }

    words!();
}

impl ImportBuilder<'_, true> {
    words_of_actions!();

    /// Runs `work` in a unit of work.
    pub fn runs<P, R, W, F>(self, work: W) -> Runs
    where
        P: Parameters,
        R: Outcome,
        W: Fn(UnitOfWork, P) -> F + Send + Sync + 'static,
        F: Future<Output = Result<R>> + Send + 'static,
    {
        let run = Run::Action(on_values(work));
        self.words.register::<P, R>(self.registry, Bound::Nothing, None, run);
        Runs(())
    }
}

impl ImportBuilder<'_, false> {
    /// Runs `work`, which only reads.
    pub fn runs<P, R, W, F>(self, work: W) -> Runs
    where
        P: Parameters,
        R: Outcome,
        W: Fn(Context, P) -> F + Send + Sync + 'static,
        F: Future<Output = Result<R>> + Send + 'static,
    {
        let run = Run::Function(on_values(work));
        self.words.register::<P, R>(self.registry, Bound::Nothing, None, run);
        Runs(())
    }
}

/// Gives `work` the record that it is called on, and its parameters.
fn on_record<S, E, P, R, W, F>(work: W) -> Work<S>
where
    S: Send + 'static,
    E: EntityTrait,
    E::ActiveModel: TryIntoModel<E::Model>,
    P: Parameters,
    R: Outcome,
    W: Fn(S, E::Model, P) -> F + Send + Sync + 'static,
    F: Future<Output = Result<R>> + Send + 'static,
{
    let work = Arc::new(work);
    Arc::new(move |state, record, values| {
        let work = Arc::clone(&work);
        Box::pin(async move {
            let (model, given) = (model_of::<E>(record.as_ref())?, parameters_of(&values)?);
            work(state, model, given).await?.returned()
        })
    })
}

/// Gives `work` its parameters.
fn on_values<S, P, R, W, F>(work: W) -> Work<S>
where
    S: Send + 'static,
    P: Parameters,
    R: Outcome,
    W: Fn(S, P) -> F + Send + Sync + 'static,
    F: Future<Output = Result<R>> + Send + 'static,
{
    let work = Arc::new(work);
    Arc::new(move |state, _, values| {
        let work = Arc::clone(&work);
        Box::pin(async move { work(state, parameters_of(&values)?).await?.returned() })
    })
}
