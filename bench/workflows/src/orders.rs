//! The application that is measured: orders with a workflow, beside orders without one that keep the same in columns of their own.

use serde_json::json;
use svc_application::Application;
use svc_core::{Module, Registry};
use svc_data::{Context, DataRegistry as _};
use svc_database::Migration;
use svc_testing::{Backend, Client, Person, TestApp, organisation};
use svc_workflows::{By, Definition, State, Transition, Workflows, WorkflowsRegistry as _};

macro_rules! entity {
    ($module:ident, $table:literal) => {
        pub(crate) mod $module {
            use sea_orm::entity::prelude::*;
            use time::OffsetDateTime;

            #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
            #[sea_orm(table_name = $table)]
            pub(crate) struct Model {
                #[sea_orm(primary_key, auto_increment = false)]
                pub(crate) id: Uuid,
                pub(crate) organisation_id: Uuid,
                #[sea_orm(column_type = "Text")]
                pub(crate) reference: String,
                #[sea_orm(column_type = "Text")]
                pub(crate) state: String,
                pub(crate) approver_id: Option<Uuid>,
                pub(crate) total: i64,
                pub(crate) updated_at: OffsetDateTime,
                pub(crate) version: i64,
            }

            #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
            pub(crate) enum Relation {}

            impl ActiveModelBehavior for ActiveModel {}
        }
    };
}

entity!(order, "orders");
entity!(plain, "plain_orders");

const TABLE: &str = "(
    id UUID PRIMARY KEY, organisation_id UUID NOT NULL, reference TEXT NOT NULL, state TEXT NOT NULL,
    approver_id UUID, total BIGINT NOT NULL, updated_at TIMESTAMPTZ NOT NULL, version BIGINT NOT NULL)";

/// How many people records are shared out among.
const PEOPLE: u64 = 1_000;

struct Orders;

impl Module for Orders {
    fn requires(&self) -> &'static [&'static str] {
        &["workflows"]
    }

    fn configure(&self, registry: &mut Registry) {
        let sql = format!(
            "CREATE TABLE orders {TABLE}; CREATE TABLE plain_orders {TABLE}; \
             CREATE INDEX orders_page ON orders (organisation_id, id); \
             CREATE INDEX plain_orders_page ON plain_orders (organisation_id, id); \
             CREATE INDEX plain_orders_state ON plain_orders (organisation_id, state, id);"
        );
        registry.migrations([Migration::new("0001_orders", sql.leak())]);
        registry.entity_set::<order::Entity>("Orders", |set| set);
        registry.entity_set::<plain::Entity>("PlainOrders", |set| set);
        registry.permission("Orders.Approve", "approve orders");
        registry.workflow("Orders", workflow());
    }
}

/// What orders go through; held and released again as often as one likes.
fn workflow() -> Definition {
    let way = |name: &str, from: &str, to: &str| Transition::new(name).from([from]).to(to);
    Definition::new()
        .state(State::initial("draft"))
        .state(State::new("submitted").locks(["reference"]))
        .state(State::new("held").locks(["reference"]))
        .state(State::last("approved"))
        .transition(way("submit", "draft", "submitted").by(By::permission("Orders.Update")))
        .transition(
            way("approve", "submitted", "approved")
                .by(By::permission("Orders.Approve"))
                .by(By::person_in("approverId"))
                .not_by_creator(),
        )
        .transition(way("hold", "submitted", "held").by(By::permission("Orders.Update")).optional())
        .transition(way("release", "held", "submitted").by(By::permission("Orders.Update")))
}

/// Starts the application.
pub(crate) async fn start(backend: Backend) -> TestApp {
    let builder = TestApp::builder(|| Application::new("bench").module(Workflows).module(Orders));
    // A million orders are stored by one statement.
    builder.setting("Svc:Database:StatementTimeout", "00:10:00").in_real_time().start(backend).await
}

/// Who may do everything but approve what no record names them for.
pub(crate) fn clerk(name: &str) -> Person {
    Person::named(name).who_may(&[
        "Orders.View",
        "Orders.Create",
        "Orders.Update",
        "PlainOrders.View",
        "PlainOrders.Update",
        "PlainOrders.Create",
        "Workflows.View",
        "Workflows.Act",
    ])
}

/// The same person, who may look, and take on what names them.
pub(crate) fn named(name: &str) -> Person {
    let may = ["Orders.View", "PlainOrders.View", "Workflows.View", "Workflows.Act"];
    Person::named(name).who_may(&may)
}

