//! Nodes of a small application whose jobs do what a test tells them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use svc_core::settings::{LoadOptions, Settings};
use svc_core::{
    App, Backoff, Clock, Directory, Module, OrganisationId, PermissionSet, Principal, Registry,
    Result, UserId,
};
use svc_data::{Context, DataModule, Prepared};
use svc_database::Database;
use svc_jobs::{
    EnqueueJobs as _, Enqueued, Job, JobContext, JobError, JobId, JobStatus, Jobs, JobsModule,
    JobsRegistry as _, Schedule,
};
use svc_testing::{Backend, ThrowAwayDatabase};
use time::macros::datetime;
use uuid::Uuid;

/// Does what the world says of `name`; notes it where the world says nothing.
#[derive(Serialize, Deserialize)]
pub(crate) struct Act {
    pub(crate) name: String,
}

impl Job for Act {
    const NAME: &'static str = "tests.act";
    const MAX_ATTEMPTS: u32 = 3;
    const BACKOFF: Backoff =
        Backoff { first: Duration::from_secs(10), cap: Duration::from_mins(1) };
}

/// Like [`Act`], and may take only 50 ms.
#[derive(Serialize, Deserialize)]
pub(crate) struct Quick {
    pub(crate) name: String,
}

impl Job for Quick {
    const NAME: &'static str = "tests.quick";
    const TIMEOUT: Option<Duration> = Some(Duration::from_millis(50));
}

/// Is enqueued by nobody but a schedule.
#[derive(Serialize, Deserialize)]
pub(crate) struct Nightly {}

impl Job for Nightly {
    const NAME: &'static str = "tests.nightly";
}

/// Is enqueued in each organisation by a schedule.
#[derive(Serialize, Deserialize)]
pub(crate) struct Weekly {}

impl Job for Weekly {
    const NAME: &'static str = "tests.weekly";
}

/// Is never registered.
#[derive(Serialize, Deserialize)]
pub(crate) struct Unknown {}

impl Job for Unknown {
    const NAME: &'static str = "tests.unknown";
}

type Outcome = Pin<Box<dyn Future<Output = Result<(), JobError>> + Send>>;
type Behaviour = Arc<dyn Fn(JobContext) -> Outcome + Send + Sync>;

/// What all nodes of a test share besides the database.
#[derive(Default)]
pub(crate) struct World {
    noted: Mutex<Vec<String>>,
    behaviours: Mutex<HashMap<String, Behaviour>>,
    members: Mutex<BTreeMap<UserId, PermissionSet>>,
    organisations: Mutex<BTreeSet<u128>>,
}

impl World {
    /// Tells jobs of a name what to do.
    pub(crate) fn teach<F, Fut>(&self, name: &str, behaviour: F)
    where
        F: Fn(JobContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), JobError>> + Send + 'static,
    {
        let behaviour: Behaviour = Arc::new(move |ctx| Box::pin(behaviour(ctx)));
        self.behaviours.lock().insert(name.to_owned(), behaviour);
    }

    pub(crate) fn note(&self, text: impl Into<String>) {
        self.noted.lock().push(text.into());
    }

    /// What was noted since this was last asked.
    pub(crate) fn noted(&self) -> Vec<String> {
        std::mem::take(&mut *self.noted.lock())
    }

    /// Gives a person rights, from now on.
    pub(crate) fn grant(&self, user: UserId, permissions: &[&str]) {
        let permissions = permissions.iter().copied().collect();
        self.members.lock().insert(user, permissions);
    }

    /// Makes an organisation known, from now on.
    pub(crate) fn found(&self, organisation: u128) {
        self.organisations.lock().insert(organisation);
    }

    pub(crate) fn expel(&self, user: UserId) {
        self.members.lock().remove(&user);
    }

    async fn act(&self, ctx: JobContext, name: &str) -> Result<(), JobError> {
        let behaviour = self.behaviours.lock().get(name).cloned();
        if let Some(behaviour) = behaviour {
            return behaviour(ctx).await;
        }
        self.note(name);
        Ok(())
    }
}

#[async_trait]
impl Directory for World {
    async fn principal(
        &self,
        user: UserId,
        organisation: OrganisationId,
    ) -> Result<Option<Principal>> {
        let permissions = self.members.lock().get(&user).cloned();
        let person = |granted| Principal::user(user, "Ada", organisation, granted);
        Ok(permissions.map(|granted| person(granted).with_roles(["Buyers", "Checkers"])))
    }

    async fn organisations(
        &self,
        after: Option<OrganisationId>,
        most: u32,
    ) -> Result<Vec<OrganisationId>> {
        let all = self.organisations.lock().clone();
        let later = all.into_iter().filter(|of| after.is_none_or(|last| *of > last.0.as_u128()));
        let some = later.take(usize::try_from(most).unwrap());
        Ok(some.map(|of| OrganisationId(Uuid::from_u128(of))).collect())
    }
}

struct Tests {
    world: Arc<World>,
    nightly: &'static str,
}

