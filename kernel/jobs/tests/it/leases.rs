use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use svc_jobs::{JobError, JobState};
use svc_testing::eventually;
use tokio::sync::Semaphore;

use crate::fixture::{HOUR, Node, SECOND, Site};

/// Notices when it is dropped.
struct Notices(Arc<AtomicBool>);

impl Drop for Notices {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Runs a node's jobs on a task that can be killed.
fn drain_on_a_task(node: &Arc<Node>) -> tokio::task::JoinHandle<usize> {
    let node = Arc::clone(node);
    tokio::spawn(async move { node.drain().await })
}

svc_testing::on_both_databases! {
    async fn a_job_of_a_killed_node_runs_again_when_its_lease_ends(backend) {
        let site = Site::new(backend).await;
        let (killed, other) = (Arc::new(site.node().await), site.node().await);
        let world = Arc::clone(&site.world);
        site.world.teach("dies", move |ctx| {
            let world = Arc::clone(&world);
            async move {
                if ctx.attempt() == 1 {
                    std::future::pending::<()>().await;
                }
                world.note(format!("attempt {}", ctx.attempt()));
                Ok(())
            }
        });
        let id = killed.enqueue("dies").await;
        let task = drain_on_a_task(&killed);
        eventually("the job runs", async || {
            killed.status(id).await.unwrap().state == JobState::Running
        }).await;
        task.abort();
        assert!(task.await.is_err());

        site.clock.advance(59 * SECOND);
        assert_eq!(other.drain().await, 0);
        site.clock.advance(2 * SECOND);
        assert_eq!(other.drain().await, 1);
        assert_eq!(site.world.noted(), ["attempt 2"]);
        assert_eq!(other.count().await, 0);
    }

    async fn a_job_that_kills_its_node_again_and_again_is_dead_in_the_end(backend) {
        let (site, node) = Site::with_node(backend).await;
        let node = Arc::new(node);
        site.world.teach("kills", |_| std::future::pending());
        let id = node.enqueue("kills").await;
        for attempt in 1..=3 {
            let task = drain_on_a_task(&node);
            eventually("the job runs", async || {
                let status = node.status(id).await.unwrap();
                (status.state, status.attempts) == (JobState::Running, attempt)
            }).await;
            task.abort();
            assert!(task.await.is_err());
            site.clock.advance(61 * SECOND);
        }
        assert_eq!(node.drain().await, 0);
        let status = node.status(id).await.unwrap();
        assert_eq!(status.state, JobState::Dead);
        assert_eq!(status.last_error.unwrap(), "the process that ran the job is gone");
    }

    async fn a_clock_that_jumps_takes_no_job_from_the_node_that_runs_it(backend) {
        let (site, node) = Site::with_node(backend).await;
        let gate = Arc::new(Semaphore::new(0));
        let opens = Arc::clone(&gate);
        let world = Arc::clone(&site.world);
        site.world.teach("long", move |ctx| {
            let (gate, world) = (Arc::clone(&opens), Arc::clone(&world));
            async move {
                gate.acquire().await.unwrap().forget();
                world.note(format!("attempt {}", ctx.attempt()));
                Ok(())
            }
        });
        node.app.start_workers();
        let id = node.enqueue("long").await;
        eventually("the job runs", async || {
            node.status(id).await.unwrap().state == JobState::Running
        }).await;
        for _ in 0..5 {
            site.clock.advance(7 * HOUR);
            tokio::task::yield_now().await;
        }
        // Another job passes through the node, which has looked at its leases before.
        node.enqueue("passes").await;
        eventually("another job passes", async || node.count().await == 1).await;
        assert_eq!(node.status(id).await.unwrap().attempts, 1);
        gate.add_permits(1);
        eventually("the job ends", async || node.count().await == 0).await;
        let mut noted = site.world.noted();
        noted.retain(|note| note != "nightly");
        assert_eq!(noted, ["passes", "attempt 1"]);
        node.app.stop().await;
    }

    async fn a_node_that_lost_a_lease_stops_and_settles_nothing(backend) {
        let (site, node) = Site::with_node(backend).await;
        let dropped = Arc::new(AtomicBool::new(false));
        let notices = Arc::clone(&dropped);
        site.world.teach("lost", move |_| {
            let notices = Notices(Arc::clone(&notices));
            async move {
                let _notices = notices;
                std::future::pending::<Result<(), JobError>>().await
            }
        });
        node.app.start_workers();
        let id = node.enqueue("lost").await;
        eventually("the job runs", async || {
            node.status(id).await.unwrap().state == JobState::Running
        }).await;
        let token = match backend {
            svc_testing::Backend::Postgres => "gen_random_uuid()",
            svc_testing::Backend::Sqlite => "randomblob(16)",
        };
        node.execute(&format!(
            "UPDATE jobs_queue SET lease_token = {token}, lease_owner = {token}"
        )).await;
        eventually("the handler is dropped", async || dropped.load(Ordering::SeqCst)).await;
        node.enqueue("after").await;
        eventually("others run", async || site.world.noted() == ["after"]).await;
        assert_eq!(node.status(id).await.unwrap().state, JobState::Running);
        node.app.stop().await;
        assert_eq!(node.status(id).await.unwrap().state, JobState::Running);
    }

    async fn what_is_done_for_a_job_that_another_node_took_is_not_stored(backend) {
        let (site, node) = Site::with_node(backend).await;
        let token = match backend {
            svc_testing::Backend::Postgres => "gen_random_uuid()",
            svc_testing::Backend::Sqlite => "randomblob(16)",
        };
        let world = Arc::clone(&site.world);
        site.world.teach("lost", move |ctx| {
            let world = Arc::clone(&world);
            // The node may notice meanwhile, and drop the handler.
            let goes_on = tokio::spawn(async move {
                let mark = ctx.context().database().statement("UPDATE jobs_queue SET last_error = 'kept'", []);
                let stored = ctx.transact(async |uow| uow.execute(mark.clone()).await).await?;
                world.note(format!("{stored} while it is held"));
                let taken = format!("UPDATE jobs_queue SET lease_token = {token}, lease_owner = {token}, last_error = 'taken'");
                ctx.context().database().execute(ctx.context().database().statement(&taken, [])).await?;
                let acting = ctx.context().acting_as(Arc::clone(ctx.context().principal()));
                for context in [ctx.context(), &acting] {
                    let refused = context.transact(async |uow| uow.execute(mark.clone()).await).await;
                    world.note(refused.unwrap_err().message());
                }
                Ok(())
            });
            async move { goes_on.await.unwrap() }
        });
        let id = node.enqueue_watched("lost").await;
        node.drain().await;
        let refused = "another node has taken the job, so what was done for it here is not stored";
        let noted = parking_lot::Mutex::new(Vec::new());
        eventually("all of it was tried", async || {
            let mut noted = noted.lock();
            noted.extend(site.world.noted());
            noted.len() == 3
        })
        .await;
        assert_eq!(noted.into_inner(), ["1 while it is held", refused, refused]);
        assert_eq!(node.status(id).await.unwrap().last_error.unwrap(), "taken");
    }

    async fn a_claim_whose_answer_was_lost_is_handed_back(backend) {
        let (site, node) = Site::with_node(backend).await;
        site.world.teach("long", |ctx| async move {
            ctx.interruption().cancelled().await;
            Err(JobError::interrupted())
        });
        node.app.start_workers();
        let long = node.enqueue("long").await;
        eventually("the job runs", async || {
            node.status(long).await.unwrap().state == JobState::Running
        }).await;
        // Claimed by the same node, as far as the table knows, but under another token.
        let columns = "organisation_id, kind, state, run_at_us, attempts, max_attempts, \
            unique_while_running, watched, lease_owner, lease_until_us, cancel_requested, \
            created_at_us, actor_name, correlation";
        let random = match backend {
            svc_testing::Backend::Postgres => "gen_random_uuid(), gen_random_uuid()",
            svc_testing::Backend::Sqlite => "randomblob(16), randomblob(16)",
        };
        node.execute(&format!(
            "INSERT INTO jobs_queue (id, lease_token, payload, {columns}) \
             SELECT {random}, '{{\"name\":\"unanswered\"}}', {columns} FROM jobs_queue"
        )).await;
        eventually("it runs here", async || site.world.noted() == ["unanswered"]).await;
        node.app.stop().await;
        assert_eq!(node.count().await, 1);
    }

    async fn two_nodes_share_the_work_and_run_each_job_once(backend) {
        let site = Site::new(backend).await;
        let (first, second) = (site.node().await, site.node().await);
        first.app.start_workers();
        second.app.start_workers();
        let names: Vec<String> = (0..500).map(|number| format!("{number:03}")).collect();
        for batch in names.chunks(50) {
            let jobs = batch.iter().map(|name| crate::fixture::Act { name: name.clone() });
            let jobs: Vec<_> = jobs.collect();
            first.ada().transact(async |uow| {
                svc_jobs::EnqueueJobs::enqueue_many(&uow, jobs).await
            }).await.unwrap();
        }
        eventually("all have run", async || first.count().await == 0).await;
        let mut noted = site.world.noted();
        noted.sort();
        assert_eq!(noted, names);
        first.app.stop().await;
        second.app.stop().await;
    }

    async fn a_job_of_a_newer_release_is_left_to_it(backend) {
        let (site, node) = Site::with_node(backend).await;
        let id = node.enqueue("old").await;
        node.execute("UPDATE jobs_queue SET kind = 'tests.newer'").await;
        assert_eq!(node.drain().await, 0);
        let status = node.status(id).await.unwrap();
        assert_eq!((status.state, status.attempts), (JobState::Waiting, 0));
        assert_eq!(status.run_at, site.clock.now() + 60 * SECOND);
        node.execute("UPDATE jobs_queue SET kind = 'tests.act'").await;
        site.clock.advance(60 * SECOND);
        assert_eq!(node.drain().await, 1);
    }
}
