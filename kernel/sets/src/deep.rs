//! Entities that are written together with what they are related to.
//!
//! Whoever relates an entity needs what the same change would take on its own: the permission to
//! create for each entity that is new, in its own set, with that set's row filter; the permission
//! to change for an existing one that is moved. What is referred to must be seen.
//!
//! | navigation property | new | existing |
//! | --- | --- | --- |
//! | to one, by a property of this entity | is created first | its key becomes the property's value |
//! | to many, by a property of those | are created behind this one | are changed |

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sea_orm::Value;
use svc_core::{Error, ErrorKind, Result};
use svc_data::{Context, Expected, NewValues, Record, UnitOfWork};
use svc_odata::model::{NavigationIndex, SetIndex};

use super::entity_input::{EntityInput, RelatedInput, Relating};
use super::model::Sets;
use super::served::Link;
use super::source::Source;
use super::write::{Verb, is_settable, new_values};

/// How many entities one request relates anew.
const MOST_MOVED: usize = 1_000;

/// A value that the entity gets from the one it is created with.
type Inherited = Option<(usize, Value)>;

impl Sets {
    /// Creates an entity that is related to the one that a source leads to, by a way to many.
    ///
    /// # Errors
    ///
    /// As [`Sets::create`]; [`ErrorKind::NotFound`](svc_core::ErrorKind::NotFound) when there is
    /// none to relate it to.
    pub async fn create_related(
        &self,
        uow: &UnitOfWork,
        parent: &Source,
        navigation: NavigationIndex,
        entity: EntityInput,
    ) -> Result<Record> {
        let link = self.served(parent.set()).link(navigation);
        let value = self.value_of_parent(uow.context(), parent, link).await?;
        let inherited = Some((link.target_column, value));
        self.create_deep(uow, SetIndex(link.target.0), entity, inherited).await
    }

    /// Relates an existing entity, in the version that is expected, to the one that a source leads to,
    /// by a way to many.
    ///
    /// # Errors
    ///
    /// As [`Sets::create_related`].
    pub async fn relate(
        &self,
        uow: &UnitOfWork,
        parent: &Source,
        navigation: NavigationIndex,
        other: &Source,
        expected: Expected,
    ) -> Result<()> {
        let link = self.served(parent.set()).link(navigation);
        let name = self.navigation_name(parent.set(), navigation);
        let value = self.value_of_parent(uow.context(), parent, link).await?;
        self.must_be_of(other, link).map_err(|error| within(error, &name))?;
        let moved = self.move_to(uow, other, (link.target_column, value), expected, &name).await;
        moved.map_err(|error| within(error, &name))
    }