/// Makes an order and submits it; answers with its key and version.
pub(crate) async fn submitted(client: &Client) -> (String, String) {
    let order = json!({"reference": "PO 1", "state": "submitted", "total": 100});
    let made = client.post("/odata/v1/Orders", order).await.expect(201);
    let id = made["id"].as_str().unwrap().to_owned();
    let seen = client.get(&format!("/api/v1/workflows/Orders/{id}")).await.expect(200);
    let version = take(client, &id, "submit", seen["version"].as_str().unwrap()).await;
    (id, version)
}

/// Takes an order on; answers with its version.
pub(crate) async fn take(client: &Client, id: &str, transition: &str, version: &str) -> String {
    let path = format!("/api/v1/workflows/Orders/{id}/transitions/{transition}");
    let moved = client.post(&path, json!({"version": version})).await.expect(200);
    moved["version"].as_str().unwrap().to_owned()
}

/// Fills both sets with as many orders, of which every fourth is in each state. What is submitted awaits whoever approves, and one of a thousand
/// people, of whom the first is the one who asks.
pub(crate) async fn fill(app: &TestApp, me: &Person, count: u64) {
    let ctx: Context = app.context(&Person::named("boss"));
    let backend = ctx.database().backend();
    let (id, text, one) = match backend {
        Backend::Sqlite => (
            // Spread over the range of keys, and always the same.
            "CAST(printf('%08x%08d', (i * 2654435761) & 4294967295, i) AS BLOB)",
            format!("x'{}'", organisation(1).0.simple()),
            format!("x'{}'", me.id().0.simple()),
        ),
        Backend::Postgres => (
            "(lpad(to_hex((i * 2654435761) & 4294967295), 8, '0') || lpad(to_hex(i), 24, '0'))::uuid",
            format!("'{}'::uuid", organisation(1).0),
            format!("'{}'::uuid", me.id().0),
        ),
    };
    let now = "'2026-11-24 12:00:00+00:00'";
    let numbers = format!(
        "WITH RECURSIVE n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
    );
    let state = "CASE i % 4 WHEN 0 THEN 'draft' WHEN 1 THEN 'submitted' WHEN 2 THEN 'held' ELSE 'approved' END";
    let approver = format!("CASE (i / 4) % {PEOPLE} WHEN 0 THEN {one} END");
    let now =
        if backend == Backend::Postgres { format!("{now}::timestamptz") } else { now.to_owned() };
    for table in ["orders", "plain_orders"] {
        run(
            &ctx,
            &format!(
                "{numbers} INSERT INTO {table} (id, organisation_id, reference, state, approver_id, \
                 total, updated_at, version) SELECT {id}, {text}, 'PO ' || i, {state}, {approver}, \
                 i % 5000, {now}, 1 FROM n"
            ),
        )
        .await;
    }
    let place = "organisation_id, 'Orders', id";
    run(
        &ctx,
        &format!(
            "INSERT INTO workflows_instances (organisation_id, set_name, record_id, \
             definition_version, state, steps, since_us) SELECT {place}, 1, state, 1, \
             1790000000000000 + total FROM orders"
        ),
    )
    .await;
    let claims = "INSERT INTO workflows_claims (organisation_id, set_name, record_id, number, claim, \
                  state, since_us, due_us, steps)";
    let times = "1790000000000000 + total, 9223372036854775807, 1";
    for (number, claim, holds) in [
        (1, "'permission:Orders.Approve'".to_owned(), "state = 'submitted'"),
        (1, "'permission:Orders.Update'".to_owned(), "state = 'held'"),
        (2, format!("'user:{}'", me.id().0), "state = 'submitted' AND approver_id IS NOT NULL"),
        (
            2,
            format!("'user:' || (total % {PEOPLE})"),
            "state = 'submitted' AND approver_id IS NULL",
        ),
    ] {
        run(
            &ctx,
            &format!(
                "{claims} SELECT {place}, {number}, {claim}, state, {times} FROM orders WHERE {holds}"
            ),
        )
        .await;
    }
    match backend {
        // What a running application does by itself.
        Backend::Sqlite => ctx.database().gather_statistics().await.unwrap(),
        Backend::Postgres => run(&ctx, "VACUUM ANALYZE").await,
    }
}

async fn run(ctx: &Context, sql: &str) {
    ctx.database().execute(ctx.database().statement(sql, [])).await.unwrap();
}
