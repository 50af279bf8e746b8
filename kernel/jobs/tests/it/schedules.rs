use std::sync::Arc;

use svc_jobs::JobState;
use time::macros::datetime;

use crate::fixture::{Different, HOUR, SECOND, Site, eventually};

svc_testing::on_both_databases! {
    async fn a_schedule_comes_once_across_nodes(backend) {
        let site = Site::new(backend).await;
        let nodes = [site.node().await, site.node().await, site.node().await];
        for node in &nodes {
            assert_eq!(node.drain().await, 0);
        }
        for night in 1..=3 {
            site.clock.advance(if night == 1 { 15 * HOUR } else { 24 * HOUR });
            let drained = nodes.iter().map(async |node| node.drain().await);
            futures::future::join_all(drained).await;
            assert_eq!(site.world.noted(), ["nightly"], "night {night}");
        }
        let schedules = nodes[0].jobs.schedules().await.unwrap();
        assert_eq!(schedules[0].name, "tests.nightly");
        assert_eq!(schedules[0].next_run_at, datetime!(2026-11-24 03:00 UTC));
        assert_eq!(schedules[0].last_run_at, Some(datetime!(2026-11-23 03:00 UTC)));
    }

    async fn running_nodes_wake_for_a_schedule_and_one_of_them_enqueues(backend) {
        let site = Site::new(backend).await;
        let nodes = [site.node().await, site.node().await];
        for node in &nodes {
            node.app.start_workers();
        }
        // Both look at the schedules before the night comes.
        nodes[0].enqueue("ready").await;
        eventually("the nodes run", async || site.world.noted() == ["ready"]).await;
        // What still runs when the clock jumps would count as abandoned, and run again.
        eventually("the job is over", async || nodes[0].count().await == 0).await;
        site.clock.advance(15 * HOUR);
        eventually("the night", async || !site.world.noted().is_empty()).await;
        nodes[0].app.stop().await;
        nodes[1].app.stop().await;
        nodes[0].drain().await;
        assert!(site.world.noted().is_empty());
        assert_eq!(nodes[0].count().await, 0);
    }

    async fn ticks_that_were_missed_are_made_up_for_once(backend) {
        let site = Site::new(backend).await;
        drop(site.node().await);
        site.clock.advance(24 * 10 * HOUR);
        let node = site.node().await;
        assert_eq!(node.drain().await, 2);
        assert_eq!(site.world.noted(), ["nightly"]);
        site.clock.advance(14 * HOUR);
        assert_eq!(node.drain().await, 0);
        site.clock.advance(HOUR);
        assert_eq!(node.drain().await, 2);
    }

    async fn a_tick_is_left_out_while_the_job_of_the_last_has_not_ended(backend) {
        let (site, node) = Site::with_node(backend).await;
        let world = Arc::clone(&site.world);
        site.world.teach("nightly", move |ctx| {
            world.note(format!("attempt {}", ctx.attempt()));
            let later = svc_core::Error::unavailable("later").retry_after(30 * HOUR);
            async move { if ctx.attempt() == 1 { Err(later.into()) } else { Ok(()) } }
        });
        site.clock.advance(15 * HOUR);
        assert_eq!(node.drain().await, 2);
        site.clock.advance(24 * HOUR);
        assert_eq!(node.drain().await, 0);
        assert_eq!(node.count().await, 1);
        site.clock.advance(6 * HOUR);
        assert_eq!(node.drain().await, 1);
        site.clock.advance(18 * HOUR);
        assert_eq!(node.drain().await, 2);
        assert_eq!(site.world.noted(), ["attempt 1", "attempt 2", "attempt 1"]);
        let waiting = node.jobs.statistics().await.unwrap();
        assert_eq!((waiting[0].state, waiting[0].count), (JobState::Waiting, 1));
    }

    async fn a_changed_pattern_counts_from_the_start_that_brings_it(backend) {
        let (site, node) = Site::with_node(backend).await;
        let hourly = Different { nightly: Some("0 30 * * * *"), ..Different::default() };
        let changed = site.different_node(hourly).await;
        let schedules = changed.jobs.schedules().await.unwrap();
        assert_eq!(schedules[0].cron, "0 30 * * * *");
        assert_eq!(schedules[0].next_run_at, datetime!(2026-11-20 12:30 UTC));
        site.clock.advance(HOUR / 2 + SECOND);
        assert_eq!(changed.drain().await, 2);
        assert_eq!(node.drain().await, 0);
    }
}
