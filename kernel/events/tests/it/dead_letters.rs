use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use svc_core::ErrorKind;
use svc_events::Selection;

use crate::on_both_databases;
use crate::world::{ACME, End, Node, Place, Scripted, everything, one, skus};

on_both_databases! {
    dead_letters_are_listed_page_by_page,
    dead_letters_are_retried,
    dead_letters_are_discarded,
    very_many_are_settled_in_parts,
    statistics_tell_what_waits,
}

/// Two handlers that fail for good while `broken`, and five events for each.
async fn with_letters(place: &Place) -> (Node, Arc<AtomicBool>) {
    let broken = Arc::new(AtomicBool::new(true));
    let failing = || {
        let broken = Arc::clone(&broken);
        Scripted::new(move |_| if broken.load(Ordering::SeqCst) { End::Failing } else { End::Well })
    };
    let handlers = vec![("shop.a", everything(), failing()), ("shop.b", everything(), failing())];
    let node = place.node_with(handlers, &["--Svc:Events:MaxAttempts=1"]).await;
    node.publish(skus(5)).await;
    assert_eq!(node.app.drain().await.unwrap(), 10);
    (node, broken)
}

fn of(handler: &str) -> Selection {
    Selection { handler: Some(handler.into()), ..Selection::default() }
}

async fn dead_letters_are_listed_page_by_page(place: Place) {
    let (node, _) = with_letters(&place).await;
    let letters = node.dead_letters(&Selection::default()).await;
    assert_eq!(letters.len(), 10);
    assert!(letters.is_sorted_by(|a, b| (b.id, &b.handler) < (a.id, &a.handler)));
    let letter = &letters[0];
    assert_eq!((&*letter.name, letter.attempts, letter.organisation), ("stock.low", 1, Some(ACME)));
    assert!(letter.error.contains("told to fail"));
    assert_eq!((letter.time, letter.failed_at), (node.app.clock().now(), node.app.clock().now()));

    let (mut paged, mut after) = (Vec::new(), None);
    loop {
        let outbox = node.outbox();
        let page = outbox
            .dead_letters(&node.system(), &Selection::default(), after.as_deref(), 3)
            .await
            .unwrap();
        assert!(page.letters.len() <= 3);
        paged.extend(page.letters);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(paged, letters);

    assert_eq!(node.dead_letters(&of("shop.a")).await.len(), 5);
    assert_eq!(node.dead_letters(&of("shop.c")).await.len(), 0);
    let elsewhere = Selection {
        organisation: Some(svc_core::OrganisationId(sea_orm::prelude::Uuid::nil())),
        ..Selection::default()
    };
    assert_eq!(node.dead_letters(&elsewhere).await.len(), 0);
    let nobody =
        node.outbox().dead_letters(&node.system(), &of("shop\0"), None, 3).await.unwrap_err();
    assert_eq!(nobody.kind(), ErrorKind::Invalid);
    assert_eq!(
        node.outbox().retry(&node.system(), &of("shop\0")).await.unwrap_err().kind(),
        ErrorKind::Invalid
    );
    assert_eq!(
        node.outbox().discard(&node.system(), &of("shop\0")).await.unwrap_err().kind(),
        ErrorKind::Invalid
    );
    let wrong =
        node.outbox().dead_letters(&node.system(), &Selection::default(), Some("nowhere"), 3).await;
    assert_eq!(wrong.unwrap_err().kind(), ErrorKind::Malformed);
}

async fn dead_letters_are_retried(place: Place) {
    let (node, broken) = with_letters(&place).await;
    let letter = node.dead_letters(&of("shop.a")).await.remove(0);
    let one = Selection { id: Some(letter.id), ..of("shop.a") };
    assert_eq!(node.outbox().retry(&node.system(), &one).await.unwrap(), 1);
    node.app.clock().advance(Duration::from_secs(5));
    assert_eq!(node.app.drain().await.unwrap(), 1);
    let again = node.dead_letters(&one).await.remove(0);
    assert_eq!(again.failed_at, node.app.clock().now(), "it failed again, now");

    broken.store(false, Ordering::SeqCst);
    assert_eq!(node.outbox().retry(&node.system(), &of("shop.a")).await.unwrap(), 5);
    assert_eq!(node.app.drain().await.unwrap(), 5);
    assert_eq!(node.dead_letters(&Selection::default()).await.len(), 5);
    assert_eq!(node.outbox().retry(&node.system(), &Selection::default()).await.unwrap(), 5);
    assert_eq!(node.app.drain().await.unwrap(), 5);
    let effects = node.effects().await;
    assert_eq!((effects.len(), effects.values().sum::<usize>()), (5, 10), "once per handler");
    assert_eq!(node.waiting().await, 0);
}

async fn very_many_are_settled_in_parts(place: Place) {
    let handler = Scripted::well();
    let node = place.node(one(&handler)).await;
    node.publish(skus(2_100)).await;
    let database = node.app.service::<svc_database::Database>().unwrap();
    let die = "UPDATE events_outbox SET state = 'dead', attempts = 1, last_error = 'told to'";
    database.execute(database.statement(die, [])).await.unwrap();
    let few = Selection {
        id: Some(node.dead_letters(&Selection::default()).await[7].id),
        ..Selection::default()
    };
    assert_eq!(node.outbox().discard(&node.system(), &few).await.unwrap(), 1);
    let outbox = node.outbox();
    assert_eq!(outbox.retry(&node.system(), &Selection::default()).await.unwrap(), 2_099);
    assert_eq!(node.app.drain().await.unwrap(), 2_099);
    node.publish(skus(2_001)).await;
    database.execute(database.statement(die, [])).await.unwrap();
    assert_eq!(outbox.discard(&node.system(), &Selection::default()).await.unwrap(), 2_001);
    assert_eq!(node.waiting().await, 0);
}

async fn dead_letters_are_discarded(place: Place) {
    let (node, broken) = with_letters(&place).await;
    broken.store(false, Ordering::SeqCst);
    let letter = node.dead_letters(&of("shop.b")).await.remove(0);
    let message = node.outbox().message(letter.id, "shop.b").await.unwrap().unwrap();
    assert_eq!((message.id, &*message.name), (letter.id, "stock.low"));
    let one = Selection { id: Some(letter.id), ..of("shop.b") };
    assert_eq!(node.outbox().discard(&node.system(), &one).await.unwrap(), 1);
    assert_eq!(node.outbox().discard(&node.system(), &one).await.unwrap(), 0);
    assert_eq!(node.outbox().message(letter.id, "shop.b").await.unwrap(), None);

    node.publish(["B-1".into()]).await;
    assert_eq!(node.outbox().discard(&node.system(), &Selection::default()).await.unwrap(), 9);
    assert_eq!(node.waiting().await, 2, "what waits is not discarded");
    assert_eq!(node.app.drain().await.unwrap(), 2);
}

async fn statistics_tell_what_waits(place: Place) {
    let (node, _) = with_letters(&place).await;
    node.publish(skus(3)).await;
    node.app.clock().advance(Duration::from_secs(90));
    let statistics = node.outbox().statistics().await.unwrap();
    assert_eq!(statistics.handlers.keys().collect::<Vec<_>>(), ["shop.a", "shop.b"]);
    for handler in statistics.handlers.values() {
        assert_eq!((handler.ready, handler.dead, handler.is_registered), (3, 5, true));
        assert_eq!(handler.lag_ms, 90_000);
    }
    assert_eq!((statistics.handled, statistics.failed), (0, 10));
}
