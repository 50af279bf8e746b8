//! A database that goes away and comes back: only PostgreSQL can.

use std::sync::Arc;

use svc_jobs::{JobId, JobState};
use svc_testing::{Backend, eventually};
use tokio::sync::Semaphore;

use crate::fixture::{Node, SECOND, Site};

/// A node that runs one job, which waits at a gate.
async fn running_job(site: &Site) -> (Node, JobId, Arc<Semaphore>) {
    let node = site.node().await;
    let gate = Arc::new(Semaphore::new(0));
    let opens = Arc::clone(&gate);
    site.world.teach("long", move |_| {
        let gate = Arc::clone(&opens);
        async move {
            gate.acquire().await.unwrap().forget();
            Ok(())
        }
    });
    node.app.start_workers();
    let id = node.enqueue("long").await;
    eventually("the job runs", async || node.status(id).await.unwrap().state == JobState::Running)
        .await;
    (node, id, gate)
}

/// How many jobs there are; none while the database can't be asked.
async fn count(node: &Node) -> Option<u64> {
    let counted = node.jobs.statistics().await.ok()?;
    Some(counted.iter().map(|counted| counted.count).sum())
}

#[tokio::test]
async fn what_became_of_a_job_is_stored_when_the_database_is_back() {
    let site = Site::new(Backend::Postgres).await;
    let (node, _, gate) = running_job(&site).await;
    site.throw_away.lock_out(true).await;
    gate.add_permits(1);
    eventually("nobody can ask", async || count(&node).await.is_none()).await;
    site.throw_away.lock_out(false).await;
    eventually("the job has ended", async || count(&node).await == Some(0)).await;
    node.enqueue("after").await;
    eventually("the node goes on", async || site.world.noted() == ["after"]).await;
    node.app.stop().await;
}

#[tokio::test]
async fn a_stop_without_a_database_leaves_the_job_to_its_lease() {
    let site = Site::new(Backend::Postgres).await;
    let (node, id, gate) = running_job(&site).await;
    site.throw_away.lock_out(true).await;
    gate.add_permits(1);
    node.app.stop().await;
    site.throw_away.lock_out(false).await;
    eventually("the database is back", async || count(&node).await == Some(1)).await;
    assert_eq!(node.status(id).await.unwrap().state, JobState::Running);

    site.clock.advance(61 * SECOND);
    gate.add_permits(1);
    let other = site.node().await;
    assert_eq!(other.drain().await, 1);
    assert_eq!(other.count().await, 0);
}
