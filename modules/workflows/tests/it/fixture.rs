//! Orders that are submitted and approved.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use sea_orm::ActiveValue::Set;
use sea_orm::Condition;
use sea_orm::IntoActiveModel as _;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::{Context, DataRegistry as _, Sight, UnitOfWork};
use svc_database::Migration;
use svc_events::{EventsRegistry as _, Handler, Message, Subscription};
use svc_jobs::{EnqueueJobs as _, Job, JobContext, JobError, JobsRegistry as _};
use svc_testing::{Backend, Client, Person, TestApp};
use svc_workflows::{
    Assigned, By, Colour, Definition, State, Transition, WorkflowEngine, Workflows,
    WorkflowsRegistry as _,
};

pub(crate) mod order {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "orders")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        #[sea_orm(column_type = "Text")]
        pub(crate) reference: String,
        #[sea_orm(column_type = "Text")]
        pub(crate) region: String,
        pub(crate) total: i64,
        pub(crate) margin: Option<i64>,
        pub(crate) buyer_id: Option<Uuid>,
        pub(crate) bundle_id: Option<Uuid>,
        pub(crate) approved_by: Option<Uuid>,
        pub(crate) approved_at: Option<OffsetDateTime>,
        #[sea_orm(column_type = "Text", nullable)]
        pub(crate) verdict: Option<String>,
        pub(crate) version: i64,
        #[sea_orm(belongs_to, from = "bundle_id", to = "id")]
        pub(crate) bundle: BelongsTo<Option<super::bundle::Entity>>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// Orders that belong together.
pub(crate) mod bundle {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "bundles")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        #[sea_orm(column_type = "Text")]
        pub(crate) name: String,
        pub(crate) version: i64,
        #[sea_orm(has_many)]
        pub(crate) orders: HasMany<super::order::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// Deleted softly.
pub(crate) mod paper {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "papers")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) id: Uuid,
        pub(crate) organisation_id: Uuid,
        #[sea_orm(column_type = "Text")]
        pub(crate) title: String,
        pub(crate) pages: Option<i32>,
        pub(crate) deleted_at: Option<OffsetDateTime>,
        pub(crate) version: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

const TABLES: &str = "
CREATE TABLE bundles (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    UNIQUE (organisation_id, id)
);
CREATE TABLE orders (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    reference TEXT NOT NULL,
    region TEXT NOT NULL,
    total BIGINT NOT NULL,
    margin BIGINT,
    buyer_id UUID,
    bundle_id UUID,
    approved_by UUID,
    approved_at TIMESTAMPTZ,
    verdict TEXT,
    version BIGINT NOT NULL,
    FOREIGN KEY (organisation_id, bundle_id) REFERENCES bundles (organisation_id, id)
);
CREATE TABLE papers (
    id UUID PRIMARY KEY,
    organisation_id UUID NOT NULL,
    title TEXT NOT NULL,
    pages INTEGER,
    deleted_at TIMESTAMPTZ,
    version BIGINT NOT NULL
);
";

/// What orders go through.
pub(crate) fn orders() -> Definition {
    let approve = Transition::new("approve")
        .from(["submitted"])
        .to("approved")
        .by(By::permission("Orders.Approve"))
        .not_by_creator()
        .when("total le 1000 or contains(@comment,'board')")
        .sets("approvedBy", Assigned::Me)
        .sets("approvedAt", Assigned::Now)
        .sets("verdict", Assigned::Comment);
    let refuse = Transition::new("refuse")
        .from(["submitted"])
        .to("open")
        .by(By::permission("Orders.Approve"))
        .not_by_last()
        .needs_comment();
    Definition::new()
        .state(State::initial("open").titled("Open").coloured(Colour::Blue))
        .state(State::new("submitted").locks(["total"]).unless("Orders.Correct"))
        .state(State::new("approved").coloured(Colour::Green).locks_all())
        .state(State::last("closed"))
        .transition(
            Transition::new("submit")
                .from(["open"])
                .to("submitted")
                .by(By::Creator)
                .by(By::person_in("buyerId")),
        )
        .transition(approve)
        .transition(refuse)
        .transition(
            Transition::new("close")
                .from(["open", "approved"])
                .to("closed")
                .by(By::permission("Orders.Close")),
        )
}

fn papers() -> Definition {
    Definition::new()
        .state(State::initial("draft"))
        .state(State::new("reviewed"))
        .state(State::last("published").locks_all().kept())
        .transition(
            Transition::new("review")
                .from(["draft"])
                .to("reviewed")
                .by(By::permission("Papers.View")),
        )
        .transition(
            Transition::new("publish")
                .from(["draft", "reviewed"])
                .to("published")
                .by(By::permission("Papers.View")),
        )
}

/// What was told, in its order.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<Json>>>);