impl Module for Tests {
    fn requires(&self) -> &'static [&'static str] {
        &["jobs"]
    }

    fn configure(&self, registry: &mut Registry) {
        let world = Arc::clone(&self.world);
        registry.job::<Act>(move |ctx: JobContext, act: Act| {
            let world = Arc::clone(&world);
            async move { world.act(ctx, &act.name).await }
        });
        let world = Arc::clone(&self.world);
        registry.job::<Quick>(move |ctx: JobContext, quick: Quick| {
            let world = Arc::clone(&world);
            async move { world.act(ctx, &quick.name).await }
        });
        let world = Arc::clone(&self.world);
        registry.job::<Nightly>(move |ctx: JobContext, _: Nightly| {
            let world = Arc::clone(&world);
            async move { world.act(ctx, "nightly").await }
        });
        registry.schedule("tests.nightly", self.nightly, || Nightly {});
        let world = Arc::clone(&self.world);
        registry.job::<Weekly>(move |ctx: JobContext, _: Weekly| {
            let world = Arc::clone(&world);
            async move { world.act(ctx, "weekly").await }
        });
        // On Sunday.
        let weekly = Schedule::cron("0 0 5 * * 7").in_each_organisation();
        registry.schedule("tests.weekly", weekly, || Weekly {});
    }
}

/// A database and a clock that nodes can share.
pub(crate) struct Site {
    pub(crate) clock: Clock,
    pub(crate) world: Arc<World>,
    pub(crate) throw_away: ThrowAwayDatabase,
}

/// How a node differs from others.
#[derive(Default)]
pub(crate) struct Different<'a> {
    pub(crate) arguments: &'a [&'a str],
    pub(crate) nightly: Option<&'static str>,
}

impl Site {
    pub(crate) async fn new(backend: Backend) -> Self {
        Self {
            clock: Clock::manual(datetime!(2026-11-20 12:00 UTC)),
            world: Arc::default(),
            throw_away: ThrowAwayDatabase::empty(backend).await,
        }
    }

    /// A node whose workers don't run yet.
    pub(crate) async fn node(&self) -> Node {
        self.different_node(Different::default()).await
    }

    pub(crate) async fn different_node(&self, different: Different<'_>) -> Node {
        let nightly = different.nightly.unwrap_or("0 0 3 * * *");
        let tests = Tests { world: Arc::clone(&self.world), nightly };
        let mut assembly =
            Registry::assemble(vec![Box::new(DataModule), Box::new(JobsModule), Box::new(tests)])
                .unwrap();
        let mut arguments = vec![
            format!("--Svc:Database:Url={}", self.throw_away.url()),
            "--Svc:Jobs:PollInterval=00:00:00.100".to_owned(),
            // Secrets need a key; without one, each start would look for a file.
            "--Svc:DataProtection:Keys:0=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".to_owned(),
        ];
        arguments.extend(different.arguments.iter().map(ToString::to_string));
        let mut settings = Settings::load(&LoadOptions { arguments, ..LoadOptions::default() });
        settings.declare_all(assembly.sections().iter().copied());
        let app = App::new("tests", self.clock.clone(), settings.finish().unwrap());
        let prepared = Prepared::from_assembly(&mut assembly);
        let database = prepared.connect(&app).await.unwrap();
        prepared.migrate(&app, &database).await.unwrap();
        prepared.provide(&app, database.clone());
        app.provide(Arc::clone(&self.world) as Arc<dyn Directory>);
        assembly.build(&app).await.unwrap();
        let jobs = app.service::<Jobs>().unwrap();
        Node { app, database, jobs }
    }

    /// One node on a database of its own.
    pub(crate) async fn with_node(backend: Backend) -> (Self, Node) {
        let site = Self::new(backend).await;
        let node = site.node().await;
        (site, node)
    }
}

pub(crate) struct Node {
    pub(crate) app: App,
    pub(crate) database: Database,
    pub(crate) jobs: Arc<Jobs>,
}

/// Ada, who may do nothing but what is hers.
pub(crate) const ADA: UserId = UserId(Uuid::from_u128(7));

impl Node {
    /// A person in the first or second organisation.
    pub(crate) fn person(&self, user: UserId, organisation: u128, permissions: &[&str]) -> Context {
        let organisation = OrganisationId(Uuid::from_u128(organisation));
        let permissions = permissions.iter().copied().collect();
        let person = Principal::user(user, "Ada", organisation, permissions);
        Context::new(&self.app, Arc::new(person), Uuid::from_u128(9)).unwrap()
    }

    pub(crate) fn ada(&self) -> Context {
        self.person(ADA, 1, &[])
    }

    pub(crate) fn system(&self) -> Context {
        Context::system(&self.app).unwrap()
    }

    /// Enqueues an [`Act`] for Ada.
    pub(crate) async fn enqueue(&self, name: &str) -> JobId {
        let act = Act { name: name.to_owned() };
        let enqueued: Enqueued =
            self.ada().transact(async |uow| uow.enqueue(act).await).await.unwrap();
        enqueued.id
    }

    /// Enqueues an [`Act`] that is kept when it has finished.
    pub(crate) async fn enqueue_watched(&self, name: &str) -> JobId {
        let act = Act { name: name.to_owned() };
        let enqueued = self.ada().transact(async |uow| uow.enqueue(act).watched().await).await;
        enqueued.unwrap().id
    }

    pub(crate) async fn drain(&self) -> usize {
        self.app.drain().await.unwrap()
    }

    /// Where a job stands; none when it is gone.
    pub(crate) async fn status(&self, id: JobId) -> Option<JobStatus> {
        match self.jobs.status(&self.system(), id).await {
            Ok(status) => Some(status),
            Err(error) if error.kind() == svc_core::ErrorKind::NotFound => None,
            Err(error) => panic!("{error:?}"),
        }
    }

    /// How many jobs there are, in whatever state.
    pub(crate) async fn count(&self) -> u64 {
        self.jobs.statistics().await.unwrap().iter().map(|counted| counted.count).sum()
    }

    pub(crate) async fn execute(&self, sql: &str) {
        self.database.execute(self.database.statement(sql, [])).await.unwrap();
    }
}

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const HOUR: Duration = Duration::from_hours(1);
