//! Organisations take turns, a batch each.

use std::sync::atomic::Ordering;
use std::time::Duration;

use sea_orm::prelude::Uuid;
use svc_core::OrganisationId;
use svc_events::Publish as _;

use crate::on_both_databases;
use crate::world::{ACME, End, Node, Place, Scripted, StockLow, eventually, one, sku, skus};

on_both_databases! {
    a_burst_of_one_organisation_is_no_wait_for_another,
    what_fails_again_and_again_is_no_wait_for_others,
    however_many_organisations_wait_each_has_its_turn,
    what_comes_next_is_told_of_an_organisation,
    what_its_handler_holds_back_is_no_wait_for_another,
    what_is_held_back_is_no_wait_for_what_comes_then,
}

const LATER: OrganisationId = OrganisationId(Uuid::from_u128(0xb0));

async fn publish_in(node: &Node, organisation: OrganisationId, skus: &[&str]) {
    node.context_in(organisation)
        .transact(async |uow| {
            skus.iter()
                .try_for_each(|sku| uow.publish(StockLow { sku: (*sku).to_owned(), quantity: 1 }))
        })
        .await
        .unwrap();
}

async fn a_burst_of_one_organisation_is_no_wait_for_another(place: Place) {
    let handler = Scripted::well();
    let node = place.node(one(&handler)).await;
    handler.room.store(3, Ordering::Relaxed);
    node.publish(skus(50)).await;
    publish_in(&node, LATER, &["B-1", "B-2", "B-3", "B-4"]).await;
    assert_eq!(node.app.drain().await.unwrap(), 54);
    let seen: Vec<String> = handler.seen().iter().map(sku).collect();
    assert_eq!(seen[..9], ["A-0", "A-1", "A-2", "B-1", "B-2", "B-3", "A-3", "A-4", "A-5"]);
    assert_eq!(seen[9], "B-4", "and the next in its next turn");
}

async fn what_its_handler_holds_back_is_no_wait_for_another(place: Place) {
    let handler = Scripted::well();
    let node = place.node(one(&handler)).await;
    *handler.held_back.lock() = Some(ACME);
    node.publish(skus(3)).await;
    publish_in(&node, LATER, &["B-1", "B-2"]).await;
    let app = node.app.clone();
    let draining = tokio::spawn(async move { app.drain().await.unwrap() });
    eventually("the other's are handed over", async || handler.seen().len() == 2).await;
    assert!(handler.seen().iter().all(|message| message.organisation == Some(LATER)));
    *handler.held_back.lock() = None;
    assert_eq!(draining.await.unwrap(), 5);
}

async fn what_is_held_back_is_no_wait_for_what_comes_then(place: Place) {
    let handler = Scripted::well();
    let node = place.node(one(&handler)).await;
    *handler.held_back.lock() = Some(ACME);
    node.app.start_workers();
    node.publish(skus(3)).await;
    for (round, sku) in ["B-1", "B-2", "B-3"].into_iter().enumerate() {
        // The handler is asked about what is held back meanwhile.
        tokio::time::sleep(Duration::from_millis(60)).await;
        publish_in(&node, LATER, &[sku]).await;
        eventually("it is handed over", async || handler.seen().len() > round).await;
    }
    assert!(handler.seen().iter().all(|message| message.organisation == Some(LATER)));
    *handler.held_back.lock() = None;
    eventually("what was held back is, too", async || handler.seen().len() == 6).await;
    node.app.stop().await;
    assert_eq!(node.waiting().await, 0);
}

async fn what_fails_again_and_again_is_no_wait_for_others(place: Place) {
    let handler =
        Scripted::new(
            |message| {
                if message.organisation == Some(ACME) { End::Failing } else { End::Well }
            },
        );
    let node = place.node(one(&handler)).await;
    node.publish(skus(40)).await;
    assert_eq!(node.app.drain().await.unwrap(), 40);
    handler.seen.lock().clear();
    node.app.clock().advance(Duration::from_secs(1));
    publish_in(&node, LATER, &["B-1"]).await;
    assert_eq!(node.app.drain().await.unwrap(), 41, "each was tried again");
    let place = handler.seen().iter().position(|message| sku(message) == "B-1").unwrap();
    assert_eq!(place, 8, "a few of those that failed come first");
}

async fn however_many_organisations_wait_each_has_its_turn(place: Place) {
    let handler = Scripted::well();
    let node = place.node(one(&handler)).await;
    handler.room.store(1, Ordering::Relaxed);
    // More than one look reads.
    for number in 1..=150_u128 {
        publish_in(&node, OrganisationId(Uuid::from_u128(number)), &["first", "second"]).await;
    }
    assert_eq!(node.app.drain().await.unwrap(), 300);
    let seen: Vec<String> = handler.seen().iter().map(sku).collect();
    assert!(seen[..150].iter().all(|sku| sku == "first"), "{seen:?}");
    assert!(seen[150..].iter().all(|sku| sku == "second"), "{seen:?}");
}

async fn what_comes_next_is_told_of_an_organisation(place: Place) {
    let node = place.node(one(&Scripted::well())).await;
    let next = async |organisation| {
        let (sql, values) = svc_events::first_unhandled("shop.hear", organisation);
        let database = node.app.service::<svc_database::Database>().unwrap();
        let rows = database.rows(database.statement(&format!("SELECT {sql}"), values)).await;
        rows.unwrap()[0].try_get_by_index::<Option<Uuid>>(0).unwrap()
    };
    node.publish(skus(2)).await;
    assert!(next(ACME).await.is_some());
    assert_eq!(next(LATER).await, None, "nobody waits for what others hear of");
    publish_in(&node, LATER, &["B-1"]).await;
    assert!(next(LATER).await > next(ACME).await);
    assert_eq!(node.app.drain().await.unwrap(), 3);
    assert_eq!(next(ACME).await, None);
}
