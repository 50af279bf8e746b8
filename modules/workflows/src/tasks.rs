//! What awaits somebody, over all sets.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use sea_orm::Value;
use serde::{Deserialize, Serialize};
use svc_core::{Error, ErrorKind, PrincipalKind, Result};
use svc_data::Context;
use svc_data::value::ValueKind;
use svc_database::column;
use svc_odata::syntax::QueryOptions;
use svc_odata::value::Value as Literal;
use svc_sets::{Source, ValueRows};
use uuid::Uuid;

use crate::awaiting::{TaskOrder, Tasks};
use crate::binding::{self, Parameters};
use crate::definition::{Definition, Transition};
use crate::engine::{Workflow, WorkflowEngine};
use crate::permissions::ACT;
use crate::store;
use crate::subject::Subject;

/// Where a list of tasks goes on: behind this one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct TaskPlace {
    /// Since when, or until when, as the list is ordered.
    at_us: i64,
    id: Uuid,
    set: String,
}

/// A record that awaits somebody.
pub(crate) struct Task {
    pub(crate) subject: Subject,
    /// What the record is called; none where its set has no such property, or none that the person sees.
    pub(crate) title: Option<String>,
    /// The names of the transitions that the person can take now.
    pub(crate) possible: Vec<String>,
}

impl Task {
    pub(crate) fn choices(&self) -> impl Iterator<Item = &Transition> {
        let definition: &Definition = &self.subject.definition;
        self.possible.iter().filter_map(|name| definition.find_transition(name))
    }
}

impl WorkflowEngine {
    /// What awaits the caller, in an order, behind a place, with the place to go on behind.
    pub(crate) async fn tasks(
        &self,
        ctx: &Context,
        (set, order): (Option<&str>, TaskOrder),
        after: Option<TaskPlace>,
        take: usize,
    ) -> Result<(Vec<Task>, Option<TaskPlace>)> {
        let mut places = Vec::new();
        let delegated = delegated(ctx).await?;
        for workflow in self.asked_for(ctx, set)? {
            self.learn(ctx, workflow).await?;
            let Some(tasks) = tasks_of(ctx, workflow, &delegated)? else { continue };
            places.extend(self.places(ctx, (&tasks, order), after.as_ref(), take + 1).await?);
        }
        places.sort_unstable();
        if order == TaskOrder::Newest {
            places.reverse();
        }
        let has_more = places.len() > take;
        places.truncate(take);
        let next = places.last().filter(|_| has_more).cloned();
        Ok((self.read_tasks(ctx, &places).await?, next))
    }

    /// How the database would answer the first page of what awaits the caller in a set: the steps of its plan,
    /// a line for each. For those who look for a missing index.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] for a set without a workflow, and a fault of the database.
    pub async fn explain_tasks(&self, ctx: &Context, set: &str) -> Result<Vec<String>> {
        let delegated = delegated(ctx).await?;
        let Some(tasks) = tasks_of(ctx, self.find(ctx, set)?, &delegated)? else {
            return Ok(Vec::new());
        };
        let page = ctx.database().build(&tasks.page(TaskOrder::Newest, None, 50));
        ctx.database().explain(page).await
    }

    /// How many records of each set await the caller, up to so many of each.
    pub(crate) async fn count_tasks(
        &self,
        ctx: &Context,
        most: u64,
    ) -> Result<Vec<(Arc<Workflow>, u64)>> {
        let mut counts = Vec::new();
        let delegated = delegated(ctx).await?;
        for workflow in self.asked_for(ctx, None)? {
            self.learn(ctx, workflow).await?;
            let Some(tasks) = tasks_of(ctx, workflow, &delegated)? else { continue };
            let counted = ctx.run_one(ctx.database().build(&tasks.count(most))).await?;
            let count: i64 = counted.map_or(Ok(0), |row| column(&row, 0))?;
            let count = u64::try_from(count).unwrap_or(0);
            counts.extend((count > 0).then(|| (Arc::clone(workflow), count)));
        }
        Ok(counts)
    }