impl Heard {
    pub(crate) fn take(&self) -> Vec<Json> {
        std::mem::take(&mut self.0.lock())
    }
}

#[async_trait]
impl Handler for Heard {
    async fn handle(&self, _: &UnitOfWork, messages: &[Message]) -> svc_core::Result<()> {
        for message in messages {
            self.0.lock().push(message.data()?);
        }
        Ok(())
    }
}

/// An action that no caller in these tests may call: a workflow does. Of a total of 13 it wants nothing to do with the
/// order, one of 14 it takes on, and of one of 15 it has written down what a job may.
async fn stamp(uow: UnitOfWork, order: order::Model, (): ()) -> svc_core::Result<()> {
    let (id, total) = (order.id, order.total);
    if total == 13 {
        return Err(svc_core::Error::conflict("that isn't a number for an order"));
    }
    let mut change = order.into_active_model();
    change.reference = Set(format!("looked at {total}"));
    uow.update(change).await?;
    if total == 14 {
        let engine = uow.context().app().service::<WorkflowEngine>()?;
        engine.take(uow.context(), "Orders", id, "look", None).await?;
    }
    if total == 15 {
        uow.enqueue(Probe { id }).await?;
    }
    Ok(())
}

/// Writes down in the background what it may do for whoever enqueued it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Probe {
    id: Uuid,
}

impl Job for Probe {
    const NAME: &'static str = "shop.probe";
}

async fn probe(job: JobContext, Probe { id }: Probe) -> Result<(), JobError> {
    let who = job.as_enqueuer().await?;
    let rights = who.principal().permissions().names().chain(who.principal().roles());
    let rights = rights.collect::<Vec<_>>().join(" ");
    let work = async |uow: UnitOfWork| {
        let mut order = uow.find::<order::Entity>(id).await?.into_active_model();
        order.reference = Set(rights);
        uow.update(order).await.map(drop)
    };
    Ok(job.transact(work).await?)
}

/// Writes down in the background that it was there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Touch {
    pub(crate) id: Uuid,
}

impl Job for Touch {
    const NAME: &'static str = "shop.touch";
}

async fn touch(job: JobContext, Touch { id }: Touch) -> Result<(), JobError> {
    let work = async |uow: UnitOfWork| {
        let mut order = uow.find::<order::Entity>(id).await?.into_active_model();
        order.reference = Set("touched".to_owned());
        uow.update(order).await.map(drop)
    };
    Ok(job.transact(work).await?)
}

/// An action that only few may call.
async fn burn(uow: UnitOfWork, paper: paper::Model, (): ()) -> svc_core::Result<()> {
    uow.purge::<paper::Entity>(paper.id).await.map(drop)
}

/// The sample application, with one workflow of orders or another.
struct Shop {
    orders: Definition,
    heard: Heard,
}

impl Module for Shop {
    fn requires(&self) -> &'static [&'static str] {
        &["workflows"]
    }

    fn configure(&self, registry: &mut Registry) {
        registry.migrations([Migration::new("0001_shop", TABLES)]);
        registry.entity_set::<order::Entity>("Orders", |set| {
            set.search([order::Column::Reference])
                .row_filter(|who| match who.claims("regions") {
                    [] => Sight::All,
                    regions => {
                        Sight::Where(Condition::all().add(order::Column::Region.is_in(regions)))
                    }
                })
                .hidden(order::Column::Margin)
                .unless("Orders.SeeMargins")
                .read_only(order::Column::ApprovedBy)
                .read_only(order::Column::ApprovedAt)
                .read_only(order::Column::Verdict)
                .action("Stamp", |action| {
                    action.described("Writes down that it was looked at").on_each(stamp)
                })
        });
        registry.entity_set::<bundle::Entity>("Bundles", |set| set);
        registry.job::<Touch>(touch);
        registry.job::<Probe>(probe);
        registry.entity_set::<paper::Entity>("Papers", |set| {
            set.soft_delete(paper::Column::DeletedAt)
                .action("Burn", |action| action.described("Leaves nothing").on_each(burn))
        });
        registry.permission("Orders.Approve", "approve orders");
        registry.permission("Orders.Close", "close orders");
        registry.permission("Orders.Correct", "correct what waits for approval");
        registry.permission("Orders.Audit", "approve orders as an auditor");
        registry.named_event("orders.looked_at", "An order was looked at", |event| event);
        registry.workflow("Orders", self.orders.clone());
        registry.designable_workflow("Papers", papers());
        let wanted = Subscription::new()
            .event("WorkflowTransitioned")
            .event("WorkflowReminded")
            .event("WorkflowOverdue")
            .event("WorkflowNotice")
            .event("orders.looked_at");
        registry.handler("shop.hear", wanted, Arc::new(self.heard.clone()));
    }
}

