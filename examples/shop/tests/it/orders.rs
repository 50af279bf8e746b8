//! Orders from the day they are placed.

use std::collections::BTreeMap;
use std::time::Duration;

use shop::order::{self, Status};
use shop::orders::{NewLine, NewOrder, cancel_order, place_order, ship_order};
use shop::{order_line, product};
use svc::prelude::*;
use svc_testing::on_both_databases;

use crate::fixture::{CLERK, Fixture, add_customer, add_product, order_of, pick, stock_of};

async fn lines_of(ctx: &Context, order: &order::Model) -> Vec<order_line::Model> {
    let query = ctx.query::<order_line::Entity>();
    let query = query.filter(order_line::COLUMN.order_id.eq(order.id));
    query.order_by(order_line::COLUMN.position).all().await.unwrap()
}

on_both_databases! {
    async fn an_order_prices_its_lines_and_sets_goods_aside(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let customer = add_customer(&ctx, "C-1", None).await;
        let (hammer, saw) = (add_product(&ctx, "HT-1").await, add_product(&ctx, "HT-2").await);
        let new = order_of(&customer, &[(&saw, 3), (&hammer, 10)]);
        let order = place_order(&ctx, new).await.unwrap();
        assert_eq!((order.number.as_str(), order.status), ("SO-100001", Status::Placed));
        assert_eq!(order.total.to_string(), "162.5");
        assert_eq!(order.ordered_at, ctx.clock().now());
        let lines = lines_of(&ctx, &order).await;
        let facts: Vec<_> = lines.iter().map(|l| (l.position, l.product_id, l.quantity)).collect();
        assert_eq!(facts, [(1, saw.id, 3), (2, hammer.id, 10)]);
        assert_eq!(lines.iter().map(|line| line.amount).sum::<Decimal>(), order.total);
        assert_eq!((stock_of(&ctx, &hammer).await, stock_of(&ctx, &saw).await), (90, 97));
        assert_eq!(fixture.events(), [""; 0]);
    }

    async fn an_order_that_is_not_valid_leaves_nothing(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let customer = add_customer(&ctx, "C-1", None).await;
        let hammer = add_product(&ctx, "HT-1").await;
        let nothing = Uuid::from_u128(404);
        let line = |product_id, quantity| NewLine { product_id, quantity };
        let cases = [
            (customer.id, vec![], "lines", "must be 1 to 200"),
            (customer.id, vec![line(hammer.id, 0)], "lines[0].quantity", "must be at least 1"),
            (
                customer.id,
                vec![line(hammer.id, 1), line(hammer.id, 1)],
                "lines[1].productId",
                "is on the order already; add its quantity there",
            ),
            (customer.id, vec![line(nothing, 1)], "lines[0].productId", "isn't a product"),
            (nothing, vec![line(hammer.id, 1)], "customerId", "isn't a customer"),
        ];
        for (customer_id, lines, field, message) in cases {
            let new = NewOrder { customer_id, reference: None, lines };
            let refusal = place_order(&ctx, new).await.unwrap_err();
            assert_eq!(refusal.kind(), ErrorKind::Invalid);
            assert_eq!(refusal.fields()[field], [message]);
        }
        let reference = Some("x".repeat(61));
        let long = NewOrder { reference, ..order_of(&customer, &[(&hammer, 1)]) };
        let refusal = place_order(&ctx, long).await.unwrap_err();
        assert_eq!(refusal.fields()["reference"], ["must have at most 60 characters"]);
        assert_eq!(ctx.query::<order::Entity>().count().await.unwrap(), 0);
        assert_eq!(stock_of(&ctx, &hammer).await, 100);
    }

    async fn what_is_not_in_stock_is_not_sold(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let customer = add_customer(&ctx, "C-1", None).await;
        let (hammer, saw) = (add_product(&ctx, "HT-1").await, add_product(&ctx, "HT-2").await);
        let new = order_of(&customer, &[(&hammer, 90), (&saw, 101)]);
        let refusal = place_order(&ctx, new).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Conflict);
        assert_eq!(refusal.fields()["lines[1].quantity"], ["only 100 of `HT-2` are left"]);
        assert_eq!(stock_of(&ctx, &hammer).await, 100);
        assert_eq!(fixture.events(), [""; 0]);
    }

    async fn two_who_want_the_last_ones_never_both_get_them(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let customer = add_customer(&ctx, "C-1", None).await;
        let (hammer, saw) = (add_product(&ctx, "HT-1").await, add_product(&ctx, "HT-2").await);
        let orders = (0..6).map(|turn| {
            let mut lines = [(&hammer, 30), (&saw, 1)];
            lines.rotate_left(turn % 2);
            let (ctx, new) = (ctx.clone(), order_of(&customer, &lines));
            tokio::spawn(async move { place_order(&ctx, new).await })
        });
        let mut numbers = Vec::new();
        for order in orders.collect::<Vec<_>>() {
            match order.await.unwrap() {
                Ok(order) => numbers.push(order.number),
                Err(error) => assert_eq!(error.code(), "shop.stock_too_low"),
            }
        }
        numbers.sort();
        assert_eq!(numbers, ["SO-100001", "SO-100002", "SO-100003"]);
        assert_eq!((stock_of(&ctx, &hammer).await, stock_of(&ctx, &saw).await), (10, 97));
    }

    async fn orders_that_wait_for_shipment_use_credit(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let customer = add_customer(&ctx, "C-1", Some(100)).await;
        let hammer = add_product(&ctx, "HT-1").await;
        let first = place_order(&ctx, order_of(&customer, &[(&hammer, 5)])).await.unwrap();
        let second = || place_order(&ctx, order_of(&customer, &[(&hammer, 4)]));
        let refusal = second().await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Conflict);
        assert_eq!(refusal.code(), "shop.credit_too_low");
        assert_eq!(refusal.parameters()["total"], "50.00");
        assert_eq!(refusal.parameters()["left"], "37.50");
        pick(&ctx, first.id).await;
        ship_order(&ctx, first.id).await.unwrap();
        assert_eq!(second().await.unwrap().number, "SO-100002");
    }

    async fn a_shipped_order_stays_shipped(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let customer = add_customer(&ctx, "C-1", None).await;
        let hammer = add_product(&ctx, "HT-1").await;
        let order = place_order(&ctx, order_of(&customer, &[(&hammer, 1)])).await.unwrap();
        let early = ship_order(&ctx, order.id).await.unwrap_err();
        assert_eq!((early.kind(), early.code()), (ErrorKind::Conflict, "shop.not_ready"));
        pick(&ctx, order.id).await;
        ctx.clock().advance(Duration::from_hours(30));
        let shipped = ship_order(&ctx, order.id).await.unwrap();
        assert_eq!(shipped.status, Status::Shipped);
        assert_eq!(shipped.shipped_at, Some(order.ordered_at + Duration::from_hours(30)));
        for refusal in [ship_order(&ctx, order.id).await, cancel_order(&ctx, order.id).await] {
            let refusal = refusal.unwrap_err();
            assert_eq!(refusal.kind(), ErrorKind::Conflict);
            assert_eq!(refusal.code(), "shop.order_closed");
            assert_eq!(refusal.parameters()["state"], "shipped");
        }
        assert_eq!(stock_of(&ctx, &hammer).await, 99);
    }

    async fn a_cancelled_order_gives_its_goods_back_once(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let customer = add_customer(&ctx, "C-1", None).await;
        let (hammer, saw) = (add_product(&ctx, "HT-1").await, add_product(&ctx, "HT-2").await);
        let new = order_of(&customer, &[(&hammer, 7), (&saw, 9)]);
        let order = place_order(&ctx, new).await.unwrap();
        assert_eq!(cancel_order(&ctx, order.id).await.unwrap().status, Status::Cancelled);
        let refusal = cancel_order(&ctx, order.id).await.unwrap_err();
        assert_eq!(refusal.code(), "shop.order_closed");
        assert_eq!(refusal.parameters()["state"], "cancelled");
        assert_eq!((stock_of(&ctx, &hammer).await, stock_of(&ctx, &saw).await), (100, 100));
    }

    async fn each_command_needs_its_permission(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let customer = add_customer(&ctx, "C-1", None).await;
        let hammer = add_product(&ctx, "HT-1").await;
        let order = place_order(&ctx, order_of(&customer, &[(&hammer, 1)])).await.unwrap();
        let others = |missing: &str| {
            let mut held = CLERK;
            held.iter_mut().filter(|name| **name == missing).for_each(|name| *name = "Products.View");
            fixture.person(1, held)
        };
        let new = order_of(&customer, &[(&hammer, 1)]);
        let refusals = [
            (place_order(&others("Orders.Place"), new).await.unwrap_err(), "Orders.Place"),
            (ship_order(&others("Orders.Ship"), order.id).await.unwrap_err(), "Orders.Ship"),
            (cancel_order(&others("Orders.Cancel"), order.id).await.unwrap_err(), "Orders.Cancel"),
        ];
        for (refusal, permission) in refusals {
            assert_eq!(refusal.kind(), ErrorKind::Forbidden);
            assert_eq!(refusal.parameters()["permission"], permission);
        }
        assert_eq!(stock_of(&ctx, &hammer).await, 99);
    }

    async fn an_organisation_orders_from_its_own_shop_only(backend) {
        let fixture = Fixture::start(backend).await;
        let (ours, theirs) = (fixture.clerk(), fixture.person(2, CLERK));
        let customer = add_customer(&ours, "C-1", None).await;
        let hammer = add_product(&ours, "HT-1").await;
        let order = place_order(&ours, order_of(&customer, &[(&hammer, 1)])).await.unwrap();
        let foreign = place_order(&theirs, order_of(&customer, &[(&hammer, 1)])).await.unwrap_err();
        assert_eq!(foreign.fields()["customerId"], ["isn't a customer"]);
        let stranger = add_customer(&theirs, "C-1", None).await;
        let foreign = place_order(&theirs, order_of(&stranger, &[(&hammer, 1)])).await.unwrap_err();
        assert_eq!(foreign.fields()["lines[0].productId"], ["isn't a product"]);
        let missing = ship_order(&theirs, order.id).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        // The database itself refuses what no command would write.
        let stray = product::ActiveModel {
            sku: Set("STRAY".to_owned()),
            name: Set("Stray".to_owned()),
            category_id: Set(hammer.category_id),
            price: Set(Decimal::ONE),
            ..Default::default()
        };
        let refusal = theirs.transact(async |uow| uow.insert(stray).await).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Conflict);
    }

    async fn who_sees_a_region_orders_what_is_sold_there(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let customer = add_customer(&ctx, "C-1", None).await;
        let (hammer, plug) = (add_product(&ctx, "HT-1").await, add_product(&ctx, "EL-1").await);
        let mut change = plug.clone().into_active_model();
        change.region = Set(Some("Alps".to_owned()));
        ctx.transact(async |uow| uow.update(change).await).await.unwrap();
        let of_region = |region: &str| {
            let claims = BTreeMap::from([("regions".to_owned(), vec![region.to_owned()])]);
            ctx.acting_as(Arc::new(Principal::clone(ctx.principal()).with_claims(claims)))
        };
        let new = || order_of(&customer, &[(&hammer, 1), (&plug, 1)]);
        let refusal = place_order(&of_region("Continent"), new()).await.unwrap_err();
        assert_eq!(refusal.fields()["lines[1].productId"], ["isn't a product"]);
        place_order(&of_region("Alps"), new()).await.unwrap();
        // Who has no claim, or lost it, sees less and not more; to see all takes a permission.
        place_order(&ctx, new()).await.unwrap_err();
        let [view, place, ship, cancel, receive] = CLERK;
        let all = [view, place, ship, cancel, receive, product::SEE_ALL_REGIONS];
        let all = fixture.person(1, all);
        place_order(&all, new()).await.unwrap();
    }

    async fn lines_stay_as_they_were_placed(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        let customer = add_customer(&ctx, "C-1", None).await;
        let hammer = add_product(&ctx, "HT-1").await;
        let order = place_order(&ctx, order_of(&customer, &[(&hammer, 2)])).await.unwrap();
        let line = lines_of(&ctx, &order).await.remove(0);
        let mut changed = line.clone().into_active_model();
        changed.quantity = Set(1);
        let mut added = line.clone().into_active_model().reset_all();
        (added.id, added.position) = (NotSet, Set(2));
        let outcomes = [
            ctx.transact(async |uow| uow.update(changed).await).await,
            ctx.transact(async |uow| uow.insert(added).await).await,
            ctx.transact(async |uow| uow.delete::<order_line::Entity>(line.id).await).await,
        ];
        for outcome in outcomes {
            let refusal = outcome.unwrap_err();
            assert_eq!(refusal.code(), "shop.lines_are_fixed", "{refusal}");
        }
        assert_eq!(lines_of(&ctx, &order).await, [line]);
        let deleted = ctx.transact(async |uow| uow.delete::<order::Entity>(order.id).await).await;
        assert_eq!(deleted.unwrap_err().kind(), ErrorKind::Conflict);
    }
}
