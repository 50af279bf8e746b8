use std::sync::Arc;

use svc_core::ErrorKind;
use svc_jobs::{EnqueueJobs as _, Enqueued, JobState};
use svc_testing::eventually;
use tokio::sync::Semaphore;

use crate::fixture::{ADA, Act, Node, Site};

fn act(name: &str) -> Act {
    Act { name: name.to_owned() }
}

async fn unique(node: &Node, organisation: u128, key: &str) -> Enqueued {
    let person = node.person(ADA, organisation, &[]);
    person.transact(async |uow| uow.enqueue(act("unique")).unique(key).await).await.unwrap()
}

svc_testing::on_both_databases! {
    async fn one_job_of_a_key_waits_in_each_organisation(backend) {
        let (_site, node) = Site::with_node(backend).await;
        let first = unique(&node, 1, "a").await;
        assert!(first.is_new);
        assert_eq!(unique(&node, 1, "a").await, Enqueued { id: first.id, is_new: false });
        assert!(unique(&node, 1, "b").await.is_new);
        assert!(unique(&node, 2, "a").await.is_new);
        assert_eq!(node.drain().await, 3);
        assert!(unique(&node, 1, "a").await.is_new);
    }

    async fn a_twin_within_the_same_unit_of_work_leaves_it_whole(backend) {
        let (_site, node) = Site::with_node(backend).await;
        let (first, second) = node.ada().transact(async |uow| {
            let first = uow.enqueue(act("a")).unique("key").await?;
            let second = uow.enqueue(act("b")).unique("key").await?;
            uow.enqueue(act("c")).await?;
            Ok((first, second))
        }).await.unwrap();
        assert_eq!((first.id, second.is_new), (second.id, false));
        assert_eq!(node.drain().await, 2);
    }

    async fn many_who_enqueue_one_key_at_once_make_one_job(backend) {
        let (_site, node) = Site::with_node(backend).await;
        let node = Arc::new(node);
        let all = (0..8).map(|_| {
            let node = Arc::clone(&node);
            tokio::spawn(async move { unique(&node, 1, "race").await })
        });
        let mut new = 0;
        for enqueued in all.collect::<Vec<_>>() {
            new += usize::from(enqueued.await.unwrap().is_new);
        }
        assert_eq!((new, node.count().await), (1, 1));
    }

    async fn keys_of_many_jobs_drop_the_twins(backend) {
        let (_site, node) = Site::with_node(backend).await;
        let names = ["a", "b", "a", "c", "b"];
        let ids = node.ada().transact(async |uow| {
            uow.enqueue_many(names.map(act)).unique_by(|act| act.name.clone()).await
        }).await.unwrap();
        assert_eq!((ids.len(), node.drain().await), (3, 3));
    }

    async fn a_running_job_bars_its_twin_unless_only_waiting_ones_count(backend) {
        let (site, node) = Site::with_node(backend).await;
        let gate = Arc::new(Semaphore::new(0));
        let opens = Arc::clone(&gate);
        site.world.teach("unique", move |_| {
            let gate = Arc::clone(&opens);
            async move {
                gate.acquire().await.unwrap().forget();
                Ok(())
            }
        });
        node.app.start_workers();
        let running = unique(&node, 1, "both").await.id;
        let enqueue = async || {
            let ada = node.ada();
            ada.transact(async |uow| {
                uow.enqueue(act("unique")).unique_while_waiting("waiting").await
            }).await.unwrap()
        };
        let early = enqueue().await.id;
        for id in [running, early] {
            let running = async || node.status(id).await.unwrap().state == JobState::Running;
            eventually("both run", running).await;
        }
        assert!(!unique(&node, 1, "both").await.is_new);
        let late = enqueue().await;
        assert!(late.is_new);
        gate.add_permits(3);
        eventually("all end", async || node.count().await == 0).await;
        node.app.stop().await;
    }

    async fn a_dead_job_does_not_bar_its_key_and_can_not_come_back_beside_another(backend) {
        let (site, node) = Site::with_node(backend).await;
        site.world.teach("unique", |_| async {
            Err(svc_jobs::JobError::give_up(svc_core::Error::invalid("no")))
        });
        let dead = unique(&node, 1, "key").await.id;
        node.drain().await;
        assert!(unique(&node, 1, "key").await.is_new);
        let refused = node.jobs.retry(&node.system(), dead).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        node.drain().await;
        node.jobs.retry(&node.system(), dead).await.unwrap();
        assert!(!unique(&node, 1, "key").await.is_new);
    }
}
