use std::sync::Arc;
use std::time::Duration;

use svc_core::{Error, ErrorKind};
use svc_jobs::{EnqueueJobs as _, JobError, JobState};

use crate::fixture::{Quick, SECOND, Site};

svc_testing::on_both_databases! {
    async fn a_failure_is_tried_again_after_the_back_off_and_then_dead(backend) {
        let (site, node) = Site::with_node(backend).await;
        let world = Arc::clone(&site.world);
        site.world.teach("fails", move |ctx| {
            world.note(format!("attempt {}", ctx.attempt()));
            async { Err(JobError::from(Error::unavailable("the other side is down"))) }
        });
        let id = node.enqueue("fails").await;
        assert_eq!(node.drain().await, 1);
        let status = node.status(id).await.unwrap();
        assert_eq!((status.state, status.attempts), (JobState::Waiting, 1));
        assert_eq!(status.run_at, site.clock.now() + 10 * SECOND);
        assert_eq!(status.last_error.as_deref(), Some("the other side is down"));

        site.clock.advance(Duration::from_micros(9_999_999));
        assert_eq!(node.drain().await, 0);
        site.clock.advance(Duration::from_micros(1));
        assert_eq!(node.drain().await, 1);
        site.clock.advance(20 * SECOND);
        assert_eq!(node.drain().await, 1);
        let status = node.status(id).await.unwrap();
        assert_eq!((status.state, status.attempts), (JobState::Dead, 3));
        assert_eq!(status.finished_at, Some(site.clock.now()));
        site.clock.advance(1_000 * SECOND);
        assert_eq!(node.drain().await, 0);
        assert_eq!(site.world.noted(), ["attempt 1", "attempt 2", "attempt 3"]);
    }

    async fn a_handler_says_whether_and_when_to_try_again(backend) {
        let (site, node) = Site::with_node(backend).await;
        site.world.teach("gives up", |_| async { Err(Error::not_found("it is gone").into()) });
        site.world.teach("later", |ctx| async move {
            match ctx.attempt() {
                1 => Err(JobError::retry_after(300 * SECOND, Error::conflict("not yet"))),
                _ => Ok(()),
            }
        });
        let gone = node.enqueue("gives up").await;
        let later = node.enqueue("later").await;
        assert_eq!(node.drain().await, 2);
        assert_eq!(node.status(gone).await.unwrap().state, JobState::Dead);
        let run_at = node.status(later).await.unwrap().run_at;
        assert_eq!(run_at, site.clock.now() + 300 * SECOND);
        site.clock.advance(300 * SECOND);
        assert_eq!(node.drain().await, 1);
        assert!(node.status(later).await.is_none());
    }

    async fn a_panic_is_a_failed_attempt_and_harms_nobody_else(backend) {
        let (site, node) = Site::with_node(backend).await;
        site.world.teach("panics", |ctx| async move {
            assert!(ctx.attempt() > 1, "first attempts panic");
            Ok(())
        });
        let id = node.enqueue("panics").await;
        node.enqueue("beside").await;
        assert_eq!(node.drain().await, 2);
        assert_eq!(site.world.noted(), ["beside"]);
        let status = node.status(id).await.unwrap();
        assert_eq!((status.state, status.attempts), (JobState::Waiting, 1));
        assert!(status.last_error.unwrap().contains(&status.correlation.to_string()));
        site.clock.advance(10 * SECOND);
        assert_eq!(node.drain().await, 1);
        assert!(node.status(id).await.is_none());
    }

    async fn an_attempt_that_takes_too_long_is_broken_off(backend) {
        let (site, node) = Site::with_node(backend).await;
        site.world.teach("hangs", |_| std::future::pending());
        let id = node.ada().transact(async |uow| {
            Ok(uow.enqueue(Quick { name: "hangs".to_owned() }).await?.id)
        }).await.unwrap();
        assert_eq!(node.drain().await, 1);
        let status = node.status(id).await.unwrap();
        assert_eq!(status.state, JobState::Waiting);
        assert_eq!(status.last_error.unwrap(), "the attempt took longer than `00:00:00.050`");
    }

    async fn a_dead_job_is_retried_or_discarded(backend) {
        let (site, node) = Site::with_node(backend).await;
        site.world.teach("fails", |_| async { Err(Error::invalid("no").into()) });
        let (first, second) = (node.enqueue("fails").await, node.enqueue("fails").await);
        node.drain().await;
        let admin = node.person(crate::fixture::ADA, 1, &["Jobs.View", "Jobs.Manage"]);
        node.jobs.discard(&admin, second).await.unwrap();
        assert!(node.status(second).await.is_none());

        node.jobs.retry(&admin, first).await.unwrap();
        let status = node.status(first).await.unwrap();
        assert_eq!((status.state, status.attempts), (JobState::Waiting, 0));
        let again = node.jobs.retry(&admin, first).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::Conflict);
        let waits = node.jobs.discard(&admin, first).await.unwrap_err();
        assert_eq!(waits.kind(), ErrorKind::Conflict);
        site.world.teach("fails", |_| async { Ok(()) });
        assert_eq!(node.drain().await, 1);
        assert_eq!(node.count().await, 0);
    }

    async fn all_dead_jobs_of_a_kind_are_retried_or_discarded(backend) {
        let (site, node) = Site::with_node(backend).await;
        site.world.teach("fails", |_| async { Err(Error::invalid("no").into()) });
        for _ in 0..5 {
            node.enqueue("fails").await;
        }
        let other = node.person(crate::fixture::ADA, 2, &[]);
        let other = other.transact(async |uow| {
            Ok(uow.enqueue(crate::fixture::Act { name: "fails".to_owned() }).await?.id)
        }).await.unwrap();
        node.drain().await;
        let admin = node.person(crate::fixture::ADA, 1, &["Jobs.View", "Jobs.Manage"]);
        assert_eq!(node.jobs.retry_dead(&admin, Some("tests.quick")).await.unwrap(), 0);
        assert_eq!(node.jobs.retry_dead(&admin, Some("tests.act")).await.unwrap(), 5);
        assert_eq!(node.drain().await, 5);
        assert_eq!(node.jobs.discard_dead(&admin, None).await.unwrap(), 5);
        // Those of another organisation are none of the administrator's.
        assert_eq!(node.status(other).await.unwrap().state, JobState::Dead);
        assert_eq!(node.count().await, 1);
    }
}
