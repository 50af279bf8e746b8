use svc_core::{ErrorKind, UserId};
use svc_jobs::{EnqueueJobs as _, JobFilter, JobState};
use uuid::Uuid;

use crate::fixture::{ADA, HOUR, Quick, Site};

svc_testing::on_both_databases! {
    async fn jobs_are_listed_by_page_state_and_kind(backend) {
        let (site, node) = Site::with_node(backend).await;
        site.world.teach("fails", |_| async { Err(svc_core::Error::invalid("no").into()) });
        let mut ids = Vec::new();
        for _ in 0..5 {
            ids.push(node.enqueue("fails").await);
        }
        node.drain().await;
        let quick = node.ada().transact(async |uow| {
            Ok(uow.enqueue(Quick { name: "later".to_owned() }).run_in(HOUR).await?.id)
        }).await.unwrap();
        ids.reverse();

        let viewer = node.person(UserId(Uuid::from_u128(8)), 1, &["Jobs.View"]);
        let listed = async |filter: JobFilter| {
            let page = node.jobs.list(&viewer, &filter).await.unwrap();
            (page.jobs.iter().map(|job| job.id).collect::<Vec<_>>(), page.after)
        };
        let dead = || JobFilter { state: Some(JobState::Dead), ..JobFilter::default() };
        let (page, after) = listed(JobFilter { take: Some(3), ..dead() }).await;
        assert_eq!((page.as_slice(), after), (&ids[..3], Some(ids[2])));
        let (page, after) = listed(JobFilter { take: Some(3), after, ..dead() }).await;
        assert_eq!((page.as_slice(), after), (&ids[3..], None));
        let of_kind = JobFilter { kind: Some("tests.quick".to_owned()), ..JobFilter::default() };
        assert_eq!(listed(of_kind).await, (vec![quick], None));
        assert_eq!(listed(JobFilter::default()).await.0.len(), 6);
    }

    async fn nobody_sees_the_jobs_of_another_organisation_or_without_the_right(backend) {
        let (_site, node) = Site::with_node(backend).await;
        let id = node.enqueue("hers").await;
        assert_eq!(node.jobs.status(&node.ada(), id).await.unwrap().id, id);
        let everything = ["Jobs.View", "Jobs.Manage"];

        let stranger = node.person(ADA, 2, &everything);
        assert_eq!(node.jobs.status(&stranger, id).await.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(node.jobs.retry(&stranger, id).await.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(node.jobs.discard(&stranger, id).await.unwrap_err().kind(), ErrorKind::NotFound);
        assert!(node.jobs.list(&stranger, &JobFilter::default()).await.unwrap().jobs.is_empty());

        let colleague = node.person(UserId(Uuid::from_u128(8)), 1, &[]);
        let refused = node.jobs.status(&colleague, id).await.unwrap_err();
        assert_eq!(refused.to_string(), "this needs the permission `Jobs.View`");
        let refused = node.jobs.list(&node.ada(), &JobFilter::default()).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Forbidden);
        for refused in [
            node.jobs.retry(&node.ada(), id).await,
            node.jobs.discard(&node.ada(), id).await,
        ] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Forbidden);
        }
    }

    async fn metrics_say_what_waits_and_what_was_done(backend) {
        let (site, node) = Site::with_node(backend).await;
        site.world.teach("fails", |_| async { Err(svc_core::Error::internal("no").into()) });
        node.enqueue("fine").await;
        node.enqueue("fails").await;
        node.drain().await;
        let counted = node.jobs.statistics().await.unwrap();
        assert_eq!(counted.len(), 1);
        assert_eq!((counted[0].kind.as_str(), counted[0].state), ("tests.act", JobState::Waiting));
        assert_eq!(counted[0].count, 1);
        assert!(counted[0].oldest_run_at > site.clock.now());
        let counters = node.jobs.counters();
        let act = counters.iter().find(|counters| counters.kind == "tests.act").unwrap();
        assert_eq!((act.finished, act.failed, act.dead, act.cancelled), (1, 1, 0, 0));
    }

    async fn a_status_is_told_in_json(backend) {
        let (_site, node) = Site::with_node(backend).await;
        let id = node.enqueue("told").await;
        let status = node.jobs.status(&node.ada(), id).await.unwrap();
        let json = serde_json::to_value(&status).unwrap();
        assert_eq!(json["state"], "waiting");
        assert_eq!(json["runAt"], "2026-11-20T12:00:00Z");
        assert_eq!(json["enqueuedBy"]["displayName"], "Ada");
        assert!(json.get("payload").is_none());
    }
}
