use std::sync::Arc;

use svc_jobs::JobState;
use svc_testing::eventually;
use time::macros::datetime;

use crate::fixture::{Different, HOUR, SECOND, Site};

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
        let schedules = nodes[0].jobs.schedules(&nodes[0].ada()).await.unwrap();
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

    async fn a_schedule_for_each_organisation_comes_once_in_all_there_are(backend) {
        let site = Site::new(backend).await;
        let nodes = [site.node().await, site.node().await];
        let world = Arc::clone(&site.world);
        site.world.teach("weekly", move |ctx| {
            let by = ctx.context().principal().organisation();
            world.note(format!("in {}", ctx.organisation().unwrap().0.as_u128()));
            async move { if by == ctx.organisation().ok() { Ok(()) } else { panic!("it is another's") } }
        });
        site.world.teach("nightly", async |_| Ok(()));
        let week = || async {
            site.clock.advance(7 * 24 * HOUR);
            futures::future::join_all(nodes.iter().map(async |node| node.drain().await)).await;
            let mut noted = site.world.noted();
            noted.sort();
            noted
        };
        assert_eq!(week().await, [""; 0], "nobody is there");
        // More than are asked for at once.
        let all: Vec<u128> = (1..=1_001).collect();
        for organisation in &all[..2] {
            site.world.found(*organisation);
        }
        assert_eq!(week().await, ["in 1", "in 2"]);
        site.world.found(3);
        assert_eq!(week().await, ["in 1", "in 2", "in 3"], "one that came later is among them");
        for organisation in &all {
            site.world.found(*organisation);
        }
        let noted = week().await;
        assert_eq!(noted.len(), all.len());
        assert_eq!(noted.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
        // By hand it is run in one.
        let by_hand = nodes[0].jobs.run_now(&nodes[0].system(), "tests.weekly", None).await;
        assert!(by_hand.unwrap_err().message().contains("say in which one"));
        let ctx = svc_data::Context::system_in(&nodes[0].app, svc_core::OrganisationId(uuid::Uuid::from_u128(2)));
        nodes[0].jobs.run_now(&ctx.unwrap(), "tests.weekly", None).await.unwrap();
        nodes[0].drain().await;
        assert_eq!(site.world.noted(), ["in 2"]);
    }

    async fn a_tick_is_left_out_where_the_job_of_the_last_has_not_ended(backend) {
        let (site, node) = Site::with_node(backend).await;
        let world = Arc::clone(&site.world);
        site.world.teach("weekly", move |ctx| {
            let organisation = ctx.organisation().unwrap().0.as_u128();
            world.note(format!("in {organisation}"));
            let later = svc_core::Error::unavailable("later").retry_after(30 * 24 * HOUR);
            async move { if organisation == 1 { Err(later.into()) } else { Ok(()) } }
        });
        site.world.teach("nightly", async |_| Ok(()));
        site.world.found(1);
        site.world.found(2);
        for expected in [&["in 1", "in 2"][..], &["in 2"]] {
            site.clock.advance(7 * 24 * HOUR);
            node.drain().await;
            let mut noted = site.world.noted();
            noted.sort();
            assert_eq!(noted, expected);
        }
    }

    async fn a_changed_pattern_counts_from_the_start_that_brings_it(backend) {
        let (site, node) = Site::with_node(backend).await;
        let hourly = Different { nightly: Some("0 30 * * * *"), ..Different::default() };
        let changed = site.different_node(hourly).await;
        let schedules = changed.jobs.schedules(&changed.ada()).await.unwrap();
        assert_eq!(schedules[0].cron, "0 30 * * * *");
        assert_eq!(schedules[0].next_run_at, datetime!(2026-11-20 12:30 UTC));
        site.clock.advance(HOUR / 2 + SECOND);
        assert_eq!(changed.drain().await, 2);
        assert_eq!(node.drain().await, 0);
    }
}
