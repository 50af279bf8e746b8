use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sea_orm::prelude::Uuid;
use svc_core::OrganisationId;
use svc_events::{Publish as _, Selection};
use tokio_util::sync::CancellationToken;

use crate::on_both_databases;
use crate::world::{ACME, End, Node, Place, Scripted, eventually, one, sku, skus};

on_both_databases! {
    effects_are_stored_once_although_a_handler_fails_after_writing,
    effects_are_stored_once_although_a_handler_panics_after_writing,
    effects_are_stored_once_although_the_process_ends_before_the_commit,
    a_poisoned_message_does_not_block_those_behind_it,
    a_message_that_ends_the_process_is_set_aside_too,
    a_handler_that_hangs_is_ended,
    batches_are_of_one_organisation,
    a_handler_gets_no_more_at_once_than_it_has_room_for,
    running_workers_retry_when_it_is_time,
    what_no_wake_up_told_of_is_found_by_the_poll,
    a_stop_hands_back_what_takes_long,
    what_waits_for_a_handler_that_is_gone_is_set_aside_after_a_day,
}

/// Fails twice in this way, then works.
fn twice(end: End) -> Arc<Scripted> {
    let left = AtomicUsize::new(2);
    Scripted::new(move |_| {
        let failing = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if failing.is_ok() { end } else { End::Well }
    })
}

async fn retries_until_it_works(place: Place, end: End) {
    let handler = twice(end);
    let node = place.node(one(&handler)).await;
    node.publish(["A-1".into()]).await;
    for attempt in 1..=2 {
        assert_eq!(node.app.drain().await.unwrap(), 1);
        assert!(node.effects().await.is_empty(), "attempt {attempt} is rolled back");
        assert_eq!(node.waiting().await, 1);
        assert_eq!(node.app.drain().await.unwrap(), 0, "it is not due yet");
        // One second, then two.
        node.app.clock().advance(Duration::from_millis(attempt * 1_000 - 1));
        assert_eq!(node.app.drain().await.unwrap(), 0, "it is due a millisecond later");
        node.app.clock().advance(Duration::from_millis(1));
    }
    assert_eq!(node.app.drain().await.unwrap(), 1);
    assert_eq!(node.effects().await.into_values().collect::<Vec<_>>(), [1]);
    assert_eq!(node.waiting().await, 0);
    let attempts: Vec<u32> = handler.seen().iter().map(|message| message.attempt).collect();
    assert_eq!(attempts, [1, 2, 3]);
    let statistics = node.outbox().statistics().await.unwrap();
    assert_eq!((statistics.handled, statistics.failed), (1, 2));
}

async fn effects_are_stored_once_although_a_handler_fails_after_writing(place: Place) {
    retries_until_it_works(place, End::Failing).await;
}

async fn effects_are_stored_once_although_a_handler_panics_after_writing(place: Place) {
    retries_until_it_works(place, End::Panicking).await;
}

/// Runs a node until its handler is in the middle of its work, and then drops it all.
async fn end_in_the_middle(node: &Node, handler: &Scripted) {
    let worker = node.worker("outbox");
    let running = tokio::spawn(async move { worker.run(CancellationToken::new()).await });
    let entered = tokio::time::timeout(Duration::from_secs(10), handler.entered.notified());
    entered.await.expect("the handler is called");
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    // The transaction's end reaches the database with the connection that it leaves.
    node.app.service::<svc_database::Database>().unwrap().close().await;
}

async fn effects_are_stored_once_although_the_process_ends_before_the_commit(place: Place) {
    let ends = Scripted::new(|_| End::Never);
    let first = place.node(one(&ends)).await;
    first.publish(skus(3)).await;
    end_in_the_middle(&first, &ends).await;
    assert!(!ends.seen().is_empty());

    let works = Scripted::well();
    let second = place.node(one(&works)).await;
    assert!(second.effects().await.is_empty());
    // What was counted before the process ended waits out its delay.
    second.app.clock().advance(Duration::from_secs(1));
    second.app.drain().await.unwrap();
    let effects = second.effects().await;
    assert_eq!((effects.len(), effects.values().sum::<usize>()), (3, 3));
    assert_eq!(second.waiting().await, 0);
}

