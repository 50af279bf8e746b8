//! Stock: what comes in, and when it is told that little is left.

use shop::orders::{cancel_order, place_order};
use shop::product;
use shop::stock::{Delivery, RECEIVE, receive_stock};
use svc::prelude::*;
use svc_testing::on_both_databases;

use crate::fixture::{Fixture, add_customer, add_product, order_of, stock_of};

fn delivery(quantity: i32) -> Delivery {
    Delivery { quantity, cost_price: None }
}

on_both_databases! {
    async fn a_delivery_adds_to_the_stock(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let buyer = fixture.person(1, [RECEIVE, product::SEE_COSTS]);
        let hammer = add_product(&ctx, "HT-1").await;
        let price = Some(Decimal::new(745, 2));
        let first = Delivery { quantity: 40, cost_price: price };
        let stored = receive_stock(&buyer, hammer.id, first).await.unwrap();
        assert_eq!((stored.stock, stored.cost_price), (140, price));
        let stored = receive_stock(&ctx, hammer.id, delivery(1)).await.unwrap();
        assert_eq!((stored.stock, stored.cost_price), (141, price));
    }

    async fn a_delivery_that_can_not_be_is_refused(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let hammer = add_product(&ctx, "HT-1").await;
        let negative = Delivery { quantity: 1, cost_price: Some(Decimal::NEGATIVE_ONE) };
        let priced = Delivery { quantity: 1, cost_price: Some(Decimal::ONE) };
        let cases = [
            (priced, "costPrice", "is set by those who see costs"),
            (delivery(0), "quantity", "must be at least 1"),
            (delivery(i32::MAX), "quantity", "is more than can be kept"),
            (negative, "costPrice", "must not be negative"),
        ];
        for (delivery, field, message) in cases {
            let refusal = receive_stock(&ctx, hammer.id, delivery).await.unwrap_err();
            assert_eq!(refusal.kind(), ErrorKind::Invalid);
            assert_eq!(refusal.fields()[field], [message]);
        }
        let unknown = receive_stock(&ctx, Uuid::from_u128(404), delivery(1)).await.unwrap_err();
        assert_eq!(unknown.kind(), ErrorKind::NotFound);
        let visitor = fixture.person(1, ["Products.Update"]);
        let refusal = receive_stock(&visitor, hammer.id, delivery(1)).await.unwrap_err();
        assert_eq!(refusal.parameters()["permission"], RECEIVE);
        assert_eq!(stock_of(&ctx, &hammer).await, 100);
    }

    async fn low_stock_is_told_once_when_it_falls_below_its_level(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let customer = add_customer(&ctx, "C-1", None).await;
        let hammer = add_product(&ctx, "HT-1").await;
        let sell = |quantity| place_order(&ctx, order_of(&customer, &[(&hammer, quantity)]));
        sell(80).await.unwrap();
        assert_eq!(fixture.events(), [""; 0], "20 are left, and 20 are enough");
        let last = sell(1).await.unwrap();
        let told = format!(
            "stock.low {{\"productId\":\"{}\",\"sku\":\"HT-1\",\"name\":\"Claw hammer\",\
             \"stock\":19,\"reorderLevel\":20}}",
            hammer.id
        );
        assert_eq!(fixture.events(), [told.as_str()]);
        sell(5).await.unwrap();
        assert_eq!(fixture.events(), [""; 0], "that it is low is known");
        cancel_order(&ctx, last.id).await.unwrap();
        assert!(fixture.events().iter().all(|event| !event.starts_with("stock.")), "more is left");
        receive_stock(&ctx, hammer.id, delivery(5)).await.unwrap();
        assert_eq!((stock_of(&ctx, &hammer).await, fixture.events()), (20, vec![]));
        sell(1).await.unwrap();
        assert_eq!(fixture.events(), [told]);
    }

    async fn what_is_no_longer_bought_is_sold_off_in_silence(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let customer = add_customer(&ctx, "C-1", None).await;
        let hammer = add_product(&ctx, "HT-1").await;
        let mut change = hammer.clone().into_active_model();
        change.discontinued = Set(true);
        let hammer = ctx.transact(async |uow| uow.update(change).await).await.unwrap();
        place_order(&ctx, order_of(&customer, &[(&hammer, 100)])).await.unwrap();
        assert_eq!((stock_of(&ctx, &hammer).await, fixture.events()), (0, vec![]));
    }

    async fn the_database_itself_keeps_stock_from_being_negative(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let hammer = add_product(&ctx, "HT-1").await;
        let mut change = hammer.clone().into_active_model();
        change.stock = Set(-1);
        let refusal = ctx.transact(async |uow| uow.update(change).await).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Invalid);
        assert_eq!(ctx.find::<product::Entity>(hammer.id).await.unwrap(), hammer);
    }
}
