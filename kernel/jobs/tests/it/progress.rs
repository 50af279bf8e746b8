use std::sync::Arc;

use svc_jobs::{JobState, Progress};
use svc_testing::eventually;
use tokio::sync::Semaphore;

use crate::fixture::{HOUR, Site};

svc_testing::on_both_databases! {
    async fn a_user_watches_how_far_a_job_is_and_sees_its_end(backend) {
        let (site, node) = Site::with_node(backend).await;
        let gate = Arc::new(Semaphore::new(0));
        let opens = Arc::clone(&gate);
        site.world.teach("import", move |ctx| {
            let gate = Arc::clone(&opens);
            async move {
                // Said within a unit of work, when nobody else can write on SQLite.
                ctx.transact(async |_| {
                    ctx.progress(40, "row 400 of 1000");
                    Ok(())
                }).await?;
                gate.acquire().await.unwrap().forget();
                ctx.progress(150, "all\0 rows");
                Ok(())
            }
        });
        node.app.start_workers();
        let id = node.enqueue_watched("import").await;
        let ada = node.ada();
        let status = async || node.jobs.status(&ada, id).await.unwrap();
        let message = |percent, text: &str| Progress {
            percent: Some(percent),
            message: Some(text.to_owned()),
        };
        eventually("is told", async || {
            status().await.progress == message(40, "row 400 of 1000")
        }).await;
        gate.add_permits(1);
        eventually("finishes", async || status().await.state == JobState::Finished).await;
        assert_eq!(status().await.progress, message(100, "all rows"));
        assert_eq!(status().await.finished_at, Some(site.clock.now()));
        node.app.stop().await;
    }

    async fn what_has_ended_is_cleaned_away_after_its_retention(backend) {
        let (site, node) = Site::with_node(backend).await;
        site.world.teach("fails", |_| async { Err(svc_core::Error::invalid("no").into()) });
        let watched = node.enqueue_watched("watched").await;
        let dead = node.enqueue("fails").await;
        let unwatched = node.enqueue("unwatched").await;
        node.drain().await;
        assert_eq!(node.status(watched).await.unwrap().state, JobState::Finished);
        assert!(node.status(unwatched).await.is_none());
        site.clock.advance(23 * HOUR);
        node.drain().await;
        assert!(node.status(watched).await.is_some());
        site.clock.advance(2 * HOUR);
        node.drain().await;
        assert!(node.status(watched).await.is_none());
        assert!(node.status(dead).await.is_some());
        site.clock.advance(24 * 30 * HOUR);
        node.drain().await;
        assert!(node.status(dead).await.is_none());
    }

    async fn another_attempt_begins_its_progress_anew(backend) {
        let (site, node) = Site::with_node(backend).await;
        site.world.teach("twice", |ctx| async move {
            if ctx.attempt() == 1 {
                ctx.progress(90, "nearly");
                return Err(svc_core::Error::internal("fails").into());
            }
            Ok(())
        });
        let id = node.enqueue_watched("twice").await;
        node.drain().await;
        assert_eq!(node.status(id).await.unwrap().progress.percent, Some(90));
        site.clock.advance(HOUR);
        node.drain().await;
        let status = node.status(id).await.unwrap();
        assert_eq!((status.state, status.progress), (JobState::Finished, Progress::default()));
    }
}