async fn a_poisoned_message_does_not_block_those_behind_it(place: Place) {
    let handler =
        Scripted::new(|message| if sku(message) == "A-3" { End::Panicking } else { End::Well });
    let node = place.node_with(one(&handler), &["--Svc:Events:MaxAttempts=3"]).await;
    node.publish(skus(20)).await;
    assert_eq!(node.app.drain().await.unwrap(), 20);
    let effects = node.effects().await;
    assert_eq!((effects.len(), effects.values().sum::<usize>()), (19, 19));
    assert_eq!(handler.batches.lock()[..3], [20, 1, 1]);

    // The poisoned one doesn't spoil another batch.
    handler.batches.lock().clear();
    node.app.clock().advance(Duration::from_secs(1));
    node.publish(["B-1".into(), "B-2".into()]).await;
    assert_eq!(node.app.drain().await.unwrap(), 3);
    assert_eq!(node.effects().await.len(), 21);
    assert!(handler.batches.lock().contains(&2));

    node.app.clock().advance(Duration::from_secs(2));
    assert_eq!(node.app.drain().await.unwrap(), 1);
    let letters = node.dead_letters(&Selection::default()).await;
    assert_eq!((letters.len(), letters[0].attempts), (1, 3));
    assert!(letters[0].error.contains("told to panic"), "{}", letters[0].error);
    node.app.clock().advance(Duration::from_hours(1));
    assert_eq!(node.app.drain().await.unwrap(), 0, "the dead stay dead");
}

async fn a_message_that_ends_the_process_is_set_aside_too(place: Place) {
    let settings = ["--Svc:Events:MaxAttempts=2"];
    let ends = Scripted::new(|message| if sku(message) == "A-1" { End::Never } else { End::Well });
    let mut node = place.node_with(one(&ends), &settings).await;
    node.publish(["A-1".into()]).await;
    // The first node may have thought it new; the two after it count before they begin.
    for start in 1..=2 {
        node = place.node_with(one(&ends), &settings).await;
        node.app.clock().advance(Duration::from_secs(10 * start));
        end_in_the_middle(&node, &ends).await;
    }
    node = place.node_with(one(&ends), &settings).await;
    node.publish(["B-1".into()]).await;
    node.app.clock().advance(Duration::from_mins(10));
    assert_eq!(node.app.drain().await.unwrap(), 2);
    let letters = node.dead_letters(&Selection::default()).await;
    assert_eq!(letters.len(), 1);
    assert!(letters[0].error.contains("ended the process"), "{}", letters[0].error);
    assert_eq!(node.effects().await.len(), 1);
}

async fn a_handler_that_hangs_is_ended(place: Place) {
    let handler =
        Scripted::new(|message| if sku(message) == "A-1" { End::Never } else { End::Well });
    let node = place.node_with(one(&handler), &["--Svc:Events:HandlerTimeout=00:00:01"]).await;
    node.publish(skus(3)).await;
    node.app.drain().await.unwrap();
    // A second can be too short for the others too, where many tests share a machine.
    eventually("the others are handled", async || {
        node.app.clock().advance(Duration::from_mins(1));
        node.app.drain().await.unwrap();
        node.effects().await.len() == 2
    })
    .await;
    let id = handler.seen().iter().find(|message| sku(message) == "A-1").unwrap().id;
    assert!(node.outbox().message(id, "shop.hear").await.unwrap().is_some());
    let error = "SELECT COUNT(*) FROM events_outbox WHERE last_error LIKE '%HandlerTimeout%'";
    assert_eq!(node.number(error).await, 1);
}

