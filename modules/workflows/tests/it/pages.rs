//! Pages by the state: an index serves them as soon as each record has its instance, and until then none is missing.

use std::time::Duration;

use serde_json::json;
use svc_database::Backend;
use svc_sets::Sets;
use svc_testing::{Client, Person, TestApp, on_both_databases};
use uuid::Uuid;

use crate::delegating::{delegate, later};
use crate::fixture::{World, many_orders};

/// The steps of the plan by which somebody reads a page of orders.
async fn plan(node: &TestApp, who: &Person, options: &str) -> String {
    let sets = node.app().service::<Sets>().unwrap();
    let options = options.replace(' ', "%20");
    sets.explain(&node.context(who), "Orders", &options).await.unwrap().join("\n")
}

/// Whether a page by the state is read from the instances, and not by asking for each record.
async fn is_joined(world: &World, node: &TestApp) -> bool {
    let plan = plan(node, &world.ada, "$filter=workflowState eq 'open'&$select=total").await;
    !plan.contains("SUBQUERY") && !plan.contains("SubPlan")
}

/// The totals of the orders by their state, of those that are open, and how many these are.
async fn by_state(world: &World, node: &TestApp) -> (Vec<i64>, Vec<i64>, String) {
    let client = node.sign_in(&world.ada);
    let totals = async |options: &str| {
        let page = client.get(&format!("/odata/v1/Orders?$select=total&{options}")).await;
        let page = page.expect(200);
        let orders = page["value"].as_array().unwrap().iter();
        orders.map(|order| order["total"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    let open = "$filter=workflowState%20eq%20'open'";
    let number = client.get(&format!("/odata/v1/Orders/$count?{open}")).await.text;
    (totals("$orderby=workflowState").await, totals(open).await, number)
}

async fn execute(world: &World, sql: &str) {
    let database = world.context().database().clone();
    database.execute(database.statement(sql, [])).await.unwrap();
}

/// The keys that a page and those behind it show, up to so many.
async fn shown(client: &Client, options: &str, count: usize) -> Vec<Uuid> {
    let mut link = format!("/odata/v1/Orders?$select=id&{}", options.replace(' ', "%20"));
    let mut ids = Vec::new();
    while ids.len() < count {
        let headers = [("prefer", "odata.maxpagesize=80")];
        let page = client.send(http::Method::GET, &link, &headers, "").await.expect(200);
        let orders = page["value"].as_array().unwrap().iter();
        ids.extend(orders.map(|order| Uuid::parse_str(order["id"].as_str().unwrap()).unwrap()));
        let Some(next) = page["@odata.nextLink"].as_str() else { break };
        next.clone_into(&mut link);
    }
    ids
}

/// Keys that the database tells.
async fn keys(world: &World, sql: &str) -> Vec<Uuid> {
    let database = world.context().database().clone();
    let rows = database.rows(database.statement(sql, [])).await.unwrap();
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

/// Many orders, of which every third is submitted, and every third held. Of these, all submitted ones await those who approve, but every
/// third of them that Bob has made; every hundredth names Bob.
async fn many_that_wait(world: &World, backend: Backend) {
    let _ = world.order(&world.cy, 1).await;
    let bob = match backend {
        Backend::Sqlite => format!("x'{}'", world.bob.id().0.simple()),
        Backend::Postgres => format!("'{}'::uuid", world.bob.id().0),
    };
    let (instance, claim) = (
        "INSERT INTO workflows_instances (organisation_id, set_name, record_id, definition_version, state, steps, since_us) \
         SELECT organisation_id, 'Orders', id, 1,",
        "INSERT INTO workflows_claims (organisation_id, set_name, record_id, number, claim, state, since_us, due_us, steps, not_creator) \
         SELECT o.organisation_id, 'Orders', o.id,",
    );
    let many = "FROM orders WHERE reference = 'PO 2'";
    let waiting = "0, 0, 1, CASE WHEN o.total % 9 = 0 THEN";
    let of =
        "FROM orders o JOIN workflows_instances i ON i.record_id = o.id WHERE o.reference = 'PO 2'";
    for sql in [
        many_orders(backend),
        format!(
            "{instance} CASE total % 3 WHEN 0 THEN 'submitted' WHEN 1 THEN 'held' ELSE 'open' END, 1, 0 {many}"
        ),
        format!(
            "{claim} 1, 'permission:Orders.Approve', i.state, {waiting} {bob} END {of} AND i.state = 'submitted'"
        ),
        format!(
            "{claim} 2, 'user:{}', i.state, 0, 0, 1, NULL {of} AND o.total % 100 = 0 AND i.state <> 'open'",
            world.bob.id().0
        ),
    ] {
        execute(world, &sql).await;
    }
    analyse(world, backend).await;
}

/// Lets the database look at what it has.
async fn analyse(world: &World, backend: Backend) {
    match backend {
        // So that all connections know.
        Backend::Sqlite => world.context().database().gather_statistics().await.unwrap(),
        Backend::Postgres => execute(world, "ANALYZE").await,
    }
}

/// As a node does that has no workflow for orders.
async fn forget_what_is_open(world: &World) {
    execute(world, "DELETE FROM workflows_instances WHERE state = 'open'").await;
}

on_both_databases! {
    async fn a_page_by_the_state_is_a_range_of_an_index(backend) {
        let world = World::new(backend).await;
        let _ = world.order(&world.cy, 1).await;
        let orders = many_orders(backend);
        let instances = "INSERT INTO workflows_instances (organisation_id, set_name, record_id, definition_version, state, steps, since_us) \
             SELECT organisation_id, 'Orders', id, 1, CASE WHEN total % 1000 = 0 THEN 'closed' WHEN total % 3 = 0 THEN 'submitted' \
             WHEN total % 3 = 1 THEN 'approved' ELSE 'open' END, 1, 0 FROM orders WHERE reference = 'PO 2'";
        for sql in [&orders, instances] {
            execute(&world, sql).await;
        }
        analyse(&world, backend).await;
        for options in [
            "$orderby=workflowState",
            "$filter=workflowState eq 'submitted'",
            "$filter=workflowState eq 'closed'&$select=total,workflowState",
            "$filter=workflowState gt 'closed'&$orderby=workflowState",
        ] {
            let plan = plan(&world.app, &world.ada, options).await;
            let sorts = plan.contains("B-TREE") || plan.contains("Sort Key");
            assert!(plan.contains("workflows_instances_state") && !sorts, "{options}: {plan}");
        }
        let ada = world.client(&world.ada);
        let closed = "/odata/v1/Orders?$filter=workflowState%20eq%20'closed'&$select=workflowState,total&$count=true";
        let page = ada.get(closed).await.expect(200);
        let totals: i64 = page["value"].as_array().unwrap().iter().map(|order| order["total"].as_i64().unwrap()).sum();
        assert_eq!((page["@odata.count"].as_i64(), totals), (Some(20), 210_000));
    }

    async fn a_page_of_what_awaits_somebody_begins_with_claims(backend) {
        let world = World::new(backend).await;
        many_that_wait(&world, backend).await;
        let bob = world.client(&world.bob);
        let all = "SELECT o.id FROM orders o JOIN workflows_instances i ON i.record_id = o.id WHERE reference = 'PO 2' AND (o.total % 3 = 0 \
             AND o.total % 9 <> 0 OR o.total % 100 = 0 AND i.state <> 'open') ORDER BY";
        for (options, order) in [
            ("$filter=workflowAwaitsMe", "o.id"),
            ("$filter=workflowAwaitsMe&$orderby=workflowState", "state, o.id"),
            ("$filter=workflowAwaitsMe eq true&$orderby=workflowState desc", "state DESC, o.id"),
            ("$filter=workflowAwaitsMe&$orderby=total", "total"),
        ] {
            let expected = keys(&world, &format!("{all} {order}")).await;
            assert!(expected.len() > 4_000);
            // Sorted by state, those on the first page that are held come before all that are submitted.
            assert_eq!(shown(&bob, options, 700).await, expected[..720], "{options}");
        }
        // Other conditions leave out most of what the first claims name, or all.
        for (condition, sql) in [("total gt 15000", "o.total > 15000"), ("total eq 3", "o.total = 3")] {
            let narrow = all.replace("WHERE", &format!("WHERE {sql} AND"));
            let expected = keys(&world, &format!("{narrow} state, o.id")).await;
            let options = format!("$filter=workflowAwaitsMe and {condition}&$orderby=workflowState");
            assert_eq!(shown(&bob, &options, 400).await, expected[..expected.len().min(400)], "{options}");
        }
        // The count is of all, whichever page is asked for; what comes before it isn't of the page.
        let counted = "/odata/v1/Orders?$filter=workflowAwaitsMe&$count=true&$select=id&$top=90";
        let first = bob.send(http::Method::GET, counted, &[("prefer", "odata.maxpagesize=80")], "").await.expect(200);
        let second = bob.get(first["@odata.nextLink"].as_str().unwrap()).await.expect(200);
        let expected = keys(&world, &format!("{all} o.id")).await.len();
        assert_eq!((&first["@odata.count"], &second["@odata.count"]), (&json!(expected), &json!(expected)));
        assert_eq!(second["value"].as_array().map(Vec::len), Some(10));
        // Who stands in for Bob has the same before him, and Cy has nothing.
        let eve = Person::named("Eve").who_may(&["Workflows.View", "Workflows.Act", "Orders.View"]);
        let _ = world.client(&eve);
        let body = json!({"to": eve.id().0, "ends": later(&world, 3)});
        assert_eq!(delegate(&world, &world.bob, body).await.0, 201);
        let by_state = "$filter=workflowAwaitsMe&$orderby=workflowState";
        assert_eq!(shown(&world.client(&eve), by_state, 240).await, shown(&bob, by_state, 240).await);
        assert!(shown(&world.client(&world.cy), by_state, 1).await.is_empty());
        // Claims are a range of the index that has the order, and a page of them looks for each by its key.
        for (options, index) in [("$filter=workflowAwaitsMe", "workflows_claims_record"), (by_state, "workflows_claims_state")] {
            let plan = plan(&world.app, &world.bob, options).await;
            let of_claims = |line: &&str| line.contains(index) && !line.contains("Cond");
            assert_eq!(plan.lines().filter(of_claims).count(), 2, "{options}: {plan}");
            assert!(plan.contains("claim=?") || plan.contains("claim = \"*VALUES*\".column1"), "{options}: {plan}");
            assert!(!plan.contains("SCAN orders") && !plan.contains("Seq Scan on orders"), "{options}: {plan}");
        }
    }

    async fn no_page_misses_a_record_while_a_node_knows_of_none(backend) {
        let world = World::new(backend).await;
        let _ = world.order(&world.cy, 1).await;
        let _ = world.submitted(2).await;
        let all = (vec![1, 2], vec![1], "1".to_owned());
        assert!(is_joined(&world, &world.app).await, "a set that was empty at the start");
        assert_eq!(by_state(&world, &world.app).await, all);
        forget_what_is_open(&world).await;
        // A node that comes to records hasn't looked yet.
        let next = world.app.another_node().await;
        assert!(!is_joined(&world, &next).await);
        assert_eq!(by_state(&world, &next).await, all);
        let _ = next.drain().await;
        assert_eq!(world.kept().await, (2, 1), "the look has found it, and the job has mended it");
        assert!(!is_joined(&world, &next).await, "but it was found");
        assert_eq!(by_state(&world, &next).await, all);
        world.app.advance(Duration::from_mins(1));
        let _ = next.drain().await;
        assert!(is_joined(&world, &next).await);
        assert_eq!(by_state(&world, &next).await, all);
    }

    async fn what_comes_around_the_workflow_is_mended_within_an_hour(backend) {
        let world = World::new(backend).await;
        let _ = world.order(&world.cy, 1).await;
        let _ = world.submitted(2).await;
        let all = (vec![1, 2], vec![1], "1".to_owned());
        // Looks come farther and farther apart, until they come every hour.
        for _ in 0..10 {
            let _ = world.app.drain().await;
            world.app.advance(Duration::from_hours(1));
        }
        let _ = world.app.drain().await;
        forget_what_is_open(&world).await;
        world.app.advance(Duration::from_mins(59));
        let _ = world.app.drain().await;
        assert_eq!(by_state(&world, &world.app).await, (vec![2], vec![], "0".to_owned()), "as the README says");
        world.app.advance(Duration::from_mins(1));
        let _ = world.app.drain().await;
        assert_eq!(world.kept().await, (2, 1));
        assert_eq!(by_state(&world, &world.app).await, all);
    }
}