    /// The workflow of the set that is asked for; those of all sets that the caller may read where none is.
    fn asked_for<'a>(
        &'a self,
        ctx: &'a Context,
        set: Option<&str>,
    ) -> Result<Vec<&'a Arc<Workflow>>> {
        match set {
            Some(set) => Ok(vec![self.find(ctx, set)?]),
            None => Ok(self.readable(ctx).collect()),
        }
    }

    async fn places(
        &self,
        ctx: &Context,
        (tasks, order): (&Tasks<'_>, TaskOrder),
        after: Option<&TaskPlace>,
        count: usize,
    ) -> Result<Vec<TaskPlace>> {
        let set = tasks.model.name();
        // Of records at the same place, in several sets, some may not have been told.
        let is_told = |it: &TaskPlace| match order {
            TaskOrder::Newest => set >= it.set.as_str(),
            TaskOrder::Due => set <= it.set.as_str(),
        };
        let after = after.map(|it| (it.at_us, it.id, is_told(it)));
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let rows = ctx.run(ctx.database().build(&tasks.page(order, after, count))).await?;
        let read = |row| {
            Ok(TaskPlace { at_us: column(row, 0)?, id: column(row, 1)?, set: set.to_owned() })
        };
        rows.iter().map(read).collect()
    }

    /// The records at some places, as the caller sees them, with what is possible.
    async fn read_tasks(&self, ctx: &Context, places: &[TaskPlace]) -> Result<Vec<Task>> {
        let mut of_sets: BTreeMap<&str, Vec<Uuid>> = BTreeMap::new();
        for place in places {
            of_sets.entry(&place.set).or_default().push(place.id);
        }
        let mut found: HashMap<(&str, Uuid), Task> = HashMap::with_capacity(places.len());
        for (set, ids) in of_sets {
            let workflow = self.find(ctx, set)?;
            let subjects = self.subjects(ctx, workflow, &ids).await?;
            let mut titles = self.titles(ctx, workflow, &ids).await?;
            let mut possible = self.possible(ctx, workflow, &subjects).await?;
            for subject in subjects {
                let id = subject.id;
                let title = titles.remove(&id);
                let possible = possible.remove(&id).unwrap_or_default();
                found.insert((set, id), Task { subject, title, possible });
            }
        }
        let tasks = places.iter().map(|place| found.remove(&(place.set.as_str(), place.id)));
        Ok(tasks.flatten().collect())
    }

    /// What records are called: the first text of their set that is searched, or else is an alternate key.
    async fn titles(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        ids: &[Uuid],
    ) -> Result<HashMap<Uuid, String>> {
        let model = &workflow.model;
        let set = model.set.as_ref();
        let searched = set.iter().flat_map(|set| &set.search);
        let keys = set.iter().flat_map(|set| set.alternate_keys.iter().flatten());
        let title = searched.chain(keys).copied().find(|place| {
            let is_text = matches!(model.columns[*place].kind, ValueKind::Text { .. });
            is_text && model.is_visible(*place, ctx.principal())
        });
        let Some(title) = title else { return Ok(HashMap::new()) };
        let (key, title) = (&model.key().property, &model.columns[title].property);
        let options = QueryOptions::parse(&format!("$select={key},{title}"))
            .map_err(|error| Error::internal("titles can't be asked for").caused_by(error))?;
        let keys = ids.iter().map(|id| Value::from(*id)).collect();
        let reading =
            self.sets.reading_of(ctx, Source::of(workflow.index).among(keys), &options)?;
        let columns = reading.columns();
        let place = |name: &str| columns.iter().position(|column| column.name == name);
        let (key, title) = (place(key), place(title));
        let mut table = ValueRows::default();
        reading.read(&mut table).await?;
        let of_row = |row: &Vec<Literal>| match (row.get(key?)?, row.get(title?)?) {
            (Literal::Guid(id), Literal::String(title)) => Some((*id, title.clone())),
            _ => None,
        };
        Ok(table.rows.iter().filter_map(of_row).collect())
    }

    /// What the caller can do with each of some records. A condition is asked once for all of them.
    async fn possible(
        &self,
        ctx: &Context,
        workflow: &Workflow,
        subjects: &[Subject],
    ) -> Result<HashMap<Uuid, Vec<String>>> {
        let me = ctx.principal().user_id().map(|user| user.0);
        let mut asked: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        let mut open: Vec<(Uuid, &Transition)> = Vec::new();
        for subject in subjects {
            let ways = subject.definition.leaving(&subject.instance.state);
            for way in ways.filter(|way| subject.refusal(ctx, way).is_none()) {
                open.push((subject.id, way));
                if let Some(condition) = &way.condition {
                    asked.entry(condition).or_default().push(subject.key.clone());
                }
            }
        }
        let mut holding = HashMap::new();
        for (condition, keys) in asked {
            let parameters = Parameters { me, comment: None };
            let index = workflow.index;
            let held = binding::holding(ctx, &self.sets, index, keys, condition, &parameters).await;
            match held {
                Ok(held) => drop(holding.insert(condition, held)),
                // Of an earlier version, whose set has changed since.
                Err(error) if error.kind() == ErrorKind::Malformed => {}
                Err(error) => return Err(error),
            }
        }
        let mut possible: HashMap<Uuid, Vec<String>> = HashMap::new();
        for (id, way) in open {
            let holds = way.condition.as_deref().is_none_or(|condition| {
                holding.get(condition).is_some_and(|held| held.contains(&id))
            });
            if holds {
                possible.entry(id).or_default().push(way.name.clone());
            }
        }
        Ok(possible)
    }
}

/// Whose tasks a statement asks for; none for the system, and for those who take no record on.
fn tasks_of<'a>(
    ctx: &'a Context,
    workflow: &'a Workflow,
    delegated: &'a BTreeSet<(Uuid, String)>,
) -> Result<Option<Tasks<'a>>> {
    let who = ctx.viewer();
    if !ctx.principal().can(ACT) {
        return Ok(None);
    }
    let Some(user) = who.user_id().map(|user| user.0) else { return Ok(None) };
    let organisation = ctx.organisation()?;
    let (model, awaited) = (&*workflow.model, &workflow.awaited);
    Ok(Some(Tasks { who, user, organisation, model, awaited, delegated }))
}

/// For whom else the caller is asked, and by which claims.
async fn delegated(ctx: &Context) -> Result<BTreeSet<(Uuid, String)>> {
    match ctx.principal().user_id() {
        Some(user) if ctx.principal().kind() == PrincipalKind::User => {
            store::delegated_to(ctx, ctx.organisation()?, user.0).await
        }
        _ => Ok(BTreeSet::new()),
    }
}