async fn batches_are_of_one_organisation(place: Place) {
    let handler = Scripted::well();
    let node = place.node_with(one(&handler), &["--Svc:Events:BatchSize=4"]).await;
    let other = OrganisationId(Uuid::from_u128(0xb));
    for sku in skus(6) {
        for organisation in [ACME, other] {
            let data = serde_json::json!({ "sku": sku, "quantity": 1 });
            let context = node.context_in(organisation);
            context.transact(async |uow| uow.publish_as("stock.low", data)).await.unwrap();
        }
    }
    assert_eq!(node.app.drain().await.unwrap(), 12);
    let mut batches = handler.batches.lock().clone();
    batches.sort_unstable();
    assert_eq!(batches, [2, 2, 4, 4]);
    // An effect of another organisation's message would have been refused, or be seen here.
    assert_eq!(node.effects().await.len(), 6);
}

async fn a_handler_gets_no_more_at_once_than_it_has_room_for(place: Place) {
    let handler = Scripted::well();
    let node = place.node(one(&handler)).await;
    handler.room.store(3, Ordering::Relaxed);
    node.publish(skus(7)).await;
    assert_eq!(node.app.drain().await.unwrap(), 7);
    assert_eq!(*handler.batches.lock(), [3, 3, 1]);
    assert_eq!(node.effects().await.len(), 7);
}

async fn running_workers_retry_when_it_is_time(place: Place) {
    let handler = twice(End::Failing);
    // Only wake-ups and due times count: the poll is far away.
    let node = place.node_with(one(&handler), &["--Svc:Events:PollInterval=00:10:00"]).await;
    node.app.start_workers();
    node.publish(["A-1".into()]).await;
    for failures in 1..=2 {
        let outbox = node.outbox();
        eventually("the failure is recorded", async || {
            outbox.statistics().await.unwrap().failed == failures
        })
        .await;
        node.app.clock().advance(Duration::from_secs(2));
    }
    eventually("the message is handled", async || node.effects().await.len() == 1).await;
    node.app.stop().await;
}

async fn what_no_wake_up_told_of_is_found_by_the_poll(place: Place) {
    let handler = Scripted::well();
    let consumer =
        place.node_with(one(&handler), &["--Svc:Events:PollInterval=00:00:00.100"]).await;
    consumer.app.start_workers();
    // Another process, which tells nobody: its relay doesn't run, and SQLite has none.
    let publisher = place.node(one(&handler)).await;
    for round in 1..=2 {
        publisher.publish(["A-1".into()]).await;
        eventually("it is found", async || consumer.effects().await.len() == round).await;
    }
    consumer.app.stop().await;
}

async fn a_stop_hands_back_what_takes_long(place: Place) {
    let handler = Scripted::new(|_| End::Never);
    let node = place.node(one(&handler)).await;
    node.app.start_workers();
    node.publish(["A-1".into()]).await;
    let entered = tokio::time::timeout(Duration::from_secs(10), handler.entered.notified());
    entered.await.expect("the handler is called");
    let stopped = tokio::time::timeout(Duration::from_secs(20), node.app.stop());
    stopped.await.expect("the stop doesn't wait for the handler's timeout");
    assert_eq!(node.waiting().await, 1);
    // The writer is free again, and nothing of the handler's was stored.
    node.publish(["A-2".into()]).await;
    assert!(node.effects().await.is_empty());
}

async fn what_waits_for_a_handler_that_is_gone_is_set_aside_after_a_day(place: Place) {
    let first = place.node(one(&Scripted::well())).await;
    first.publish(["A-1".into()]).await;
    let second = place.node(Vec::new()).await;
    assert_eq!(second.app.drain().await.unwrap(), 0);
    let statistics = second.outbox().statistics().await.unwrap().handlers["shop.hear"];
    assert_eq!((statistics.ready, statistics.is_registered), (1, false));

    second.app.clock().advance(Duration::from_hours(25));
    second.app.drain().await.unwrap();
    let statistics = second.outbox().statistics().await.unwrap().handlers["shop.hear"];
    assert_eq!((statistics.ready, statistics.dead), (0, 1));
}
