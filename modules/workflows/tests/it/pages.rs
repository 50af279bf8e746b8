//! Pages by the state: an index serves them as soon as each record has its instance, and until then none is missing.

use std::time::Duration;

use svc_database::Backend;
use svc_sets::Sets;
use svc_testing::{TestApp, on_both_databases};

use crate::fixture::{World, many_orders};

/// The steps of the plan by which a page of orders is read.
async fn plan(world: &World, node: &TestApp, options: &str) -> String {
    let sets = node.app().service::<Sets>().unwrap();
    let options = options.replace(' ', "%20");
    sets.explain(&node.context(&world.ada), "Orders", &options).await.unwrap().join("\n")
}

/// Whether a page by the state is read from the instances, and not by asking for each record.
async fn is_joined(world: &World, node: &TestApp) -> bool {
    let plan = plan(world, node, "$filter=workflowState eq 'open'&$select=total").await;
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
        match backend {
            // So that all connections know.
            Backend::Sqlite => world.context().database().gather_statistics().await.unwrap(),
            Backend::Postgres => execute(&world, "ANALYZE").await,
        }
        for options in [
            "$orderby=workflowState",
            "$filter=workflowState eq 'submitted'",
            "$filter=workflowState eq 'closed'&$select=total,workflowState",
            "$filter=workflowState gt 'closed'&$orderby=workflowState",
        ] {
            let plan = plan(&world, &world.app, options).await;
            let sorts = plan.contains("B-TREE") || plan.contains("Sort Key");
            assert!(plan.contains("workflows_instances_state") && !sorts, "{options}: {plan}");
        }
        let ada = world.client(&world.ada);
        let closed = "/odata/v1/Orders?$filter=workflowState%20eq%20'closed'&$select=workflowState,total&$count=true";
        let page = ada.get(closed).await.expect(200);
        let totals: i64 = page["value"].as_array().unwrap().iter().map(|order| order["total"].as_i64().unwrap()).sum();
        assert_eq!((page["@odata.count"].as_i64(), totals), (Some(20), 210_000));
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
