use std::sync::Arc;

use svc_core::{ErrorKind, UserId};
use svc_jobs::{Cancellation, JobError, JobId, JobState};
use svc_testing::eventually;
use uuid::Uuid;

use crate::fixture::{Different, Node, SECOND, Site};

async fn is_running(node: &Node, id: JobId) {
    let running = async || node.status(id).await.unwrap().state == JobState::Running;
    eventually("the job runs", running).await;
}

async fn is_cancelled(node: &Node, id: JobId) {
    let cancelled = async || node.status(id).await.unwrap().state == JobState::Cancelled;
    eventually("the job is cancelled", cancelled).await;
}

svc_testing::on_both_databases! {
    async fn a_waiting_job_that_is_cancelled_never_runs(backend) {
        let (site, node) = Site::with_node(backend).await;
        let id = node.enqueue("never").await;
        let outcome = node.jobs.cancel(&node.ada(), id).await.unwrap();
        assert_eq!(outcome, Cancellation::Cancelled);
        assert_eq!(node.drain().await, 0);
        let status = node.status(id).await.unwrap();
        assert_eq!((status.state, status.finished_at), (JobState::Cancelled, Some(site.clock.now())));
        let again = node.jobs.cancel(&node.ada(), id).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::Conflict);
        node.jobs.retry(&node.system(), id).await.unwrap();
        node.drain().await;
        assert_eq!(site.world.noted(), ["never"]);
    }

    async fn a_running_job_hears_that_it_was_cancelled(backend) {
        let (site, node) = Site::with_node(backend).await;
        let world = Arc::clone(&site.world);
        site.world.teach("listens", move |ctx| {
            let world = Arc::clone(&world);
            async move {
                ctx.interruption().cancelled().await;
                world.note("heard it");
                ctx.check_interruption()
            }
        });
        node.app.start_workers();
        let id = node.enqueue("listens").await;
        is_running(&node, id).await;
        let outcome = node.jobs.cancel(&node.ada(), id).await.unwrap();
        assert_eq!(outcome, Cancellation::Requested);
        is_cancelled(&node, id).await;
        assert_eq!(site.world.noted(), ["heard it"]);
        assert_eq!(node.status(id).await.unwrap().last_error, None);
        node.app.stop().await;
    }

    async fn a_job_that_does_not_listen_is_broken_off(backend) {
        let site = Site::new(backend).await;
        let arguments = &["--Svc:Jobs:CancelGrace=00:00:00.010"];
        let node = site.different_node(Different { arguments, ..Different::default() }).await;
        site.world.teach("deaf", |_| std::future::pending());
        node.app.start_workers();
        let id = node.enqueue("deaf").await;
        is_running(&node, id).await;
        node.jobs.cancel(&node.ada(), id).await.unwrap();
        is_cancelled(&node, id).await;
        node.app.stop().await;
    }

    async fn a_job_on_another_node_is_cancelled_too(backend) {
        let site = Site::new(backend).await;
        let (here, there) = (site.node().await, site.node().await);
        site.world.teach("listens", |ctx| async move {
            ctx.interruption().cancelled().await;
            Err(JobError::interrupted())
        });
        there.app.start_workers();
        let id = here.enqueue("listens").await;
        is_running(&here, id).await;
        here.jobs.cancel(&here.ada(), id).await.unwrap();
        is_cancelled(&here, id).await;
        there.app.stop().await;
    }

    async fn a_job_that_fails_after_it_was_cancelled_is_not_tried_again(backend) {
        let (site, node) = Site::with_node(backend).await;
        let canceller = Arc::clone(&node.jobs);
        let ada = node.ada();
        site.world.teach("fails", move |ctx| {
            let (jobs, ada) = (Arc::clone(&canceller), ada.clone());
            async move {
                // The runner learns of it only when it stores the failure.
                jobs.cancel(&ada, ctx.job_id()).await?;
                Err(JobError::retry(svc_core::Error::internal("fails")))
            }
        });
        let id = node.enqueue("fails").await;
        node.drain().await;
        site.clock.advance(100 * SECOND);
        node.drain().await;
        let status = node.status(id).await.unwrap();
        assert_eq!((status.state, status.attempts), (JobState::Cancelled, 1));
    }

    async fn only_who_may_cancels(backend) {
        let (_site, node) = Site::with_node(backend).await;
        let id = node.enqueue("hers").await;
        let eve = UserId(Uuid::from_u128(66));
        let refused = async |organisation, permissions: &[&str]| {
            let caller = node.person(eve, organisation, permissions);
            node.jobs.cancel(&caller, id).await.unwrap_err().kind()
        };
        assert_eq!(refused(1, &["Jobs.View"]).await, ErrorKind::Forbidden);
        assert_eq!(refused(2, &["Jobs.Manage"]).await, ErrorKind::NotFound);
        assert_eq!(node.status(id).await.unwrap().state, JobState::Waiting);
        let manager = node.person(eve, 1, &["Jobs.Manage"]);
        node.jobs.cancel(&manager, id).await.unwrap();
    }
}
