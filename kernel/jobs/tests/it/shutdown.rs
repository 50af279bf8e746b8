use std::sync::Arc;
use std::time::Duration;

use svc_jobs::{JobError, JobState};
use svc_testing::eventually;
use tokio::sync::Notify;

use crate::fixture::{Different, Node, Site};
use svc_jobs::JobId;

async fn is_running(node: &Node, id: JobId) {
    let running = async || node.status(id).await.unwrap().state == JobState::Running;
    eventually("the job runs", running).await;
}

svc_testing::on_both_databases! {
    async fn a_stop_waits_for_what_finishes_in_time(backend) {
        let (site, node) = Site::with_node(backend).await;
        let goes_on = Arc::new(Notify::new());
        let gate = Arc::clone(&goes_on);
        let world = Arc::clone(&site.world);
        site.world.teach("finishes", move |_| {
            let (gate, world) = (Arc::clone(&gate), Arc::clone(&world));
            async move {
                gate.notified().await;
                world.note("finished");
                Ok(())
            }
        });
        node.app.start_workers();
        let id = node.enqueue("finishes").await;
        is_running(&node, id).await;
        let app = node.app.clone();
        let stopping = tokio::spawn(async move { app.stop().await });
        node.app.stopping().cancelled().await;
        goes_on.notify_one();
        stopping.await.unwrap();
        assert_eq!(site.world.noted(), ["finished"]);
        assert_eq!(node.count().await, 0);
    }

    async fn a_stop_hands_back_what_does_not_finish_and_another_node_takes_it(backend) {
        let site = Site::new(backend).await;
        let arguments = &["--Svc:Jobs:ShutdownGrace=00:00:00.010"];
        let node = site.different_node(Different { arguments, ..Different::default() }).await;
        site.world.teach("deaf", |_| std::future::pending());
        site.world.teach("listens", |ctx| async move {
            ctx.interruption().cancelled().await;
            Err(JobError::interrupted())
        });
        node.app.start_workers();
        let (deaf, listens) = (node.enqueue("deaf").await, node.enqueue("listens").await);
        is_running(&node, deaf).await;
        is_running(&node, listens).await;
        node.app.stop().await;
        for id in [deaf, listens] {
            let status = node.status(id).await.unwrap();
            assert_eq!((status.state, status.attempts), (JobState::Waiting, 0));
            assert_eq!(status.run_at, site.clock.now());
        }
        for name in ["deaf", "listens"] {
            site.world.teach(name, |_| async { Ok(()) });
        }
        assert_eq!(site.node().await.drain().await, 2);
        assert_eq!(node.count().await, 0);
    }

    async fn a_stopping_node_starts_nothing_more(backend) {
        let (site, node) = Site::with_node(backend).await;
        node.app.start_workers();
        node.app.stop().await;
        node.enqueue("late").await;
        tokio::time::sleep(Duration::from_millis(250)).await;
        assert!(site.world.noted().is_empty());
        assert_eq!(node.count().await, 1);
    }

    async fn a_node_that_runs_no_jobs_still_enqueues_them(backend) {
        let site = Site::new(backend).await;
        let arguments = &["--Svc:Jobs:Run=false"];
        let front = site.different_node(Different { arguments, ..Different::default() }).await;
        let workers: Vec<_> = front.app.workers().iter().map(|worker| worker.name()).collect();
        assert_eq!(workers, ["removed versions"], "those of the data part alone");
        front.enqueue("elsewhere").await;
        assert_eq!(front.drain().await, 0);
        assert_eq!(site.node().await.drain().await, 1);
        assert_eq!(site.world.noted(), ["elsewhere"]);
    }
}