    /// Relates just these existing entities to the one that a source leads to, by a way to many:
    /// ends the relation of the others. What the caller doesn't see stays as it is.
    ///
    /// # Errors
    ///
    /// As [`Sets::create_related`]; [`ErrorKind::TooLarge`](svc_core::ErrorKind::TooLarge) when
    /// more than a thousand would be changed.
    pub async fn relate_just(
        &self,
        uow: &UnitOfWork,
        parent: &Source,
        navigation: NavigationIndex,
        others: &[Source],
    ) -> Result<()> {
        let ctx = uow.context();
        let link = self.served(parent.set()).link(navigation);
        let name = self.navigation_name(parent.set(), navigation);
        let value = self.value_of_parent(ctx, parent, link).await?;
        let set = SetIndex(link.target.0);
        self.require(ctx, set, Verb::Change)?;
        self.require_view(ctx, set)?;
        let mut wanted = Vec::with_capacity(others.len());
        for (place, other) in others.iter().enumerate() {
            let key = match self.must_be_of(other, link) {
                Ok(()) => self.value_of(ctx, other, self.entity(set).key_index()).await,
                Err(error) => Err(error),
            };
            wanted.push(key.map_err(|error| within(error, &format!("{name}/{place}")))?);
        }
        let related = self.follow(ctx, parent, navigation).await?;
        let limit = MOST_MOVED + wanted.len();
        let found = self.keys_of(ctx, &related, limit + 1).await?;
        let leaving: Vec<&Value> = found.iter().filter(|key| !wanted.contains(key)).collect();
        let coming: Vec<&Value> = wanted.iter().filter(|key| !found.contains(key)).collect();
        if found.len() > limit || leaving.len() + coming.len() > MOST_MOVED {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("more than {MOST_MOVED} would be changed; change fewer at once"),
            ));
        }
        let nowhere = self.entity(set).columns[link.target_column].kind.null();
        let leave = leaving.into_iter().map(|key| (key, &nowhere));
        for (key, value) in leave.chain(coming.into_iter().map(|key| (key, &value))) {
            let other = self.with_key(Source::of(set), key.clone());
            let value = (link.target_column, value.clone());
            let done = self.move_to(uow, &other, value, Expected::Any, &name).await;
            done.map_err(|error| within(error, &name))?;
        }
        Ok(())
    }

    /// Ends the relation by a way to many of a set's entity, for the entity there that a source
    /// leads to, in the version that is expected.
    ///
    /// # Errors
    ///
    /// As [`Sets::create_related`].
    pub async fn unrelate(
        &self,
        uow: &UnitOfWork,
        set: SetIndex,
        navigation: NavigationIndex,
        other: &Source,
        expected: Expected,
    ) -> Result<()> {
        let link = self.served(set).link(navigation);
        let name = self.navigation_name(set, navigation);
        // What isn't there, or isn't seen, isn't related either.
        self.require_view(uow.context(), other.set())?;
        self.find_key_now(uow.context(), other, true)
            .await?
            .ok_or_else(|| Error::not_found("there is no such entity"))?;
        let column = &self.entity(other.set()).columns[link.target_column];
        let nowhere = (link.target_column, column.kind.null());
        self.move_to(uow, other, nowhere, expected, &name).await
    }

    async fn value_of_parent(&self, ctx: &Context, parent: &Source, link: Link) -> Result<Value> {
        self.require_view(ctx, parent.set())?;
        let value = self.column_of(ctx, parent, link.column).await?;
        value.ok_or_else(|| Error::not_found("there is no such entity"))
    }

    /// Creates an entity and those that are new with it.
    pub(super) fn create_deep<'a>(
        &'a self,
        uow: &'a UnitOfWork,
        set: SetIndex,
        entity: EntityInput,
        inherited: Inherited,
    ) -> BoxFuture<'a, Result<Record>> {
        async move {
            self.require(uow.context(), set, Verb::Create)?;
            let served = self.served(set);
            let mut row = new_values(uow.context(), served, entity.properties, Verb::Create)?;
            if let Some((column, value)) = inherited {
                let name = &served.entity.columns[column].property;
                self.assign(uow.context(), set, &mut row, (column, value), Verb::Create, name)?;
            }
            let behind =
                self.relate_before(uow, set, &mut row, entity.related, Verb::Create).await?;
            self.check_references(uow.context(), set, &row, None).await?;
            let record = uow.insert_records(&served.entity, vec![row]).await?.pop();
            let missing = || Error::internal("a created entity was not returned");
            let record = record.ok_or_else(missing)?;
            self.still_visible(uow.context(), set, record.key(&served.entity)).await?;
            self.relate_behind(uow, set, &record, behind).await?;
            Ok(record)
        }
        .boxed()
    }

    /// Gives a row the values by which it is related to others, which are created first where
    /// they are new. Answers with the relations that the row itself has no value of.
    pub(super) async fn relate_before(
        &self,
        uow: &UnitOfWork,
        set: SetIndex,
        row: &mut NewValues,
        related: Vec<(NavigationIndex, Relating)>,
        verb: Verb,
    ) -> Result<Vec<(NavigationIndex, Relating)>> {
        let mut behind = Vec::new();
        for (navigation, relating) in related {
            let link = self.served(set).link(navigation);
            let name = self.navigation_name(set, navigation);
            if !self.is_of_row(set, navigation) {
                behind.push((navigation, relating));
                continue;
            }
            let value = match relating {
                Relating::Nothing => self.served(set).entity.columns[link.column].kind.null(),
                Relating::Entities(entities) => {
                    let first = entities.into_iter().next();
                    let first = first.ok_or_else(|| invalid(&name, "leads to one entity"))?;
                    self.value_behind(uow, link, first).await.map_err(|e| within(e, &name))?
                }
            };
            self.assign(uow.context(), set, row, (link.column, value), verb, &name)?;
        }
        Ok(behind)
    }

    /// Relates others to a record that exists by now.
    pub(super) async fn relate_behind(
        &self,
        uow: &UnitOfWork,
        set: SetIndex,
        record: &Record,
        related: Vec<(NavigationIndex, Relating)>,
    ) -> Result<()> {
        for (navigation, relating) in related {
            let link = self.served(set).link(navigation);
            let name = self.navigation_name(set, navigation);
            let Relating::Entities(entities) = relating else {
                return Err(invalid(&name, "can't be taken away from here"));
            };
            let (target, value) = (SetIndex(link.target.0), record.value(link.column).clone());
            for (place, entity) in entities.into_iter().enumerate() {
                let inherited = (link.target_column, value.clone());
                let done = match entity {
                    RelatedInput::New(entity) => {
                        self.create_deep(uow, target, entity, Some(inherited)).await.map(drop)
                    }
                    RelatedInput::Existing(source) => match self.must_be_of(&source, link) {
                        Ok(()) => self.move_to(uow, &source, inherited, Expected::Any, &name).await,
                        Err(error) => Err(error),
                    },
                };
                done.map_err(|error| within(error, &format!("{name}/{place}")))?;
            }
        }
        Ok(())
    }

    /// The value by which a row is related to another.
    async fn value_behind(
        &self,
        uow: &UnitOfWork,
        link: Link,
        entity: RelatedInput,
    ) -> Result<Value> {
        match entity {
            RelatedInput::New(entity) => {
                let target = SetIndex(link.target.0);
                let record = self.create_deep(uow, target, entity, None).await?;
                Ok(record.value(link.target_column).clone())
            }
            RelatedInput::Existing(source) => {
                self.must_be_of(&source, link)?;
                self.require_view(uow.context(), source.set())?;
                self.value_of(uow.context(), &source, link.target_column).await
            }
        }
    }

    fn must_be_of(&self, source: &Source, link: Link) -> Result<()> {
        if self.entity_type_of(source.set()) == link.target {
            return Ok(());
        }
        let name = &self.model().set(SetIndex(link.target.0)).name;
        Err(invalid("", &format!("refers to what is none of `{name}`")))
    }

    /// Gives an existing entity the value by which it is related to another.
    async fn move_to(
        &self,
        uow: &UnitOfWork,
        source: &Source,
        value: (usize, Value),
        expected: Expected,
        name: &str,
    ) -> Result<()> {
        let set = source.set();
        self.require(uow.context(), set, Verb::Change)?;
        self.require_view(uow.context(), set)?;
        let entity = &self.served(set).entity;
        let key = self.value_of(uow.context(), source, entity.key_index()).await?;
        let mut row = vec![None; entity.columns.len()];
        self.assign(uow.context(), set, &mut row, value, Verb::Change, name)?;
        uow.update_record(entity, &key, row, expected).await?;
        self.still_visible(uow.context(), set, &key).await
    }

    /// The value of a column of the one entity that a source leads to.
    async fn value_of(&self, ctx: &Context, source: &Source, column: usize) -> Result<Value> {
        let value = self.column_of(ctx, source, column).await?;
        value.ok_or_else(|| invalid("", "refers to nothing"))
    }

    /// Puts a value into a row, where callers may set it and have said nothing else.
    fn assign(
        &self,
        ctx: &Context,
        set: SetIndex,
        row: &mut NewValues,
        (column, value): (usize, Value),
        verb: Verb,
        name: &str,
    ) -> Result<()> {
        let described = &self.served(set).entity.columns[column];
        if !is_settable(ctx, self.served(set), column, verb) {
            let problem =
                format!("can't be set: `{}` is set by the application", described.property);
            return Err(invalid(name, &problem));
        }
        match &row[column] {
            Some(given) if *given != value => {
                let problem = format!("contradicts the value of `{}`", described.property);
                Err(invalid(name, &problem))
            }
            _ => {
                row[column] = Some(value);
                Ok(())
            }
        }
    }

    /// Whether a value of the entity's own row says where a navigation property leads.
    fn is_of_row(&self, set: SetIndex, navigation: NavigationIndex) -> bool {
        let entity_type = self.model().entity_type(self.entity_type_of(set));
        let key = self.served(set).entity.key_index();
        !entity_type.navigation(navigation).collection
            && self.served(set).link(navigation).column != key
    }

    fn navigation_name(&self, set: SetIndex, navigation: NavigationIndex) -> String {
        let entity_type = self.model().entity_type(self.entity_type_of(set));
        entity_type.navigation(navigation).name.clone()
    }
}

fn invalid(name: &str, problem: &str) -> Error {
    Error::invalid("the entity is not valid").field(name, problem)
}

/// The same refusal, with the way to the entity that it is about.
fn within(error: Error, way: &str) -> Error {
    if error.kind() != ErrorKind::Invalid || error.fields().is_empty() {
        return error;
    }
    let refusal = Error::invalid(error.message().to_owned());
    error.fields().iter().fold(refusal, |refusal, (field, messages)| {
        let field = if field.is_empty() || field == way {
            way.to_owned()
        } else {
            format!("{way}/{field}")
        };
        messages.iter().fold(refusal, |refusal, message| refusal.field(&field, message))
    })
}
