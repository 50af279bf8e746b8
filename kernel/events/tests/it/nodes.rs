//! Several nodes on one PostgreSQL database.

use std::sync::Arc;

use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;

use crate::world::{Node, Place, Scripted, eventually, one, skus};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_share_the_work_and_do_none_of_it_twice() {
    let place = Place::postgres().await;
    let settings = ["--Svc:Events:BatchSize=10"];
    let (a, b) = (Scripted::well(), Scripted::well());
    // Each node is in the middle of its first batch when the other is too.
    let meeting = Arc::new(Barrier::new(2));
    *a.meeting.lock() = Some(Arc::clone(&meeting));
    *b.meeting.lock() = Some(meeting);
    let first = place.node_with(one(&a), &settings).await;
    let second = place.node_with(one(&b), &settings).await;
    first.publish(skus(500)).await;
    first.app.start_workers();
    second.app.start_workers();
    eventually("all are handled", async || first.waiting().await == 0).await;
    first.app.stop().await;
    second.app.stop().await;

    let effects = first.effects().await;
    assert_eq!((effects.len(), effects.values().sum::<usize>()), (500, 500));
    let handled = async |node: &Node| node.outbox().statistics().await.unwrap().handled;
    let (a, b) = (handled(&first).await, handled(&second).await);
    assert_eq!(a + b, 500);
    assert!(a >= 10 && b >= 10, "{a} and {b}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_called_before_a_node_carries_wake_ups_is_told_when_it_does() {
    let place = Place::postgres().await;
    let teller = place.node_with(one(&Scripted::well()), &[]).await;
    let listener = place.node_with(one(&Scripted::well()), &[]).await;
    let heard = listener.app.wakes().count("orders");
    listener.app.start_workers();
    // A node that begins to listen wakes all topics of its own.
    eventually("it listens", async || heard.now() > 0).await;
    let before = heard.now();
    teller.app.wakes().call("orders");
    teller.app.start_workers();
    eventually("the other heard of it", async || heard.now() > before).await;
    teller.app.stop().await;
    listener.app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_on_one_node_wakes_the_others() {
    let place = Place::postgres().await;
    // No poll comes to help within the test.
    let settings = ["--Svc:Events:PollInterval=00:10:00"];
    let here = Scripted::well();
    let publisher = place.node_with(one(&Scripted::well()), &settings).await;
    let consumer = place.node_with(one(&here), &settings).await;
    consumer.app.start_workers();
    // The publisher only tells: its own outbox doesn't run.
    let stop = CancellationToken::new();
    let relay = publisher.worker("relay");
    let relaying = tokio::spawn({
        let stop = stop.clone();
        async move { relay.run(stop).await }
    });
    let listening = "SELECT COUNT(*) FROM pg_stat_activity \
                     WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    eventually("both listen", async || publisher.number(listening).await == 2).await;

    for round in 1..=3 {
        publisher.publish(["A-1".into()]).await;
        eventually("the other node was woken", async || here.seen().len() == round).await;
    }

    stop.cancel();
    relaying.await.unwrap().unwrap();
    consumer.app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_lost_its_connection_listens_again() {
    let place = Place::postgres().await;
    let settings = ["--Svc:Events:PollInterval=00:10:00"];
    let here = Scripted::well();
    let publisher = place.node_with(one(&Scripted::well()), &settings).await;
    let consumer = place.node_with(one(&here), &settings).await;
    consumer.app.start_workers();
    let listeners = "pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    let count = format!("SELECT COUNT(*) FROM {listeners}");
    eventually("the consumer listens", async || publisher.number(&count).await == 1).await;

    // Nobody tells of this message; it is found when the connection is back.
    publisher.publish(["A-1".into()]).await;
    let end = format!("SELECT SUM(pg_terminate_backend(pid)::INT) FROM {listeners}");
    assert_eq!(publisher.number(&end).await, 1);
    eventually("the message is found", async || here.seen().len() == 1).await;
    consumer.app.stop().await;
}
