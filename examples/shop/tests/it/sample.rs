//! The sample data: enough of it, and such as a business could have.

use std::collections::{BTreeMap, BTreeSet};

use shop::order::{self, Status};
use shop::{category, customer, order_line, product, purchase, sample, supplier};
use svc::prelude::*;
use svc::workflows::WorkflowEngine;
use svc_testing::on_both_databases;
use time::Duration;

use crate::fixture::{Fixture, add_product, order_of};

/// Everything in a form that doesn't depend on ids, which are new every time.
async fn summary(ctx: &Context) -> Vec<String> {
    let orders = ctx.query::<order::Entity>().order_by(order::COLUMN.number).all().await.unwrap();
    let products =
        ctx.query::<product::Entity>().order_by(product::COLUMN.sku).all().await.unwrap();
    let products = products.iter().map(|p| format!("{} {} {}", p.sku, p.price, p.stock));
    let orders = orders.iter().map(|o| format!("{} {} {:?}", o.number, o.total, o.shipped_at));
    products.chain(orders).collect()
}

on_both_databases! {
    async fn there_is_enough_of_everything(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        sample::load(&ctx).await.unwrap();
        assert!(ctx.query::<category::Entity>().count().await.unwrap() >= 12);
        assert!(ctx.query::<supplier::Entity>().count().await.unwrap() >= 15);
        assert!(ctx.query::<product::Entity>().count().await.unwrap() >= 70);
        assert!(ctx.query::<customer::Entity>().count().await.unwrap() >= 90);
        assert!(ctx.query::<order::Entity>().count().await.unwrap() >= 800);
        assert!(ctx.query::<purchase::Entity>().count().await.unwrap() >= 15);
        let told = fixture.events();
        let (last, steps) = told.split_last().unwrap();
        assert!(steps.iter().all(|event| event.starts_with("WorkflowTransitioned ")), "{told:?}");
        assert!(last.starts_with("LiveTold "), "pages hear of all of them once: {told:?}");
    }

    async fn there_are_records_in_every_state(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.person(1, ["Orders.View", "Purchases.View", "Products.View", "Workflows.View"]);
        sample::load(&ctx).await.unwrap();
        let orders = ["draft", "submitted", "approved", "picking", "shipped", "closed", "cancelled"];
        let purchases = ["draft", "requested", "ordered", "received", "givenUp"];
        for (set, states) in [("Orders", &orders[..]), ("Purchases", &purchases[..])] {
            let sql = "SELECT state, COUNT(*) FROM workflows_instances WHERE set_name = ? GROUP BY state";
            let rows = ctx.run(ctx.database().statement(sql, [set.into()])).await.unwrap();
            let counts: BTreeMap<String, i64> = rows
                .iter()
                .map(|row| (row.try_get_by_index(0).unwrap(), row.try_get_by_index(1).unwrap()))
                .collect();
            let known: BTreeSet<&str> = counts.keys().map(String::as_str).collect();
            assert_eq!(known, states.iter().copied().collect(), "{counts:?}");
        }
        // What orders say of themselves and their status are of one mind.
        let engine = ctx.app().service::<WorkflowEngine>().unwrap();
        for order in ctx.query::<order::Entity>().all().await.unwrap() {
            let state = engine.state_of(&ctx, "Orders", order.id).await.unwrap();
            let expected = match order.status {
                Status::Placed => &orders[..4],
                Status::Shipped => &orders[4..6],
                Status::Cancelled => &orders[6..],
            };
            assert!(expected.contains(&state.as_str()), "{} is {state}", order.number);
        }
    }

    async fn orders_are_the_sum_of_their_lines_and_have_a_plausible_past(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        sample::load(&ctx).await.unwrap();
        let now = ctx.clock().now();
        let mut lines: BTreeMap<Uuid, Vec<order_line::Model>> = BTreeMap::new();
        for line in ctx.query::<order_line::Entity>().all().await.unwrap() {
            assert_eq!(line.amount, line.unit_price * Decimal::from(line.quantity));
            lines.entry(line.order_id).or_default().push(line);
        }
        let customers = ctx.query::<customer::Entity>().all().await.unwrap();
        let customers: BTreeMap<Uuid, _> = customers.into_iter().map(|c| (c.id, c)).collect();
        let mut open: BTreeMap<Uuid, Decimal> = BTreeMap::new();
        for order in ctx.query::<order::Entity>().all().await.unwrap() {
            let own = &lines[&order.id];
            assert!((2..=6).contains(&own.len()));
            assert_eq!(own.iter().map(|line| line.amount).sum::<Decimal>(), order.total);
            let products: BTreeSet<Uuid> = own.iter().map(|line| line.product_id).collect();
            assert_eq!(products.len(), own.len());
            assert!(order.ordered_at < now && order.ordered_at > now - Duration::days(550));
            assert!(customers[&order.customer_id].created_at < order.ordered_at);
            assert_eq!(order.shipped_at.is_some(), order.status == Status::Shipped);
            let shipped = order.shipped_at.unwrap_or(order.ordered_at);
            assert!(order.ordered_at <= shipped && shipped < now && order.updated_at < now);
            if order.status == Status::Placed {
                assert!(order.ordered_at > now - Duration::days(14), "{} waits", order.number);
                *open.entry(order.customer_id).or_default() += order.total;
            }
        }
        assert!(!open.is_empty());
        for (customer, total) in open {
            assert!(customers[&customer].credit_limit.is_none_or(|limit| total <= limit));
        }
    }

    async fn goods_have_their_season_and_stock_is_never_negative(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        sample::load(&ctx).await.unwrap();
        let products = ctx.query::<product::Entity>().all().await.unwrap();
        assert!(products.iter().all(|p| p.stock >= 0 && p.cost_price.unwrap() < p.price));
        let low = products.iter().filter(|p| p.stock < p.reorder_level).count();
        assert!((1..=20).contains(&low), "{low} are low");
        let salt = products.iter().find(|product| product.sku == "WI-101").unwrap();
        let orders = ctx.query::<order::Entity>().all().await.unwrap();
        let months: BTreeMap<Uuid, u8> =
            orders.iter().map(|order| (order.id, order.ordered_at.month().into())).collect();
        let sold = ctx.query::<order_line::Entity>();
        let sold = sold.filter(order_line::COLUMN.product_id.eq(salt.id)).all().await.unwrap();
        let cold = sold.iter().filter(|line| matches!(months[&line.order_id], 10..=12 | 1)).count();
        assert!(cold * 2 > sold.len(), "{cold} of {} in the cold months", sold.len());
    }

    async fn it_is_the_same_business_every_time(backend) {
        let fixture = Fixture::start(backend).await;
        let (one, other) = (fixture.clerk(), fixture.person(2, []));
        sample::load(&one).await.unwrap();
        sample::load(&other).await.unwrap();
        assert_eq!(summary(&one).await, summary(&other).await);
    }

    async fn it_is_loaded_as_a_whole_or_not_at_all(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        add_product(&ctx, "HT-101").await;
        let refusal = sample::load(&ctx).await.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Conflict);
        assert_eq!(ctx.query::<category::Entity>().count().await.unwrap(), 1);
        assert_eq!(ctx.query::<supplier::Entity>().count().await.unwrap(), 0);
    }

    async fn business_goes_on_from_it(backend) {
        let fixture = Fixture::start(backend).await;
        let ctx = fixture.clerk();
        sample::load(&ctx).await.unwrap();
        let sold = ctx.query::<order::Entity>().count().await.unwrap();
        let customers = ctx.query::<customer::Entity>().filter(customer::COLUMN.credit_limit.is_null());
        let customer = customers.one().await.unwrap().unwrap();
        let products = ctx.query::<product::Entity>().filter(product::COLUMN.stock.gt(0));
        let product = products.one().await.unwrap().unwrap();
        let new = order_of(&customer, &[(&product, 1)]);
        let order = shop::orders::place_order(&ctx, new).await.unwrap();
        assert_eq!(order.number, format!("SO-{}", 100_001 + sold));
    }
}
