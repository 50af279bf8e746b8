use sea_orm::{IntoActiveModel as _, Set};
use serde_json::json;
use svc_core::Error;
use svc_data::ChangeKind;
use svc_events::{Subscription, WhichSets};

use crate::on_both_databases;
use crate::world::{ACME, ADA, Place, Scripted, one, product};

on_both_databases! {
    a_change_reaches_its_handlers_with_the_rows,
    nothing_is_written_where_nobody_listens,
    a_rollback_emits_nothing,
    failed_nested_work_emits_nothing_of_it,
}

fn new_product(name: &str) -> product::ActiveModel {
    product::ActiveModel {
        name: Set(name.to_owned()),
        price: Set("12.50".parse().unwrap()),
        ..Default::default()
    }
}

async fn a_change_reaches_its_handlers_with_the_rows(place: Place) {
    let (first, second) = (Scripted::well(), Scripted::well());
    let marked = Subscription::new().changes(WhichSets::Marked("webhooks"));
    let named = Subscription::new().changes(WhichSets::named(["Products"]));
    let node = place
        .node(vec![("shop.first", marked, first.clone()), ("shop.second", named, second.clone())])
        .await;
    let context = node.context();
    let created = context.transact(async |uow| uow.insert(new_product("Tea")).await).await.unwrap();
    let mut change = created.clone().into_active_model();
    change.name = Set("Green tea".into());
    context.transact(async |uow| uow.update(change).await).await.unwrap();
    context.transact(async |uow| uow.delete::<product::Entity>(created.id).await).await.unwrap();

    assert_eq!(node.waiting().await, 6);
    assert_eq!(node.app.drain().await.unwrap(), 6);
    assert_eq!(node.waiting().await, 0);

    let messages = first.seen();
    let ids = |handler: &Scripted| handler.seen().iter().map(|m| m.id).collect::<Vec<_>>();
    assert_eq!(ids(&first), ids(&second));
    assert_eq!(first.names(), ["products.created", "products.updated", "products.deleted"]);
    for message in &messages {
        assert_eq!(message.organisation, Some(ACME));
        assert_eq!((message.actor.user, &*message.actor.display_name), (Some(ADA), "Ada"));
        assert_eq!(message.correlation, context.correlation());
        assert_eq!(message.time, node.app.clock().now());
        assert_eq!((message.attempt, &*message.handler), (1, "shop.first"));
    }

    let [created_message, updated, deleted] = &messages[..] else { panic!("three messages") };
    let (row, updated, deleted) =
        (created_message.change().unwrap(), updated.change().unwrap(), deleted.change().unwrap());
    assert_eq!((row.kind, &row.before), (ChangeKind::Created, &None));
    assert_eq!(row.key, json!(created.id));
    assert_eq!(row.after.as_ref().unwrap()["price"].to_string(), "12.5");
    assert_eq!(updated.changed, ["name"]);
    assert_eq!(
        serde_json::to_value(&updated.before).unwrap(),
        json!({ "name": "Tea", "version": 1 })
    );
    assert_eq!(updated.after.as_ref().unwrap()["name"], "Green tea");
    assert_eq!((deleted.kind, &deleted.after), (ChangeKind::Deleted, &None));
    assert_eq!(deleted.before.as_ref().unwrap()["name"], "Green tea");

    let model = updated.model(context.catalogue()).unwrap();
    let before = updated.record_before(model).unwrap().unwrap();
    assert_eq!(Some(before), row.record_after(model).unwrap());
    assert_eq!(updated.record_after(model).unwrap(), deleted.record_before(model).unwrap());

    let wire = serde_json::to_value(&messages[1]).unwrap();
    assert_eq!(wire["kind"], "change");
    assert_eq!(wire["payload"]["set"], "Products");
    assert_eq!(serde_json::from_value::<svc_events::Message>(wire).unwrap(), messages[1]);
}

async fn nothing_is_written_where_nobody_listens(place: Place) {
    let (elsewhere, choosy) = (Scripted::well(), Scripted::well());
    choosy.unwanted.lock().push("products.created".into());
    let orders = Subscription::new().changes(WhichSets::named(["Orders"])).event("stock.high");
    let products = Subscription::new().changes(WhichSets::All);
    let node = place
        .node(vec![("shop.orders", orders, elsewhere), ("shop.choosy", products, choosy.clone())])
        .await;
    node.context().transact(async |uow| uow.insert(new_product("Tea")).await).await.unwrap();
    node.publish(["A-1".into()]).await;
    assert_eq!(node.waiting().await, 0);
    assert_eq!(node.app.drain().await.unwrap(), 0);

    choosy.unwanted.lock().clear();
    node.context().transact(async |uow| uow.insert(new_product("Milk")).await).await.unwrap();
    assert_eq!(node.waiting().await, 1);
}

async fn a_rollback_emits_nothing(place: Place) {
    let handler = Scripted::well();
    let node = place.node(one(&handler)).await;
    let outcome = node
        .context()
        .transact(async |uow| {
            uow.insert(new_product("Tea")).await?;
            uow.raise("stock.low", json!({ "sku": "A-1", "quantity": 1 }));
            Err::<(), _>(Error::invalid("the order is not valid"))
        })
        .await;
    assert!(outcome.is_err());
    assert_eq!(node.app.drain().await.unwrap(), 0);
    assert_eq!(node.waiting().await, 0);
    assert!(handler.seen().is_empty());
}

async fn failed_nested_work_emits_nothing_of_it(place: Place) {
    let handler = Scripted::well();
    let node = place.node(one(&handler)).await;
    let context = node.context();
    context
        .transact(async |uow| {
            uow.insert(new_product("Tea")).await?;
            let nested = context.transact(async |inner| {
                inner.insert(new_product("Milk")).await?;
                inner.raise("stock.low", json!({ "sku": "A-1", "quantity": 1 }));
                Err::<(), _>(Error::invalid("no milk"))
            });
            assert!(nested.await.is_err());
            context.transact(async |inner| inner.insert(new_product("Rum")).await).await?;
            Ok(())
        })
        .await
        .unwrap();
    node.app.drain().await.unwrap();
    let names: Vec<_> = handler
        .seen()
        .iter()
        .map(|message| message.change().unwrap().after.as_ref().unwrap()["name"].clone())
        .collect();
    assert_eq!(names, ["Tea", "Rum"]);
}
