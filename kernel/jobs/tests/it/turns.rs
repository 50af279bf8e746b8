//! Organisations take turns where more is due than a node has places.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use svc_core::OrganisationId;
use svc_jobs::{EnqueueJobs as _, JobError};
use svc_testing::eventually;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::fixture::{Act, Different, HOUR, Node, SECOND, Site};

async fn node_with(site: &Site, places: u16) -> Node {
    let concurrency = format!("--Svc:Jobs:Concurrency={places}");
    site.different_node(Different { arguments: &[&concurrency], nightly: None }).await
}

/// Enqueues jobs of these names in an organisation, to run after a while.
async fn enqueue_in(node: &Node, organisation: u128, names: &[String], after: Duration) {
    let organisation = OrganisationId(Uuid::from_u128(organisation));
    let acts = names.iter().map(|name| Act { name: name.clone() });
    node.system()
        .transact(async |uow| {
            uow.enqueue_many(acts).in_organisation(organisation).run_in(after).await
        })
        .await
        .unwrap();
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("{prefix}{number}")).collect()
}

svc_testing::on_both_databases! {
    async fn long_jobs_of_one_organisation_leave_room_for_another(backend) {
        let site = Site::new(backend).await;
        let node = node_with(&site, 8).await;
        let gate = Arc::new(Semaphore::new(0));
        let (opens, world) = (Arc::clone(&gate), Arc::clone(&site.world));
        site.world.teach("long", move |_| {
            let (gate, world) = (Arc::clone(&opens), Arc::clone(&world));
            async move {
                world.note("begins");
                gate.acquire().await.map_err(|_| JobError::interrupted())?.forget();
                Ok(())
            }
        });
        enqueue_in(&node, 1, &vec!["long".to_owned(); 40], Duration::ZERO).await;
        node.app.start_workers();
        let noted = RefCell::new(Vec::new());
        let so_many = |count| {
            noted.borrow_mut().extend(site.world.noted());
            noted.borrow().len() == count
        };
        eventually("half of the places are taken", async || so_many(4)).await;
        noted.take();
        enqueue_in(&node, 2, &names("b", 3), Duration::ZERO).await;
        eventually("the other's jobs run", async || so_many(3)).await;
        let mut noted = noted.take();
        noted.sort_unstable();
        assert_eq!(noted, ["b1", "b2", "b3"], "no further one of the first has begun");
        gate.add_permits(40);
        eventually("all jobs end", async || node.count().await == 0).await;
        assert_eq!(site.world.noted().len(), 36);
        node.app.stop().await;
    }

    async fn one_place_goes_round(backend) {
        let site = Site::new(backend).await;
        let node = node_with(&site, 1).await;
        enqueue_in(&node, 1, &names("a", 6), Duration::ZERO).await;
        site.clock.advance(SECOND);
        enqueue_in(&node, 2, &names("b", 3), Duration::ZERO).await;
        enqueue_in(&node, 3, &names("c", 1), Duration::ZERO).await;
        assert_eq!(node.drain().await, 10);
        let order = ["a1", "b1", "c1", "a2", "b2", "a3", "b3", "a4", "a5", "a6"];
        assert_eq!(site.world.noted(), order);
    }

    async fn however_many_organisations_wait_each_has_its_turn(backend) {
        let site = Site::new(backend).await;
        let node = node_with(&site, 16).await;
        for organisation in 1..=70 {
            let (first, later) = (names("first", 1), names("later", 2));
            enqueue_in(&node, organisation, &later, HOUR).await;
            // Those that sort last have something, and one of them much.
            if organisation > 66 {
                enqueue_in(&node, organisation, &first, Duration::ZERO).await;
            }
        }
        enqueue_in(&node, 70, &names("much", 60), Duration::ZERO).await;
        assert_eq!(node.drain().await, 64);
        let mut noted = site.world.noted();
        noted.retain(|name| name == "first1");
        assert_eq!(noted.len(), 4);
        site.clock.advance(HOUR);
        assert_eq!(node.drain().await, 140);
    }
}