pub(crate) fn application(orders: Definition, heard: &Heard) -> Application {
    Application::new("shop").module(Workflows).module(Shop { orders, heard: heard.clone() })
}

/// Who submits orders, and may do nothing else with them.
pub(crate) const CLERK: [&str; 6] = [
    "Workflows.View",
    "Workflows.Act",
    "Orders.View",
    "Orders.Create",
    "Orders.Update",
    "Orders.Delete",
];

/// A started shop; Ada may do everything, Cy is a clerk, Bob approves.
pub(crate) struct World {
    pub(crate) app: TestApp,
    pub(crate) heard: Heard,
    /// What a node that starts declares for orders.
    pub(crate) declared: Arc<Mutex<Definition>>,
    pub(crate) ada: Person,
    pub(crate) bob: Person,
    pub(crate) cy: Person,
}

/// A statement that stores twenty thousand orders `PO 2` beside the only one, past the workflow, with their numbers as totals.
pub(crate) fn many_orders(backend: Backend) -> String {
    let key = match backend {
        Backend::Sqlite => "randomblob(16)",
        Backend::Postgres => "gen_random_uuid()",
    };
    format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
         INSERT INTO orders (id, organisation_id, reference, region, total, version) \
         SELECT {key}, organisation_id, 'PO 2', 'EU', i, 1 FROM n, (SELECT organisation_id FROM orders) AS o"
    )
}

impl World {
    pub(crate) async fn new(backend: Backend) -> Self {
        Self::with(backend, orders()).await
    }

    /// The same with another workflow of orders.
    pub(crate) async fn with(backend: Backend, orders: Definition) -> Self {
        let heard = Heard::default();
        let declared = Arc::new(Mutex::new(orders));
        let make = {
            let (heard, declared) = (heard.clone(), Arc::clone(&declared));
            move || application(declared.lock().clone(), &heard)
        };
        let approver = ["Workflows.View", "Workflows.Act", "Orders.View", "Orders.Approve"];
        Self {
            app: TestApp::builder(make).start(backend).await,
            heard,
            declared,
            ada: Person::named("Ada"),
            bob: Person::named("Bob").who_may(&approver),
            cy: Person::named("Cy").who_may(&CLERK),
        }
    }

    pub(crate) fn client(&self, who: &Person) -> Client {
        self.app.sign_in(who)
    }

    pub(crate) fn context(&self) -> Context {
        self.app.context(&self.ada)
    }

    /// Makes an order as somebody; answers with its key.
    pub(crate) async fn order(&self, who: &Person, total: i64) -> String {
        let body = json!({"reference": "PO 1", "region": "EU", "total": total});
        let made = self.client(who).post("/odata/v1/Orders", body).await.expect(201);
        made["id"].as_str().unwrap().to_owned()
    }

    /// Where an order stands, as somebody sees it.
    pub(crate) async fn look(&self, who: &Person, id: &str) -> Json {
        self.client(who).get(&format!("/api/v1/workflows/Orders/{id}")).await.expect(200)
    }

    /// Looks and then takes a transition; answers with the status and what was said.
    pub(crate) async fn take(
        &self,
        who: &Person,
        id: &str,
        transition: &str,
        comment: Option<&str>,
    ) -> (u16, Json) {
        let seen = self.look(&self.ada, id).await;
        self.take_seen(
            who,
            id,
            transition,
            &json!({"version": seen["version"], "comment": comment}),
        )
        .await
    }

    pub(crate) async fn take_seen(
        &self,
        who: &Person,
        id: &str,
        transition: &str,
        body: &Json,
    ) -> (u16, Json) {
        let path = format!("/api/v1/workflows/Orders/{id}/transitions/{transition}");
        let answer = self.client(who).post(&path, body.clone()).await;
        (answer.status.as_u16(), answer.json())
    }

    /// An order that waits for approval.
    pub(crate) async fn submitted(&self, total: i64) -> String {
        let id = self.order(&self.cy, total).await;
        let (status, moved) = self.take(&self.cy, &id, "submit", None).await;
        assert_eq!((status, &moved["state"]["name"]), (200, &json!("submitted")), "{moved}");
        id
    }

    /// An order as Ada sees it, with its state.
    pub(crate) async fn read(&self, id: &str) -> Json {
        let path = format!("/odata/v1/Orders({id})?$select=*,workflowState");
        self.client(&self.ada).get(&path).await.expect(200)
    }

    /// A number that the database tells.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let database = self.context().database().clone();
        let rows = database.rows(database.statement(sql, [])).await.unwrap();
        rows[0].try_get_by_index(0).unwrap()
    }

    /// How many instances and steps there are.
    pub(crate) async fn kept(&self) -> (i64, i64) {
        let instances = self.number("SELECT COUNT(*) FROM workflows_instances").await;
        (instances, self.number("SELECT COUNT(*) FROM workflows_steps").await)
    }
}
